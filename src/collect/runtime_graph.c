/* Graphs of the runtime. Every way to give a node its work goes through cudaGraphNodeParams, which names them all. */
#include "collect/graph.h"
#include "collect/runtime.h"

#include <string.h>

typedef struct cudaGraphNodeParams params;

static collect_graph *graph_of(cudaGraph_t handle)
{
    return collect_is(handle, COLLECT_GRAPH) ? (collect_graph *)handle : NULL;
}

static collect_node *node_of(cudaGraphNode_t handle)
{
    return collect_is(handle, COLLECT_NODE) ? (collect_node *)handle : NULL;
}

static collect_exec *exec_of(cudaGraphExec_t handle)
{
    return collect_is(handle, COLLECT_EXEC) ? (collect_exec *)handle : NULL;
}

/* ---- parameters to operations ---- */

static collect_result kernel_op(collect_call *call, const struct cudaKernelNodeParams *k,
                                collect_op **op)
{
    void *none = NULL;
    collect_launch launch = {.grid = {k->gridDim.x, k->gridDim.y, k->gridDim.z},
                             .block = {k->blockDim.x, k->blockDim.y, k->blockDim.z},
                             .shared = k->sharedMemBytes,
                             .runtime = true,
                             .params = k->kernelParams ? k->kernelParams : &none};
    collect_result r = rt_resolve(call->context, k->func, &launch.function);
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
    return collect_launch_prepare(call, call->context, &launch, op);
}

static collect_result copy_op(collect_call *call, const struct cudaMemcpy3DParms *p,
                              collect_op **op)
{
    collect_copy copy;
    collect_result r = rt_copy_3d(p, &copy);
    if (r == COLLECT_OK && copy.width && copy.height && copy.depth)
        r = collect_copy_check(&copy);
    if (r)
        return r;
    *op = collect_op_new(copy.width && copy.height && copy.depth ? OP_COPY : OP_EMPTY,
                         call->context);
    if (!*op)
        return COLLECT_NOMEM;
    (*op)->copy = copy;
    return COLLECT_OK;
}

static collect_result set_op(collect_call *call, const struct cudaMemsetParams *p, collect_op **op)
{
    collect_set set = {.address = (uint64_t)p->dst,
                       .pitch = p->pitch,
                       .value = p->value,
                       .element = p->elementSize,
                       .width = p->width,
                       .height = p->height,
                       .depth = 1};
    collect_result r = set.width && set.height ? collect_set_check(&set) : COLLECT_INVALID_VALUE;
    if (r)
        return r;
    *op = collect_op_new(OP_SET, call->context);
    if (!*op)
        return COLLECT_NOMEM;
    (*op)->set = set;
    return COLLECT_OK;
}

static collect_result host_op(collect_call *call, const struct cudaHostNodeParams *p,
                              collect_op **op)
{
    if (!p->fn)
        return COLLECT_INVALID_VALUE;
    *op = collect_op_new(OP_HOST, call->context);
    if (!*op)
        return COLLECT_NOMEM;
    (*op)->host = (collect_host){
        .kind = COLLECT_HOST_FUNCTION, .function = p->fn, .data = p->userData};
    return COLLECT_OK;
}

static collect_result event_op(collect_call *call, collect_op_kind kind, cudaEvent_t event,
                               collect_op **op)
{
    if (!collect_is(event, COLLECT_EVENT))
        return COLLECT_INVALID_HANDLE;
    *op = collect_op_new(kind, call->context);
    if (!*op)
        return COLLECT_NOMEM;
    (*op)->event.event = (collect_event *)event;
    return COLLECT_OK;
}

