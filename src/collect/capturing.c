/* Capture of streams: what is enqueued on a captured stream becomes a node of a graph. */
#include "collect/graph.h"

#include <stdlib.h>

enum { MODE_GLOBAL, MODE_THREAD_LOCAL, MODE_RELAXED };
enum { STREAM_NON_BLOCKING = 1 };

struct collect_capturing {
    struct collect_capturing *next;
    uint64_t id;
    collect_graph *graph;
    bool own_graph; /* made by the capture: destroyed where the capture fails */
    int mode;
    bool invalid;
    collect_stream *origin;
    uint32_t thread;
};

static collect_capturing *captures;

static bool push_all(collect_nodes *to, collect_node *const *nodes, size_t count)
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

static bool replace_all(collect_nodes *to, collect_node *const *nodes, size_t count)
{
    to->count = 0;
    return push_all(to, nodes, count);
}

/* ---- begin and end ---- */

collect_result collect_capture_begin(collect_stream *stream, int mode, collect_graph *graph,
                                     collect_node *const *needs, size_t count)
{
    if (mode < MODE_GLOBAL || mode > MODE_RELAXED)
        return COLLECT_INVALID_VALUE;
    if (stream->is_legacy)
        return COLLECT_CAPTURE_UNSUPPORTED;
    if (stream->capturing)
        return COLLECT_ILLEGAL_STATE;
    collect_capturing *c = calloc(1, sizeof *c);
    if (!c)
        return COLLECT_NOMEM;
    *c = (collect_capturing){.next = captures,
                             .id = ++collect_g.next_capture,
                             .graph = graph,
                             .own_graph = !graph,
                             .mode = mode,
                             .origin = stream,
                             .thread = collect_self()->number};
    collect_result r = graph ? COLLECT_OK : collect_graph_new(&c->graph);
    if (r || !replace_all(&stream->tail, needs, count)) {
        free(c);
        return r ? r : COLLECT_NOMEM;
    }
    captures = c;
    stream->capturing = c;
    return COLLECT_OK;
}

static void release_streams(const collect_capturing *c)
{
    for (collect_handle *h = collect_g.handles; h; h = h->hh.next) {
        collect_stream *stream = h->self;
        collect_event *event = h->self;
        if (h->kind == COLLECT_STREAM && stream->capturing == c) {
            stream->capturing = NULL;
            wl_vec_free(&stream->tail);
        } else if (h->kind == COLLECT_EVENT && event->capturing == c) {
            event->capturing = NULL;
            event->lost = c->invalid;
            wl_vec_free(&event->nodes);
        }
    }
}

static void finish(collect_capturing *c)
{
    release_streams(c);
    collect_capturing **at = &captures;
    while (*at != c)
        at = &(*at)->next;
    *at = c->next;
    free(c);
}

static bool reaches(const collect_node *from, const collect_node *node)
{
    if (from == node)
        return true;
    for (size_t i = 0; i < from->needs.count; i++)
        if (reaches(from->needs.data[i], node))
            return true;
    return false;
}

static bool joined(const collect_stream *stream, const collect_stream *origin)
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

static bool all_joined(const collect_capturing *c)
{
    for (collect_handle *h = collect_g.handles; h; h = h->hh.next) {
        const collect_stream *stream = h->self;
        if (h->kind == COLLECT_STREAM && stream->capturing == c && !joined(stream, c->origin))
            return false;
    }
    return true;
}

collect_result collect_capture_end(collect_stream *stream, collect_graph **graph)
{
    collect_capturing *c = stream->capturing;
    *graph = NULL;
    if (!c)
        return COLLECT_ILLEGAL_STATE;
    if (c->mode != MODE_RELAXED && c->thread != collect_self()->number)
        return COLLECT_CAPTURE_WRONG_THREAD;
    if (c->origin != stream)
        return collect_capture_invalidate(stream, COLLECT_CAPTURE_UNMATCHED);
    collect_result r = c->invalid      ? COLLECT_CAPTURE_INVALIDATED
                       : all_joined(c) ? COLLECT_OK
                                       : COLLECT_CAPTURE_UNJOINED;
    if (r == COLLECT_OK)
        *graph = c->graph;
    else if (c->own_graph)
        collect_graph_destroy(c->graph);
    finish(c);
    return r;
}

void collect_capture_leave(collect_stream *stream)
{
    collect_capturing *c = stream->capturing;
    if (!c)
        return;
    c->invalid = true;
    stream->capturing = NULL;
    wl_vec_free(&stream->tail);
    if (c->origin != stream)
        return;
    if (c->own_graph)
        collect_graph_destroy(c->graph);
    finish(c);
}

/* ---- what happens in between ---- */

static collect_node_type type_of(collect_op_kind kind)
{
    switch (kind) {
    case OP_COPY: return COLLECT_NODE_COPY;
    case OP_SET: return COLLECT_NODE_SET;
    case OP_LAUNCH: return COLLECT_NODE_KERNEL;
    case OP_HOST: return COLLECT_NODE_HOST;
    case OP_RECORD: return COLLECT_NODE_RECORD;
    case OP_WAIT: return COLLECT_NODE_WAIT;
    case OP_ALLOC: return COLLECT_NODE_ALLOC;
    case OP_FREE: return COLLECT_NODE_FREE;
    case OP_WRITE_VALUE:
    case OP_WAIT_VALUE: return COLLECT_NODE_VALUES;
    case OP_EMPTY: break;
    }
    return COLLECT_NODE_EMPTY;
}

static collect_result follow(collect_stream *stream, collect_node *node)
{
    return replace_all(&stream->tail, &node, 1) ? COLLECT_OK : COLLECT_NOMEM;
}

