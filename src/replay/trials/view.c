/* An observer that changes addresses before another one sees them. */
#include "replay/trials/view.h"

#include <stdlib.h>

typedef struct viewed { /* a worker, or a block */
    const trial_view *view;
    void *inner;
} viewed;

static viewed *new_viewed(const trial_view *view, void *inner)
{
    viewed *v = malloc(sizeof *v);
    if (v)
        *v = (viewed){view, inner};
    return v;
}

static void *begin_viewed_worker(void *ctx, uint32_t number)
{
    const trial_view *view = ctx;
    return new_viewed(view, view->inner->worker_begin(view->inner->ctx, number));
}

static void end_viewed_worker(void *worker)
{
    viewed *w = worker;
    if (w && w->view->inner->worker_end)
        w->view->inner->worker_end(w->inner);
    free(w);
}

static void *begin_viewed_block(void *worker, uint64_t block)
{
    const viewed *w = worker;
    void *inner = w ? w->view->inner->block_begin(w->inner, block) : NULL;
    return inner ? new_viewed(w->view, inner) : NULL;
}

static void end_viewed_block(void *worker, void *block, uint64_t warp_instructions)
{
    const viewed *w = worker;
    viewed *b = block;
    if (b)
        w->view->inner->block_end(w->inner, b->inner, warp_instructions);
    free(b);
}

static int64_t stride_of(const uint64_t *addr, uint32_t mask)
{
    int64_t stride = (int64_t)(addr[1] - addr[0]);
    if (mask != UINT32_MAX)
        return ACC_IRREGULAR;
    for (uint32_t lane = 2; lane < ACC_LANES; lane++)
        if ((int64_t)(addr[lane] - addr[lane - 1]) != stride)
            return ACC_IRREGULAR;
    return stride;
}

static void show_viewed(void *block, const acc_request *request)
{
    const viewed *b = block;
    acc_request changed = *request;
    uint64_t addr[ACC_LANES] = {0};
    if (!b->view->change(b->view->how, request, addr, &changed.mask))
        return;
    changed.addr = addr;
    changed.stride = stride_of(addr, changed.mask);
    b->view->inner->access(b->inner, &changed);
}

acc_observer trial_view_observer(const trial_view *view)
{
    return (acc_observer){.ctx = (void *)view,
                          .worker_begin = begin_viewed_worker,
                          .worker_end = end_viewed_worker,
                          .block_begin = begin_viewed_block,
                          .block_end = end_viewed_block,
                          .access = show_viewed};
}
