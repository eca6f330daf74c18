/* Accesses by array, and what their forms tell about writes. */
#include "flow/arrays.h"

#include "flow/affine.h"

typedef struct state {
    const flow_counts *c;
    const flow_fills *fills;
    flow_kernel *k;
    flow_list(flow_array) arrays;
    flow_list(flow_array_use) uses;
} state;

/* ---- which array ---- */

static const flow_address *address_of(const state *s, uint32_t pc, const flow_function **f)
{
    ir_place place = ir_kernel_at(s->k->code, pc);
    *f = &s->k->funcs[place.index];
    const flow_address *a = &(*f)->addresses[(*f)->address_first[place.insn->pc]];
    while (!a->touch)
        a++;
    return a;
}

static bool in_shared(ir_space space)
{
    return space == IR_SPACE_SHARED || space == IR_SPACE_SHARED_CLUSTER;
}

/* May the address lead to the object? FLOW_NONE: to shared memory and no object at all. */
static bool may_reach(const state *s, const flow_function *f, const flow_address *a,
                      uint32_t object, bool *certain)
{
    flow_reach r = flow_reach_of(s->k, f, a);
    uint32_t found = 0;
    bool hit = false;
    for (uint32_t o = flow_next_reached(s->k, &r, 0); o != FLOW_NONE;
         o = flow_next_reached(s->k, &r, o + 1)) {
        hit |= o == object;
        found += s->k->objects[o].space == IR_SPACE_SHARED;
    }
    *certain = r.object == object && object != FLOW_NONE;
    return object == FLOW_NONE ? !found && (r.shared || in_shared(a->space)) : hit;
}

uint32_t flow_base_of(const flow_affine *form)
{
    uint32_t found = FLOW_NONE;
    for (uint32_t t = 0; form && t < form->nterms; t++)
        for (int i = 0; i < form->terms[t].nfactors; i++) {
            if (form->terms[t].factors[i].kind != FLOW_SYM_BASE)
                continue;
            if (found != FLOW_NONE || form->terms[t].nfactors > 1 ||
                form->terms[t].coefficient != 1)
                return FLOW_NONE;
            found = form->terms[t].factors[i].a;
        }
    return found;
}

/* Any of the instruction's addresses that touch memory; a form tells more of the first, as it has
 * what the callers gave. */
static bool use_reaches(const state *s, const flow_use_count *use, uint32_t object, bool *certain)
{
    const flow_function *f;
    const flow_address *a = address_of(s, use->pc, &f);
    uint32_t last = f->address_first[a->insn + 1], base = flow_base_of(use->form);
    if (base != FLOW_NONE) {
        *certain = true;
        if (base == object)
            return true;
        a++;
    }
    for (; a < f->addresses + last; a++)
        if (a->touch && may_reach(s, f, a, object, certain))
            return true;
    return false;
}

/* The same of a load in any context. */
static bool read_reaches(const state *s, uint32_t pc, uint32_t object)
{
    bool certain;
    for (uint32_t i = 0; i < s->c->count; i++)
        if (s->c->uses[i].pc == pc && use_reaches(s, &s->c->uses[i], object, &certain))
            return true;
    return false;
}

/* ---- fills and updates ---- */

static const flow_use_count *use_of(const state *s, uint32_t context, uint32_t pc)
{
    for (uint32_t i = 0; i < s->c->count; i++)
        if (s->c->uses[i].context == context && s->c->uses[i].pc == pc)
            return &s->c->uses[i];
    return NULL;
}

/* Bytes from one address to the other; false where that is not a number. */
static bool distance(const state *s, const flow_use_count *from, const flow_use_count *to,
                     int64_t *out)
{
    return from && from->form && to->form &&
           flow_affine_is_constant(flow_affine_add(&s->k->mem, to->form, from->form, -1), out);
}

static uint32_t bytes_accessed(const state *s, uint32_t pc)
{
    const flow_function *f;
    return address_of(s, pc, &f)->bytes;
}

/* Are both in one function and loop, so that their forms speak of one iteration? *before: the load
 * stands on every way to the write. */
