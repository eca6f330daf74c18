/* What both interfaces ask of graphs and their instances. */
#include "api/both/graph.h"

#include "cuda/types.h"

#include <string.h>

dev_graph *api_graph_of(CUgraph handle)
{
    return dev_is(handle, DEV_GRAPH) ? (dev_graph *)handle : NULL;
}

dev_node *api_node_of(CUgraphNode handle)
{
    return dev_is(handle, DEV_NODE) ? (dev_node *)handle : NULL;
}

dev_exec *api_exec_of(CUgraphExec handle)
{
    return dev_is(handle, DEV_EXEC) ? (dev_exec *)handle : NULL;
}

/* ---- graphs ---- */

dev_result api_new_graph(CUgraph *out, unsigned flags)
{
    return out && !flags ? dev_graph_new((dev_graph **)out) : DEV_INVALID_VALUE;
}

dev_result api_destroy_graph(CUgraph handle)
{
    dev_graph *graph = api_graph_of(handle);
    if (!graph || dev_graph_is_child(graph))
        return DEV_INVALID_VALUE;
    dev_graph_destroy(graph);
    return DEV_OK;
}

dev_result api_clone(CUgraph *out, CUgraph graph)
{
    return out && api_graph_of(graph) ? dev_graph_clone(api_graph_of(graph), (dev_graph **)out)
                                      : DEV_INVALID_VALUE;
}

dev_result api_destroy_node(CUgraphNode node)
{
    if (!api_node_of(node))
        return DEV_INVALID_VALUE;
    dev_node_destroy(api_node_of(node));
    return DEV_OK;
}

dev_result api_node_type(CUgraphNode handle, void *type)
{
    dev_node *node = api_node_of(handle);
    if (!node || !type)
        return DEV_INVALID_VALUE;
    *(int *)type = (int)dev_node_type_of(node);
    return DEV_OK;
}

dev_result api_child(CUgraphNode handle, CUgraph *out)
{
    dev_node *node = api_node_of(handle);
    if (!out || !node || !dev_node_child(node))
        return DEV_INVALID_VALUE;
    *out = (CUgraph)dev_node_child(node);
    return DEV_OK;
}

dev_result api_in_clone(CUgraphNode *out, CUgraphNode original, CUgraph clone)
{
    dev_graph *graph = api_graph_of(clone);
    for (size_t i = 0; out && graph && i < dev_graph_count(graph); i++) {
        dev_node *node = dev_graph_node(graph, i);
        if (dev_node_original(node) != (const dev_node *)original)
            continue;
        *out = (CUgraphNode)node;
        return DEV_OK;
    }
    return DEV_INVALID_VALUE;
}

/* ---- lists ---- */

/* The nodes of the graph that `wanted` holds for, in order. */
static dev_result some_nodes(const dev_graph *graph, const dev_node *other,
                             bool (*wanted)(const dev_node *node, const dev_node *other),
                             CUgraphNode *list, size_t *room)
{
    size_t found = 0;
    if (!graph || !room)
        return DEV_INVALID_VALUE;
    for (size_t i = 0; i < dev_graph_count(graph); i++) {
        dev_node *node = dev_graph_node(graph, i);
        if (!wanted(node, other))
            continue;
        if (list && found < *room)
            list[found] = (CUgraphNode)node;
        found++;
    }
    for (size_t i = found; list && i < *room; i++)
        list[i] = NULL;
    if (!list || *room > found)
        *room = found;
    return DEV_OK;
}

static bool is_any_node(const dev_node *node, const dev_node *other)
{
    (void)node, (void)other;
    return true;
}

static bool is_root(const dev_node *node, const dev_node *other)
{
    (void)other;
    return dev_node_need_count(node) == 0;
}

static bool is_before(const dev_node *node, const dev_node *other)
{
    return dev_node_needs(other, node);
}

static const dev_graph *graph_with(CUgraphNode node)
{
    return api_node_of(node) ? dev_node_graph(api_node_of(node)) : NULL;
}

