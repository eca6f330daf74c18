/* Streams, events, callbacks, and graphs. */
#include "runtime.h"

#include <string.h>

#define STREAM(name, driver, params, ...)                       \
    cudaError_t name params                                     \
    {                                                           \
        cudaError_t result_ = rt_begin();                       \
        if (result_ == cudaSuccess)                             \
            result_ = RT_DRIVER(#driver, &driver, __VA_ARGS__); \
        return rt_end(result_);                                 \
    }

STREAM(cudaStreamCreate, cuStreamCreate, (cudaStream_t * out), (CUstream *)out, 0)
STREAM(cudaStreamCreateWithFlags, cuStreamCreate, (cudaStream_t * out, unsigned flags),
       (CUstream *)out, flags)
STREAM(cudaStreamDestroy, cuStreamDestroy, (cudaStream_t stream), (CUstream)stream)
STREAM(cudaStreamSynchronize, cuStreamSynchronize, (cudaStream_t stream), (CUstream)stream)
STREAM(cudaStreamQuery, cuStreamQuery, (cudaStream_t stream), (CUstream)stream)
STREAM(cudaStreamWaitEvent, cuStreamWaitEvent,
       (cudaStream_t stream, cudaEvent_t event, unsigned flags), (CUstream)stream, (CUevent)event,
       flags)
STREAM(cudaStreamAddCallback, cuStreamAddCallback,
       (cudaStream_t stream, cudaStreamCallback_t callback, void *data, unsigned flags),
       (CUstream)stream, (CUstreamCallback)callback, data, flags)
STREAM(cudaLaunchHostFunc, cuLaunchHostFunc, (cudaStream_t stream, cudaHostFn_t f, void *data),
       (CUstream)stream, (CUhostFn)f, data)

STREAM(cudaEventCreate, cuEventCreate, (cudaEvent_t * out), (CUevent *)out, 0)
STREAM(cudaEventCreateWithFlags, cuEventCreate, (cudaEvent_t * out, unsigned flags), (CUevent *)out,
       flags)
STREAM(cudaEventDestroy, cuEventDestroy, (cudaEvent_t event), (CUevent)event)
STREAM(cudaEventRecord, cuEventRecord, (cudaEvent_t event, cudaStream_t stream), (CUevent)event,
       (CUstream)stream)
STREAM(cudaEventQuery, cuEventQuery, (cudaEvent_t event), (CUevent)event)
STREAM(cudaEventSynchronize, cuEventSynchronize, (cudaEvent_t event), (CUevent)event)
STREAM(cudaEventElapsedTime, cuEventElapsedTime, (float *ms, cudaEvent_t a, cudaEvent_t b), ms,
       (CUevent)a, (CUevent)b)

/* ---- graphs ---- */

STREAM(cudaStreamBeginCapture, cuStreamBeginCapture,
       (cudaStream_t stream, enum cudaStreamCaptureMode mode), (CUstream)stream,
       (CUstreamCaptureMode)mode)
STREAM(cudaStreamEndCapture, cuStreamEndCapture, (cudaStream_t stream, cudaGraph_t *out),
       (CUstream)stream, (CUgraph *)out)
STREAM(cudaStreamIsCapturing, cuStreamIsCapturing,
       (cudaStream_t stream, enum cudaStreamCaptureStatus *out), (CUstream)stream,
       (CUstreamCaptureStatus *)out)
STREAM(cudaGraphCreate, cuGraphCreate, (cudaGraph_t * out, unsigned flags), (CUgraph *)out, flags)
STREAM(cudaGraphDestroy, cuGraphDestroy, (cudaGraph_t graph), (CUgraph)graph)
STREAM(cudaGraphGetNodes, cuGraphGetNodes,
       (cudaGraph_t graph, cudaGraphNode_t *nodes, size_t *count), (CUgraph)graph,
       (CUgraphNode *)nodes, count)
STREAM(cudaGraphInstantiate, cuGraphInstantiate,
       (cudaGraphExec_t * out, cudaGraph_t graph, unsigned long long flags), (CUgraphExec *)out,
       (CUgraph)graph, flags)
STREAM(cudaGraphInstantiateWithFlags, cuGraphInstantiate,
       (cudaGraphExec_t * out, cudaGraph_t graph, unsigned long long flags), (CUgraphExec *)out,
       (CUgraph)graph, flags)
STREAM(cudaGraphExecDestroy, cuGraphExecDestroy, (cudaGraphExec_t exec), (CUgraphExec)exec)
STREAM(cudaGraphLaunch, cuGraphLaunch, (cudaGraphExec_t exec, cudaStream_t stream),
       (CUgraphExec)exec, (CUstream)stream)
STREAM(cudaGraphExecUpdate, cuGraphExecUpdate,
       (cudaGraphExec_t exec, cudaGraph_t graph, cudaGraphExecUpdateResultInfo *info),
       (CUgraphExec)exec, (CUgraph)graph, (CUgraphExecUpdateResultInfo *)info)
STREAM(cudaGraphAddEmptyNode, cuGraphAddEmptyNode,
       (cudaGraphNode_t * out, cudaGraph_t graph, const cudaGraphNode_t *after, size_t count),
       (CUgraphNode *)out, (CUgraph)graph, (const CUgraphNode *)after, count)
STREAM(cudaGraphAddChildGraphNode, cuGraphAddChildGraphNode,
       (cudaGraphNode_t * out, cudaGraph_t graph, const cudaGraphNode_t *after, size_t count,
        cudaGraph_t child),
       (CUgraphNode *)out, (CUgraph)graph, (const CUgraphNode *)after, count, (CUgraph)child)

STREAM(cudaGraphChildGraphNodeGetGraph, cuGraphChildGraphNodeGetGraph,
       (cudaGraphNode_t node, cudaGraph_t *out), (CUgraphNode)node, (CUgraph *)out)
STREAM(cudaGraphExecChildGraphNodeSetParams, cuGraphExecChildGraphNodeSetParams,
       (cudaGraphExec_t exec, cudaGraphNode_t node, cudaGraph_t child), (CUgraphExec)exec,
       (CUgraphNode)node, (CUgraph)child)
STREAM(cudaGraphNodeSetEnabled, cuGraphNodeSetEnabled,
       (cudaGraphExec_t exec, cudaGraphNode_t node, unsigned on), (CUgraphExec)exec,
       (CUgraphNode)node, on)

static cudaError_t node_params(const struct cudaKernelNodeParams *p, CUDA_KERNEL_NODE_PARAMS *out)
{
    memset(out, 0, sizeof *out);
    out->gridDimX = p->gridDim.x, out->gridDimY = p->gridDim.y, out->gridDimZ = p->gridDim.z;
    out->blockDimX = p->blockDim.x, out->blockDimY = p->blockDim.y, out->blockDimZ = p->blockDim.z;
    out->sharedMemBytes = p->sharedMemBytes;
    out->kernelParams = p->kernelParams;
    out->extra = p->extra;
    cudaError_t result = rt_begin();
    return result == cudaSuccess ? rt_kernel(p->func, &out->kern) : result;
}

cudaError_t cudaGraphAddKernelNode(cudaGraphNode_t *out, cudaGraph_t graph,
                                   const cudaGraphNode_t *after, size_t count,
                                   const struct cudaKernelNodeParams *p)
{
    CUDA_KERNEL_NODE_PARAMS params;
    cudaError_t result = node_params(p, &params);
    if (result == cudaSuccess)
        result = DRIVER(cuGraphAddKernelNode, (CUgraphNode *)out, (CUgraph)graph,
                        (const CUgraphNode *)after, count, &params);
    return rt_end(result);
}

cudaError_t cudaGraphExecKernelNodeSetParams(cudaGraphExec_t exec, cudaGraphNode_t node,
                                             const struct cudaKernelNodeParams *p)
{
    CUDA_KERNEL_NODE_PARAMS params;
    cudaError_t result = node_params(p, &params);
    if (result == cudaSuccess)
        result = DRIVER(cuGraphExecKernelNodeSetParams, (CUgraphExec)exec, (CUgraphNode)node,
                        &params);
    return rt_end(result);
}

cudaError_t cudaGraphAddMemsetNode(cudaGraphNode_t *out, cudaGraph_t graph,
                                   const cudaGraphNode_t *after, size_t count,
                                   const struct cudaMemsetParams *p)
{
    CUcontext context = NULL;
    CUDA_MEMSET_NODE_PARAMS params = {.dst = (CUdeviceptr)p->dst,
                                      .pitch = p->pitch,
                                      .value = p->value,
                                      .elementSize = p->elementSize,
                                      .width = p->width,
                                      .height = p->height};
    cudaError_t result = rt_begin();
    DRIVER(cuCtxGetCurrent, &context);
    if (result == cudaSuccess)
        result = DRIVER(cuGraphAddMemsetNode, (CUgraphNode *)out, (CUgraph)graph,
                        (const CUgraphNode *)after, count, &params, context);
    return rt_end(result);
}
