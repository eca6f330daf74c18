/* Passes on accesses, barriers and entries by other numbers. */
#include "replay/renumbered.h"

#include <stdlib.h>

struct replay_renumbered {
    const sass_body *body;
    acc_observer inner;
    uint32_t *lengths; /* [machine instructions]: of the basic block that begins there */
};

typedef struct renumbered_worker {
    replay_renumbered *of;
    void *inner;
} renumbered_worker;

typedef struct renumbered_block {
    const replay_renumbered *of;
    void *inner;
    uint64_t instructions; /* that its warps executed, as far as that follows from the launch */
} renumbered_block;

static uint32_t *lengths_of_blocks(const sass_body *body)
{
    uint32_t count = body->count, first = 0;
    uint32_t *lengths = calloc((size_t)count + 1, sizeof *lengths);
    for (uint32_t i = 0; lengths && i < count; i++) {
        first = body->leader[i] ? i : first;
        lengths[first]++;
    }
    return lengths;
}

replay_renumbered *replay_renumbered_new(const sass_body *body, const acc_observer *inner)
{
    replay_renumbered *r = malloc(sizeof *r);
    if (!r)
        return NULL;
    *r = (replay_renumbered){body, *inner, lengths_of_blocks(body)};
    if (!r->lengths) {
        free(r);
        return NULL;
    }
    return r;
}

void replay_renumbered_free(replay_renumbered *r)
{
    if (r)
        free(r->lengths);
    free(r);
}

static void *begin_renumbered_worker(void *ctx, uint32_t number)
{
    replay_renumbered *r = ctx;
    renumbered_worker *w = malloc(sizeof *w);
    if (w)
        *w = (renumbered_worker){
            r, r->inner.worker_begin ? r->inner.worker_begin(r->inner.ctx, number) : NULL};
    return w;
}

static void end_renumbered_worker(void *worker)
{
    renumbered_worker *w = worker;
    if (w && w->of->inner.worker_end)
        w->of->inner.worker_end(w->inner);
    free(w);
}

static void *begin_renumbered_block(void *worker, uint64_t index)
{
    const renumbered_worker *w = worker;
    void *inner = w ? w->of->inner.block_begin(w->inner, index) : NULL;
    renumbered_block *b = inner ? malloc(sizeof *b) : NULL;
    if (b)
        *b = (renumbered_block){w->of, inner, 0};
    else if (inner)
        w->of->inner.block_end(w->inner, inner, 0);
    return b;
}

static void end_renumbered_block(void *worker, void *block, uint64_t warp_instructions)
{
    const renumbered_worker *w = worker;
    renumbered_block *b = block;
    (void)warp_instructions; /* of lifted code */
    if (b)
        w->of->inner.block_end(w->inner, b->inner, b->instructions);
    free(b);
}

static void renumber_access(void *block, const acc_request *request)
{
    const renumbered_block *b = block;
    acc_request told = *request;
    told.pc = b->of->body->insn_of[request->pc];
    if (request->space != ACC_CONST)
        b->of->inner.access(b->inner, &told);
}

static void renumber_barrier(void *block, uint32_t pc)
{
    const renumbered_block *b = block;
    if (b->of->inner.barrier)
        b->of->inner.barrier(b->inner, b->of->body->insn_of[pc]);
}

static void renumber_entry(void *block, uint32_t warp, uint32_t pc, uint32_t mask)
{
    renumbered_block *b = block;
    const sass_body *body = b->of->body;
    for (uint32_t i = body->run_of[pc]; i < body->nruns && body->runs[i].begin == pc; i++) {
        b->instructions += b->of->lengths[body->runs[i].insn];
        if (b->of->inner.enter)
            b->of->inner.enter(b->inner, warp, body->runs[i].insn, mask);
    }
}

acc_observer replay_renumbered_observer(replay_renumbered *r)
{
    return (acc_observer){.ctx = r,
                          .worker_begin = begin_renumbered_worker,
                          .worker_end = end_renumbered_worker,
                          .block_begin = begin_renumbered_block,
                          .block_end = end_renumbered_block,
                          .access = renumber_access,
                          .barrier = renumber_barrier,
                          .enter = renumber_entry};
}
