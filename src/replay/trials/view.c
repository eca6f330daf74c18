/* An observer that changes requests before another one sees them. */
#include "replay/trials/view.h"

#include <stdlib.h>

typedef struct viewed { /* a worker, or a block */
    const trial_view *view;
    void *inner;
    trial_log log; /* of a block that is shown as a whole */
} viewed;

static viewed *new_viewed(const trial_view *view, void *inner)
{
    viewed *v = malloc(sizeof *v);
    if (v)
        *v = (viewed){.view = view, .inner = inner};
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
    if (!b)
        return;
    if (b->view->redo)
        b->view->redo(b->view->how, &b->log, &(trial_shown){b->view->inner, b->inner});
    w->view->inner->block_end(w->inner, b->inner, warp_instructions);
    trial_log_clear(&b->log);
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

void trial_show(const trial_shown *to, const acc_request *request)
{
    acc_request shown = *request;
    shown.stride = stride_of(request->addr, request->mask);
    to->inner->access(to->block, &shown);
}

static void show_changed(const viewed *b, const acc_request *request)
{
    acc_request changed = *request;
    uint64_t addr[ACC_LANES] = {0};
    if (!b->view->change(b->view->how, request, addr, &changed.mask))
        return;
    changed.addr = addr;
    trial_show(&(trial_shown){b->view->inner, b->inner}, &changed);
}

static void show_viewed(void *block, const acc_request *request)
{
    viewed *b = block;
    if (!b->view->redo)
        show_changed(b, request);
    else if (b->view->choose(b->view->how, request))
        trial_log_add(&b->log, request);
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