static bool together(const state *s, uint32_t load, uint32_t write, bool *before)
{
    ir_place a = ir_kernel_at(s->k->code, load), b = ir_kernel_at(s->k->code, write);
    const flow_function *f = &s->k->funcs[a.index];
    if (a.index != b.index)
        return false;
    uint32_t from = f->block_of[a.insn->pc], to = f->block_of[b.insn->pc];
    *before = flow_dominates(&f->dom, from, to);
    return f->loops.of[from] == f->loops.of[to] && !f->loops.irreducible;
}

static bool is_insn_guarded(const state *s, uint32_t pc)
{
    return ir_kernel_at(s->k->code, pc).insn->guard != IR_NONE;
}

/* May the last execution of a load before the write have been in an earlier iteration? */
static bool may_be_older(const state *s, uint32_t load, bool before)
{
    ir_place a = ir_kernel_at(s->k->code, load);
    const flow_function *f = &s->k->funcs[a.index];
    return f->loops.of[f->block_of[a.insn->pc]] != FLOW_NONE &&
           (!before || is_insn_guarded(s, load));
}

/* What a load says of a write that may depend on it: the same word, another one, or either. */
static flow_write judge_read(const state *s, const flow_use_count *write, const flow_read *read)
{
    int64_t bytes;
    uint32_t nread = bytes_accessed(s, read->pc), nwrite = bytes_accessed(s, write->pc);
    bool before;
    if (read->scope != FLOW_BY_THREAD || read->earlier || !nread || !nwrite ||
        !together(s, read->pc, write->pc, &before) || may_be_older(s, read->pc, before) ||
        !distance(s, use_of(s, write->context, read->pc), write, &bytes))
        return FLOW_EITHER;
    if (bytes == 0 && nread >= nwrite && before && !is_insn_guarded(s, read->pc))
        return FLOW_UPDATES;
    bool apart = bytes >= (int64_t)nread || -bytes >= (int64_t)nwrite;
    return apart && bytes % 4 == 0 && nread % 4 == 0 && nwrite % 4 == 0 ? FLOW_FILLS : FLOW_EITHER;
}

static flow_write judge_write(const state *s, const flow_use_count *use, uint32_t object)
{
    uint32_t at = s->fills->at[use->pc];
    if (at == FLOW_NONE)
        return FLOW_NO_WRITE;
    const flow_fill *fill = &s->fills->fills[at];
    flow_write result = fill->updates ? FLOW_UPDATES : fill->unknown ? FLOW_EITHER : FLOW_FILLS;
    for (uint32_t i = fill->first; i < fill->first + fill->count && result != FLOW_UPDATES; i++) {
        if (!read_reaches(s, s->fills->reads[i].pc, object))
            continue;
        flow_write one = judge_read(s, use, &s->fills->reads[i]);
        if (one != FLOW_FILLS)
            result = one;
    }
    return result;
}

/* ---- arrays ---- */

static void add_shared_array(state *s, uint32_t object)
{
    flow_array array = {.object = object, .first = s->uses.count};
    for (uint32_t u = 0; u < s->c->count; u++) {
        flow_array_use use = {.use = u};
        if (!use_reaches(s, &s->c->uses[u], object, &use.certain))
            continue;
        use.write = (uint8_t)judge_write(s, &s->c->uses[u], object);
        flow_push(&s->k->mem, &s->uses, use);
    }
    array.count = s->uses.count - array.first;
    if (array.count)
        flow_push(&s->k->mem, &s->arrays, array);
}

static void find_arrays(void *ctx)
{
    state *s = ctx;
    for (uint32_t o = 0; o < s->k->nobjects; o++)
        if (s->k->objects[o].space == IR_SPACE_SHARED)
            add_shared_array(s, o);
    add_shared_array(s, FLOW_NONE);
}

wl_status flow_find_arrays(const flow_counts *counts, const flow_fills *fills, flow_arrays *out)
{
    state s = {.c = counts, .fills = fills, .k = counts->kernel};
    wl_status status = flow_guard(&s.k->mem, find_arrays, &s);
    *out = (flow_arrays){s.arrays.data, s.arrays.count, s.uses.data, s.uses.count};
    return status;
}

const char *flow_write_name(flow_write write)
{
    static const char *const names[] = {"none", "fills", "updates", "either"};
    return names[write];
}
