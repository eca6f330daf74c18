/* Graphs of the runtime. Every way to give a node its work goes through cudaGraphNodeParams, which names them all. */
#include "api/both/ask.h"
#include "api/runtime/runtime.h"

#include <string.h>

typedef struct cudaGraphNodeParams params;

/* ---- parameters to operations ---- */

static dev_result kernel_op(dev_call *call, const struct cudaKernelNodeParams *k, dev_op **op)
{
    void *none = NULL;
    dev_launch launch = {.grid = {k->gridDim.x, k->gridDim.y, k->gridDim.z},
                         .block = {k->blockDim.x, k->blockDim.y, k->blockDim.z},
                         .shared = k->sharedMemBytes,
                         .old_runtime = api_runtime_release() < 13,
                         .params = k->kernelParams ? k->kernelParams : &none};
    dev_result r = rt_resolve(call->context, k->func, &launch.function);
    if (r)
        return r;
    if (!k->kernelParams && k->extra) { /* tag 1: buffer; tag 2: its size; 0: end */
        launch.params = NULL;
        for (void **e = k->extra; *e; e += 2) {
            if (*e == (void *)1)
                launch.packed = e[1];
            else if (*e == (void *)2)
                launch.packed_bytes = *(size_t *)e[1];
        }
    }
    return dev_launch_prepare(call, call->context, &launch, op);
}

static dev_result copy_op(dev_call *call, const struct cudaMemcpy3DParms *p, dev_op **op)
{
    dev_copy copy;
    dev_result r = rt_copy_3d(p, &copy);
    return r ? r : api_copy_op(call, &copy, op);
}

static dev_result set_op(dev_call *call, const struct cudaMemsetParams *p, dev_op **op)
{
    dev_set set = {.address = (uint64_t)p->dst,
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
    case cudaGraphNodeTypeKernel: return kernel_op(call, &p->kernel, op);
    case cudaGraphNodeTypeMemcpy: return copy_op(call, &p->memcpy.copyParams, op);
    case cudaGraphNodeTypeMemset: return set_op(call, &p->memset, op);
    case cudaGraphNodeTypeHost: return api_host_op(call, p->host.fn, p->host.userData, op);
    case cudaGraphNodeTypeWaitEvent: return api_event_op(call, OP_WAIT, p->eventWait.event, op);
    case cudaGraphNodeTypeEventRecord:
        return api_event_op(call, OP_RECORD, p->eventRecord.event, op);
    case cudaGraphNodeTypeEmpty: return DEV_OK;
    case cudaGraphNodeTypeConditional: return dev_unsupported_part("conditional graph nodes");
    default: return DEV_INVALID_VALUE;
    }
}

/* ---- operations to parameters, for nodes that a capture made ---- */

static struct cudaPitchedPtr pitched(const dev_place *place, const dev_copy *copy)
{
    size_t pitch = place->pitch ? place->pitch : copy->width;
    return (struct cudaPitchedPtr){.ptr = (void *)place->address,
                                   .pitch = pitch,
                                   .xsize = copy->width,
                                   .ysize = place->height ? place->height : copy->height};
}

static struct cudaMemcpy3DParms copy_params(const dev_copy *copy)
{
    struct cudaMemcpy3DParms p = {.extent = {copy->width, copy->height, copy->depth},
                                  .srcPos = {copy->from.x, copy->from.y, copy->from.z},
                                  .dstPos = {copy->to.x, copy->to.y, copy->to.z},
                                  .kind = cudaMemcpyDefault};
    if (copy->from.array)
        p.srcArray = (cudaArray_t)copy->from.array;
    else
        p.srcPtr = pitched(&copy->from, copy);
    if (copy->to.array)
        p.dstArray = (cudaArray_t)copy->to.array;
    else
        p.dstPtr = pitched(&copy->to, copy);
    return p;
}

