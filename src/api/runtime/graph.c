/* Graphs of the runtime: what only it does with the parameters of nodes (api/both/node.h), nodes
 * that copy bytes, memory and user objects of graphs. */
#include "api/both/graph.h"
#include "api/runtime/runtime.h"

/* ---- parameters of nodes ---- */

static dev_result function_of_symbol(dev_call *call, const CUDA_KERNEL_NODE_PARAMS_v2 *k,
                                     dev_launch *launch)
{
    launch->old_runtime = api_runtime_release() < 13;
    return rt_resolve(call->context, k->func, &launch->function);
}

static dev_result read_memcpy3d_parms(const void *params, dev_copy *copy)
{
    return rt_read_copy(params, copy);
}

static struct cudaPitchedPtr pitched_of(const dev_place *place, const dev_copy *copy)
{
    size_t pitch = place->pitch ? place->pitch : copy->width;
    return (struct cudaPitchedPtr){.ptr = (void *)place->address,
                                   .pitch = pitch,
                                   .xsize = copy->width,
                                   .ysize = place->height ? place->height : copy->height};
}

static void write_memcpy3d_parms(const dev_copy *copy, void *params)
{
    struct cudaMemcpy3DParms p = {.extent = {copy->width, copy->height, copy->depth},
                                  .srcPos = {copy->from.x, copy->from.y, copy->from.z},
                                  .dstPos = {copy->to.x, copy->to.y, copy->to.z},
                                  .kind = cudaMemcpyDefault};
    if (copy->from.array)
        p.srcArray = (cudaArray_t)copy->from.array;
    else
        p.srcPtr = pitched_of(&copy->from, copy);
    if (copy->to.array)
        p.dstArray = (cudaArray_t)copy->to.array;
    else
        p.dstPtr = pitched_of(&copy->to, copy);
    *(struct cudaMemcpy3DParms *)params = p;
}

static dev_result primary_context_on(dev_call *call, int device, dev_context **context)
{
    bool current = device == dev_gpu_ordinal(dev_context_device(call->context));
    *context = current ? call->context : rt_device_context(device);
    return *context ? DEV_OK : DEV_INVALID_DEVICE;
}

const api_side rt_nodes = {.function = function_of_symbol,
                           .read_copy = read_memcpy3d_parms,
                           .write_copy = write_memcpy3d_parms,
                           .context = primary_context_on,
                           .gives_back = true};

/* ---- nodes that copy bytes ---- */

static struct cudaMemcpy3DParms linear_params(void *to, const void *from, size_t bytes, int kind)
{
    struct cudaPitchedPtr source = {(void *)(uintptr_t)from, bytes, bytes, 1};
    struct cudaPitchedPtr target = {to, bytes, bytes, 1};
    return (struct cudaMemcpy3DParms){.srcPtr = source,
                                      .dstPtr = target,
                                      .extent = {bytes, 1, 1},
                                      .kind = (enum cudaMemcpyKind)kind};
}

dev_result rt_add_copy(dev_call *call, CUgraphNode *out, CUgraph graph, const CUgraphNode *needs,
                       size_t count, void *to, const void *from, size_t bytes, int kind)
{
    struct cudaMemcpy3DParms p = linear_params(to, from, bytes, kind);
    return api_add_part(call, &rt_nodes, out, graph, needs, count, CU_GRAPH_NODE_TYPE_MEMCPY, &p,
                        sizeof p);
}

static dev_result symbol_address(dev_call *call, const void *symbol, size_t offset, void **address)
{
    uint64_t base = 0;
    size_t size;
    dev_result r = rt_symbol(call->context, symbol, &base, &size);
    *address = (void *)(base + offset);
    return r;
}

dev_result rt_add_copy_to(dev_call *call, CUgraphNode *out, CUgraph graph, const CUgraphNode *needs,
                          size_t count, const void *symbol, const void *from, size_t bytes,
                          size_t offset, int kind)
{
    void *to;
    dev_result r = symbol_address(call, symbol, offset, &to);
    return r ? r : rt_add_copy(call, out, graph, needs, count, to, from, bytes, kind);
}

