/* Graphs in the driver interface. Every way to give a node its work goes through CUgraphNodeParams, which names them all;
 * what a node does is read back from its operation. */
#include "api/both/ask.h"
#include "api/driver/driver.h"

#include <string.h>

typedef CUgraphNodeParams params;

/* ---- parameters to operations ---- */

static dev_result kernel_op(dev_call *call, const CUDA_KERNEL_NODE_PARAMS_v2 *k, dev_op **op)
{
    void *none = NULL;
    dev_launch launch = {.grid = {k->gridDimX, k->gridDimY, k->gridDimZ},
                         .block = {k->blockDimX, k->blockDimY, k->blockDimZ},
                         .shared = k->sharedMemBytes};
    CUfunction handle = k->func ? k->func : (CUfunction)k->kern;
    launch.function = dr_function(call->context, handle);
    if (!launch.function)
        return DEV_INVALID_HANDLE;
    if (!dr_arguments(k->kernelParams, k->extra, &launch))
        return DEV_INVALID_VALUE;
    if (!launch.params && !launch.packed)
        launch.params = &none;
    return dev_launch_prepare(call, call->context, &launch, op);
}

static dev_result copy_op(dev_call *call, const CUDA_MEMCPY3D *p, dev_op **op)
{
    dev_copy copy;
    dev_result r = dr_copy_3d(p, &copy);
    return r ? r : api_copy_op(call, &copy, op);
}

static dev_result set_op(dev_call *call, const CUDA_MEMSET_NODE_PARAMS_v2 *p, dev_op **op)
{
    dev_set set = {.address = p->dst,
                   .pitch = p->pitch,
                   .value = p->value,
                   .element = p->elementSize,
                   .width = p->width,
                   .height = p->height,
                   .depth = 1};
    return api_set_op(call, &set, op);
}

static dev_result make_op(dev_call *call, const params *p, dev_op **op)
{
    *op = NULL;
    switch (p->type) {
    case CU_GRAPH_NODE_TYPE_KERNEL: return kernel_op(call, &p->kernel, op);
    case CU_GRAPH_NODE_TYPE_MEMCPY: return copy_op(call, &p->memcpy.copyParams, op);
    case CU_GRAPH_NODE_TYPE_MEMSET: return set_op(call, &p->memset, op);
    case CU_GRAPH_NODE_TYPE_HOST: return api_host_op(call, p->host.fn, p->host.userData, op);
    case CU_GRAPH_NODE_TYPE_WAIT_EVENT: return api_event_op(call, OP_WAIT, p->eventWait.event, op);
    case CU_GRAPH_NODE_TYPE_EVENT_RECORD:
        return api_event_op(call, OP_RECORD, p->eventRecord.event, op);
    case CU_GRAPH_NODE_TYPE_EMPTY: return DEV_OK;
    case CU_GRAPH_NODE_TYPE_CONDITIONAL: return dev_unsupported_part("conditional graph nodes");
    default: return DEV_INVALID_VALUE;
    }
}

/* ---- operations to parameters ---- */

static CUmemorytype type_of(const dev_place *place)
{
    if (place->array)
        return CU_MEMORYTYPE_ARRAY;
    if (!place->given)
        return CU_MEMORYTYPE_UNIFIED;
    return place->expect == DEV_MEMORY_HOST ? CU_MEMORYTYPE_HOST : CU_MEMORYTYPE_DEVICE;
}