static params params_of(dev_node *node)
{
    params p = {.type = (enum cudaGraphNodeType)node->type};
    const dev_op *op = node->op;
    if (node->stored)
        memcpy(&p, node->stored, sizeof p);
    if (node->type == DEV_NODE_KERNEL) {
        const dev_op_launch *l = &op->launch;
        if (!node->stored)
            p.kernel = (struct cudaKernelNodeParams){
                .func = l->function,
                .gridDim = {l->grid.x, l->grid.y, l->grid.z},
                .blockDim = {l->block.x, l->block.y, l->block.z},
                .sharedMemBytes = l->shared};
        p.kernel.kernelParams = dev_node_arguments(node);
        p.kernel.extra = NULL;
    }
    if (node->stored || !op)
        return p;
    if (node->type == DEV_NODE_COPY)
        p.memcpy.copyParams = copy_params(&op->copy);
    else if (node->type == DEV_NODE_SET)
        p.memset = (struct cudaMemsetParams){(void *)op->set.address, op->set.pitch,
                                             op->set.value,           op->set.element,
                                             op->set.width,           op->set.height};
    else if (node->type == DEV_NODE_HOST)
        p.host = (struct cudaHostNodeParams){op->host.function, op->host.data};
    else if (node->type == DEV_NODE_RECORD || node->type == DEV_NODE_WAIT)
        p.eventRecord.event = (cudaEvent_t)op->event.event;
    else if (node->type == DEV_NODE_FREE)
        p.free.dptr = (void *)op->alloc.address;
    return p;
}

/* ---- adding nodes ---- */

static dev_result add_alloc(dev_call *call, dev_graph *graph, dev_node *const *needs, size_t count,
                            params *p, dev_node **node)
{
    uint64_t address;
    dev_context *context = p->alloc.poolProps.location.id == call->context->device->ordinal
                               ? call->context
                               : rt_device_context(p->alloc.poolProps.location.id);
    if (!context)
        return DEV_INVALID_DEVICE;
    dev_result r = dev_node_add_alloc(graph, needs, count, context, p->alloc.bytesize,
                                      dev_pool_default(context->device), node, &address);
    if (r == DEV_OK)
        p->alloc.dptr = (void *)address;
    return r;
}

static dev_result add(dev_call *call, dev_graph *graph, const cudaGraphNode_t *list, size_t count,
                      params *p, dev_node **node)
{
    dev_node *const *needs = (dev_node *const *)list;
    dev_op *op;
    dev_result r;
    if (p->type == cudaGraphNodeTypeMemAlloc)
        return add_alloc(call, graph, needs, count, p, node);
    if (p->type == cudaGraphNodeTypeMemFree)
        return dev_node_add_free(graph, needs, count, call->context, (uint64_t)p->free.dptr, node);
    if (p->type == cudaGraphNodeTypeGraph)
        return api_add_child(graph, needs, count, p->graph.graph, node);
    r = make_op(call, p, &op);
    return r ? r : dev_node_add(graph, needs, count, (dev_node_type)p->type, op, node);
}

static int add_node(const char *api, cudaGraphNode_t *out, cudaGraph_t handle,
                    const cudaGraphNode_t *needs, size_t count, params *p)
{
    RT_QUIET(api);
    dev_node *node;
    if (!out || !api_graph_of(handle) || (count && !needs))
        RT_END(DEV_INVALID_VALUE);
    result = add(&call, api_graph_of(handle), needs, count, p, &node);
    if (result == DEV_OK)
        result = dev_node_store(node, p, sizeof *p);
    if (result == DEV_OK)
        *out = (cudaGraphNode_t)node;
    RT_END(result);
}

