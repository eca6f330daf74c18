/* Graphs in the driver interface. Every way to give a node its work goes through CUgraphNodeParams, which names them all;
 * what a node does is read back from its operation. */
#include "collect/driver.h"
#include "collect/graph.h"

#include <string.h>

typedef CUgraphNodeParams params;

static collect_graph *graph_of(CUgraph handle)
{
    return collect_is(handle, COLLECT_GRAPH) ? (collect_graph *)handle : NULL;
}

static collect_node *node_of(CUgraphNode handle)
{
    return collect_is(handle, COLLECT_NODE) ? (collect_node *)handle : NULL;
}

static collect_exec *exec_of(CUgraphExec handle)
{
    return collect_is(handle, COLLECT_EXEC) ? (collect_exec *)handle : NULL;
}

/* ---- parameters to operations ---- */

static collect_result new_op(collect_call *call, collect_op_kind kind, collect_op **op)
{
    *op = collect_op_new(kind, call->context);
    return *op ? COLLECT_OK : COLLECT_NOMEM;
}

static collect_result kernel_op(collect_call *call, const CUDA_KERNEL_NODE_PARAMS_v2 *k,
                                collect_op **op)
{
    void *none = NULL;
    collect_launch launch = {.grid = {k->gridDimX, k->gridDimY, k->gridDimZ},
                             .block = {k->blockDimX, k->blockDimY, k->blockDimZ},
                             .shared = k->sharedMemBytes};
    CUfunction handle = k->func ? k->func : (CUfunction)k->kern;
    launch.function = dr_function(call->context, handle);
    if (!launch.function)
        return COLLECT_INVALID_HANDLE;
    if (!dr_arguments(k->kernelParams, k->extra, &launch))
        return COLLECT_INVALID_VALUE;
    if (!launch.params && !launch.packed)
        launch.params = &none;
    return collect_launch_prepare(call, call->context, &launch, op);
}

static collect_result copy_op(collect_call *call, const CUDA_MEMCPY3D *p, collect_op **op)
{
    collect_copy copy;
    collect_result r = dr_copy_3d(p, &copy);
    bool empty = !copy.width || !copy.height || !copy.depth;
    if (r == COLLECT_OK && !empty)
        r = collect_copy_check(&copy);
    if (r == COLLECT_OK)
        r = new_op(call, empty ? OP_EMPTY : OP_COPY, op);
    if (r == COLLECT_OK)
        (*op)->copy = copy;
    return r;
}

static collect_result set_op(collect_call *call, const CUDA_MEMSET_NODE_PARAMS_v2 *p,
                             collect_op **op)
{
    collect_set set = {.address = p->dst,
                       .pitch = p->pitch,
                       .value = p->value,
                       .element = p->elementSize,
                       .width = p->width,
                       .height = p->height,
                       .depth = 1};
    collect_result r = set.width && set.height ? collect_set_check(&set) : COLLECT_INVALID_VALUE;
    if (r == COLLECT_OK)
        r = new_op(call, OP_SET, op);
    if (r == COLLECT_OK)
        (*op)->set = set;
    return r;
}

static collect_result host_op(collect_call *call, const CUDA_HOST_NODE_PARAMS *p, collect_op **op)
{
    collect_result r = p->fn ? new_op(call, OP_HOST, op) : COLLECT_INVALID_VALUE;
    if (r == COLLECT_OK)
        (*op)->host = (collect_host){
            .kind = COLLECT_HOST_FUNCTION, .function = p->fn, .data = p->userData};
    return r;
}

static collect_result event_op(collect_call *call, collect_op_kind kind, CUevent event,
                               collect_op **op)
{
    collect_result r = collect_is(event, COLLECT_EVENT) ? new_op(call, kind, op)
                                                        : COLLECT_INVALID_HANDLE;
    if (r == COLLECT_OK)
        (*op)->event.event = (collect_event *)event;
    return r;
}

static collect_result make_op(collect_call *call, const params *p, collect_op **op)
{
    *op = NULL;
    switch (p->type) {
    case CU_GRAPH_NODE_TYPE_KERNEL: return kernel_op(call, &p->kernel, op);
    case CU_GRAPH_NODE_TYPE_MEMCPY: return copy_op(call, &p->memcpy.copyParams, op);
    case CU_GRAPH_NODE_TYPE_MEMSET: return set_op(call, &p->memset, op);
    case CU_GRAPH_NODE_TYPE_HOST: return host_op(call, &p->host, op);
    case CU_GRAPH_NODE_TYPE_WAIT_EVENT: return event_op(call, OP_WAIT, p->eventWait.event, op);
    case CU_GRAPH_NODE_TYPE_EVENT_RECORD:
        return event_op(call, OP_RECORD, p->eventRecord.event, op);
    case CU_GRAPH_NODE_TYPE_EMPTY: return COLLECT_OK;
    case CU_GRAPH_NODE_TYPE_CONDITIONAL: return collect_unsupported_part("conditional graph nodes");
    default: return COLLECT_INVALID_VALUE;
    }
}