collect_result collect_capture_add(collect_call *call, collect_stream *stream, collect_op *op)
{
    (void)call;
    if (stream->capturing->invalid) {
        collect_op_unref(op);
        return COLLECT_CAPTURE_INVALIDATED;
    }
    collect_node *node;
    collect_result r = collect_node_add(stream->capturing->graph, stream->tail.data,
                                        stream->tail.count, type_of(op->kind), op, &node);
    return r ? r : follow(stream, node);
}

collect_result collect_capture_alloc(collect_call *call, collect_stream *stream, uint64_t size,
                                     collect_pool *pool, uint64_t *address)
{
    collect_node *node;
    (void)call;
    if (stream->capturing->invalid)
        return COLLECT_CAPTURE_INVALIDATED;
    collect_result r = collect_node_add_alloc(stream->capturing->graph, stream->tail.data,
                                              stream->tail.count, stream->context, size, pool,
                                              &node, address);
    return r ? r : follow(stream, node);
}

collect_result collect_capture_free(collect_call *call, collect_stream *stream, uint64_t address)
{
    collect_op *op = collect_op_new(OP_FREE, stream->context);
    if (!op)
        return COLLECT_NOMEM;
    op->alloc.address = address;
    return collect_capture_add(call, stream, op);
}

collect_result collect_capture_record(collect_stream *stream, collect_event *event)
{
    if (stream->capturing->invalid)
        return COLLECT_CAPTURE_INVALIDATED;
    event->capturing = stream->capturing;
    event->lost = false;
    bool ok = replace_all(&event->nodes, stream->tail.data, stream->tail.count);
    return ok ? COLLECT_OK : COLLECT_NOMEM;
}

collect_result collect_capture_wait(collect_stream *stream, collect_event *event)
{
    collect_capturing *c = event->capturing;
    if (!c) /* something outside of the capture */
        return collect_capture_invalidate(stream, COLLECT_CAPTURE_ISOLATION);
    if (c->invalid || (stream->capturing && stream->capturing->invalid))
        return COLLECT_CAPTURE_INVALIDATED;
    if (stream->is_legacy)
        return COLLECT_CAPTURE_IMPLICIT;
    if (stream->capturing && stream->capturing != c) {
        c->invalid = true;
        return collect_capture_invalidate(stream, COLLECT_CAPTURE_MERGE);
    }
    stream->capturing = c;
    bool ok = push_all(&stream->tail, event->nodes.data, event->nodes.count);
    return ok ? COLLECT_OK : COLLECT_NOMEM;
}

bool collect_capturing_lost(const collect_capturing *c)
{
    return c->invalid;
}

void collect_capturing_lose(collect_capturing *c)
{
    c->invalid = true;
}

collect_result collect_capture_invalidate(collect_stream *stream, collect_result result)
{
    stream->capturing->invalid = true;
    return result;
}

static bool forbids(const collect_capturing *c, const collect_thread *self)
{
    if (c->invalid || c->mode == MODE_RELAXED || self->capture_mode == MODE_RELAXED)
        return false;
    return c->mode == MODE_GLOBAL ? self->capture_mode == MODE_GLOBAL || c->thread == self->number
                                  : c->thread == self->number;
}

collect_result collect_capture_forbid(void)
{
    collect_result r = COLLECT_OK;
    for (collect_capturing *c = captures; c; c = c->next) {
        if (!forbids(c, collect_self()))
            continue;
        c->invalid = true;
        r = COLLECT_CAPTURE_UNSUPPORTED;
    }
    return r;
}

collect_result collect_capture_forbid_any(const collect_context *context)
{
    collect_result r = COLLECT_OK;
    for (collect_capturing *c = captures; c; c = c->next) {
        if (c->invalid || c->origin->context != context)
            continue;
        c->invalid = true;
        r = COLLECT_CAPTURE_UNSUPPORTED;
    }
    return r;
}

bool collect_capture_forbids_legacy(collect_stream *legacy)
{
    bool found = false;
    for (collect_handle *h = collect_g.handles; captures && h; h = h->hh.next) {
        collect_stream *stream = h->self;
        if (h->kind != COLLECT_STREAM || !stream->capturing || stream->context != legacy->context)
            continue;
        if (stream->is_per_thread || !(stream->flags & STREAM_NON_BLOCKING)) {
            stream->capturing->invalid = true;
            found = true;
        }
    }
    return found;
}

/* ---- questions ---- */

void collect_capture_describe(const collect_stream *stream, collect_capture_info *info)
{
    const collect_capturing *c = stream->capturing;
    *info = (collect_capture_info){.status = COLLECT_CAPTURE_NONE};
    if (!c)
        return;
    info->status = c->invalid ? COLLECT_CAPTURE_INVALID : COLLECT_CAPTURE_ACTIVE;
    info->id = c->id;
    info->graph = c->graph;
    info->needs = stream->tail.data;
    info->count = stream->tail.count;
}

collect_result collect_capture_depend(collect_stream *stream, collect_node *const *needs,
                                      size_t count, bool replace)
{
    if (!stream->capturing)
        return COLLECT_ILLEGAL_STATE;
    for (size_t i = 0; i < count; i++)
        if (!collect_is(needs[i], COLLECT_NODE) || needs[i]->graph != stream->capturing->graph)
            return COLLECT_INVALID_VALUE;
    bool ok = replace ? replace_all(&stream->tail, needs, count)
                      : push_all(&stream->tail, needs, count);
    return ok ? COLLECT_OK : COLLECT_NOMEM;
}