#define ADD(name, arg, ...)                                                              \
    WL_RUNTIME(int, name,                                                                \
               (cudaGraphNode_t * node, cudaGraph_t graph, const cudaGraphNode_t *needs, \
                size_t count, arg))                                                      \
    {                                                                                    \
        params p = {.type = cudaGraphNodeTypeEmpty};                                     \
        __VA_ARGS__                                                                      \
        return add_node(#name, node, graph, needs, count, &p);                           \
    }

#define NOT_NULL(pointer)                          \
    do {                                           \
        if (!(pointer))                            \
            return rt_fail(cudaErrorInvalidValue); \
    } while (0)

static params kernel_params(const struct cudaKernelNodeParams *k)
{
    return (params){.type = cudaGraphNodeTypeKernel, .kernel = *k};
}

static params memcpy_params(const struct cudaMemcpy3DParms *c)
{
    return (params){.type = cudaGraphNodeTypeMemcpy, .memcpy.copyParams = *c};
}

static params memset_params(const struct cudaMemsetParams *s)
{
    return (params){.type = cudaGraphNodeTypeMemset, .memset = *s};
}

static params host_params(const struct cudaHostNodeParams *h)
{
    return (params){.type = cudaGraphNodeTypeHost, .host = *h};
}

static params record_params(cudaEvent_t event)
{
    return (params){.type = cudaGraphNodeTypeEventRecord, .eventRecord.event = event};
}

static params wait_params(cudaEvent_t event)
{
    return (params){.type = cudaGraphNodeTypeWaitEvent, .eventWait.event = event};
}

static params linear_params(void *to, const void *from, size_t count, int kind)
{
    struct cudaPitchedPtr source = {(void *)(uintptr_t)from, count, count, 1};
    struct cudaPitchedPtr target = {to, count, count, 1};
    struct cudaMemcpy3DParms c = {.srcPtr = source,
                                  .dstPtr = target,
                                  .extent = {count, 1, 1},
                                  .kind = (enum cudaMemcpyKind)kind};
    return memcpy_params(&c);
}

ADD(cudaGraphAddKernelNode, const struct cudaKernelNodeParams *k, NOT_NULL(k);
    p = kernel_params(k);)
ADD(cudaGraphAddMemcpyNode, const struct cudaMemcpy3DParms *c, NOT_NULL(c); p = memcpy_params(c);)
ADD(cudaGraphAddMemsetNode, const struct cudaMemsetParams *s, NOT_NULL(s); p = memset_params(s);)
ADD(cudaGraphAddHostNode, const struct cudaHostNodeParams *h, NOT_NULL(h); p = host_params(h);)
ADD(cudaGraphAddChildGraphNode, cudaGraph_t child, p.type = cudaGraphNodeTypeGraph;
    p.graph.graph = child;)
ADD(cudaGraphAddEventRecordNode, cudaEvent_t event, p = record_params(event);)
ADD(cudaGraphAddEventWaitNode, cudaEvent_t event, p = wait_params(event);)
ADD(cudaGraphAddMemFreeNode, void *data, p.type = cudaGraphNodeTypeMemFree; p.free.dptr = data;)

WL_RUNTIME(int, cudaGraphAddEmptyNode,
           (cudaGraphNode_t * node, cudaGraph_t graph, const cudaGraphNode_t *needs, size_t count))
{
    params p = {.type = cudaGraphNodeTypeEmpty};
    return add_node("cudaGraphAddEmptyNode", node, graph, needs, count, &p);
}

WL_RUNTIME(int, cudaGraphAddMemcpyNode1D,
           (cudaGraphNode_t * node, cudaGraph_t graph, const cudaGraphNode_t *needs, size_t count,
            void *to, const void *from, size_t bytes, int kind))
{
    params p = linear_params(to, from, bytes, kind);
    return add_node("cudaGraphAddMemcpyNode1D", node, graph, needs, count, &p);
}

WL_RUNTIME(int, cudaGraphAddMemAllocNode,
           (cudaGraphNode_t * node, cudaGraph_t graph, const cudaGraphNode_t *needs, size_t count,
            struct cudaMemAllocNodeParams *a))
{
    NOT_NULL(a);
    params p = {.type = cudaGraphNodeTypeMemAlloc, .alloc = *a};
    int result = add_node("cudaGraphAddMemAllocNode", node, graph, needs, count, &p);
    a->dptr = p.alloc.dptr;
    return result;
}

static int symbol_address(const void *symbol, size_t offset, void **address)
{
    RT_QUIET("cudaGraphAddMemcpyNodeToSymbol");
    uint64_t base = 0;
    size_t size;
    result = rt_symbol(call.context, symbol, &base, &size);
    *address = (void *)(base + offset);
    RT_END(result);
}

WL_RUNTIME(int, cudaGraphAddMemcpyNodeToSymbol,
           (cudaGraphNode_t * node, cudaGraph_t graph, const cudaGraphNode_t *needs, size_t count,
            const void *symbol, const void *from, size_t bytes, size_t offset, int kind))
{
    void *to = NULL;
    int result = symbol_address(symbol, offset, &to);
    if (result)
        return result;
    params p = linear_params(to, from, bytes, kind);
    return add_node("cudaGraphAddMemcpyNodeToSymbol", node, graph, needs, count, &p);
}

WL_RUNTIME(int, cudaGraphAddMemcpyNodeFromSymbol,
           (cudaGraphNode_t * node, cudaGraph_t graph, const cudaGraphNode_t *needs, size_t count,
            void *to, const void *symbol, size_t bytes, size_t offset, int kind))
{
    void *from = NULL;
    int result = symbol_address(symbol, offset, &from);
    if (result)
        return result;
    params p = linear_params(to, from, bytes, kind);
    return add_node("cudaGraphAddMemcpyNodeFromSymbol", node, graph, needs, count, &p);
}

static int add_any(cudaGraphNode_t *node, cudaGraph_t graph, const cudaGraphNode_t *needs,
                   size_t count, params *p)
{
    NOT_NULL(p);
    return add_node("cudaGraphAddNode", node, graph, needs, count, p);
}

WL_RUNTIME_FOR(12, 12, int, cudaGraphAddNode,
               (cudaGraphNode_t * node, cudaGraph_t graph, const cudaGraphNode_t *needs,
                size_t count, params *p))
{
    return add_any(node, graph, needs, count, p);
}

WL_RUNTIME_FOR(12, 12, int, cudaGraphAddNode_v2,
               (cudaGraphNode_t * node, cudaGraph_t graph, const cudaGraphNode_t *needs,
                const cudaGraphEdgeData *edges, size_t count, params *p))
{
    (void)edges;
    return add_any(node, graph, needs, count, p);
}

WL_RUNTIME_FOR(13, 13, int, cudaGraphAddNode,
               (cudaGraphNode_t * node, cudaGraph_t graph, const cudaGraphNode_t *needs,
                const cudaGraphEdgeData *edges, size_t count, params *p))
{
    (void)edges;
    return add_any(node, graph, needs, count, p);
}

/* ---- parameters of nodes and of instances ---- */

static int get_params(const char *api, cudaGraphNode_t handle, int type, params *out)
{
    memset(out, 0, sizeof *out);
    RT_QUIET(api);
    dev_node *node;
    result = api_node(handle, type, &node);
    if (result == DEV_OK)
        *out = params_of(node);
    RT_END(result);
}

static int set_params(const char *api, cudaGraphNode_t handle, const params *p)
{
    RT_QUIET(api);
    dev_node *node;
    dev_op *op;
    result = api_node(handle, (int)p->type, &node);
    if (result == DEV_OK)
        result = make_op(&call, p, &op);
    if (result)
        RT_END(result);
    dev_node_set(node, op);
    RT_END(dev_node_store(node, p, sizeof *p));
}

static int exec_params(const char *api, cudaGraphExec_t exec, cudaGraphNode_t node, const params *p)
{
    RT_QUIET(api);
    dev_step *step;
    dev_op *op;
    result = api_exec_step(exec, node, (int)p->type, &step);
    if (result == DEV_OK)
        result = make_op(&call, p, &op);
    if (result == DEV_OK)
        dev_step_set(step, op);
    RT_END(result);
}

#define PARAMS(kind, layout, type, field, build)                                                 \
    WL_RUNTIME(int, cudaGraph##kind##NodeGetParams, (cudaGraphNode_t node, struct layout * out)) \
    {                                                                                            \
        params p;                                                                                \
        NOT_NULL(out);                                                                           \
        int result = get_params("cudaGraph" #kind "NodeGetParams", node, type, &p);              \
        if (result == cudaSuccess)                                                               \
            *out = p.field;                                                                      \
        return result;                                                                           \
    }                                                                                            \
    WL_RUNTIME(int, cudaGraph##kind##NodeSetParams,                                              \
               (cudaGraphNode_t node, const struct layout *in))                                  \
    {                                                                                            \
        NOT_NULL(in);                                                                            \
        params p = build(in);                                                                    \
        return set_params("cudaGraph" #kind "NodeSetParams", node, &p);                          \
    }                                                                                            \
    WL_RUNTIME(int, cudaGraphExec##kind##NodeSetParams,                                          \
               (cudaGraphExec_t exec, cudaGraphNode_t node, const struct layout *in))            \
    {                                                                                            \
        NOT_NULL(in);                                                                            \
        params p = build(in);                                                                    \
        return exec_params("cudaGraphExec" #kind "NodeSetParams", exec, node, &p);               \
    }

PARAMS(Kernel, cudaKernelNodeParams, cudaGraphNodeTypeKernel, kernel, kernel_params)
PARAMS(Memcpy, cudaMemcpy3DParms, cudaGraphNodeTypeMemcpy, memcpy.copyParams, memcpy_params)
PARAMS(Memset, cudaMemsetParams, cudaGraphNodeTypeMemset, memset, memset_params)
PARAMS(Host, cudaHostNodeParams, cudaGraphNodeTypeHost, host, host_params)

#define EVENT_PARAMS(kind, type, build)                                                       \
    WL_RUNTIME(int, cudaGraph##kind##NodeGetEvent, (cudaGraphNode_t node, cudaEvent_t * out)) \
    {                                                                                         \
        params p;                                                                             \
        NOT_NULL(out);                                                                        \
        int result = get_params("cudaGraph" #kind "NodeGetEvent", node, type, &p);            \
        if (result == cudaSuccess)                                                            \
            *out = p.eventRecord.event;                                                       \
        return result;                                                                        \
    }                                                                                         \
    WL_RUNTIME(int, cudaGraph##kind##NodeSetEvent, (cudaGraphNode_t node, cudaEvent_t event)) \
    {                                                                                         \
        params p = build(event);                                                              \
        return set_params("cudaGraph" #kind "NodeSetEvent", node, &p);                        \
    }                                                                                         \
    WL_RUNTIME(int, cudaGraphExec##kind##NodeSetEvent,                                        \
               (cudaGraphExec_t exec, cudaGraphNode_t node, cudaEvent_t event))               \
    {                                                                                         \
        params p = build(event);                                                              \
        return exec_params("cudaGraphExec" #kind "NodeSetEvent", exec, node, &p);             \
    }

EVENT_PARAMS(EventRecord, cudaGraphNodeTypeEventRecord, record_params)
EVENT_PARAMS(EventWait, cudaGraphNodeTypeWaitEvent, wait_params)

WL_RUNTIME(int, cudaGraphMemcpyNodeSetParams1D,
           (cudaGraphNode_t node, void *to, const void *from, size_t count, int kind))
{
    params p = linear_params(to, from, count, kind);
    return set_params("cudaGraphMemcpyNodeSetParams1D", node, &p);
}

WL_RUNTIME(int, cudaGraphExecMemcpyNodeSetParams1D,
           (cudaGraphExec_t exec, cudaGraphNode_t node, void *to, const void *from, size_t count,
            int kind))
{
    params p = linear_params(to, from, count, kind);
    return exec_params("cudaGraphExecMemcpyNodeSetParams1D", exec, node, &p);
}

WL_RUNTIME(int, cudaGraphNodeSetParams, (cudaGraphNode_t node, params *p))
{
    NOT_NULL(p);
    return set_params("cudaGraphNodeSetParams", node, p);
}

WL_RUNTIME(int, cudaGraphExecNodeSetParams, (cudaGraphExec_t exec, cudaGraphNode_t node, params *p))
{
    NOT_NULL(p);
    return exec_params("cudaGraphExecNodeSetParams", exec, node, p);
}

WL_RUNTIME(int, cudaGraphMemAllocNodeGetParams,
           (cudaGraphNode_t node, struct cudaMemAllocNodeParams *out))
{
    params p = {.type = cudaGraphNodeTypeEmpty};
    NOT_NULL(out);
    int result = get_params("cudaGraphMemAllocNodeGetParams", node, cudaGraphNodeTypeMemAlloc, &p);
    if (result == cudaSuccess)
        *out = p.alloc;
    return result;
}

WL_RUNTIME(int, cudaGraphMemFreeNodeGetParams, (cudaGraphNode_t node, void *out))
{
    params p = {.type = cudaGraphNodeTypeEmpty};
    NOT_NULL(out);
    int result = get_params("cudaGraphMemFreeNodeGetParams", node, cudaGraphNodeTypeMemFree, &p);
    if (result == cudaSuccess)
        *(void **)out = p.free.dptr;
    return result;
}

/* ---- graphs ---- */

/* An entry point that needs no context; `ask` carries it out. */
#define FREE_FOR(first, last, name, args, ask)              \
    WL_RUNTIME_FOR(first, last, int, name, (API_ARGS args)) \
    {                                                       \
        RT_FREE(#name);                                     \
        RT_END(ask);                                        \
    }
#define FREE(name, args, ask) FREE_FOR(11, 13, name, args, ask)

FREE(cudaGraphCreate, (cudaGraph_t * out, unsigned flags), api_new_graph((dev_graph **)out, flags))
FREE(cudaGraphDestroy, (cudaGraph_t graph), api_destroy_graph(graph))
FREE(cudaGraphClone, (cudaGraph_t * out, cudaGraph_t graph), api_clone((dev_graph **)out, graph))
FREE(cudaGraphDestroyNode, (cudaGraphNode_t node), api_destroy_node(node))
FREE(cudaGraphNodeGetType, (cudaGraphNode_t node, int *type), api_node_type(node, type))
FREE(cudaGraphNodeFindInClone, (cudaGraphNode_t * out, cudaGraphNode_t node, cudaGraph_t clone),
     api_in_clone((dev_node **)out, node, clone))
FREE(cudaGraphChildGraphNodeGetGraph, (cudaGraphNode_t node, cudaGraph_t *graph),
     api_child(node, (dev_graph **)graph))
FREE(cudaGraphGetNodes, (cudaGraph_t graph, cudaGraphNode_t *nodes, size_t *count),
     api_nodes(graph, (dev_node **)nodes, count))
FREE(cudaGraphGetRootNodes, (cudaGraph_t graph, cudaGraphNode_t *nodes, size_t *count),
     api_roots(graph, (dev_node **)nodes, count))

/* Up to 12 without, from 13 on with data of edges (which only concern programmatic launches: all 0 here); 12 has both. */
static void clear_edges(cudaGraphEdgeData *edges, const size_t *count)
{
    if (edges && count)
        memset(edges, 0, *count * sizeof *edges);
}

#define NODE_EDGES \
    (cudaGraphNode_t node, cudaGraphNode_t * list, cudaGraphEdgeData * edges, size_t *n)
#define NEIGHBOURS(name, ask)                                                         \
    FREE_FOR(11, 12, name, (cudaGraphNode_t node, cudaGraphNode_t * list, size_t *n), \
             ask(node, (dev_node **)list, n))                                         \
    FREE_FOR(12, 12, name##_v2, NODE_EDGES,                                           \
             (clear_edges(edges, n), ask(node, (dev_node **)list, n)))                \
    FREE_FOR(13, 13, name, NODE_EDGES, (clear_edges(edges, n), ask(node, (dev_node **)list, n)))
NEIGHBOURS(cudaGraphNodeGetDependencies, api_before)
NEIGHBOURS(cudaGraphNodeGetDependentNodes, api_after)

#define GRAPH_EDGES                                                                              \
    (cudaGraph_t graph, cudaGraphNode_t * from, cudaGraphNode_t * to, cudaGraphEdgeData * edges, \
     size_t *n)
#define GET_EDGES api_edges(graph, (dev_node **)from, (dev_node **)to, n)
FREE_FOR(11, 12, cudaGraphGetEdges,
         (cudaGraph_t graph, cudaGraphNode_t *from, cudaGraphNode_t *to, size_t *n), GET_EDGES)
FREE_FOR(12, 12, cudaGraphGetEdges_v2, GRAPH_EDGES, (clear_edges(edges, n), GET_EDGES))
FREE_FOR(13, 13, cudaGraphGetEdges, GRAPH_EDGES, (clear_edges(edges, n), GET_EDGES))

#define EDGES_OLD \
    (cudaGraph_t graph, const cudaGraphNode_t *from, const cudaGraphNode_t *to, size_t count)
#define EDGES_NEW                                                               \
    (cudaGraph_t graph, const cudaGraphNode_t *from, const cudaGraphNode_t *to, \
     const cudaGraphEdgeData *edges, size_t count)
#define CHANGED(change) \
    api_change_edges(graph, (dev_node *const *)from, (dev_node *const *)to, count, change)
#define CHANGE(name, change)                                               \
    FREE_FOR(11, 12, name, EDGES_OLD, CHANGED(change))                     \
    FREE_FOR(12, 12, name##_v2, EDGES_NEW, ((void)edges, CHANGED(change))) \
    FREE_FOR(13, 13, name, EDGES_NEW, ((void)edges, CHANGED(change)))
CHANGE(cudaGraphAddDependencies, dev_edge_add)
CHANGE(cudaGraphRemoveDependencies, dev_edge_remove)

/* ---- instances ---- */

static int instantiate(cudaGraphExec_t *out, cudaGraph_t graph, unsigned long long flags)
{
    RT_FREE("cudaGraphInstantiate");
    RT_END(api_instantiate((dev_exec **)out, graph, flags));
}

WL_RUNTIME_FOR(11, 11, int, cudaGraphInstantiate,
               (cudaGraphExec_t * exec, cudaGraph_t graph, cudaGraphNode_t *error, char *log,
                size_t size))
{
    if (error)
        *error = NULL;
    if (log && size)
        *log = '\0';
    return instantiate(exec, graph, 0);
}

WL_RUNTIME_FOR(12, 13, int, cudaGraphInstantiate,
               (cudaGraphExec_t * exec, cudaGraph_t graph, unsigned long long flags))
{
    return instantiate(exec, graph, flags);
}

WL_RUNTIME(int, cudaGraphInstantiateWithFlags,
           (cudaGraphExec_t * exec, cudaGraph_t graph, unsigned long long flags))
{
    return instantiate(exec, graph, flags);
}

WL_RUNTIME_STREAM(ptsz, cudaGraphInstantiateWithParams,
                  (cudaGraphExec_t * exec, cudaGraph_t graph, cudaGraphInstantiateParams *p),
                  (exec, graph, p))
{
    (void)api, (void)per_thread;
    NOT_NULL(p);
    p->errNode_out = NULL;
    int result = instantiate(exec, graph, p->flags);
    p->result_out = result != cudaSuccess;
    return result;
}

WL_RUNTIME_STREAM(ptsz, cudaGraphLaunch, (cudaGraphExec_t exec, cudaStream_t stream),
                  (exec, stream))
{
    RT_BEGIN(api, CAP_CALL_LAUNCH, DEV_PRIMARY);
    RT_END(api_launch(&call, exec, stream, per_thread));
}

WL_RUNTIME_STREAM(ptsz, cudaGraphUpload, (cudaGraphExec_t exec, cudaStream_t stream),
                  (exec, stream))
{
    RT_QUIET(api);
    RT_END(api_upload(&call, exec, stream, per_thread));
}

static int update(cudaGraphExec_t exec, cudaGraph_t graph, cudaGraphNode_t *differs, int *why)
{
    RT_FREE("cudaGraphExecUpdate");
    result = api_update(exec, graph, (dev_node **)differs);
    *why = result == DEV_OK                     ? cudaGraphExecUpdateSuccess
           : result == DEV_GRAPH_UPDATE_FAILURE ? cudaGraphExecUpdateErrorTopologyChanged
                                                : cudaGraphExecUpdateError;
    RT_END(result);
}

WL_RUNTIME_FOR(11, 11, int, cudaGraphExecUpdate,
               (cudaGraphExec_t exec, cudaGraph_t graph, cudaGraphNode_t *differs, int *why))
{
    cudaGraphNode_t node = NULL;
    int reason = cudaGraphExecUpdateError;
    int result = update(exec, graph, &node, &reason);
    if (differs)
        *differs = node;
    if (why)
        *why = reason;
    return result;
}

WL_RUNTIME_FOR(12, 13, int, cudaGraphExecUpdate,
               (cudaGraphExec_t exec, cudaGraph_t graph, cudaGraphExecUpdateResultInfo *info))
{
    cudaGraphNode_t node = NULL;
    int reason = cudaGraphExecUpdateError;
    int result = update(exec, graph, &node, &reason);
    if (info)
        *info = (cudaGraphExecUpdateResultInfo){(enum cudaGraphExecUpdateResult)reason, node, NULL};
    return result;
}

FREE(cudaGraphExecDestroy, (cudaGraphExec_t exec), api_destroy_exec(exec))
FREE(cudaGraphExecChildGraphNodeSetParams,
     (cudaGraphExec_t exec, cudaGraphNode_t node, cudaGraph_t graph),
     api_update_child(exec, node, graph))
FREE(cudaGraphExecGetFlags, (cudaGraphExec_t exec, unsigned long long *flags),
     api_exec_flags(exec, flags))
FREE(cudaGraphNodeGetEnabled, (cudaGraphExec_t exec, cudaGraphNode_t node, unsigned *enabled),
     api_enabled(exec, node, enabled))
FREE(cudaGraphNodeSetEnabled, (cudaGraphExec_t exec, cudaGraphNode_t node, unsigned enabled),
     api_enable(exec, node, enabled != 0))

/* ---- memory and objects of graphs ---- */

WL_RUNTIME(int, cudaDeviceGraphMemTrim, (int device))
{
    return rt_device_exists(device) ? cudaSuccess : rt_fail(cudaErrorInvalidDevice);
}

static uint64_t graph_memory(const dev_gpu *device)
{
    uint64_t used = 0;
    for (const dev_block *b = dev_g.blocks; b; b = b->hh.next)
        if (b->device == device && b->mapped && !b->physical)
            used += b->size;
    return used;
}

WL_RUNTIME(int, cudaDeviceGetGraphMemAttribute, (int device, int attribute, void *value))
{
    RT_FREE("cudaDeviceGetGraphMemAttribute");
    if (!value || attribute < 0 || attribute > cudaGraphMemAttrReservedMemHigh)
        RT_END(DEV_INVALID_VALUE);
    result = dev_initialize();
    if (result)
        RT_END(result);
    if (!dev_gpu_get(device))
        RT_END(DEV_INVALID_DEVICE);
    *(uint64_t *)value = graph_memory(dev_gpu_get(device));
    RT_END(DEV_OK);
}

WL_RUNTIME(int, cudaDeviceSetGraphMemAttribute, (int device, int attribute, void *value))
{
    if (!value || attribute < 0 || attribute > cudaGraphMemAttrReservedMemHigh)
        return rt_fail(cudaErrorInvalidValue);
    return rt_device_exists(device) ? cudaSuccess : rt_fail(cudaErrorInvalidDevice);
}

static dev_object *object_of(cudaUserObject_t handle)
{
    return dev_is(handle, DEV_OBJECT) ? (dev_object *)handle : NULL;
}

FREE(cudaUserObjectCreate,
     (cudaUserObject_t * out, void *data, cudaHostFn_t destroy, unsigned count, unsigned flags),
     out &&flags == 1 ? dev_object_create(data, destroy, count, (dev_object **)out)
                      : DEV_INVALID_VALUE)
FREE(cudaUserObjectRetain, (cudaUserObject_t object, unsigned count),
     object_of(object) ? dev_object_retain(object_of(object), count) : DEV_INVALID_VALUE)
FREE(cudaUserObjectRelease, (cudaUserObject_t object, unsigned count),
     object_of(object) ? dev_object_release(object_of(object), count) : DEV_INVALID_VALUE)
FREE(cudaGraphRetainUserObject,
     (cudaGraph_t graph, cudaUserObject_t object, unsigned count, unsigned flags),
     api_graph_of(graph) && object_of(object) && count && flags <= 1
         ? dev_graph_retain(api_graph_of(graph), object_of(object), count, flags & 1)
         : DEV_INVALID_VALUE)
FREE(cudaGraphReleaseUserObject, (cudaGraph_t graph, cudaUserObject_t object, unsigned count),
     api_graph_of(graph) && object_of(object) && count
         ? dev_graph_release(api_graph_of(graph), object_of(object), count)
         : DEV_INVALID_VALUE)
