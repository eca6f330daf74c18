#include "api/both/ask.h"

dev_graph *api_graph_of(void *handle)
{
    return dev_is(handle, DEV_GRAPH) ? handle : NULL;
}

dev_node *api_node_of(void *handle)
{
    return dev_is(handle, DEV_NODE) ? handle : NULL;
}

dev_exec *api_exec_of(void *handle)
{
    return dev_is(handle, DEV_EXEC) ? handle : NULL;
}

/* ---- graphs ---- */

dev_result api_new_graph(dev_graph **out, unsigned flags)
{
    return out && !flags ? dev_graph_new(out) : DEV_INVALID_VALUE;
}

dev_result api_destroy_graph(void *handle)
{
    dev_graph *graph = api_graph_of(handle);
    if (!graph || graph->owner)
        return DEV_INVALID_VALUE;
    dev_graph_destroy(graph);
    return DEV_OK;
}

dev_result api_clone(dev_graph **out, void *graph)
{
    return out && api_graph_of(graph) ? dev_graph_clone(graph, out) : DEV_INVALID_VALUE;
}

dev_result api_destroy_node(void *node)
{
    if (!api_node_of(node))
        return DEV_INVALID_VALUE;
    dev_node_destroy(node);
    return DEV_OK;
}

dev_result api_node_type(void *handle, int *type)
{
    dev_node *node = api_node_of(handle);
    if (!node || !type)
        return DEV_INVALID_VALUE;
    *type = (int)node->type;
    return DEV_OK;
}

dev_result api_child(void *handle, dev_graph **out)
{
    dev_node *node = api_node_of(handle);
    if (!out || !node || !node->child)
        return DEV_INVALID_VALUE;
    *out = node->child;
    return DEV_OK;
}

dev_result api_in_clone(dev_node **out, void *original, void *clone)
{
    dev_graph *graph = api_graph_of(clone);
    for (size_t i = 0; out && graph && i < graph->nodes.count; i++) {
        if (graph->nodes.data[i]->clone != original)
            continue;
        *out = graph->nodes.data[i];
        return DEV_OK;
    }
    return DEV_INVALID_VALUE;
}

/* ---- lists ---- */

/* The nodes of the graph that `wanted` holds for, in order. */
static dev_result some_nodes(const dev_graph *graph, const dev_node *other,
                             bool (*wanted)(const dev_node *node, const dev_node *other),
                             dev_node **list, size_t *room)
{
    size_t found = 0;
    if (!graph || !room)
        return DEV_INVALID_VALUE;
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
    return DEV_OK;
}

static bool is_any(const dev_node *node, const dev_node *other)
{
    (void)node, (void)other;
    return true;
}

static bool is_root(const dev_node *node, const dev_node *other)
{
    (void)other;
    return node->needs.count == 0;
}

static bool is_before(const dev_node *node, const dev_node *other)
{
    return dev_node_needs(other, node);
}

static const dev_graph *graph_with(void *node)
{
    return api_node_of(node) ? api_node_of(node)->graph : NULL;
}

dev_result api_nodes(void *graph, dev_node **list, size_t *room)
{
    return some_nodes(api_graph_of(graph), NULL, is_any, list, room);
}

dev_result api_roots(void *graph, dev_node **list, size_t *room)
{
    return some_nodes(api_graph_of(graph), NULL, is_root, list, room);
}

dev_result api_before(void *node, dev_node **list, size_t *room)
{
    return some_nodes(graph_with(node), node, is_before, list, room);
}

dev_result api_after(void *node, dev_node **list, size_t *room)
{
    return some_nodes(graph_with(node), node, dev_node_needs, list, room);
}

dev_result api_edges(void *handle, dev_node **from, dev_node **to, size_t *room)
{
    dev_graph *graph = api_graph_of(handle);
    size_t n = 0;
    if (!graph || !room || !from != !to)
        return DEV_INVALID_VALUE;
    for (size_t i = 0; i < graph->nodes.count; i++) {
        dev_node *node = graph->nodes.data[i];
        for (size_t k = 0; k < node->needs.count; k++, n++) {
            if (!from || n >= *room)
                continue;
            from[n] = node->needs.data[k];
            to[n] = node;
        }
    }
    if (!from || *room > n)
        *room = n;
    return DEV_OK;
}

dev_result api_change_edges(void *graph, dev_node *const *from, dev_node *const *to, size_t count,
                            dev_result (*change)(dev_node *, dev_node *))
{
    dev_result r = api_graph_of(graph) && (!count || (from && to)) ? DEV_OK : DEV_INVALID_VALUE;
    for (size_t i = 0; i < count && r == DEV_OK; i++) {
        bool here = graph_with(from[i]) == graph && graph_with(to[i]) == graph;
        r = here ? change(from[i], to[i]) : DEV_INVALID_VALUE;
    }
    return r;
}

/* ---- what nodes do ---- */

static dev_result new_op(dev_call *call, dev_op_kind kind, dev_op **op)
{
    *op = dev_op_new(kind, call->context);
    return *op ? DEV_OK : DEV_NOMEM;
}

