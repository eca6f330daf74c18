/* Reading what flags and counters told of live ranges of shared arrays. */
#include "rewrite/counting/counting.h"

#include <stdlib.h>
#include <string.h>

static const rw_live_array *live_array_named(const rw_live_plan *live, const char *name)
{
    for (uint32_t i = 0; i < live->narrays; i++)
        if (strcmp(live->arrays[i].var->name, name) == 0)
            return &live->arrays[i];
    return NULL;
}

static uint32_t threads_of_block(const rewrite_copy *copy)
{
    const uint32_t *n = copy->layout->threads;
    return n[0] * n[1] * n[2];
}

static uint64_t sum_place(const rewrite_copy *copy, uint32_t place)
{
    uint64_t sum = 0;
    for (uint32_t thread = 0; thread < threads_of_block(copy); thread++)
        sum += rw_read_place(copy, place, thread);
    return sum;
}

/* ---- arrays that are filled first ---- */

typedef struct filling {
    const rw_plan *plan;
    const rw_live_array *array;
    rw_eval *eval;
    bool *filled; /* by word of the array */
} filling;

/* What the thread stores to there. */
static void add_filled_words(filling *f, const rw_live_access *a)
{
    const rewrite_probe_site *site = &f->plan->sites[a->site];
    const flow_address *address = f->plan->addresses[a->site];
    const flow_function *func = &f->plan->flow->funcs[0];
    const rw_run *runs = f->plan->control->runs[0];
    uint64_t begin = f->eval->vars[rw_var_listed_as(f->plan, f->array->var)];
    if (!rw_guard_holds(f->eval, func, &func->func->insns[site->pc]) ||
        !rw_gets_to(f->eval, runs[func->block_of[site->pc]].root, a->root))
        return;
    uint64_t at = address->value == FLOW_NONE
                      ? f->eval->vars[rw_var_listed(f->plan, &address->operand->sym)]
                      : rw_eval_value(f->eval, func, address->value);
    uint32_t word = (uint32_t)(at + address->operand->imm) / 4 - (uint32_t)begin / 4;
    for (uint32_t e = 0; e < rw_elements(site) && word + e < (f->array->bytes + 3) / 4; e++)
        f->filled[word + e] = true;
}

/* Does any access but a store to the words that are not filled stand in the spans, or a store that
 * may update? */
static bool needs_others(const filling *f, wl_span_reader all)
{
    bool stores = !f->array->alike || f->array->classes[WL_STORES].write != FLOW_FILLS;
    for (wl_span span; wl_span_next(&all, &span);) {
        bool reads = span.times[WL_LOADS] || span.times[WL_ATOMICS] ||
                     (stores && span.times[WL_STORES]);
        for (uint64_t w = span.first; reads && w < span.first + span.count; w++)
            if (w >= (f->array->bytes + 3) / 4 || !f->filled[w])
                return true;
    }
    return false;
}

static bool is_all_filled(const rewrite_copy *copy, const rw_live_array *array, wl_span_reader all)
{
    const rw_live_plan *live = copy->kernel->plan->live;
    filling f = {.plan = copy->kernel->plan,
                 .array = array,
                 .eval = rw_eval_new(copy),
                 .filled = calloc(array->bytes / 4 + 1, 1)};
    for (uint32_t t = 0; f.eval && f.filled && t < threads_of_block(copy); t++) {
        rw_eval_thread(f.eval, t);
        for (uint32_t i = 0; i < live->naccesses; i++)
            if (live->accesses[i].fills && &live->arrays[live->accesses[i].array] == array)
                add_filled_words(&f, &live->accesses[i]);
    }
    bool filled = f.eval && f.filled && !needs_others(&f, all);
    rw_eval_free(f.eval);
    free(f.filled);
    return filled;
}

/* ---- all ---- */

bool rewrite_read_live(const rewrite_copy *copy, const char *name, wl_span_reader all,
                       rewrite_live *out)
{
    const rw_live_array *a = live_array_named(copy->kernel->plan->live, name);
    *out = (rewrite_live){0};
    if (!a || (a->flags && !copy->layout->places_at) || (!a->flags && !is_all_filled(copy, a, all)))
        return false;
    out->unfilled = a->flags ? sum_place(copy, a->unfilled) : 0;
    for (int origin = 0; origin < FLOW_ORIGINS; origin++)
        if (a->begins[origin] != IR_NONE)
            out->begins[origin] = sum_place(copy, a->begins[origin]);
    for (wl_span span; a->alike && wl_span_next(&all, &span);)
        for (int c = 0; c < WL_CLASSES; c++)
            if (a->classes[c].write == FLOW_FILLS)
                out->begins[a->classes[c].origin] += span.count * span.times[c];
    return true;
}