dev_result api_nodes(CUgraph graph, CUgraphNode *list, size_t *room)
{
    return some_nodes(api_graph_of(graph), NULL, is_any_node, list, room);
}

static void clear_edges(CUgraphEdgeData *edges, const size_t *room)
{
    if (edges && room)
        memset(edges, 0, *room * sizeof *edges);
}

dev_result api_roots(CUgraph graph, CUgraphNode *list, size_t *room)
{
    return some_nodes(api_graph_of(graph), NULL, is_root, list, room);
}

dev_result api_before(CUgraphNode node, CUgraphNode *list, CUgraphEdgeData *edges, size_t *room)
{
    clear_edges(edges, room);
    return some_nodes(graph_with(node), api_node_of(node), is_before, list, room);
}

dev_result api_after(CUgraphNode node, CUgraphNode *list, CUgraphEdgeData *edges, size_t *room)
{
    clear_edges(edges, room);
    return some_nodes(graph_with(node), api_node_of(node), dev_node_needs, list, room);
}

dev_result api_edges(CUgraph handle, CUgraphNode *from, CUgraphNode *to, CUgraphEdgeData *edges,
                     size_t *room)
{
    dev_graph *graph = api_graph_of(handle);
    size_t n = 0;
    if (!graph || !room || !from != !to)
        return DEV_INVALID_VALUE;
    clear_edges(edges, room);
    for (size_t i = 0; i < dev_graph_count(graph); i++) {
        dev_node *node = dev_graph_node(graph, i);
        for (size_t k = 0; k < dev_node_need_count(node); k++, n++) {
            if (!from || n >= *room)
                continue;
            from[n] = (CUgraphNode)dev_node_need(node, k);
            to[n] = (CUgraphNode)node;
        }
    }
    if (!from || *room > n)
        *room = n;
    return DEV_OK;
}

dev_result api_change_edges(CUgraph graph, const CUgraphNode *from, const CUgraphNode *to,
                            size_t count, dev_result (*change)(dev_node *, dev_node *))
{
    dev_result r = api_graph_of(graph) && (!count || (from && to)) ? DEV_OK : DEV_INVALID_VALUE;
    for (size_t i = 0; i < count && r == DEV_OK; i++) {
        const dev_graph *own = api_graph_of(graph);
        bool here = graph_with(from[i]) == own && graph_with(to[i]) == own;
        r = here ? change(api_node_of(from[i]), api_node_of(to[i])) : DEV_INVALID_VALUE;
    }
    return r;
}

/* ---- instances ---- */

dev_result api_instantiate(CUgraphExec *out, CUgraph graph, unsigned long long flags)
{
    enum { KNOWN = 15, ON_DEVICE = 4 }; /* CUgraphInstantiate_flags */
    if (!out || !api_graph_of(graph) || flags & ~(unsigned long long)KNOWN)
        return DEV_INVALID_VALUE;
    if (flags & ON_DEVICE)
        return dev_unsupported_part("graphs launched from the device");
    return dev_exec_new(api_graph_of(graph), flags, (dev_exec **)out);
}

dev_result api_instantiate_logged(CUgraphExec *out, CUgraph graph, CUgraphNode *node, char *log,
                                  size_t size)
{
    if (node)
        *node = NULL;
    if (log && size)
        *log = '\0';
    return api_instantiate(out, graph, 0);
}

_Static_assert(offsetof(CUDA_GRAPH_INSTANTIATE_PARAMS, hErrNode_out) ==
                       offsetof(cudaGraphInstantiateParams, errNode_out) &&
                   offsetof(CUDA_GRAPH_INSTANTIATE_PARAMS, result_out) ==
                       offsetof(cudaGraphInstantiateParams, result_out),
               "parameters of instances differ between the interfaces");

