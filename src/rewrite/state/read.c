/* Reading the counters, marks and addresses that kernels left in a state. */
#include "rewrite/state/state.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

/* ---- numbers in a state ---- */

static bool read_state(const rewrite_copy *c, uint64_t at, void *out, size_t bytes)
{
    memset(out, 0, bytes);
    if (at > c->size || c->size - at < bytes)
        return false;
    memcpy(out, (const char *)c->state + at, bytes);
    return true;
}

static uint64_t read_state_u64(const rewrite_copy *c, uint64_t at)
{
    uint64_t value;
    read_state(c, at, &value, sizeof value);
    return value;
}

static uint32_t read_state_u32(const rewrite_copy *c, uint64_t at)
{
    uint32_t value;
    read_state(c, at, &value, sizeof value);
    return value;
}

uint64_t rewrite_missed(const rewrite_copy *c)
{
    return read_state_u64(c, offsetof(rewrite_state, missed));
}

uint64_t rewrite_var_address(const rewrite_copy *c, uint32_t index)
{
    return c->kernel->vars_at ? read_state_u64(c, c->kernel->vars_at + 8 * (uint64_t)index) : 0;
}

/* A tally of all copies. */
static void sum_tally(const rewrite_copy *c, uint32_t tally, uint64_t out[3])
{
    memset(out, 0, 3 * sizeof *out);
    for (uint64_t copy = 0; copy < REWRITE_COPIES; copy++) {
        uint64_t at = c->kernel->counters_at + copy * c->kernel->copy_bytes +
                      (uint64_t)REWRITE_TALLY_BYTES * tally;
        for (unsigned i = 0; i < 3; i++)
            out[i] += read_state_u64(c, at + 8 * i);
    }
}

typedef struct runs { /* how often something ran */
    uint64_t executions, lanes;
} runs;

/* By each thread that gets there, whenever its block comes to the counter that this one is derived
 * from. */
static runs run_placed(const rewrite_copy *c, const rewrite_counter *k, uint64_t times)
{
    runs all = {0};
    uint32_t warp = UINT32_MAX, from = c->kernel->counters[k->from].root;
    rw_eval *eval = rw_eval_new(c);
    for (uint32_t t = 0; eval && t < rw_threads_of(c->layout); t++) {
        rw_eval_thread(eval, t);
        if (!rw_gets_to(eval, k->root, from))
            continue;
        all.lanes += times;
        all.executions += warp != t / REWRITE_LANES ? times : 0;
        warp = t / REWRITE_LANES;
    }
    rw_eval_free(eval);
    return all;
}

static runs run_counter(const rewrite_copy *c, uint32_t counter)
{
    const rewrite_counter *k = &c->kernel->counters[counter];
    uint64_t tally[3], warps = rw_warps_of(c->layout);
    runs from;
    switch (k->kind) {
    case REWRITE_COUNT_LAUNCH:
        return (runs){c->layout->blocks * warps, c->layout->blocks * rw_threads_of(c->layout)};
    case REWRITE_COUNT_PLACED:
        return run_placed(c, k, warps ? run_counter(c, k->from).executions / warps : 0);
    default: break;
    }
    sum_tally(c, k->tally, tally);
    switch (k->kind) {
    case REWRITE_COUNT_STAYED:
        from = run_counter(c, k->from);
        return (runs){from.executions - tally[2], from.lanes - tally[1]};
    case REWRITE_COUNT_LEFT: return (runs){tally[0], tally[1]};
    default: return (runs){tally[0] + tally[2], tally[1] + REWRITE_LANES * tally[2]};
    }
}

bool rewrite_read_block(const rewrite_copy *c, uint32_t index, uint64_t *executions,
                        uint64_t *lanes)
{
    uint32_t counter = c->kernel->blocks[index].counter;
    runs all = counter == IR_NONE ? (runs){0} : run_counter(c, counter);
    *executions = all.executions;
    *lanes = all.lanes;
    return counter != IR_NONE;
}

uint32_t rewrite_object_used(const rewrite_copy *c, uint32_t object)
{
    rewrite_range r = {0};
    if (object < c->layout->nranges)
        read_state(c, c->layout->ranges_at + sizeof r * (uint64_t)object, &r, sizeof r);
    return r.used;
}

uint64_t rw_read_place(const rewrite_copy *c, uint32_t place, uint32_t thread)
{
    uint64_t sum = 0,
             at = c->layout->places_at + 4 * ((uint64_t)place * rw_threads_of(c->layout) + thread);
    for (uint32_t copy = 0; copy < c->layout->place_copies; copy++)
        sum += read_state_u32(c, at + (uint64_t)copy * c->layout->place_bytes);
    return sum;
}

void rw_add_by_address(const rewrite_copy *c, uint64_t *counts)
{
    uint64_t words = (uint64_t)REWRITE_CLASSES * c->layout->shared_bytes / 4;
    for (uint32_t copy = 0; c->layout->shared_at && copy < c->layout->shared_copies; copy++)
        for (uint64_t w = 0; w < words; w++)
            counts[w] += read_state_u32(c, c->layout->shared_at + 4 * (copy * words + w));
}