static collect_result make_op(collect_call *call, const params *p, collect_op **op)
{
    *op = NULL;
    switch (p->type) {
    case cudaGraphNodeTypeKernel: return kernel_op(call, &p->kernel, op);
    case cudaGraphNodeTypeMemcpy: return copy_op(call, &p->memcpy.copyParams, op);
    case cudaGraphNodeTypeMemset: return set_op(call, &p->memset, op);
    case cudaGraphNodeTypeHost: return host_op(call, &p->host, op);
    case cudaGraphNodeTypeWaitEvent: return event_op(call, OP_WAIT, p->eventWait.event, op);
    case cudaGraphNodeTypeEventRecord: return event_op(call, OP_RECORD, p->eventRecord.event, op);
    case cudaGraphNodeTypeEmpty: return COLLECT_OK;
    case cudaGraphNodeTypeConditional: return collect_unsupported_part("conditional graph nodes");
    default: return COLLECT_INVALID_VALUE;
    }
}

/* ---- operations to parameters, for nodes that a capture made ---- */

static struct cudaPitchedPtr pitched(const collect_place *place, const collect_copy *copy)
{
    size_t pitch = place->pitch ? place->pitch : copy->width;
    return (struct cudaPitchedPtr){.ptr = (void *)place->address,
                                   .pitch = pitch,
                                   .xsize = copy->width,
                                   .ysize = place->height ? place->height : copy->height};
}

static struct cudaMemcpy3DParms copy_params(const collect_copy *copy)
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

static params params_of(collect_node *node)
{
    params p = {.type = (enum cudaGraphNodeType)node->type};
    const collect_op *op = node->op;
    if (node->stored)
        memcpy(&p, node->stored, sizeof p);
    if (node->type == COLLECT_NODE_KERNEL) {
        const collect_op_launch *l = &op->launch;
        if (!node->stored)
            p.kernel = (struct cudaKernelNodeParams){
                .func = l->function,
                .gridDim = {l->grid.x, l->grid.y, l->grid.z},
                .blockDim = {l->block.x, l->block.y, l->block.z},
                .sharedMemBytes = l->shared};
        p.kernel.kernelParams = collect_node_arguments(node);
        p.kernel.extra = NULL;
    }
    if (node->stored || !op)
        return p;
    if (node->type == COLLECT_NODE_COPY)
        p.memcpy.copyParams = copy_params(&op->copy);
    else if (node->type == COLLECT_NODE_SET)
        p.memset = (struct cudaMemsetParams){(void *)op->set.address, op->set.pitch,
                                             op->set.value,           op->set.element,
                                             op->set.width,           op->set.height};
    else if (node->type == COLLECT_NODE_HOST)
        p.host = (struct cudaHostNodeParams){op->host.function, op->host.data};
    else if (node->type == COLLECT_NODE_RECORD || node->type == COLLECT_NODE_WAIT)
        p.eventRecord.event = (cudaEvent_t)op->event.event;
    else if (node->type == COLLECT_NODE_FREE)
        p.free.dptr = (void *)op->alloc.address;
    return p;
}

/* ---- adding nodes ---- */

static collect_result add_alloc(collect_call *call, collect_graph *graph,
                                collect_node *const *needs, size_t count, params *p,
                                collect_node **node)
{
    uint64_t address;
    collect_context *context = p->alloc.poolProps.location.id == call->context->device->ordinal
                                   ? call->context
                                   : rt_device_context(p->alloc.poolProps.location.id);
    if (!context)
        return COLLECT_INVALID_DEVICE;
    collect_result r = collect_node_add_alloc(graph, needs, count, context, p->alloc.bytesize,
                                              collect_pool_default(context->device), node,
                                              &address);
    if (r == COLLECT_OK)
        p->alloc.dptr = (void *)address;
    return r;
}

static collect_result add(collect_call *call, collect_graph *graph, const cudaGraphNode_t *list,
                          size_t count, params *p, collect_node **node)
{
    collect_node *const *needs = (collect_node *const *)list;
    collect_op *op;
    collect_result r;
    if (p->type == cudaGraphNodeTypeMemAlloc)
        return add_alloc(call, graph, needs, count, p, node);
    if (p->type == cudaGraphNodeTypeMemFree)
        return collect_node_add_free(graph, needs, count, call->context, (uint64_t)p->free.dptr,
                                     node);
    if (p->type == cudaGraphNodeTypeGraph)
        return graph_of(p->graph.graph) && graph_of(p->graph.graph) != graph
                   ? collect_node_add_child(graph, needs, count, graph_of(p->graph.graph), node)
                   : COLLECT_INVALID_VALUE;
    r = make_op(call, p, &op);
    return r ? r : collect_node_add(graph, needs, count, (collect_node_type)p->type, op, node);
}

