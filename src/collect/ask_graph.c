#include "collect/ask.h"

collect_graph *collect_graph_of(void *handle)
{
    return collect_is(handle, COLLECT_GRAPH) ? handle : NULL;
}

collect_node *collect_node_of(void *handle)
{
    return collect_is(handle, COLLECT_NODE) ? handle : NULL;
}

collect_exec *collect_exec_of(void *handle)
{
    return collect_is(handle, COLLECT_EXEC) ? handle : NULL;
}

/* ---- graphs ---- */

collect_result collect_ask_new_graph(collect_graph **out, unsigned flags)
{
    return out && !flags ? collect_graph_new(out) : COLLECT_INVALID_VALUE;
}

collect_result collect_ask_destroy_graph(void *handle)
{
    collect_graph *graph = collect_graph_of(handle);
    if (!graph || graph->owner)
        return COLLECT_INVALID_VALUE;
    collect_graph_destroy(graph);
    return COLLECT_OK;
}

collect_result collect_ask_clone(collect_graph **out, void *graph)
{
    return out && collect_graph_of(graph) ? collect_graph_clone(graph, out) : COLLECT_INVALID_VALUE;
}

collect_result collect_ask_destroy_node(void *node)
{
    if (!collect_node_of(node))
        return COLLECT_INVALID_VALUE;
    collect_node_destroy(node);
    return COLLECT_OK;
}

collect_result collect_ask_node_type(void *handle, int *type)
{
    collect_node *node = collect_node_of(handle);
    if (!node || !type)
        return COLLECT_INVALID_VALUE;
    *type = (int)node->type;
    return COLLECT_OK;
}

collect_result collect_ask_child(void *handle, collect_graph **out)
{
    collect_node *node = collect_node_of(handle);
    if (!out || !node || !node->child)
        return COLLECT_INVALID_VALUE;
    *out = node->child;
    return COLLECT_OK;
}

collect_result collect_ask_in_clone(collect_node **out, void *original, void *clone)
{
    collect_graph *graph = collect_graph_of(clone);
    for (size_t i = 0; out && graph && i < graph->nodes.count; i++) {
        if (graph->nodes.data[i]->clone != original)
            continue;
        *out = graph->nodes.data[i];
        return COLLECT_OK;
    }
    return COLLECT_INVALID_VALUE;
}

/* ---- lists ---- */

/* The nodes of the graph that `wanted` holds for, in order. */
static collect_result some_nodes(const collect_graph *graph, const collect_node *other,
                                 bool (*wanted)(const collect_node *node,
                                                const collect_node *other),
                                 collect_node **list, size_t *room)
{
    size_t found = 0;
    if (!graph || !room)
        return COLLECT_INVALID_VALUE;
    for (size_t i = 0; i < graph->nodes.count; i++) {
        if (!wanted(graph->nodes.data[i], other))
            continue;
        if (list && found < *room)
            list[found] = graph->nodes.data[i];
        found++;
    }
    for (size_t i = found; list && i < *room; i++)
        list[i] = NULL;
    if (!list || *room > found)
        *room = found;
    return COLLECT_OK;
}

static bool is_any(const collect_node *node, const collect_node *other)
{
    (void)node, (void)other;
    return true;
}

static bool is_root(const collect_node *node, const collect_node *other)
{
    (void)other;
    return node->needs.count == 0;
}

static bool is_before(const collect_node *node, const collect_node *other)
{
    return collect_node_needs(other, node);
}

static const collect_graph *graph_with(void *node)
{
    return collect_node_of(node) ? collect_node_of(node)->graph : NULL;
}

collect_result collect_ask_nodes(void *graph, collect_node **list, size_t *room)
{
    return some_nodes(collect_graph_of(graph), NULL, is_any, list, room);
}

collect_result collect_ask_roots(void *graph, collect_node **list, size_t *room)
{
    return some_nodes(collect_graph_of(graph), NULL, is_root, list, room);
}

collect_result collect_ask_before(void *node, collect_node **list, size_t *room)
{
    return some_nodes(graph_with(node), node, is_before, list, room);
}

collect_result collect_ask_after(void *node, collect_node **list, size_t *room)
{
    return some_nodes(graph_with(node), node, collect_node_needs, list, room);
}

collect_result collect_ask_edges(void *handle, collect_node **from, collect_node **to, size_t *room)
{
    collect_graph *graph = collect_graph_of(handle);
    size_t n = 0;
    if (!graph || !room || !from != !to)
        return COLLECT_INVALID_VALUE;
    for (size_t i = 0; i < graph->nodes.count; i++) {
        collect_node *node = graph->nodes.data[i];
        for (size_t k = 0; k < node->needs.count; k++, n++) {
            if (!from || n >= *room)
                continue;
            from[n] = node->needs.data[k];
            to[n] = node;
        }
    }
    if (!from || *room > n)
        *room = n;
    return COLLECT_OK;
}

collect_result collect_ask_change_edges(void *graph, collect_node *const *from,
                                        collect_node *const *to, size_t count,
                                        collect_result (*change)(collect_node *, collect_node *))
{
    collect_result r = collect_graph_of(graph) && (!count || (from && to)) ? COLLECT_OK
                                                                           : COLLECT_INVALID_VALUE;
    for (size_t i = 0; i < count && r == COLLECT_OK; i++) {
        bool here = graph_with(from[i]) == graph && graph_with(to[i]) == graph;
        r = here ? change(from[i], to[i]) : COLLECT_INVALID_VALUE;
    }
    return r;
}

/* ---- what nodes do ---- */

static collect_result new_op(collect_call *call, collect_op_kind kind, collect_op **op)
{
    *op = collect_op_new(kind, call->context);
    return *op ? COLLECT_OK : COLLECT_NOMEM;
}

