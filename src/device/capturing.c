/* Capture of streams: what is enqueued on a captured stream becomes a node of a graph. */
#include "device/graph_impl.h"

#include <stdlib.h>

enum { MODE_GLOBAL, MODE_THREAD_LOCAL, MODE_RELAXED };
enum { STREAM_NON_BLOCKING = 1 };

struct dev_capturing {
    struct dev_capturing *next;
    uint64_t id;
    dev_graph *graph;
    bool own_graph; /* made by the capture: destroyed where the capture fails */
    int mode;
    bool invalid;
    dev_stream *origin;
    uint32_t thread;
};

static dev_capturing *captures;

static bool push_all(dev_nodes *to, dev_node *const *nodes, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        bool there = false;
        for (size_t k = 0; k < to->count; k++)
            there |= to->data[k] == nodes[i];
        if (!there && !wl_push(to, nodes[i]))
            return false;
    }
    return true;
}

static bool replace_all(dev_nodes *to, dev_node *const *nodes, size_t count)
{
    to->count = 0;
    return push_all(to, nodes, count);
}

/* ---- begin and end ---- */

/* Not yet among `captures`; NULL when memory is exhausted. */
static dev_capturing *new_capture(dev_stream *stream, int mode, dev_graph *graph)
{
    dev_capturing *c = calloc(1, sizeof *c);
    if (!c)
        return NULL;
    *c = (dev_capturing){.next = captures,
                         .id = ++dev_g.next_capture,
                         .graph = graph,
                         .own_graph = !graph,
                         .mode = mode,
                         .origin = stream,
                         .thread = dev_self()->number};
    if (graph || dev_graph_new(&c->graph) == DEV_OK)
        return c;
    free(c);
    return NULL;
}

dev_result dev_capture_begin(dev_stream *stream, int mode, dev_graph *graph, dev_node *const *needs,
                             size_t count)
{
    if (mode < MODE_GLOBAL || mode > MODE_RELAXED)
        return DEV_INVALID_VALUE;
    if (stream->is_legacy)
        return DEV_CAPTURE_UNSUPPORTED;
    if (stream->capturing)
        return DEV_ILLEGAL_STATE;
    dev_capturing *c = new_capture(stream, mode, graph);
    if (!c || !replace_all(&stream->tail, needs, count)) {
        free(c);
        return DEV_NOMEM;
    }
    captures = c;
    stream->capturing = c;
    return DEV_OK;
}

static void release_streams(const dev_capturing *c)
{
    for (dev_handle *h = dev_g.handles; h; h = h->hh.next) {
        dev_stream *stream = h->self;
        dev_event *event = h->self;
        if (h->kind == DEV_STREAM && stream->capturing == c) {
            stream->capturing = NULL;
            wl_vec_free(&stream->tail);
        } else if (h->kind == DEV_EVENT && event->capturing == c) {
            event->capturing = NULL;
            event->lost = c->invalid;
            wl_vec_free(&event->nodes);
        }
    }
}

static void finish_capture(dev_capturing *c)
{
    release_streams(c);
    dev_capturing **at = &captures;
    while (*at != c)
        at = &(*at)->next;
    *at = c->next;
    free(c);
}

static bool reaches(const dev_node *from, const dev_node *node)
{
    if (from == node)
        return true;
    for (size_t i = 0; i < from->needs.count; i++)
        if (reaches(from->needs.data[i], node))
            return true;
    return false;
}

static bool is_joined(const dev_stream *stream, const dev_stream *origin)
{
    for (size_t i = 0; i < stream->tail.count; i++) {
        bool found = false;
        for (size_t k = 0; k < origin->tail.count && !found; k++)
            found = reaches(origin->tail.data[k], stream->tail.data[i]);
        if (!found)
            return false;
    }
    return true;
}