static CUDA_MEMCPY3D copy_params(const dev_copy *copy)
{
    const dev_place *from = &copy->from, *to = &copy->to;
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

static CUDA_MEM_ALLOC_NODE_PARAMS alloc_params(const dev_op *op)
{
    CUmemLocation here = {CU_MEM_LOCATION_TYPE_DEVICE,
                          dev_gpu_ordinal(dev_context_device(op->context))};
    return (CUDA_MEM_ALLOC_NODE_PARAMS){
        .poolProps = {.allocType = CU_MEM_ALLOCATION_TYPE_PINNED, .location = here},
        .bytesize = op->alloc.size,
        .dptr = op->alloc.address};
}

static params params_of(dev_node *node)
{
    params p = {.type = (CUgraphNodeType)node->type};
    const dev_op *op = node->op;
    if (!op)
        return p;
    const dev_op_launch *l = &op->launch;
    if (node->type == DEV_NODE_KERNEL)
        p.kernel = (CUDA_KERNEL_NODE_PARAMS_v2){.func = (CUfunction)l->function,
                                                .gridDimX = l->grid.x,
                                                .gridDimY = l->grid.y,
                                                .gridDimZ = l->grid.z,
                                                .blockDimX = l->block.x,
                                                .blockDimY = l->block.y,
                                                .blockDimZ = l->block.z,
                                                .sharedMemBytes = l->shared,
                                                .kernelParams = dev_node_arguments(node),
                                                .ctx = (CUcontext)op->context};
    else if (node->type == DEV_NODE_COPY)
        p.memcpy.copyParams = copy_params(&op->copy);
    else if (node->type == DEV_NODE_SET)
        p.memset = (CUDA_MEMSET_NODE_PARAMS_v2){
            op->set.address, op->set.pitch,  op->set.value, op->set.element,
            op->set.width,   op->set.height, NULL};
    else if (node->type == DEV_NODE_HOST)
        p.host = (CUDA_HOST_NODE_PARAMS){op->host.function, op->host.data};
    else if (node->type == DEV_NODE_RECORD || node->type == DEV_NODE_WAIT)
        p.eventRecord.event = (CUevent)op->event.event;
    else if (node->type == DEV_NODE_FREE)
        p.free.dptr = op->alloc.address;
    else if (node->type == DEV_NODE_ALLOC)
        p.alloc = alloc_params(op);
    return p;
}

/* ---- adding nodes ---- */

static dev_result add_alloc(dev_call *call, dev_graph *graph, dev_node *const *needs, size_t count,
                            params *p, dev_node **node)
{
    uint64_t address;
    int device = p->alloc.poolProps.location.id;
    if (device != dev_gpu_ordinal(dev_context_device(call->context)))
        return dev_unsupported_part("graph allocations on another device than the current");
    dev_pool *pool = dev_pool_default(dev_context_device(call->context));
    dev_result r = dev_node_add_alloc(graph, needs, count, call->context, p->alloc.bytesize, pool,
                                      node, &address);
    if (r == DEV_OK)
        p->alloc.dptr = address;
    return r;
}

static dev_result add(dev_call *call, dev_graph *graph, const CUgraphNode *list, size_t count,
                      params *p, dev_node **node)
{
    dev_node *const *needs = (dev_node *const *)list;
    dev_op *op;
    if (p->type == CU_GRAPH_NODE_TYPE_MEM_ALLOC)
        return add_alloc(call, graph, needs, count, p, node);
    if (p->type == CU_GRAPH_NODE_TYPE_MEM_FREE)
        return dev_node_add_free(graph, needs, count, call->context, p->free.dptr, node);
    if (p->type == CU_GRAPH_NODE_TYPE_GRAPH)
        return api_add_child(graph, needs, count, p->graph.graph, node);
    dev_result r = make_op(call, p, &op);
    return r ? r : dev_node_add(graph, needs, count, (dev_node_type)p->type, op, node);
}

static CUresult add_node(const char *api, CUgraphNode *out, CUgraph handle,
                         const CUgraphNode *needs, size_t count, params *p)
{
    DR_QUIET(api);
    dev_node *node = NULL;
    if (!out || !p || !api_graph_of(handle) || (count && !needs))
        DR_END(DEV_INVALID_VALUE);
    result = add(&call, api_graph_of(handle), needs, count, p, &node);
    if (result == DEV_OK)
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
               API_ARGS arg))                                                             \
    {                                                                                     \
        if (!(condition))                                                                 \
            return CUDA_ERROR_INVALID_VALUE;                                              \
        params p = build;                                                                 \
        return add_node(#name, node, graph, needs, count, &p);                            \
    }

#define DEV_PARAMS(...) ((params){__VA_ARGS__})

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
    DEV_PARAMS(.type = CU_GRAPH_NODE_TYPE_GRAPH, .graph.graph = child))