/* ---- operations to parameters ---- */

static CUmemorytype type_of(const collect_place *place)
{
    if (place->array)
        return CU_MEMORYTYPE_ARRAY;
    if (!place->given)
        return CU_MEMORYTYPE_UNIFIED;
    return place->expect == COLLECT_MEMORY_HOST ? CU_MEMORYTYPE_HOST : CU_MEMORYTYPE_DEVICE;
}

static CUDA_MEMCPY3D copy_params(const collect_copy *copy)
{
    const collect_place *from = &copy->from, *to = &copy->to;
    return (CUDA_MEMCPY3D){.srcXInBytes = from->x,
                           .srcY = from->y,
                           .srcZ = from->z,
                           .srcMemoryType = type_of(from),
                           .srcHost = (void *)from->address,
                           .srcDevice = from->address,
                           .srcArray = (CUarray)from->array,
                           .srcPitch = from->pitch,
                           .srcHeight = from->height,
                           .dstXInBytes = to->x,
                           .dstY = to->y,
                           .dstZ = to->z,
                           .dstMemoryType = type_of(to),
                           .dstHost = (void *)to->address,
                           .dstDevice = to->address,
                           .dstArray = (CUarray)to->array,
                           .dstPitch = to->pitch,
                           .dstHeight = to->height,
                           .WidthInBytes = copy->width,
                           .Height = copy->height,
                           .Depth = copy->depth};
}

static params params_of(collect_node *node)
{
    params p = {.type = (CUgraphNodeType)node->type};
    const collect_op *op = node->op;
    if (!op)
        return p;
    const collect_op_launch *l = &op->launch;
    if (node->type == COLLECT_NODE_KERNEL)
        p.kernel = (CUDA_KERNEL_NODE_PARAMS_v2){.func = (CUfunction)l->function,
                                                .gridDimX = l->grid.x,
                                                .gridDimY = l->grid.y,
                                                .gridDimZ = l->grid.z,
                                                .blockDimX = l->block.x,
                                                .blockDimY = l->block.y,
                                                .blockDimZ = l->block.z,
                                                .sharedMemBytes = l->shared,
                                                .kernelParams = collect_node_arguments(node),
                                                .ctx = (CUcontext)op->context};
    else if (node->type == COLLECT_NODE_COPY)
        p.memcpy.copyParams = copy_params(&op->copy);
    else if (node->type == COLLECT_NODE_SET)
        p.memset = (CUDA_MEMSET_NODE_PARAMS_v2){
            op->set.address, op->set.pitch,  op->set.value, op->set.element,
            op->set.width,   op->set.height, NULL};
    else if (node->type == COLLECT_NODE_HOST)
        p.host = (CUDA_HOST_NODE_PARAMS){op->host.function, op->host.data};
    else if (node->type == COLLECT_NODE_RECORD || node->type == COLLECT_NODE_WAIT)
        p.eventRecord.event = (CUevent)op->event.event;
    else if (node->type == COLLECT_NODE_ALLOC || node->type == COLLECT_NODE_FREE)
        p.free.dptr = op->alloc.address;
    return p;
}

/* ---- adding nodes ---- */

static collect_result add_alloc(collect_call *call, collect_graph *graph,
                                collect_node *const *needs, size_t count, params *p,
                                collect_node **node)
{
    uint64_t address;
    int device = p->alloc.poolProps.location.id;
    if (device != collect_device_ordinal(collect_context_device(call->context)))
        return collect_unsupported_part("graph allocations on another device than the current");
    collect_pool *pool = collect_pool_default(collect_context_device(call->context));
    collect_result r = collect_node_add_alloc(graph, needs, count, call->context, p->alloc.bytesize,
                                              pool, node, &address);
    if (r == COLLECT_OK)
        p->alloc.dptr = address;
    return r;
}

