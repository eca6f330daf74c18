#include "observe/trace.h"

#include "base/steps.h"
#include "base/vec.h"
#include "support/test.h"

#include <stdlib.h>
#include <string.h>

typedef enum kind { ACCESS, ENTRY, BARRIER } kind;

typedef struct event {
    kind kind;
    uint32_t warp, pc, mask; /* of a barrier: of all warps */
    acc_space space;
    uint64_t addr[32];
} event;

typedef struct traced { /* a block */
    ref_trace *trace;
    void *inner;
    bool *seen; /* warps, in the summary */
    wl_vec(event) events;
} traced;

struct ref_trace {
    acc_observer inner;
    uint64_t nblocks;
    uint32_t nwarps;
    traced *blocks;
};

ref_trace *ref_trace_new(const acc_observer *inner, const uint32_t grid[3], const uint32_t block[3])
{
    ref_trace *t = calloc(1, sizeof *t);
    assert_non_null(t);
    t->inner = *inner;
    t->nblocks = (uint64_t)grid[0] * grid[1] * grid[2];
    t->nwarps = (block[0] * block[1] * block[2] + 31) / 32;
    t->blocks = calloc(t->nblocks, sizeof *t->blocks);
    assert_non_null(t->blocks);
    for (uint64_t i = 0; i < t->nblocks; i++) {
        t->blocks[i].trace = t;
        t->blocks[i].seen = calloc(t->nwarps, sizeof(bool));
        assert_non_null(t->blocks[i].seen);
    }
    return t;
}

void ref_trace_free(ref_trace *t)
{
    for (uint64_t i = 0; i < t->nblocks; i++) {
        free(t->blocks[i].seen);
        wl_vec_free(&t->blocks[i].events);
    }
    free(t->blocks);
    free(t);
}

/* ---- the observer ---- */

typedef struct worker {
    ref_trace *trace;
    void *inner;
} worker;

static void *begin_worker(void *ctx, uint32_t number)
{
    worker *w = calloc(1, sizeof *w);
    assert_non_null(w);
    w->trace = ctx;
    w->inner = w->trace->inner.worker_begin(w->trace->inner.ctx, number);
    return w;
}

static void end_worker(void *of)
{
    worker *w = of;
    if (w->trace->inner.worker_end)
        w->trace->inner.worker_end(w->inner);
    free(w);
}

static void *begin_block(void *of, uint64_t block)
{
    worker *w = of;
    traced *b = &w->trace->blocks[block];
    b->inner = w->trace->inner.block_begin(w->inner, block);
    return b;
}

static void end_block(void *of, void *block, uint64_t instructions)
{
    worker *w = of;
    traced *b = block;
    w->trace->inner.block_end(w->inner, b->inner, instructions);
}

static void see_access(void *block, const acc_request *request)
{
    traced *b = block;
    event e = {ACCESS, request->warp, request->pc, request->mask, request->space, {0}};
    memcpy(e.addr, request->addr, sizeof e.addr);
    assert_true(wl_push(&b->events, e));
    b->trace->inner.access(b->inner, request);
}

static void see_barrier(void *block, uint32_t pc)
{
    traced *b = block;
    assert_true(wl_push(&b->events, (event){.kind = BARRIER, .pc = pc, .mask = UINT32_MAX}));
    if (b->trace->inner.barrier)
        b->trace->inner.barrier(b->inner, pc);
}

static void see_entry(void *block, uint32_t warp, uint32_t pc, uint32_t mask)
{
    traced *b = block;
    assert_true(wl_push(&b->events, (event){.kind = ENTRY, .warp = warp, .pc = pc, .mask = mask}));
    if (b->trace->inner.enter)
        b->trace->inner.enter(b->inner, warp, pc, mask);
}

acc_observer ref_trace_observer(ref_trace *t)
{
    return (acc_observer){.ctx = t,
                          .worker_begin = begin_worker,
                          .worker_end = end_worker,
                          .block_begin = begin_block,
                          .block_end = end_block,
                          .access = see_access,
                          .barrier = see_barrier,
                          .enter = see_entry};
}

/* ---- steps against events ---- */

typedef struct cursor { /* in the steps of a warp */
    const obs_summary *s;
    const obs_warps *group;
    const wl_warp *warp;
    uint32_t page;
    wl_page_reader reader;
} cursor;

