/* The parameter that kernels with probes have more: not seen by the program where it asks, and given by us where it adds
 * kernels to graphs, which run without recording. */
#include "collect/inline/probe.h"

#include <string.h>

/* The number of parameters that the program knows of; UINT32_MAX: those that the driver says. */
static uint32_t visible(void *function)
{
    uint32_t count = UINT32_MAX;
    if (!__atomic_load_n(&shim_g.probing, __ATOMIC_RELAXED))
        return count;
    pthread_mutex_lock(&shim_g.lock);
    shim_function *f = function ? shim_function_of(function) : NULL;
    if (f && f->probe)
        count = f->probe->kernel->param_index;
    pthread_mutex_unlock(&shim_g.lock);
    return count;
}

HOOK(cuFuncGetParamInfo, (CUfunction f, size_t index, size_t *offset, size_t *bytes),
     (f, index, offset, bytes))
{
    return index >= visible(f) ? CUDA_ERROR_INVALID_VALUE
                               : real_cuFuncGetParamInfo(f, index, offset, bytes);
}

HOOK(cuKernelGetParamInfo, (CUkernel f, size_t index, size_t *offset, size_t *bytes),
     (f, index, offset, bytes))
{
    return index >= visible(f) ? CUDA_ERROR_INVALID_VALUE
                               : real_cuKernelGetParamInfo(f, index, offset, bytes);
}

static CUresult counted(CUresult result, void *function, size_t *count)
{
    uint32_t own = visible(function);
    if (result == CUDA_SUCCESS && own != UINT32_MAX)
        *count = own;
    return result;
}

HOOK(cuFuncGetParamCount, (CUfunction f, size_t *count), (f, count))
{
    return counted(real_cuFuncGetParamCount(f, count), f, count);
}

HOOK(cuKernelGetParamCount, (CUkernel f, size_t *count), (f, count))
{
    return counted(real_cuKernelGetParamCount(f, count), f, count);
}

/* ---- nodes of graphs ---- */

static void *function_of(const CUDA_KERNEL_NODE_PARAMS_v2 *p)
{
    return p->func ? (void *)p->func : (void *)p->kern;
}

/* Calls the driver with a copy of the node's parameters; `type` is one of the two versions. */
#define NODE(symbol, type, handle_of, takes, args)                          \
    HOOK(symbol, takes, args)                                               \
    {                                                                       \
        shim_probe probe;                                                   \
        type copy;                                                          \
        if (!node || !__atomic_load_n(&shim_g.probing, __ATOMIC_RELAXED))   \
            return real_##symbol args;                                      \
        copy = *node;                                                       \
        shim_probe_off(&probe, handle_of, node->kernelParams, node->extra); \
        copy.kernelParams = probe.params;                                   \
        copy.extra = probe.extra;                                           \
        node = &copy;                                                       \
        CUresult result = real_##symbol args;                               \
        shim_probe_free(&probe);                                            \
        return result;                                                      \
    }

#define ADD_PARAMS(type) \
    (CUgraphNode * out, CUgraph graph, const CUgraphNode *after, size_t count, const type *node)
NODE(cuGraphAddKernelNode, CUDA_KERNEL_NODE_PARAMS_v1, node->func,
     ADD_PARAMS(CUDA_KERNEL_NODE_PARAMS_v1), (out, graph, after, count, node))
NODE(cuGraphAddKernelNode_v2, CUDA_KERNEL_NODE_PARAMS_v2, function_of(node),
     ADD_PARAMS(CUDA_KERNEL_NODE_PARAMS_v2), (out, graph, after, count, node))
NODE(cuGraphKernelNodeSetParams, CUDA_KERNEL_NODE_PARAMS_v1, node->func,
     (CUgraphNode handle, const CUDA_KERNEL_NODE_PARAMS_v1 *node), (handle, node))
NODE(cuGraphKernelNodeSetParams_v2, CUDA_KERNEL_NODE_PARAMS_v2, function_of(node),
     (CUgraphNode handle, const CUDA_KERNEL_NODE_PARAMS_v2 *node), (handle, node))

/* Of any type. */
#define ANY_NODE(symbol, takes, args)                                                 \
    HOOK(symbol, takes, args)                                                         \
    {                                                                                 \
        shim_probe probe;                                                             \
        if (!node || node->type != CU_GRAPH_NODE_TYPE_KERNEL ||                       \
            !__atomic_load_n(&shim_g.probing, __ATOMIC_RELAXED))                      \
            return real_##symbol args;                                                \
        CUgraphNodeParams *given = node, copy = *node;                                \
        shim_probe_off(&probe, function_of(&node->kernel), node->kernel.kernelParams, \
                       node->kernel.extra);                                           \
        copy.kernel.kernelParams = probe.params;                                      \
        copy.kernel.extra = probe.extra;                                              \
        node = &copy;                                                                 \
        CUresult result = real_##symbol args;                                         \
        copy.kernel.kernelParams = given->kernel.kernelParams;                        \
        copy.kernel.extra = given->kernel.extra;                                      \
        *given = copy; /* the driver may write to it */                               \
        shim_probe_free(&probe);                                                      \
        return result;                                                                \
    }

ANY_NODE(cuGraphAddNode,
         (CUgraphNode * out, CUgraph graph, const CUgraphNode *after, size_t count,
          CUgraphNodeParams *node),
         (out, graph, after, count, node))
ANY_NODE(cuGraphAddNode_v2,
         (CUgraphNode * out, CUgraph graph, const CUgraphNode *after, const void *edges,
          size_t count, CUgraphNodeParams *node),
         (out, graph, after, edges, count, node))
ANY_NODE(cuGraphNodeSetParams, (CUgraphNode handle, CUgraphNodeParams *node), (handle, node))