static collect_result add(collect_call *call, collect_graph *graph, const CUgraphNode *list,
                          size_t count, params *p, collect_node **node)
{
    collect_node *const *needs = (collect_node *const *)list;
    collect_op *op;
    if (p->type == CU_GRAPH_NODE_TYPE_MEM_ALLOC)
        return add_alloc(call, graph, needs, count, p, node);
    if (p->type == CU_GRAPH_NODE_TYPE_MEM_FREE)
        return collect_node_add_free(graph, needs, count, call->context, p->free.dptr, node);
    if (p->type == CU_GRAPH_NODE_TYPE_GRAPH)
        return graph_of(p->graph.graph) && graph_of(p->graph.graph) != graph
                   ? collect_node_add_child(graph, needs, count, graph_of(p->graph.graph), node)
                   : COLLECT_INVALID_VALUE;
    collect_result r = make_op(call, p, &op);
    return r ? r : collect_node_add(graph, needs, count, (collect_node_type)p->type, op, node);
}

static CUresult add_node(const char *api, CUgraphNode *out, CUgraph handle,
                         const CUgraphNode *needs, size_t count, params *p)
{
    DR_QUIET(api);
    collect_node *node = NULL;
    if (!out || !p || !graph_of(handle) || (count && !needs))
        DR_END(COLLECT_INVALID_VALUE);
    result = add(&call, graph_of(handle), needs, count, p, &node);
    if (result == COLLECT_OK)
        *out = (CUgraphNode)node;
    DR_END(result);
}

/* The layouts of older versions end earlier; what they lack is 0. */
static params kernel_params(const void *k, size_t bytes)
{
    params p = {.type = CU_GRAPH_NODE_TYPE_KERNEL};
    memcpy(&p.kernel, k, bytes);
    return p;
}

static params memcpy_params(const CUDA_MEMCPY3D *c)
{
    return (params){.type = CU_GRAPH_NODE_TYPE_MEMCPY, .memcpy.copyParams = *c};
}

static params memset_params(const CUDA_MEMSET_NODE_PARAMS *s)
{
    params p = {.type = CU_GRAPH_NODE_TYPE_MEMSET};
    memcpy(&p.memset, s, sizeof *s);
    return p;
}

static params host_params(const CUDA_HOST_NODE_PARAMS *h)
{
    return (params){.type = CU_GRAPH_NODE_TYPE_HOST, .host = *h};
}