static bool next_step(cursor *c, wl_step *step)
{
    const obs_sequence *q = &c->s->sequences[c->group->sequence];
    for (; c->page < q->npages; c->page++) {
        if (!c->reader.at)
            c->reader = wl_page_read(q->pages[c->page].data, q->pages[c->page].length, q->nslots);
        if (wl_page_step(&c->reader, step))
            return true;
        assert_false(c->reader.damaged);
        c->reader = (wl_page_reader){0};
    }
    return false;
}

static uint64_t base_of_slot(const obs_summary *s, const obs_step_object *slot, ref_base_of base_of,
                             void *ctx)
{
    if (slot->space == ACC_SHARED)
        return slot->object ? s->shared[slot->object].offset : 0;
    return slot->space != ACC_LOCAL && slot->object ? base_of(ctx, slot->object) : 0;
}

/* A request is one step, or one on each object that it accesses. */
static void expect_access(cursor *c, const event *e, ref_base_of base_of, void *ctx)
{
    for (uint32_t left = e->mask; left;) {
        wl_step step;
        assert_true(next_step(c, &step) && wl_step_accesses(&step));
        assert_int_equal(step.pc, e->pc);
        assert_true(step.mask && !(step.mask & ~left));
        const obs_step_object *slot = &c->group->slots[step.slot];
        uint64_t begin = base_of_slot(c->s, slot, base_of, ctx) +
                         (uint64_t)c->warp->begin[step.slot];
        assert_int_equal(slot->space, e->space);
        for (uint32_t lane = 0; lane < 32; lane++)
            if (step.mask >> lane & 1)
                assert_int_equal(begin + (uint64_t)step.offset[lane], e->addr[lane]);
        left &= ~step.mask;
    }
}

static void expect_mark(cursor *c, const event *e)
{
    wl_step step;
    assert_true(next_step(c, &step));
    assert_int_equal(step.slot, e->kind == ENTRY ? WL_STEP_ENTRY : WL_STEP_BARRIER);
    assert_int_equal(step.pc, e->pc);
    assert_int_equal(step.mask, e->mask);
}

static void expect_traced_warp(const traced *b, const obs_summary *s, const obs_warps *group,
                               const wl_warp *warp, ref_base_of base_of, void *ctx)
{
    cursor c = {.s = s, .group = group, .warp = warp};
    wl_step step;
    for (size_t i = 0; i < b->events.count; i++) {
        const event *e = &b->events.data[i];
        if (e->kind == ACCESS && e->warp == warp->number)
            expect_access(&c, e, base_of, ctx);
        else if (e->kind == BARRIER || (e->kind == ENTRY && e->warp == warp->number))
            expect_mark(&c, e);
    }
    assert_false(next_step(&c, &step));
}

/* ---- entries against counts ---- */

static void expect_counts(const ref_trace *t, const obs_block_count *count)
{
    uint64_t executions = 0, lanes = 0;
    for (uint64_t i = 0; i < t->nblocks; i++)
        for (size_t k = 0; k < t->blocks[i].events.count; k++) {
            const event *e = &t->blocks[i].events.data[k];
            bool here = e->kind == ENTRY && e->pc == count->first_pc;
            executions += here;
            lanes += here ? (uint64_t)__builtin_popcount(e->mask) : 0;
        }
    assert_int_equal(executions, count->executions);
    assert_int_equal(lanes, count->lanes);
}

uint64_t ref_trace_compare(const ref_trace *t, const obs_summary *s, ref_base_of base_of, void *ctx)
{
    uint64_t count = 0;
    for (uint32_t g = 0; g < s->nwarps; g++)
        for (uint32_t p = 0; p < s->warps[g].npages; p++) {
            const obs_page *page = &s->warps[g].pages[p];
            wl_page_reader r = wl_page_read(page->data, page->length, s->warps[g].nslots);
            for (wl_warp warp; wl_page_warp(&r, &warp); count++) {
                assert_true(warp.block < t->nblocks && warp.number < t->nwarps);
                bool *seen = &t->blocks[warp.block].seen[warp.number];
                assert_false(*seen);
                *seen = true;
                expect_traced_warp(&t->blocks[warp.block], s, &s->warps[g], &warp, base_of, ctx);
            }
            assert_false(r.damaged);
        }
    for (uint32_t i = 0; i < s->nblocks; i++)
        if (s->blocks[i].ninsns)
            expect_counts(t, &s->blocks[i]);
    return count;
}