static bool all_joined(const dev_capturing *c)
{
    for (dev_handle *h = dev_g.handles; h; h = h->hh.next) {
        const dev_stream *stream = h->self;
        if (h->kind == DEV_STREAM && stream->capturing == c && !is_joined(stream, c->origin))
            return false;
    }
    return true;
}

dev_result dev_capture_end(dev_stream *stream, dev_graph **graph)
{
    dev_capturing *c = stream->capturing;
    *graph = NULL;
    if (!c)
        return DEV_ILLEGAL_STATE;
    if (c->mode != MODE_RELAXED && c->thread != dev_self()->number)
        return DEV_CAPTURE_WRONG_THREAD;
    if (c->origin != stream)
        return dev_capture_invalidate(stream, DEV_CAPTURE_UNMATCHED);
    dev_result r = c->invalid      ? DEV_CAPTURE_INVALIDATED
                   : all_joined(c) ? DEV_OK
                                   : DEV_CAPTURE_UNJOINED;
    if (r == DEV_OK)
        *graph = c->graph;
    else if (c->own_graph)
        dev_graph_destroy(c->graph);
    finish_capture(c);
    return r;
}

void dev_capture_leave(dev_stream *stream)
{
    dev_capturing *c = stream->capturing;
    if (!c)
        return;
    c->invalid = true;
    stream->capturing = NULL;
    wl_vec_free(&stream->tail);
    if (c->origin != stream)
        return;
    if (c->own_graph)
        dev_graph_destroy(c->graph);
    finish_capture(c);
}

/* ---- what happens in between ---- */

static dev_node_type node_type_of_op(dev_op_kind kind)
{
    switch (kind) {
    case OP_COPY: return DEV_NODE_COPY;
    case OP_SET: return DEV_NODE_SET;
    case OP_LAUNCH: return DEV_NODE_KERNEL;
    case OP_HOST: return DEV_NODE_HOST;
    case OP_RECORD: return DEV_NODE_RECORD;
    case OP_WAIT: return DEV_NODE_WAIT;
    case OP_ALLOC: return DEV_NODE_ALLOC;
    case OP_FREE: return DEV_NODE_FREE;
    case OP_WRITE_VALUE:
    case OP_WAIT_VALUE: return DEV_NODE_VALUES;
    case OP_EMPTY: break;
    }
    return DEV_NODE_EMPTY;
}

static dev_result follow_node(dev_stream *stream, dev_node *node)
{
    return replace_all(&stream->tail, &node, 1) ? DEV_OK : DEV_NOMEM;
}

dev_result dev_capture_add(dev_call *call, dev_stream *stream, dev_op *op)
{
    (void)call;
    if (stream->capturing->invalid) {
        dev_op_unref(op);
        return DEV_CAPTURE_INVALIDATED;
    }
    dev_node *node;
    dev_result r = dev_node_add_op(stream->capturing->graph, stream->tail.data, stream->tail.count,
                                   node_type_of_op(op->kind), op, &node);
    return r ? r : follow_node(stream, node);
}

dev_result dev_capture_alloc(dev_call *call, dev_stream *stream, uint64_t size, dev_pool *pool,
                             uint64_t *address)
{
    dev_node *node;
    (void)call;
    if (stream->capturing->invalid)
        return DEV_CAPTURE_INVALIDATED;
    dev_result r = dev_node_add_alloc(stream->capturing->graph, stream->tail.data,
                                      stream->tail.count, stream->context, size, pool, &node,
                                      address);
    return r ? r : follow_node(stream, node);
}

dev_result dev_capture_free(dev_call *call, dev_stream *stream, uint64_t address)
{
    dev_op *op = dev_op_new(OP_FREE, stream->context);
    if (!op)
        return DEV_NOMEM;
    op->alloc.address = address;
    return dev_capture_add(call, stream, op);
}

dev_result dev_capture_record(dev_stream *stream, dev_event *event)
{
    if (stream->capturing->invalid)
        return DEV_CAPTURE_INVALIDATED;
    event->capturing = stream->capturing;
    event->lost = false;
    bool ok = replace_all(&event->nodes, stream->tail.data, stream->tail.count);
    return ok ? DEV_OK : DEV_NOMEM;
}

