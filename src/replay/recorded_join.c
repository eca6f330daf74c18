/* What was recorded, joined with what the slice shows: one observer for both. */
#include "replay/elements.h"
#include "replay/ordered.h"
#include "replay/recorded_impl.h"

#include <stdlib.h>

typedef struct joined_block {
    replay_recorded_launch *launch;
    void *inner; /* obs_block */
    uint64_t index;
    replay_ordered *ordered; /* what the slice has shown; NULL: that goes on as it comes */
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

static uint32_t warps_of_launch(const replay_recorded_launch *l)
{
    const uint32_t *threads = l->trace->layout.threads;
    return (uint32_t)(((uint64_t)threads[0] * threads[1] * threads[2] + ACC_LANES - 1) / ACC_LANES);
}

/* Of a block whose steps are kept: where there is no memory for it, nothing is known of their order. */
static void begin_order(joined_block *b)
{
    replay_recorded_launch *l = b->launch;
    if (!l->doors || !b->inner || !replay_recorded_traced(l, b->index))
        return;
    b->ordered = replay_ordered_new(l->doors, l->trace->slice, warps_of_launch(l));
    if (!b->ordered)
        obs_lose_steps(b->inner, UINT32_MAX);
}

static void *join_block(void *worker, uint64_t index)
{
    joined_worker *w = worker;
    joined_block *b = w ? malloc(sizeof *b) : NULL;
    if (!b)
        return NULL;
    *b = (joined_block){w->launch, w->launch->trace->inner->block_begin(w->inner, index), index,
                        NULL};
    begin_order(b);
    return b;
}

static void pass_joined_access(void *block, const acc_request *a)
{
    joined_block *b = block;
    const replay_recorded_launch *l = b->launch;
    if (!l->covered[a->pc])
        obs_record(b->inner, a);
    bool array = a->space == ACC_SHARED;
    if (!(l->elements[a->pc] & (array ? REPLAY_ELEMENTS_ARRAYS : REPLAY_ELEMENTS_OBJECTS)))
        obs_record_use(b->inner, a);
}

static void pass_traced(void *block, const acc_request *a)
{
    const joined_block *b = block;
    obs_record(b->inner, a);
}

static void pass_joined_barrier(void *block, uint32_t pc)
{
    const joined_block *b = block;
    b->launch->trace->inner->barrier(b->inner, pc);
}

static void pass_joined_entry(void *block, uint32_t warp, uint32_t pc, uint32_t mask)
{
    const joined_block *b = block;
    if (b->launch->trace->inner->enter)
        b->launch->trace->inner->enter(b->inner, warp, pc, mask);
}

static void play_ordered(joined_block *b)
{
    const replay_ordered_out out = {b, pass_joined_access, pass_traced, pass_joined_barrier,
                                    pass_joined_entry};
    replay_ordered_play(b->ordered, &out);
    replay_ordered_free(b->ordered);
    b->ordered = NULL;
}

/* What comes from here on goes on as it comes. */
static void give_up_order(joined_block *b)
{
    obs_lose_steps(b->inner, UINT32_MAX);
    play_ordered(b);
}

static void on_access(void *block, const acc_request *a)
{
    joined_block *b = block;
    if (b->ordered && replay_ordered_access(b->ordered, a))
        return;
    if (b->ordered)
        give_up_order(b);
    if (b->inner)
        pass_joined_access(b, a);
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
    if (b->ordered && replay_ordered_traced(b->ordered, &access, a->record, a->loop))
        return;
    if (b->ordered)
        give_up_order(b);
    obs_record(b->inner, &access);
}

static void give_record(void *ctx, const rewrite_told *record)
{
    joined_block *b = ctx;
    if (b->ordered)
        replay_ordered_record(b->ordered, record->warp, record->mask, record->record,
                              record->piece->first_pc, record->piece->loop);
}

/* Of warps of which something is missing, or in no order, no steps are kept. */
static void end_order(joined_block *b)
{
    const replay_recorded_launch *l = b->launch;
    if (!b->ordered)
        return;
    uint32_t lost = replay_ordered_lost(b->ordered);
    for (uint32_t w = 0; w < warps_of_launch(l); w++)
        if (lost >> w & 1 || !rewrite_traced_whole(&l->trace->copy, b->index, w))
            obs_lose_steps(b->inner, w);
    play_ordered(b);
}

static void end_joined_block(void *worker, void *block, uint64_t warp_instructions)
{
    joined_worker *w = worker;
    joined_block *b = block;
    if (b && b->inner && replay_recorded_traced(b->launch, b->index))
        rewrite_read_traced(&b->launch->trace->copy, b->index, give_access, give_record, b);
    if (b)
        end_order(b);
    if (b)
        b->launch->trace->inner->block_end(w->inner, b->inner, warp_instructions);
    free(b);
}

static void on_joined_barrier(void *block, uint32_t pc)
{
    joined_block *b = block;
    if (b->ordered && replay_ordered_barrier(b->ordered, pc))
        return;
    if (b->ordered)
        give_up_order(b);
    if (b->inner)
        pass_joined_barrier(b, pc);
}

/* Entries are kept of blocks whose steps are. */
static void on_joined_entry(void *block, uint32_t warp, uint32_t pc, uint32_t mask)
{
    joined_block *b = block;
    if (b->ordered && !replay_ordered_entry(b->ordered, warp, pc, mask))
        give_up_order(b);
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
                          .barrier = on_joined_barrier,
                          .enter = launch->doors ? on_joined_entry : NULL};
}