static int add_node(const char *api, cudaGraphNode_t *out, cudaGraph_t handle,
                    const cudaGraphNode_t *needs, size_t count, params *p)
{
    RT_QUIET(api);
    collect_node *node;
    if (!out || !graph_of(handle) || (count && !needs))
        RT_END(COLLECT_INVALID_VALUE);
    result = add(&call, graph_of(handle), needs, count, p, &node);
    if (result == COLLECT_OK)
        result = collect_node_store(node, p, sizeof *p);
    if (result == COLLECT_OK)
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
    collect_node *node = node_of(handle);
    if (!node || (int)node->type != type)
        RT_END(COLLECT_INVALID_VALUE);
    *out = params_of(node);
    RT_END(COLLECT_OK);
}

static int set_params(const char *api, cudaGraphNode_t handle, const params *p)
{
    RT_QUIET(api);
    collect_node *node = node_of(handle);
    collect_op *op;
    if (!node || (int)node->type != (int)p->type)
        RT_END(COLLECT_INVALID_VALUE);
    result = make_op(&call, p, &op);
    if (result)
        RT_END(result);
    collect_node_set(node, op);
    RT_END(collect_node_store(node, p, sizeof *p));
}

static int exec_params(const char *api, cudaGraphExec_t handle, cudaGraphNode_t node,
                       const params *p)
{
    RT_QUIET(api);
    collect_exec *exec = exec_of(handle);
    collect_step *step = exec ? collect_exec_step(exec, (collect_node *)node) : NULL;
    collect_op *op;
    if (!step || (int)step->type != (int)p->type)
        RT_END(COLLECT_INVALID_VALUE);
    result = make_op(&call, p, &op);
    if (result == COLLECT_OK)
        collect_step_set(step, op);
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

WL_RUNTIME(int, cudaGraphCreate, (cudaGraph_t * out, unsigned flags))
{
    RT_FREE("cudaGraphCreate");
    collect_graph *graph;
    result = out && !flags ? collect_graph_new(&graph) : COLLECT_INVALID_VALUE;
    if (result == COLLECT_OK)
        *out = (cudaGraph_t)graph;
    RT_END(result);
}

WL_RUNTIME(int, cudaGraphDestroy, (cudaGraph_t handle))
{
    RT_FREE("cudaGraphDestroy");
    if (!graph_of(handle) || graph_of(handle)->owner)
        RT_END(COLLECT_INVALID_VALUE);
    collect_graph_destroy(graph_of(handle));
    RT_END(COLLECT_OK);
}

WL_RUNTIME(int, cudaGraphClone, (cudaGraph_t * out, cudaGraph_t handle))
{
    RT_FREE("cudaGraphClone");
    collect_graph *graph;
    result = out && graph_of(handle) ? collect_graph_clone(graph_of(handle), &graph)
                                     : COLLECT_INVALID_VALUE;
    if (result == COLLECT_OK)
        *out = (cudaGraph_t)graph;
    RT_END(result);
}

WL_RUNTIME(int, cudaGraphDestroyNode, (cudaGraphNode_t node))
{
    RT_FREE("cudaGraphDestroyNode");
    if (!node_of(node))
        RT_END(COLLECT_INVALID_VALUE);
    collect_node_destroy(node_of(node));
    RT_END(COLLECT_OK);
}

/* Fills `list` (NULL: only counts) with as many as *room says; the rest of the room gets NULL. */
static collect_result give(cudaGraphNode_t *list, size_t *room, collect_node *const *found,
                           size_t count)
{
    if (!room)
        return COLLECT_INVALID_VALUE;
    for (size_t i = 0; list && i < *room; i++)
        list[i] = i < count ? (cudaGraphNode_t)found[i] : NULL;
    if (!list || *room > count)
        *room = count;
    return COLLECT_OK;
}

WL_RUNTIME(int, cudaGraphGetNodes, (cudaGraph_t graph, cudaGraphNode_t *nodes, size_t *count))
{
    RT_FREE("cudaGraphGetNodes");
    if (!graph_of(graph))
        RT_END(COLLECT_INVALID_VALUE);
    const collect_nodes *all = &graph_of(graph)->nodes;
    RT_END(give(nodes, count, all->data, all->count));
}

WL_RUNTIME(int, cudaGraphGetRootNodes, (cudaGraph_t graph, cudaGraphNode_t *nodes, size_t *count))
{
    RT_FREE("cudaGraphGetRootNodes");
    collect_nodes roots = {0};
    if (!graph_of(graph))
        RT_END(COLLECT_INVALID_VALUE);
    const collect_nodes *all = &graph_of(graph)->nodes;
    for (size_t i = 0; i < all->count && result == COLLECT_OK; i++)
        if (!all->data[i]->needs.count && !wl_push(&roots, all->data[i]))
            result = COLLECT_NOMEM;
    if (result == COLLECT_OK)
        result = give(nodes, count, roots.data, roots.count);
    wl_vec_free(&roots);
    RT_END(result);
}

static int edges_of(cudaGraph_t handle, cudaGraphNode_t *from, cudaGraphNode_t *to, size_t *count)
{
    RT_FREE("cudaGraphGetEdges");
    collect_graph *graph = graph_of(handle);
    size_t n = 0;
    if (!graph || !count || !from != !to)
        RT_END(COLLECT_INVALID_VALUE);
    for (size_t i = 0; i < graph->nodes.count; i++) {
        collect_node *node = graph->nodes.data[i];
        for (size_t k = 0; k < node->needs.count; k++, n++) {
            if (!from || n >= *count)
                continue;
            from[n] = (cudaGraphNode_t)node->needs.data[k];
            to[n] = (cudaGraphNode_t)node;
        }
    }
    if (!from || *count > n)
        *count = n;
    RT_END(COLLECT_OK);
}

static int needs_of(cudaGraphNode_t node, cudaGraphNode_t *list, size_t *count)
{
    RT_FREE("cudaGraphNodeGetDependencies");
    if (!node_of(node))
        RT_END(COLLECT_INVALID_VALUE);
    RT_END(give(list, count, node_of(node)->needs.data, node_of(node)->needs.count));
}

static int dependents_of(cudaGraphNode_t node, cudaGraphNode_t *list, size_t *count)
{
    RT_FREE("cudaGraphNodeGetDependentNodes");
    collect_nodes found = {0};
    if (!node_of(node))
        RT_END(COLLECT_INVALID_VALUE);
    const collect_nodes *all = &node_of(node)->graph->nodes;
    for (size_t i = 0; i < all->count && result == COLLECT_OK; i++)
        if (collect_node_needs(all->data[i], node_of(node)) && !wl_push(&found, all->data[i]))
            result = COLLECT_NOMEM;
    if (result == COLLECT_OK)
        result = give(list, count, found.data, found.count);
    wl_vec_free(&found);
    RT_END(result);
}

static int change_edges(const char *api, const cudaGraphNode_t *from, const cudaGraphNode_t *to,
                        size_t count, collect_result (*change)(collect_node *, collect_node *))
{
    RT_FREE(api);
    if (count && (!from || !to))
        RT_END(COLLECT_INVALID_VALUE);
    for (size_t i = 0; i < count && result == COLLECT_OK; i++)
        result = node_of(from[i]) && node_of(to[i]) ? change(node_of(from[i]), node_of(to[i]))
                                                    : COLLECT_INVALID_VALUE;
    RT_END(result);
}

/* Up to 12 without, from 13 on with data of edges (which only concern programmatic launches); 12 has both. */
#define EDGES_OLD \
    (cudaGraph_t graph, const cudaGraphNode_t *from, const cudaGraphNode_t *to, size_t count)
#define EDGES_NEW                                                               \
    (cudaGraph_t graph, const cudaGraphNode_t *from, const cudaGraphNode_t *to, \
     const cudaGraphEdgeData *edges, size_t count)
#define CHANGE(name, change)                                 \
    WL_RUNTIME_FOR(11, 12, int, name, EDGES_OLD)             \
    {                                                        \
        (void)graph;                                         \
        return change_edges(#name, from, to, count, change); \
    }                                                        \
    WL_RUNTIME_FOR(12, 12, int, name##_v2, EDGES_NEW)        \
    {                                                        \
        (void)graph, (void)edges;                            \
        return change_edges(#name, from, to, count, change); \
    }                                                        \
    WL_RUNTIME_FOR(13, 13, int, name, EDGES_NEW)             \
    {                                                        \
        (void)graph, (void)edges;                            \
        return change_edges(#name, from, to, count, change); \
    }
CHANGE(cudaGraphAddDependencies, collect_edge_add)
CHANGE(cudaGraphRemoveDependencies, collect_edge_remove)

#define NEIGHBOURS(name, get)                                                                    \
    WL_RUNTIME_FOR(11, 12, int, name, (cudaGraphNode_t node, cudaGraphNode_t * list, size_t *n)) \
    {                                                                                            \
        return get(node, list, n);                                                               \
    }                                                                                            \
    WL_RUNTIME_FOR(12, 12, int, name##_v2,                                                       \
                   (cudaGraphNode_t node, cudaGraphNode_t * list, cudaGraphEdgeData * edges,     \
                    size_t *n))                                                                  \
    {                                                                                            \
        if (edges && n)                                                                          \
            memset(edges, 0, *n * sizeof *edges);                                                \
        return get(node, list, n);                                                               \
    }                                                                                            \
    WL_RUNTIME_FOR(13, 13, int, name,                                                            \
                   (cudaGraphNode_t node, cudaGraphNode_t * list, cudaGraphEdgeData * edges,     \
                    size_t *n))                                                                  \
    {                                                                                            \
        if (edges && n)                                                                          \
            memset(edges, 0, *n * sizeof *edges);                                                \
        return get(node, list, n);                                                               \
    }
NEIGHBOURS(cudaGraphNodeGetDependencies, needs_of)
NEIGHBOURS(cudaGraphNodeGetDependentNodes, dependents_of)

WL_RUNTIME_FOR(11, 12, int, cudaGraphGetEdges,
               (cudaGraph_t graph, cudaGraphNode_t *from, cudaGraphNode_t *to, size_t *count))
{
    return edges_of(graph, from, to, count);
}

#define GET_EDGES(first, last, name)                                                 \
    WL_RUNTIME_FOR(first, last, int, name,                                           \
                   (cudaGraph_t graph, cudaGraphNode_t * from, cudaGraphNode_t * to, \
                    cudaGraphEdgeData * edges, size_t *count))                       \
    {                                                                                \
        if (edges && count)                                                          \
            memset(edges, 0, *count * sizeof *edges);                                \
        return edges_of(graph, from, to, count);                                     \
    }
GET_EDGES(12, 12, cudaGraphGetEdges_v2)
GET_EDGES(13, 13, cudaGraphGetEdges)

WL_RUNTIME(int, cudaGraphNodeGetType, (cudaGraphNode_t node, int *type))
{
    RT_FREE("cudaGraphNodeGetType");
    if (!type || !node_of(node))
        RT_END(COLLECT_INVALID_VALUE);
    *type = node_of(node)->type;
    RT_END(COLLECT_OK);
}

WL_RUNTIME(int, cudaGraphNodeFindInClone,
           (cudaGraphNode_t * out, cudaGraphNode_t original, cudaGraph_t clone))
{
    RT_FREE("cudaGraphNodeFindInClone");
    if (!out || !graph_of(clone))
        RT_END(COLLECT_INVALID_VALUE);
    const collect_nodes *all = &graph_of(clone)->nodes;
    for (size_t i = 0; i < all->count; i++) {
        if (all->data[i]->clone != (collect_node *)original)
            continue;
        *out = (cudaGraphNode_t)all->data[i];
        RT_END(COLLECT_OK);
    }
    RT_END(COLLECT_INVALID_VALUE);
}

WL_RUNTIME(int, cudaGraphChildGraphNodeGetGraph, (cudaGraphNode_t node, cudaGraph_t *graph))
{
    RT_FREE("cudaGraphChildGraphNodeGetGraph");
    if (!graph || !node_of(node) || !node_of(node)->child)
        RT_END(COLLECT_INVALID_VALUE);
    *graph = (cudaGraph_t)node_of(node)->child;
    RT_END(COLLECT_OK);
}

/* ---- instances ---- */

static int instantiate(cudaGraphExec_t *out, cudaGraph_t graph, unsigned long long flags)
{
    RT_FREE("cudaGraphInstantiate");
    collect_exec *exec;
    if (!out || !graph_of(graph) || flags & ~15ULL)
        RT_END(COLLECT_INVALID_VALUE);
    if (flags & 4)
        RT_END(collect_unsupported_part("graphs launched from the device"));
    result = collect_exec_new(graph_of(graph), flags, &exec);
    if (result == COLLECT_OK)
        *out = (cudaGraphExec_t)exec;
    RT_END(result);
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

WL_RUNTIME(int, cudaGraphExecDestroy, (cudaGraphExec_t exec))
{
    RT_FREE("cudaGraphExecDestroy");
    if (!exec_of(exec))
        RT_END(COLLECT_INVALID_VALUE);
    collect_exec_destroy(exec_of(exec));
    RT_END(COLLECT_OK);
}

WL_RUNTIME_STREAM(ptsz, cudaGraphLaunch, (cudaGraphExec_t exec, cudaStream_t handle),
                  (exec, handle))
{
    RT_BEGIN(api, CAP_CALL_LAUNCH, COLLECT_PRIMARY);
    collect_stream *stream;
    result = collect_stream_get(&call, handle, per_thread, &stream);
    if (result == COLLECT_OK && !exec_of(exec))
        result = COLLECT_INVALID_VALUE;
    RT_END(result ? result : (int)collect_exec_launch(&call, exec_of(exec), stream));
}

WL_RUNTIME_STREAM(ptsz, cudaGraphUpload, (cudaGraphExec_t exec, cudaStream_t handle),
                  (exec, handle))
{
    RT_QUIET(api);
    collect_stream *stream;
    result = collect_stream_get(&call, handle, per_thread, &stream);
    RT_END(result ? result : exec_of(exec) ? COLLECT_OK : COLLECT_INVALID_VALUE);
}

static int update(cudaGraphExec_t exec, cudaGraph_t graph, cudaGraphNode_t *differs, int *why)
{
    RT_FREE("cudaGraphExecUpdate");
    const collect_node *node = NULL;
    if (!exec_of(exec) || !graph_of(graph))
        RT_END(COLLECT_INVALID_VALUE);
    result = collect_exec_update(exec_of(exec), graph_of(graph), &node);
    *differs = (cudaGraphNode_t)(uintptr_t)node;
    *why = result ? cudaGraphExecUpdateErrorTopologyChanged : cudaGraphExecUpdateSuccess;
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

WL_RUNTIME(int, cudaGraphExecGetFlags, (cudaGraphExec_t exec, unsigned long long *flags))
{
    RT_FREE("cudaGraphExecGetFlags");
    if (!exec_of(exec) || !flags)
        RT_END(COLLECT_INVALID_VALUE);
    *flags = exec_of(exec)->flags;
    RT_END(COLLECT_OK);
}

static int enabled(const char *api, cudaGraphExec_t handle, cudaGraphNode_t node, unsigned *get,
                   unsigned set)
{
    RT_FREE(api);
    collect_exec *exec = exec_of(handle);
    collect_step *step = exec ? collect_exec_step(exec, (collect_node *)node) : NULL;
    if (!step || step->type > COLLECT_NODE_SET) /* kernels, copies and sets only */
        RT_END(COLLECT_INVALID_VALUE);
    if (get)
        *get = step->enabled;
    else
        step->enabled = set != 0;
    RT_END(COLLECT_OK);
}

WL_RUNTIME(int, cudaGraphNodeGetEnabled,
           (cudaGraphExec_t exec, cudaGraphNode_t node, unsigned *out))
{
    NOT_NULL(out);
    return enabled("cudaGraphNodeGetEnabled", exec, node, out, 0);
}

WL_RUNTIME(int, cudaGraphNodeSetEnabled, (cudaGraphExec_t exec, cudaGraphNode_t node, unsigned on))
{
    return enabled("cudaGraphNodeSetEnabled", exec, node, NULL, on);
}

/* ---- memory and objects of graphs ---- */

WL_RUNTIME(int, cudaDeviceGraphMemTrim, (int device))
{
    return rt_device_exists(device) ? cudaSuccess : rt_fail(cudaErrorInvalidDevice);
}

static uint64_t graph_memory(const collect_device *device)
{
    uint64_t used = 0;
    for (const collect_block *b = collect_g.blocks; b; b = b->hh.next)
        if (b->device == device && b->mapped && !b->physical)
            used += b->size;
    return used;
}

WL_RUNTIME(int, cudaDeviceGetGraphMemAttribute, (int device, int attribute, void *value))
{
    RT_FREE("cudaDeviceGetGraphMemAttribute");
    if (!value || attribute < 0 || attribute > cudaGraphMemAttrReservedMemHigh)
        RT_END(COLLECT_INVALID_VALUE);
    result = collect_initialize();
    if (result)
        RT_END(result);
    if (!collect_device_get(device))
        RT_END(COLLECT_INVALID_DEVICE);
    *(uint64_t *)value = graph_memory(collect_device_get(device));
    RT_END(COLLECT_OK);
}

WL_RUNTIME(int, cudaDeviceSetGraphMemAttribute, (int device, int attribute, void *value))
{
    if (!value || attribute < 0 || attribute > cudaGraphMemAttrReservedMemHigh)
        return rt_fail(cudaErrorInvalidValue);
    return rt_device_exists(device) ? cudaSuccess : rt_fail(cudaErrorInvalidDevice);
}

static collect_object *object_of(cudaUserObject_t handle)
{
    return collect_is(handle, COLLECT_OBJECT) ? (collect_object *)handle : NULL;
}

WL_RUNTIME(int, cudaUserObjectCreate,
           (cudaUserObject_t * out, void *data, cudaHostFn_t destroy, unsigned count,
            unsigned flags))
{
    RT_FREE("cudaUserObjectCreate");
    collect_object *object;
    result = out && flags == 1 ? collect_object_create(data, destroy, count, &object)
                               : COLLECT_INVALID_VALUE;
    if (result == COLLECT_OK)
        *out = (cudaUserObject_t)object;
    RT_END(result);
}

WL_RUNTIME(int, cudaUserObjectRetain, (cudaUserObject_t object, unsigned count))
{
    RT_FREE("cudaUserObjectRetain");
    RT_END(object_of(object) ? collect_object_retain(object_of(object), count)
                             : COLLECT_INVALID_VALUE);
}

WL_RUNTIME(int, cudaUserObjectRelease, (cudaUserObject_t object, unsigned count))
{
    RT_FREE("cudaUserObjectRelease");
    RT_END(object_of(object) ? collect_object_release(object_of(object), count)
                             : COLLECT_INVALID_VALUE);
}

WL_RUNTIME(int, cudaGraphRetainUserObject,
           (cudaGraph_t graph, cudaUserObject_t object, unsigned count, unsigned flags))
{
    RT_FREE("cudaGraphRetainUserObject");
    bool ok = graph_of(graph) && object_of(object) && count && flags <= 1;
    RT_END(ok ? collect_graph_retain(graph_of(graph), object_of(object), count, flags & 1)
              : COLLECT_INVALID_VALUE);
}

WL_RUNTIME(int, cudaGraphReleaseUserObject,
           (cudaGraph_t graph, cudaUserObject_t object, unsigned count))
{
    RT_FREE("cudaGraphReleaseUserObject");
    bool ok = graph_of(graph) && object_of(object) && count;
    RT_END(ok ? collect_graph_release(graph_of(graph), object_of(object), count)
              : COLLECT_INVALID_VALUE);
}