dev_result dev_capture_wait(dev_stream *stream, dev_event *event)
{
    dev_capturing *c = event->capturing;
    if (!c) /* something outside of the capture */
        return dev_capture_invalidate(stream, DEV_CAPTURE_ISOLATION);
    if (c->invalid || (stream->capturing && stream->capturing->invalid))
        return DEV_CAPTURE_INVALIDATED;
    if (stream->is_legacy)
        return DEV_CAPTURE_IMPLICIT;
    if (stream->capturing && stream->capturing != c) {
        c->invalid = true;
        return dev_capture_invalidate(stream, DEV_CAPTURE_MERGE);
    }
    stream->capturing = c;
    bool ok = push_all(&stream->tail, event->nodes.data, event->nodes.count);
    return ok ? DEV_OK : DEV_NOMEM;
}

bool dev_capturing_lost(const dev_capturing *c)
{
    return c->invalid;
}

void dev_capturing_lose(dev_capturing *c)
{
    c->invalid = true;
}

dev_result dev_capture_invalidate(dev_stream *stream, dev_result result)
{
    stream->capturing->invalid = true;
    return result;
}

static bool forbids_call(const dev_capturing *c, const dev_thread *self)
{
    if (c->invalid || c->mode == MODE_RELAXED || self->capture_mode == MODE_RELAXED)
        return false;
    return c->mode == MODE_GLOBAL ? self->capture_mode == MODE_GLOBAL || c->thread == self->number
                                  : c->thread == self->number;
}

dev_result dev_capture_forbid(void)
{
    dev_result r = DEV_OK;
    for (dev_capturing *c = captures; c; c = c->next) {
        if (!forbids_call(c, dev_self()))
            continue;
        c->invalid = true;
        r = DEV_CAPTURE_UNSUPPORTED;
    }
    return r;
}

dev_result dev_capture_forbid_any(const dev_context *context)
{
    dev_result r = DEV_OK;
    for (dev_capturing *c = captures; c; c = c->next) {
        if (c->invalid || c->origin->context != context)
            continue;
        c->invalid = true;
        r = DEV_CAPTURE_UNSUPPORTED;
    }
    return r;
}

bool dev_capture_forbids_legacy(dev_stream *legacy)
{
    bool found = false;
    for (dev_handle *h = dev_g.handles; captures && h; h = h->hh.next) {
        dev_stream *stream = h->self;
        if (h->kind != DEV_STREAM || !stream->capturing || stream->context != legacy->context)
            continue;
        if (stream->is_per_thread || !(stream->flags & STREAM_NON_BLOCKING)) {
            stream->capturing->invalid = true;
            found = true;
        }
    }
    return found;
}

/* ---- questions ---- */

void dev_capture_describe(const dev_stream *stream, dev_capture_info *info)
{
    const dev_capturing *c = stream->capturing;
    *info = (dev_capture_info){.status = DEV_CAPTURE_NONE};
    if (!c)
        return;
    info->status = c->invalid ? DEV_CAPTURE_INVALID : DEV_CAPTURE_ACTIVE;
    info->id = c->id;
    info->graph = c->graph;
    info->needs = stream->tail.data;
    info->count = stream->tail.count;
}

dev_result dev_capture_depend(dev_stream *stream, dev_node *const *needs, size_t count,
                              bool replace)
{
    if (!stream->capturing)
        return DEV_ILLEGAL_STATE;
    for (size_t i = 0; i < count; i++)
        if (!dev_is(needs[i], DEV_NODE) || needs[i]->graph != stream->capturing->graph)
            return DEV_INVALID_VALUE;
    bool ok = replace ? replace_all(&stream->tail, needs, count)
                      : push_all(&stream->tail, needs, count);
    return ok ? DEV_OK : DEV_NOMEM;
}
