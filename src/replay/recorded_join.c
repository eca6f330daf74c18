/* What was recorded, joined with what the slice shows: one observer for both. */
#include "replay/elements.h"
#include "replay/recorded_impl.h"

#include <stdlib.h>

typedef struct joined_block {
    replay_recorded_launch *launch;
    void *inner; /* obs_block */
    uint64_t index;
} joined_block;

typedef struct joined_worker {
    replay_recorded_launch *launch;
    void *inner;
} joined_worker;

static void *join_worker(void *ctx, uint32_t number)
{
    replay_recorded_launch *l = ctx;
    joined_worker *w = malloc(sizeof *w);
    if (w)
        *w = (joined_worker){l, l->trace->inner->worker_begin(l->trace->inner->ctx, number)};
    return w;
}

static void on_worker_end(void *worker)
{
    free(worker);
}

static void *join_block(void *worker, uint64_t index)
{
    joined_worker *w = worker;
    joined_block *b = w ? malloc(sizeof *b) : NULL;
    if (!b)
        return NULL;
    *b = (joined_block){w->launch, w->launch->trace->inner->block_begin(w->inner, index), index};
    return b;
}

static void on_access(void *block, const acc_request *a)
{
    joined_block *b = block;
    const replay_recorded_launch *l = b->launch;
    if (!b->inner)
        return;
    if (!l->covered[a->pc])
        obs_record(b->inner, a);
    bool array = a->space == ACC_SHARED;
    if (!(l->elements[a->pc] & (array ? REPLAY_ELEMENTS_ARRAYS : REPLAY_ELEMENTS_OBJECTS)))
        obs_record_use(b->inner, a);
}

static int64_t lane_stride_of(const rewrite_access *a, const uint64_t *address)
{
    int64_t stride = (int64_t)(address[1] - address[0]);
    if (a->mask != UINT32_MAX)
        return ACC_IRREGULAR;
    for (uint32_t lane = 2; lane < REWRITE_LANES; lane++)
        if ((int64_t)(address[lane] - address[lane - 1]) != stride)
            return ACC_IRREGULAR;
    return stride;
}

static void give_access(void *ctx, const rewrite_access *a)
{
    joined_block *b = ctx;
    const rewrite_probe_site *s = a->site;
    uint64_t address[REWRITE_LANES] = {0};
    if (!b->launch->covered[s->pc])
        return;
    for (uint32_t m = a->mask; m; m &= m - 1) {
        uint32_t lane = (uint32_t)__builtin_ctz(m);
        address[lane] = a->addr[lane];
        if (!replay_recorded_translate(b->launch->trace, a->space, &address[lane])) {
            __atomic_add_fetch(&b->launch->dropped, 1, __ATOMIC_RELAXED);
            return;
        }
    }
    acc_request access = {.pc = s->pc,
                          .op = (acc_op)s->op,
                          .space = a->space,
                          .bytes = s->bytes,
                          .flags = s->flags,
                          .mask = a->mask,
                          .warp = a->warp,
                          .addr = address,
                          .stride = lane_stride_of(a, address)};
    obs_record(b->inner, &access);
}

static void end_joined_block(void *worker, void *block, uint64_t warp_instructions)
{
    joined_worker *w = worker;
    joined_block *b = block;
    if (b && b->inner && replay_recorded_traced(b->launch, b->index))
        rewrite_read_traced(&b->launch->trace->copy, b->index, give_access, b);
    if (b)
        b->launch->trace->inner->block_end(w->inner, b->inner, warp_instructions);
    free(b);
}

static void on_joined_barrier(void *block, uint32_t pc)
{
    joined_block *b = block;
    if (b->inner)
        b->launch->trace->inner->barrier(b->inner, pc);
}

acc_observer replay_recorded_observer(replay_recorded_launch *launch, const acc_observer *inner)
{
    launch->trace->inner = inner;
    return (acc_observer){.ctx = launch,
                          .worker_begin = join_worker,
                          .worker_end = on_worker_end,
                          .block_begin = join_block,
                          .block_end = end_joined_block,
                          .access = on_access,
                          .barrier = on_joined_barrier};
}