dev_result api_add_child(void *graph, dev_node *const *needs, size_t count, void *child,
                         dev_node **node)
{
    return api_graph_of(child) && child != graph
               ? dev_node_add_child(graph, needs, count, child, node)
               : DEV_INVALID_VALUE;
}

dev_result api_copy_op(dev_call *call, const dev_copy *copy, dev_op **op)
{
    dev_copy checked = *copy;
    bool empty = !copy->width || !copy->height || !copy->depth;
    dev_result r = empty ? DEV_OK : dev_copy_check(&checked);
    if (r == DEV_OK)
        r = new_op(call, empty ? OP_EMPTY : OP_COPY, op);
    if (r == DEV_OK)
        (*op)->copy = checked;
    return r;
}

dev_result api_set_op(dev_call *call, const dev_set *set, dev_op **op)
{
    dev_result r = set->width && set->height ? dev_set_check(set) : DEV_INVALID_VALUE;
    if (r == DEV_OK)
        r = new_op(call, OP_SET, op);
    if (r == DEV_OK)
        (*op)->set = *set;
    return r;
}

dev_result api_host_op(dev_call *call, void (*function)(void *), void *data, dev_op **op)
{
    dev_result r = function ? new_op(call, OP_HOST, op) : DEV_INVALID_VALUE;
    if (r == DEV_OK)
        (*op)->host = (dev_host){.kind = DEV_HOST_FUNCTION, .function = function, .data = data};
    return r;
}

dev_result api_event_op(dev_call *call, dev_op_kind kind, void *event, dev_op **op)
{
    dev_result r = api_event_of(event) ? new_op(call, kind, op) : DEV_INVALID_HANDLE;
    if (r == DEV_OK)
        (*op)->event.event = event;
    return r;
}

dev_result api_node(void *handle, int type, dev_node **node)
{
    *node = api_node_of(handle);
    return *node && (int)(*node)->type == type ? DEV_OK : DEV_INVALID_VALUE;
}

dev_result api_exec_step(void *exec, void *node, int type, dev_step **step)
{
    *step = api_exec_of(exec) ? dev_exec_step(exec, node) : NULL;
    return *step && (int)(*step)->type == type ? DEV_OK : DEV_INVALID_VALUE;
}

/* ---- instances ---- */

dev_result api_instantiate(dev_exec **out, void *graph, unsigned long long flags)
{
    enum { KNOWN = 15, ON_DEVICE = 4 }; /* CUgraphInstantiate_flags */
    if (!out || !api_graph_of(graph) || flags & ~(unsigned long long)KNOWN)
        return DEV_INVALID_VALUE;
    if (flags & ON_DEVICE)
        return dev_unsupported_part("graphs launched from the device");
    return dev_exec_new(graph, flags, out);
}

dev_result api_destroy_exec(void *exec)
{
    if (!api_exec_of(exec))
        return DEV_INVALID_VALUE;
    dev_exec_destroy(exec);
    return DEV_OK;
}

dev_result api_launch(dev_call *call, void *exec, void *handle, bool per_thread)
{
    dev_stream *stream;
    dev_result r = dev_stream_get(call, handle, per_thread, &stream);
    if (r == DEV_OK && !api_exec_of(exec))
        r = DEV_INVALID_VALUE;
    return r ? r : dev_exec_launch(call, exec, stream);
}

dev_result api_upload(dev_call *call, void *exec, void *handle, bool per_thread)
{
    dev_stream *stream;
    dev_result r = dev_stream_get(call, handle, per_thread, &stream);
    return r ? r : api_exec_of(exec) ? DEV_OK : DEV_INVALID_VALUE;
}

dev_result api_update(void *exec, void *graph, dev_node **differs)
{
    const dev_node *node = NULL;
    *differs = NULL;
    if (!api_exec_of(exec) || !api_graph_of(graph))
        return DEV_INVALID_VALUE;
    dev_result r = dev_exec_update(exec, graph, &node);
    *differs = (dev_node *)(uintptr_t)node;
    return r;
}

dev_result api_update_child(void *exec, void *handle, void *graph)
{
    const dev_node *node = api_node_of(handle);
    if (!api_exec_of(exec) || !api_graph_of(graph) || !node || !node->child)
        return DEV_INVALID_VALUE;
    return dev_exec_update_child(exec, node, graph);
}

dev_result api_exec_flags(void *exec, unsigned long long *flags)
{
    if (!api_exec_of(exec) || !flags)
        return DEV_INVALID_VALUE;
    *flags = api_exec_of(exec)->flags;
    return DEV_OK;
}

static dev_step *optional_step(void *exec, void *node)
{
    dev_step *step = api_exec_of(exec) ? dev_exec_step(exec, node) : NULL;
    return step && step->type <= DEV_NODE_SET ? step : NULL;
}

dev_result api_enabled(void *exec, void *node, unsigned *enabled)
{
    dev_step *step = optional_step(exec, node);
    if (!step || !enabled)
        return DEV_INVALID_VALUE;
    *enabled = step->enabled;
    return DEV_OK;
}

dev_result api_enable(void *exec, void *node, bool enabled)
{
    dev_step *step = optional_step(exec, node);
    if (!step)
        return DEV_INVALID_VALUE;
    step->enabled = enabled;
    return DEV_OK;
}