ADD(cuGraphAddEventRecordNode, (CUevent event), event,
    DEV_PARAMS(.type = CU_GRAPH_NODE_TYPE_EVENT_RECORD, .eventRecord.event = event))
ADD(cuGraphAddEventWaitNode, (CUevent event), event,
    DEV_PARAMS(.type = CU_GRAPH_NODE_TYPE_WAIT_EVENT, .eventWait.event = event))
ADD(cuGraphAddMemFreeNode, (CUdeviceptr address), address,
    DEV_PARAMS(.type = CU_GRAPH_NODE_TYPE_MEM_FREE, .free.dptr = address))

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
    dev_node *node;
    result = api_node(handle, (int)type, &node);
    if (result == DEV_OK)
        *out = params_of(node);
    DR_END(result);
}

static CUresult set_params(const char *api, CUgraphNode handle, const params *p)
{
    DR_QUIET(api);
    dev_node *node;
    dev_op *op;
    result = api_node(handle, (int)p->type, &node);
    if (result == DEV_OK)
        result = make_op(&call, p, &op);
    if (result == DEV_OK)
        dev_node_set(node, op);
    DR_END(result);
}

static CUresult exec_params(const char *api, CUgraphExec exec, CUgraphNode node, const params *p)
{
    DR_QUIET(api);
    dev_step *step;
    dev_op *op;
    result = api_exec_step(exec, node, (int)p->type, &step);
    if (result == DEV_OK)
        result = make_op(&call, p, &op);
    if (result == DEV_OK)
        dev_step_set(step, op);
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
GET(cuGraphMemAllocNodeGetParams, CUDA_MEM_ALLOC_NODE_PARAMS, CU_GRAPH_NODE_TYPE_MEM_ALLOC, alloc)
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

/* An entry point that needs no context; `ask` carries it out. */
#define FREE(name, args, ask)                  \
    WL_DRIVER(CUresult, name, (API_ARGS args)) \
    {                                          \
        DR_FREE(#name);                        \
        DR_END(ask);                           \
    }

FREE(cuGraphCreate, (CUgraph * out, unsigned flags), api_new_graph((dev_graph **)out, flags))
FREE(cuGraphDestroy, (CUgraph graph), api_destroy_graph(graph))
FREE(cuGraphClone, (CUgraph * out, CUgraph graph), api_clone((dev_graph **)out, graph))
FREE(cuGraphDestroyNode, (CUgraphNode node), api_destroy_node(node))
FREE(cuGraphNodeGetType, (CUgraphNode node, CUgraphNodeType *type),
     api_node_type(node, (int *)type))
FREE(cuGraphChildGraphNodeGetGraph, (CUgraphNode node, CUgraph *graph),
     api_child(node, (dev_graph **)graph))
FREE(cuGraphExecChildGraphNodeSetParams, (CUgraphExec exec, CUgraphNode node, CUgraph graph),
     api_update_child(exec, node, graph))
FREE(cuGraphGetNodes, (CUgraph graph, CUgraphNode *nodes, size_t *count),
     api_nodes(graph, (dev_node **)nodes, count))
FREE(cuGraphGetRootNodes, (CUgraph graph, CUgraphNode *nodes, size_t *count),
     api_roots(graph, (dev_node **)nodes, count))
FREE(cuGraphNodeGetDependencies, (CUgraphNode node, CUgraphNode *nodes, size_t *count),
     api_before(node, (dev_node **)nodes, count))
FREE(cuGraphNodeGetDependentNodes, (CUgraphNode node, CUgraphNode *nodes, size_t *count),
     api_after(node, (dev_node **)nodes, count))
FREE(cuGraphGetEdges, (CUgraph graph, CUgraphNode *from, CUgraphNode *to, size_t *count),
     api_edges(graph, (dev_node **)from, (dev_node **)to, count))

/* The second versions also give data of edges, which are all 0. */
static void clear_edges(CUgraphEdgeData *edges, const size_t *count)
{
    if (edges && count)
        memset(edges, 0, *count * sizeof *edges);
}

FREE(cuGraphNodeGetDependencies_v2,
     (CUgraphNode node, CUgraphNode *nodes, CUgraphEdgeData *edges, size_t *count),
     (clear_edges(edges, count), api_before(node, (dev_node **)nodes, count)))
FREE(cuGraphNodeGetDependentNodes_v2,
     (CUgraphNode node, CUgraphNode *nodes, CUgraphEdgeData *edges, size_t *count),
     (clear_edges(edges, count), api_after(node, (dev_node **)nodes, count)))
FREE(cuGraphGetEdges_v2,
     (CUgraph graph, CUgraphNode *from, CUgraphNode *to, CUgraphEdgeData *edges, size_t *count),
     (clear_edges(edges, count), api_edges(graph, (dev_node **)from, (dev_node **)to, count)))

#define CHANGE_EDGES(name, change)                                                               \
    FREE(name, (CUgraph graph, const CUgraphNode *from, const CUgraphNode *to, size_t count),    \
         api_change_edges(graph, (dev_node *const *)from, (dev_node *const *)to, count, change)) \
    FREE(name##_v2,                                                                              \
         (CUgraph graph, const CUgraphNode *from, const CUgraphNode *to,                         \
          const CUgraphEdgeData *edges, size_t count),                                           \
         ((void)edges,                                                                           \
          api_change_edges(graph, (dev_node *const *)from, (dev_node *const *)to, count, change)))
CHANGE_EDGES(cuGraphAddDependencies, dev_edge_add)
CHANGE_EDGES(cuGraphRemoveDependencies, dev_edge_remove)

/* ---- instances ---- */

static CUresult instantiate(const char *api, CUgraphExec *out, CUgraph graph,
                            unsigned long long flags)
{
    DR_FREE(api);
    DR_END(api_instantiate((dev_exec **)out, graph, flags));
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

WL_DRIVER_STREAM(ptsz, cuGraphLaunch, (CUgraphExec exec, CUstream stream), (exec, stream))
{
    DR_BEGIN(api, CAP_CALL_LAUNCH, DEV_CURRENT);
    DR_END(api_launch(&call, exec, stream, per_thread));
}

WL_DRIVER_STREAM(ptsz, cuGraphUpload, (CUgraphExec exec, CUstream stream), (exec, stream))
{
    DR_QUIET(api);
    DR_END(api_upload(&call, exec, stream, per_thread));
}

enum { UPDATE_SUCCESS = 0, UPDATE_ERROR = 1, UPDATE_TOPOLOGY = 2 }; /* CUgraphExecUpdateResult */

static CUresult update(const char *api, CUgraphExec exec, CUgraph graph, CUgraphNode *differs,
                       int *why)
{
    DR_FREE(api);
    result = api_update(exec, graph, (dev_node **)differs);
    *why = result == DEV_OK                     ? UPDATE_SUCCESS
           : result == DEV_GRAPH_UPDATE_FAILURE ? UPDATE_TOPOLOGY
                                                : UPDATE_ERROR;
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

FREE(cuGraphExecDestroy, (CUgraphExec exec), api_destroy_exec(exec))
FREE(cuGraphExecGetFlags, (CUgraphExec exec, cuuint64_t *flags),
     api_exec_flags(exec, (unsigned long long *)flags))
FREE(cuGraphNodeGetEnabled, (CUgraphExec exec, CUgraphNode node, unsigned *enabled),
     api_enabled(exec, node, enabled))
FREE(cuGraphNodeSetEnabled, (CUgraphExec exec, CUgraphNode node, unsigned enabled),
     api_enable(exec, node, enabled != 0))