collect_result collect_ask_add_child(void *graph, collect_node *const *needs, size_t count,
                                     void *child, collect_node **node)
{
    return collect_graph_of(child) && child != graph
               ? collect_node_add_child(graph, needs, count, child, node)
               : COLLECT_INVALID_VALUE;
}

collect_result collect_ask_copy_op(collect_call *call, const collect_copy *copy, collect_op **op)
{
    collect_copy checked = *copy;
    bool empty = !copy->width || !copy->height || !copy->depth;
    collect_result r = empty ? COLLECT_OK : collect_copy_check(&checked);
    if (r == COLLECT_OK)
        r = new_op(call, empty ? OP_EMPTY : OP_COPY, op);
    if (r == COLLECT_OK)
        (*op)->copy = checked;
    return r;
}

collect_result collect_ask_set_op(collect_call *call, const collect_set *set, collect_op **op)
{
    collect_result r = set->width && set->height ? collect_set_check(set) : COLLECT_INVALID_VALUE;
    if (r == COLLECT_OK)
        r = new_op(call, OP_SET, op);
    if (r == COLLECT_OK)
        (*op)->set = *set;
    return r;
}

collect_result collect_ask_host_op(collect_call *call, void (*function)(void *), void *data,
                                   collect_op **op)
{
    collect_result r = function ? new_op(call, OP_HOST, op) : COLLECT_INVALID_VALUE;
    if (r == COLLECT_OK)
        (*op)->host = (collect_host){
            .kind = COLLECT_HOST_FUNCTION, .function = function, .data = data};
    return r;
}

collect_result collect_ask_event_op(collect_call *call, collect_op_kind kind, void *event,
                                    collect_op **op)
{
    collect_result r = collect_event_of(event) ? new_op(call, kind, op) : COLLECT_INVALID_HANDLE;
    if (r == COLLECT_OK)
        (*op)->event.event = event;
    return r;
}

collect_result collect_ask_node(void *handle, int type, collect_node **node)
{
    *node = collect_node_of(handle);
    return *node && (int)(*node)->type == type ? COLLECT_OK : COLLECT_INVALID_VALUE;
}

collect_result collect_ask_step(void *exec, void *node, int type, collect_step **step)
{
    *step = collect_exec_of(exec) ? collect_exec_step(exec, node) : NULL;
    return *step && (int)(*step)->type == type ? COLLECT_OK : COLLECT_INVALID_VALUE;
}

/* ---- instances ---- */

collect_result collect_ask_instantiate(collect_exec **out, void *graph, unsigned long long flags)
{
    enum { KNOWN = 15, ON_DEVICE = 4 }; /* CUgraphInstantiate_flags */
    if (!out || !collect_graph_of(graph) || flags & ~(unsigned long long)KNOWN)
        return COLLECT_INVALID_VALUE;
    if (flags & ON_DEVICE)
        return collect_unsupported_part("graphs launched from the device");
    return collect_exec_new(graph, flags, out);
}

collect_result collect_ask_destroy_exec(void *exec)
{
    if (!collect_exec_of(exec))
        return COLLECT_INVALID_VALUE;
    collect_exec_destroy(exec);
    return COLLECT_OK;
}

collect_result collect_ask_launch(collect_call *call, void *exec, void *handle, bool per_thread)
{
    collect_stream *stream;
    collect_result r = collect_stream_get(call, handle, per_thread, &stream);
    if (r == COLLECT_OK && !collect_exec_of(exec))
        r = COLLECT_INVALID_VALUE;
    return r ? r : collect_exec_launch(call, exec, stream);
}

collect_result collect_ask_upload(collect_call *call, void *exec, void *handle, bool per_thread)
{
    collect_stream *stream;
    collect_result r = collect_stream_get(call, handle, per_thread, &stream);
    return r ? r : collect_exec_of(exec) ? COLLECT_OK : COLLECT_INVALID_VALUE;
}

collect_result collect_ask_update(void *exec, void *graph, collect_node **differs)
{
    const collect_node *node = NULL;
    *differs = NULL;
    if (!collect_exec_of(exec) || !collect_graph_of(graph))
        return COLLECT_INVALID_VALUE;
    collect_result r = collect_exec_update(exec, graph, &node);
    *differs = (collect_node *)(uintptr_t)node;
    return r;
}

collect_result collect_ask_update_child(void *exec, void *handle, void *graph)
{
    const collect_node *node = collect_node_of(handle);
    if (!collect_exec_of(exec) || !collect_graph_of(graph) || !node || !node->child)
        return COLLECT_INVALID_VALUE;
    return collect_exec_update_child(exec, node, graph);
}

collect_result collect_ask_exec_flags(void *exec, unsigned long long *flags)
{
    if (!collect_exec_of(exec) || !flags)
        return COLLECT_INVALID_VALUE;
    *flags = collect_exec_of(exec)->flags;
    return COLLECT_OK;
}

static collect_step *optional_step(void *exec, void *node)
{
    collect_step *step = collect_exec_of(exec) ? collect_exec_step(exec, node) : NULL;
    return step && step->type <= COLLECT_NODE_SET ? step : NULL;
}

collect_result collect_ask_enabled(void *exec, void *node, unsigned *enabled)
{
    collect_step *step = optional_step(exec, node);
    if (!step || !enabled)
        return COLLECT_INVALID_VALUE;
    *enabled = step->enabled;
    return COLLECT_OK;
}

collect_result collect_ask_enable(void *exec, void *node, bool enabled)
{
    collect_step *step = optional_step(exec, node);
    if (!step)
        return COLLECT_INVALID_VALUE;
    step->enabled = enabled;
    return COLLECT_OK;
}