dev_result api_instantiate_with(CUgraphExec *out, CUgraph graph,
                                CUDA_GRAPH_INSTANTIATE_PARAMS *params)
{
    enum { SUCCESS, FAILED }; /* CUgraphInstantiateResult */
    if (!params)
        return DEV_INVALID_VALUE;
    dev_result r = api_instantiate(out, graph, params->flags);
    params->hErrNode_out = NULL;
    params->result_out = r == DEV_OK ? SUCCESS : FAILED;
    return r;
}

dev_result api_destroy_exec(CUgraphExec exec)
{
    if (!api_exec_of(exec))
        return DEV_INVALID_VALUE;
    dev_exec_destroy(api_exec_of(exec));
    return DEV_OK;
}

dev_result api_launch(dev_call *call, CUgraphExec exec, CUstream handle, bool per_thread)
{
    dev_stream *stream;
    dev_result r = dev_stream_get(call, handle, per_thread, &stream);
    if (r == DEV_OK && !api_exec_of(exec))
        r = DEV_INVALID_VALUE;
    return r ? r : dev_exec_launch(call, api_exec_of(exec), stream);
}

dev_result api_upload(dev_call *call, CUgraphExec exec, CUstream handle, bool per_thread)
{
    dev_stream *stream;
    dev_result r = dev_stream_get(call, handle, per_thread, &stream);
    return r ? r : api_exec_of(exec) ? DEV_OK : DEV_INVALID_VALUE;
}

enum { UPDATE_SUCCESS = 0, UPDATE_ERROR = 1, UPDATE_TOPOLOGY = 2 }; /* CUgraphExecUpdateResult */

dev_result api_update(CUgraphExec exec, CUgraph graph, CUgraphNode *differs, int *why)
{
    const dev_node *node = NULL;
    dev_result r = api_exec_of(exec) && api_graph_of(graph)
                       ? dev_exec_update(api_exec_of(exec), api_graph_of(graph), &node)
                       : DEV_INVALID_VALUE;
    if (differs)
        *differs = (CUgraphNode)(uintptr_t)node;
    if (why)
        *why = r == DEV_OK                     ? UPDATE_SUCCESS
               : r == DEV_GRAPH_UPDATE_FAILURE ? UPDATE_TOPOLOGY
                                               : UPDATE_ERROR;
    return r;
}

dev_result api_update_info(CUgraphExec exec, CUgraph graph, CUgraphExecUpdateResultInfo *info)
{
    CUgraphExecUpdateResultInfo found = {0};
    dev_result r = api_update(exec, graph, &found.errorNode, &found.result);
    if (info)
        *info = found;
    return r;
}

dev_result api_update_child(CUgraphExec exec, CUgraphNode handle, CUgraph graph)
{
    const dev_node *node = api_node_of(handle);
    if (!api_exec_of(exec) || !api_graph_of(graph) || !node || !dev_node_child(node))
        return DEV_INVALID_VALUE;
    return dev_exec_update_child(api_exec_of(exec), node, api_graph_of(graph));
}

dev_result api_exec_flags(CUgraphExec exec, void *flags)
{
    if (!api_exec_of(exec) || !flags)
        return DEV_INVALID_VALUE;
    *(unsigned long long *)flags = dev_exec_flags(api_exec_of(exec));
    return DEV_OK;
}

/* The node may be gone: it is only compared. */
static bool *enabled_of(CUgraphExec exec, CUgraphNode node)
{
    return api_exec_of(exec) ? dev_exec_enabled(api_exec_of(exec), (const dev_node *)node) : NULL;
}

dev_result api_enabled(CUgraphExec exec, CUgraphNode node, unsigned *enabled)
{
    const bool *found = enabled_of(exec, node);
    if (!found || !enabled)
        return DEV_INVALID_VALUE;
    *enabled = *found;
    return DEV_OK;
}

dev_result api_enable(CUgraphExec exec, CUgraphNode node, bool enabled)
{
    bool *found = enabled_of(exec, node);
    if (!found)
        return DEV_INVALID_VALUE;
    *found = enabled;
    return DEV_OK;
}