dev_result rt_add_copy_from(dev_call *call, CUgraphNode *out, CUgraph graph,
                            const CUgraphNode *needs, size_t count, void *to, const void *symbol,
                            size_t bytes, size_t offset, int kind)
{
    void *from;
    dev_result r = symbol_address(call, symbol, offset, &from);
    return r ? r : rt_add_copy(call, out, graph, needs, count, to, from, bytes, kind);
}

dev_result rt_set_copy(dev_call *call, CUgraphNode node, void *to, const void *from, size_t bytes,
                       int kind)
{
    struct cudaMemcpy3DParms p = linear_params(to, from, bytes, kind);
    return api_set_part(call, &rt_nodes, node, CU_GRAPH_NODE_TYPE_MEMCPY, &p, sizeof p);
}

dev_result rt_set_step_copy(dev_call *call, CUgraphExec exec, CUgraphNode node, void *to,
                            const void *from, size_t bytes, int kind)
{
    struct cudaMemcpy3DParms p = linear_params(to, from, bytes, kind);
    return api_set_step_part(call, &rt_nodes, exec, node, CU_GRAPH_NODE_TYPE_MEMCPY, &p, sizeof p);
}

/* ---- memory of graphs ---- */

static dev_result check_attribute(int device, int attribute, const void *value)
{
    if (!value || attribute < 0 || attribute > cudaGraphMemAttrReservedMemHigh)
        return DEV_INVALID_VALUE;
    return dev_gpu_get(device) ? DEV_OK : DEV_INVALID_DEVICE;
}

dev_result rt_graph_memory(int device, int attribute, void *value)
{
    dev_result r = check_attribute(device, attribute, value);
    if (r == DEV_OK)
        *(uint64_t *)value = dev_graph_memory(dev_gpu_get(device));
    return r;
}

dev_result rt_set_graph_memory(int device, int attribute, const void *value)
{
    return check_attribute(device, attribute, value); /* high-water marks are not kept */
}

/* ---- user objects ---- */

static dev_object *user_object_of(cudaUserObject_t handle)
{
    return dev_is(handle, DEV_OBJECT) ? (dev_object *)handle : NULL;
}

dev_result rt_object_create(cudaUserObject_t *out, void *data, cudaHostFn_t destroy, unsigned count,
                            unsigned flags)
{
    enum { NO_DESTRUCTOR_SYNC = 1 }; /* the only flag, which must be given */
    return out && flags == NO_DESTRUCTOR_SYNC
               ? dev_object_create(data, destroy, count, (dev_object **)out)
               : DEV_INVALID_VALUE;
}

dev_result rt_object_retain(cudaUserObject_t object, unsigned count)
{
    return user_object_of(object) ? dev_object_retain(user_object_of(object), count)
                                  : DEV_INVALID_VALUE;
}

dev_result rt_object_release(cudaUserObject_t object, unsigned count)
{
    return user_object_of(object) ? dev_object_release(user_object_of(object), count)
                                  : DEV_INVALID_VALUE;
}

dev_result rt_graph_retain(cudaGraph_t graph, cudaUserObject_t object, unsigned count,
                           unsigned flags)
{
    enum { MOVE = 1 };
    return api_graph_of(graph) && user_object_of(object) && count && flags <= MOVE
               ? dev_graph_retain(api_graph_of(graph), user_object_of(object), count, flags & MOVE)
               : DEV_INVALID_VALUE;
}

dev_result rt_graph_release(cudaGraph_t graph, cudaUserObject_t object, unsigned count)
{
    return api_graph_of(graph) && user_object_of(object) && count
               ? dev_graph_release(api_graph_of(graph), user_object_of(object), count)
               : DEV_INVALID_VALUE;
}