#define ADD(name, arg, condition, build)                                                  \
    WL_DRIVER(CUresult, name,                                                             \
              (CUgraphNode * node, CUgraph graph, const CUgraphNode *needs, size_t count, \
               COLLECT_ARGS arg))                                                         \
    {                                                                                     \
        if (!(condition))                                                                 \
            return CUDA_ERROR_INVALID_VALUE;                                              \
        params p = build;                                                                 \
        return add_node(#name, node, graph, needs, count, &p);                            \
    }

#define COLLECT_PARAMS(...) ((params){__VA_ARGS__})

ADD(cuGraphAddKernelNode, (const CUDA_KERNEL_NODE_PARAMS_v1 *k), k,
    kernel_params(k, sizeof(CUDA_KERNEL_NODE_PARAMS_v1)))
ADD(cuGraphAddKernelNode_v2, (const CUDA_KERNEL_NODE_PARAMS_v2 *k), k,
    kernel_params(k, sizeof(CUDA_KERNEL_NODE_PARAMS_v2)))
ADD(cuGraphAddMemcpyNode, (const CUDA_MEMCPY3D *c, CUcontext context), c && ((void)context, true),
    memcpy_params(c))
ADD(cuGraphAddMemsetNode, (const CUDA_MEMSET_NODE_PARAMS *s, CUcontext context),
    s && ((void)context, true), memset_params(s))
ADD(cuGraphAddHostNode, (const CUDA_HOST_NODE_PARAMS *h), h, host_params(h))
ADD(cuGraphAddChildGraphNode, (CUgraph child), child,
    COLLECT_PARAMS(.type = CU_GRAPH_NODE_TYPE_GRAPH, .graph.graph = child))
ADD(cuGraphAddEventRecordNode, (CUevent event), event,
    COLLECT_PARAMS(.type = CU_GRAPH_NODE_TYPE_EVENT_RECORD, .eventRecord.event = event))
ADD(cuGraphAddEventWaitNode, (CUevent event), event,
    COLLECT_PARAMS(.type = CU_GRAPH_NODE_TYPE_WAIT_EVENT, .eventWait.event = event))
ADD(cuGraphAddMemFreeNode, (CUdeviceptr address), address,
    COLLECT_PARAMS(.type = CU_GRAPH_NODE_TYPE_MEM_FREE, .free.dptr = address))

WL_DRIVER(CUresult, cuGraphAddEmptyNode,
          (CUgraphNode * node, CUgraph graph, const CUgraphNode *needs, size_t count))
{
    params p = {.type = CU_GRAPH_NODE_TYPE_EMPTY};
    return add_node("cuGraphAddEmptyNode", node, graph, needs, count, &p);
}

WL_DRIVER(CUresult, cuGraphAddMemAllocNode,
          (CUgraphNode * node, CUgraph graph, const CUgraphNode *needs, size_t count,
           CUDA_MEM_ALLOC_NODE_PARAMS *a))
{
    if (!a)
        return CUDA_ERROR_INVALID_VALUE;
    params p = {.type = CU_GRAPH_NODE_TYPE_MEM_ALLOC, .alloc = *a};
    CUresult result = add_node("cuGraphAddMemAllocNode", node, graph, needs, count, &p);
    a->dptr = p.alloc.dptr;
    return result;
}

WL_DRIVER(CUresult, cuGraphAddNode,
          (CUgraphNode * node, CUgraph graph, const CUgraphNode *needs, size_t count, params *p))
{
    return add_node("cuGraphAddNode", node, graph, needs, count, p);
}

WL_DRIVER(CUresult, cuGraphAddNode_v2,
          (CUgraphNode * node, CUgraph graph, const CUgraphNode *needs,
           const CUgraphEdgeData *edges, size_t count, params *p))
{
    (void)edges;
    return add_node("cuGraphAddNode_v2", node, graph, needs, count, p);
}

/* ---- parameters of nodes and of instances ---- */

static CUresult get_params(const char *api, CUgraphNode handle, CUgraphNodeType type, params *out)
{
    DR_QUIET(api);
    collect_node *node = node_of(handle);
    if (!node || (int)node->type != (int)type)
        DR_END(COLLECT_INVALID_VALUE);
    *out = params_of(node);
    DR_END(COLLECT_OK);
}

static CUresult set_params(const char *api, CUgraphNode handle, const params *p)
{
    DR_QUIET(api);
    collect_node *node = node_of(handle);
    collect_op *op;
    if (!node || (int)node->type != (int)p->type)
        DR_END(COLLECT_INVALID_VALUE);
    result = make_op(&call, p, &op);
    if (result == COLLECT_OK)
        collect_node_set(node, op);
    DR_END(result);
}

static CUresult exec_params(const char *api, CUgraphExec handle, CUgraphNode node, const params *p)
{
    DR_QUIET(api);
    collect_exec *exec = exec_of(handle);
    collect_step *step = exec ? collect_exec_step(exec, (collect_node *)node) : NULL;
    collect_op *op;
    if (!step || (int)step->type != (int)p->type)
        DR_END(COLLECT_INVALID_VALUE);
    result = make_op(&call, p, &op);
    if (result == COLLECT_OK)
        collect_step_set(step, op);
    DR_END(result);
}

#define GET(name, layout, kind, field)                          \
    WL_DRIVER(CUresult, name, (CUgraphNode node, layout * out)) \
    {                                                           \
        params p = {.type = CU_GRAPH_NODE_TYPE_EMPTY};          \
        if (!out)                                               \
            return CUDA_ERROR_INVALID_VALUE;                    \
        CUresult result = get_params(#name, node, kind, &p);    \
        if (result == CUDA_SUCCESS)                             \
            memcpy(out, &p.field, sizeof *out);                 \
        return result;                                          \
    }
GET(cuGraphKernelNodeGetParams, CUDA_KERNEL_NODE_PARAMS_v1, CU_GRAPH_NODE_TYPE_KERNEL, kernel)
GET(cuGraphKernelNodeGetParams_v2, CUDA_KERNEL_NODE_PARAMS_v2, CU_GRAPH_NODE_TYPE_KERNEL, kernel)
GET(cuGraphMemcpyNodeGetParams, CUDA_MEMCPY3D, CU_GRAPH_NODE_TYPE_MEMCPY, memcpy.copyParams)
GET(cuGraphMemsetNodeGetParams, CUDA_MEMSET_NODE_PARAMS, CU_GRAPH_NODE_TYPE_MEMSET, memset)
GET(cuGraphHostNodeGetParams, CUDA_HOST_NODE_PARAMS, CU_GRAPH_NODE_TYPE_HOST, host)
GET(cuGraphEventRecordNodeGetEvent, CUevent, CU_GRAPH_NODE_TYPE_EVENT_RECORD, eventRecord.event)
GET(cuGraphEventWaitNodeGetEvent, CUevent, CU_GRAPH_NODE_TYPE_WAIT_EVENT, eventWait.event)
GET(cuGraphMemFreeNodeGetParams, CUdeviceptr, CU_GRAPH_NODE_TYPE_MEM_FREE, free.dptr)

#define SET(name, layout, build)                                    \
    WL_DRIVER(CUresult, name, (CUgraphNode node, const layout *in)) \
    {                                                               \
        if (!in)                                                    \
            return CUDA_ERROR_INVALID_VALUE;                        \
        params p = build;                                           \
        return set_params(#name, node, &p);                         \
    }
SET(cuGraphKernelNodeSetParams, CUDA_KERNEL_NODE_PARAMS_v1, kernel_params(in, sizeof *in))
SET(cuGraphKernelNodeSetParams_v2, CUDA_KERNEL_NODE_PARAMS_v2, kernel_params(in, sizeof *in))
SET(cuGraphMemcpyNodeSetParams, CUDA_MEMCPY3D, memcpy_params(in))
SET(cuGraphMemsetNodeSetParams, CUDA_MEMSET_NODE_PARAMS, memset_params(in))
SET(cuGraphHostNodeSetParams, CUDA_HOST_NODE_PARAMS, host_params(in))
SET(cuGraphNodeSetParams, params, *in)

#define EXEC_SET(name, layout, build)                                                 \
    WL_DRIVER(CUresult, name, (CUgraphExec exec, CUgraphNode node, const layout *in)) \
    {                                                                                 \
        if (!in)                                                                      \
            return CUDA_ERROR_INVALID_VALUE;                                          \
        params p = build;                                                             \
        return exec_params(#name, exec, node, &p);                                    \
    }
EXEC_SET(cuGraphExecKernelNodeSetParams, CUDA_KERNEL_NODE_PARAMS_v1, kernel_params(in, sizeof *in))
EXEC_SET(cuGraphExecKernelNodeSetParams_v2, CUDA_KERNEL_NODE_PARAMS_v2,
         kernel_params(in, sizeof *in))
EXEC_SET(cuGraphExecHostNodeSetParams, CUDA_HOST_NODE_PARAMS, host_params(in))
EXEC_SET(cuGraphExecNodeSetParams, params, *in)

WL_DRIVER(CUresult, cuGraphExecMemcpyNodeSetParams,
          (CUgraphExec exec, CUgraphNode node, const CUDA_MEMCPY3D *in, CUcontext context))
{
    (void)context;
    if (!in)
        return CUDA_ERROR_INVALID_VALUE;
    params p = memcpy_params(in);
    return exec_params("cuGraphExecMemcpyNodeSetParams", exec, node, &p);
}

WL_DRIVER(CUresult, cuGraphExecMemsetNodeSetParams,
          (CUgraphExec exec, CUgraphNode node, const CUDA_MEMSET_NODE_PARAMS *in,
           CUcontext context))
{
    (void)context;
    if (!in)
        return CUDA_ERROR_INVALID_VALUE;
    params p = memset_params(in);
    return exec_params("cuGraphExecMemsetNodeSetParams", exec, node, &p);
}

/* ---- graphs ---- */

WL_DRIVER(CUresult, cuGraphCreate, (CUgraph * out, unsigned flags))
{
    DR_FREE("cuGraphCreate");
    collect_graph *graph;
    result = out && !flags ? collect_graph_new(&graph) : COLLECT_INVALID_VALUE;
    if (result == COLLECT_OK)
        *out = (CUgraph)graph;
    DR_END(result);
}

WL_DRIVER(CUresult, cuGraphDestroy, (CUgraph handle))
{
    DR_FREE("cuGraphDestroy");
    if (!graph_of(handle) || graph_of(handle)->owner)
        DR_END(COLLECT_INVALID_VALUE);
    collect_graph_destroy(graph_of(handle));
    DR_END(COLLECT_OK);
}

WL_DRIVER(CUresult, cuGraphClone, (CUgraph * out, CUgraph handle))
{
    DR_FREE("cuGraphClone");
    collect_graph *graph;
    result = out && graph_of(handle) ? collect_graph_clone(graph_of(handle), &graph)
                                     : COLLECT_INVALID_VALUE;
    if (result == COLLECT_OK)
        *out = (CUgraph)graph;
    DR_END(result);
}

WL_DRIVER(CUresult, cuGraphDestroyNode, (CUgraphNode node))
{
    DR_FREE("cuGraphDestroyNode");
    if (!node_of(node))
        DR_END(COLLECT_INVALID_VALUE);
    collect_node_destroy(node_of(node));
    DR_END(COLLECT_OK);
}

WL_DRIVER(CUresult, cuGraphNodeGetType, (CUgraphNode node, CUgraphNodeType *type))
{
    DR_FREE("cuGraphNodeGetType");
    if (!node_of(node) || !type)
        DR_END(COLLECT_INVALID_VALUE);
    *type = (CUgraphNodeType)node_of(node)->type;
    DR_END(COLLECT_OK);
}

WL_DRIVER(CUresult, cuGraphChildGraphNodeGetGraph, (CUgraphNode node, CUgraph *graph))
{
    DR_FREE("cuGraphChildGraphNodeGetGraph");
    if (!graph || !node_of(node) || !node_of(node)->child)
        DR_END(COLLECT_INVALID_VALUE);
    *graph = (CUgraph)node_of(node)->child;
    DR_END(COLLECT_OK);
}

/* Fills `list` (NULL: only counts) with as many as *room says; the rest of the room gets NULL. */
static collect_result give(CUgraphNode *list, size_t *room, collect_node *const *found,
                           size_t count)
{
    if (!room)
        return COLLECT_INVALID_VALUE;
    for (size_t i = 0; list && i < *room; i++)
        list[i] = i < count ? (CUgraphNode)found[i] : NULL;
    if (!list || *room > count)
        *room = count;
    return COLLECT_OK;
}

WL_DRIVER(CUresult, cuGraphGetNodes, (CUgraph handle, CUgraphNode *nodes, size_t *count))
{
    DR_FREE("cuGraphGetNodes");
    collect_graph *graph = graph_of(handle);
    DR_END(graph ? give(nodes, count, graph->nodes.data, graph->nodes.count)
                 : COLLECT_INVALID_VALUE);
}

/* The nodes of the graph that `wanted` holds for, in order. */
static CUresult some_nodes(const char *api, collect_graph *(*find)(void *), void *handle,
                           bool (*wanted)(const collect_node *node, const void *handle),
                           CUgraphNode *out, size_t *room)
{
    DR_FREE(api);
    collect_graph *graph = find(handle);
    collect_nodes found = {0};
    for (size_t i = 0; graph && i < graph->nodes.count; i++)
        if (wanted(graph->nodes.data[i], handle) && !wl_push(&found, graph->nodes.data[i]))
            result = COLLECT_NOMEM;
    if (result == COLLECT_OK)
        result = graph ? give(out, room, found.data, found.count) : COLLECT_INVALID_VALUE;
    wl_vec_free(&found);
    DR_END(result);
}

static collect_graph *itself(void *graph)
{
    return graph_of(graph);
}

static collect_graph *graph_with(void *node)
{
    return node_of(node) ? node_of(node)->graph : NULL;
}

static bool is_root(const collect_node *node, const void *graph)
{
    (void)graph;
    return node->needs.count == 0;
}

static bool is_before(const collect_node *node, const void *other)
{
    return collect_node_needs(other, node);
}

static bool is_after(const collect_node *node, const void *other)
{
    return collect_node_needs(node, other);
}

WL_DRIVER(CUresult, cuGraphGetRootNodes, (CUgraph graph, CUgraphNode *out, size_t *count))
{
    return some_nodes("cuGraphGetRootNodes", itself, graph, is_root, out, count);
}

WL_DRIVER(CUresult, cuGraphNodeGetDependencies, (CUgraphNode node, CUgraphNode *out, size_t *count))
{
    return some_nodes("cuGraphNodeGetDependencies", graph_with, node, is_before, out, count);
}

WL_DRIVER(CUresult, cuGraphNodeGetDependentNodes,
          (CUgraphNode node, CUgraphNode *out, size_t *count))
{
    return some_nodes("cuGraphNodeGetDependentNodes", graph_with, node, is_after, out, count);
}

static void clear_edges(CUgraphEdgeData *edges, const size_t *count)
{
    if (edges && count)
        memset(edges, 0, *count * sizeof *edges);
}

WL_DRIVER(CUresult, cuGraphNodeGetDependencies_v2,
          (CUgraphNode node, CUgraphNode *out, CUgraphEdgeData *edges, size_t *count))
{
    clear_edges(edges, count);
    return some_nodes("cuGraphNodeGetDependencies_v2", graph_with, node, is_before, out, count);
}

WL_DRIVER(CUresult, cuGraphNodeGetDependentNodes_v2,
          (CUgraphNode node, CUgraphNode *out, CUgraphEdgeData *edges, size_t *count))
{
    clear_edges(edges, count);
    return some_nodes("cuGraphNodeGetDependentNodes_v2", graph_with, node, is_after, out, count);
}

static CUresult edges_of(const char *api, CUgraph handle, CUgraphNode *from, CUgraphNode *to,
                         size_t *count)
{
    DR_FREE(api);
    collect_graph *graph = graph_of(handle);
    size_t n = 0;
    if (!graph || !count || !from != !to)
        DR_END(COLLECT_INVALID_VALUE);
    for (size_t i = 0; i < graph->nodes.count; i++) {
        collect_node *node = graph->nodes.data[i];
        for (size_t k = 0; k < node->needs.count; k++, n++) {
            if (!from || n >= *count)
                continue;
            from[n] = (CUgraphNode)node->needs.data[k];
            to[n] = (CUgraphNode)node;
        }
    }
    *count = from && n > *count ? *count : n;
    DR_END(COLLECT_OK);
}

WL_DRIVER(CUresult, cuGraphGetEdges,
          (CUgraph graph, CUgraphNode *from, CUgraphNode *to, size_t *count))
{
    return edges_of("cuGraphGetEdges", graph, from, to, count);
}

WL_DRIVER(CUresult, cuGraphGetEdges_v2,
          (CUgraph graph, CUgraphNode *from, CUgraphNode *to, CUgraphEdgeData *edges,
           size_t *count))
{
    clear_edges(edges, count);
    return edges_of("cuGraphGetEdges_v2", graph, from, to, count);
}

static CUresult change_edges(const char *api, CUgraph graph, const CUgraphNode *from,
                             const CUgraphNode *to, size_t count,
                             collect_result (*change)(collect_node *from, collect_node *to))
{
    DR_FREE(api);
    if (!graph_of(graph) || (count && (!from || !to)))
        DR_END(COLLECT_INVALID_VALUE);
    for (size_t i = 0; i < count && result == COLLECT_OK; i++) {
        collect_node *a = node_of(from[i]), *b = node_of(to[i]);
        result = a && b && a->graph == b->graph && a->graph == graph_of(graph)
                     ? change(a, b)
                     : COLLECT_INVALID_VALUE;
    }
    DR_END(result);
}

#define CHANGE_EDGES(name, change)                                                           \
    WL_DRIVER(CUresult, name,                                                                \
              (CUgraph graph, const CUgraphNode *from, const CUgraphNode *to, size_t count)) \
    {                                                                                        \
        return change_edges(#name, graph, from, to, count, change);                          \
    }                                                                                        \
    WL_DRIVER(CUresult, name##_v2,                                                           \
              (CUgraph graph, const CUgraphNode *from, const CUgraphNode *to,                \
               const CUgraphEdgeData *edges, size_t count))                                  \
    {                                                                                        \
        (void)edges;                                                                         \
        return change_edges(#name "_v2", graph, from, to, count, change);                    \
    }
CHANGE_EDGES(cuGraphAddDependencies, collect_edge_add)
CHANGE_EDGES(cuGraphRemoveDependencies, collect_edge_remove)

/* ---- instances ---- */

static CUresult instantiate(const char *api, CUgraphExec *out, CUgraph handle,
                            unsigned long long flags)
{
    DR_FREE(api);
    collect_exec *exec;
    result = out && graph_of(handle) ? collect_exec_new(graph_of(handle), flags, &exec)
                                     : COLLECT_INVALID_VALUE;
    if (result == COLLECT_OK)
        *out = (CUgraphExec)exec;
    DR_END(result);
}

WL_DRIVER(CUresult, cuGraphInstantiateWithFlags,
          (CUgraphExec * exec, CUgraph graph, unsigned long long flags))
{
    return instantiate("cuGraphInstantiateWithFlags", exec, graph, flags);
}

WL_DRIVER(CUresult, cuGraphInstantiate_v2,
          (CUgraphExec * exec, CUgraph graph, CUgraphNode *node, char *log, size_t size))
{
    CUresult result = instantiate("cuGraphInstantiate_v2", exec, graph, 0);
    if (node)
        *node = NULL;
    if (log && size)
        *log = '\0';
    return result;
}
WL_DRIVER_ALSO(cuGraphInstantiate, cuGraphInstantiate_v2);

WL_DRIVER_STREAM(ptsz, cuGraphInstantiateWithParams,
                 (CUgraphExec * exec, CUgraph graph, CUDA_GRAPH_INSTANTIATE_PARAMS *p),
                 (exec, graph, p))
{
    (void)per_thread;
    if (!p)
        return CUDA_ERROR_INVALID_VALUE;
    CUresult result = instantiate(api, exec, graph, p->flags);
    p->hErrNode_out = NULL;
    p->result_out = result != CUDA_SUCCESS;
    return result;
}

WL_DRIVER(CUresult, cuGraphExecDestroy, (CUgraphExec exec))
{
    DR_FREE("cuGraphExecDestroy");
    if (!exec_of(exec))
        DR_END(COLLECT_INVALID_VALUE);
    collect_exec_destroy(exec_of(exec));
    DR_END(COLLECT_OK);
}

WL_DRIVER_STREAM(ptsz, cuGraphLaunch, (CUgraphExec exec, CUstream handle), (exec, handle))
{
    DR_BEGIN(api, CAP_CALL_LAUNCH, COLLECT_CURRENT);
    collect_stream *stream;
    result = collect_stream_get(&call, handle, per_thread, &stream);
    if (result == COLLECT_OK && !exec_of(exec))
        result = COLLECT_INVALID_VALUE;
    DR_END(result ? result : collect_exec_launch(&call, exec_of(exec), stream));
}

WL_DRIVER_STREAM(ptsz, cuGraphUpload, (CUgraphExec exec, CUstream handle), (exec, handle))
{
    DR_QUIET(api);
    collect_stream *stream;
    result = collect_stream_get(&call, handle, per_thread, &stream);
    DR_END(result ? result : exec_of(exec) ? COLLECT_OK : COLLECT_INVALID_VALUE);
}

enum { UPDATE_SUCCESS = 0, UPDATE_ERROR = 1, UPDATE_TOPOLOGY = 2 }; /* CUgraphExecUpdateResult */

static CUresult update(const char *api, CUgraphExec exec, CUgraph graph, CUgraphNode *differs,
                       int *why)
{
    DR_FREE(api);
    const collect_node *node = NULL;
    if (!exec_of(exec) || !graph_of(graph))
        DR_END(COLLECT_INVALID_VALUE);
    result = collect_exec_update(exec_of(exec), graph_of(graph), &node);
    *differs = (CUgraphNode)(uintptr_t)node;
    *why = result ? UPDATE_TOPOLOGY : UPDATE_SUCCESS;
    DR_END(result);
}

WL_DRIVER(CUresult, cuGraphExecUpdate,
          (CUgraphExec exec, CUgraph graph, CUgraphNode *differs, int *why))
{
    CUgraphNode node = NULL;
    int reason = UPDATE_ERROR;
    CUresult result = update("cuGraphExecUpdate", exec, graph, &node, &reason);
    if (differs)
        *differs = node;
    if (why)
        *why = reason;
    return result;
}

WL_DRIVER(CUresult, cuGraphExecUpdate_v2,
          (CUgraphExec exec, CUgraph graph, CUgraphExecUpdateResultInfo *info))
{
    CUgraphNode node = NULL;
    int reason = UPDATE_ERROR;
    CUresult result = update("cuGraphExecUpdate_v2", exec, graph, &node, &reason);
    if (info)
        *info = (CUgraphExecUpdateResultInfo){reason, node, NULL};
    return result;
}

WL_DRIVER(CUresult, cuGraphExecGetFlags, (CUgraphExec exec, cuuint64_t *flags))
{
    DR_FREE("cuGraphExecGetFlags");
    if (!exec_of(exec) || !flags)
        DR_END(COLLECT_INVALID_VALUE);
    *flags = exec_of(exec)->flags;
    DR_END(COLLECT_OK);
}

static CUresult enabled(const char *api, CUgraphExec handle, CUgraphNode node, unsigned *get,
                        unsigned set)
{
    DR_FREE(api);
    collect_exec *exec = exec_of(handle);
    collect_step *step = exec ? collect_exec_step(exec, (collect_node *)node) : NULL;
    if (!step || step->type > COLLECT_NODE_SET) /* kernels, copies and sets only */
        DR_END(COLLECT_INVALID_VALUE);
    if (get)
        *get = step->enabled;
    else
        step->enabled = set != 0;
    DR_END(COLLECT_OK);
}

WL_DRIVER(CUresult, cuGraphNodeGetEnabled, (CUgraphExec exec, CUgraphNode node, unsigned *out))
{
    return out ? enabled("cuGraphNodeGetEnabled", exec, node, out, 0) : CUDA_ERROR_INVALID_VALUE;
}

WL_DRIVER(CUresult, cuGraphNodeSetEnabled, (CUgraphExec exec, CUgraphNode node, unsigned on))
{
    return enabled("cuGraphNodeSetEnabled", exec, node, NULL, on);
}
