/* CUDA's functions in the test's own process: the entry points that the libraries in front lead to.
 */
#ifndef WL_TESTS_DEVICE_API_H
#define WL_TESTS_DEVICE_API_H

#include "api/both/entry.h"
#include "cuda/types.h"
#include "support/test.h"

#include <assert.h>
#include <stddef.h>
#include <stdint.h>

#define RUNTIME_FUNCTIONS(X)                                                                      \
    X(cudaGetLastError, (void))                                                                   \
    X(cudaPeekAtLastError, (void))                                                                \
    X(cudaMalloc, (void **, size_t))                                                              \
    X(cudaMallocHost, (void **, size_t))                                                          \
    X(cudaMallocManaged, (void **, size_t, unsigned))                                             \
    X(cudaMallocPitch, (void **, size_t *, size_t, size_t))                                       \
    X(cudaMallocAsync, (void **, size_t, cudaStream_t))                                           \
    X(cudaMallocArray,                                                                            \
      (cudaArray_t *, const struct cudaChannelFormatDesc *, size_t, size_t, unsigned))            \
    X(cudaMalloc3DArray,                                                                          \
      (cudaArray_t *, const struct cudaChannelFormatDesc *, struct cudaExtent, unsigned))         \
    X(cudaFree, (void *))                                                                         \
    X(cudaFreeHost, (void *))                                                                     \
    X(cudaFreeAsync, (void *, cudaStream_t))                                                      \
    X(cudaFreeArray, (cudaArray_t))                                                               \
    X(cudaHostRegister, (void *, size_t, unsigned))                                               \
    X(cudaHostUnregister, (void *))                                                               \
    X(cudaMemcpy, (void *, const void *, size_t, int))                                            \
    X(cudaMemcpyAsync, (void *, const void *, size_t, int, cudaStream_t))                         \
    X(cudaMemcpy2D, (void *, size_t, const void *, size_t, size_t, size_t, int))                  \
    X(cudaMemcpy3D, (const struct cudaMemcpy3DParms *))                                           \
    X(cudaMemcpy2DToArray,                                                                        \
      (cudaArray_t, size_t, size_t, const void *, size_t, size_t, size_t, int))                   \
    X(cudaMemcpy2DFromArrayAsync,                                                                 \
      (void *, size_t, cudaArray_const_t, size_t, size_t, size_t, size_t, int, cudaStream_t))     \
    X(cudaMemcpyFromArray, (void *, cudaArray_const_t, size_t, size_t, size_t, int))              \
    X(cudaMemset, (void *, int, size_t))                                                          \
    X(cudaMemsetAsync, (void *, int, size_t, cudaStream_t))                                       \
    X(cudaMemset2D, (void *, size_t, int, size_t, size_t))                                        \
    X(cudaMemGetInfo, (size_t *, size_t *))                                                       \
    X(cudaDeviceSynchronize, (void))                                                              \
    X(cudaDeviceReset, (void))                                                                    \
    X(cudaGetDeviceCount, (int *))                                                                \
    X(cudaDeviceGetDefaultMemPool, (cudaMemPool_t *, int))                                        \
    X(cudaMemPoolGetAttribute, (cudaMemPool_t, int, void *))                                      \
    X(cudaMemPoolSetAccess, (cudaMemPool_t, const CUmemAccessDesc *, size_t))                     \
    X(cudaDeviceGetGraphMemAttribute, (int, int, void *))                                         \
    X(cudaStreamGetCaptureInfo, (cudaStream_t, int *, unsigned long long *, cudaGraph_t *,        \
                                 const cudaGraphNode_t **, const cudaGraphEdgeData **, size_t *)) \
    X(cudaStreamUpdateCaptureDependencies,                                                        \
      (cudaStream_t, cudaGraphNode_t *, const cudaGraphEdgeData *, size_t, unsigned))             \
    X(cudaMemcpyPeer, (void *, int, const void *, int, size_t))                                   \
    X(cudaStreamGetFlags, (cudaStream_t, unsigned *))                                             \
    X(cudaStreamGetPriority, (cudaStream_t, int *))                                               \
    X(cudaStreamCreate, (cudaStream_t *))                                                         \
    X(cudaStreamCreateWithFlags, (cudaStream_t *, unsigned))                                      \
    X(cudaStreamDestroy, (cudaStream_t))                                                          \
    X(cudaStreamSynchronize, (cudaStream_t))                                                      \
    X(cudaStreamQuery, (cudaStream_t))                                                            \
    X(cudaStreamWaitEvent, (cudaStream_t, cudaEvent_t, unsigned))                                 \
    X(cudaLaunchHostFunc, (cudaStream_t, cudaHostFn_t, void *))                                   \
    X(cudaEventCreate, (cudaEvent_t *))                                                           \
    X(cudaEventDestroy, (cudaEvent_t))                                                            \
    X(cudaEventRecord, (cudaEvent_t, cudaStream_t))                                               \
    X(cudaEventQuery, (cudaEvent_t))                                                              \
    X(cudaEventSynchronize, (cudaEvent_t))                                                        \
    X(cudaEventElapsedTime, (float *, cudaEvent_t, cudaEvent_t))                                  \
    X(cudaStreamBeginCapture, (cudaStream_t, int))                                                \
    X(cudaStreamEndCapture, (cudaStream_t, cudaGraph_t *))                                        \
    X(cudaGraphCreate, (cudaGraph_t *, unsigned))                                                 \
    X(cudaGraphDestroy, (cudaGraph_t))                                                            \
    X(cudaGraphClone, (cudaGraph_t *, cudaGraph_t))                                               \
    X(cudaGraphGetNodes, (cudaGraph_t, cudaGraphNode_t *, size_t *))                              \
    X(cudaGraphAddMemsetNode, (cudaGraphNode_t *, cudaGraph_t, const cudaGraphNode_t *, size_t,   \
                               const struct cudaMemsetParams *))                                  \
    X(cudaGraphAddMemcpyNode1D, (cudaGraphNode_t *, cudaGraph_t, const cudaGraphNode_t *, size_t, \
                                 void *, const void *, size_t, int))                              \
    X(cudaGraphAddHostNode, (cudaGraphNode_t *, cudaGraph_t, const cudaGraphNode_t *, size_t,     \
                             const struct cudaHostNodeParams *))                                  \
    X(cudaGraphAddChildGraphNode,                                                                 \
      (cudaGraphNode_t *, cudaGraph_t, const cudaGraphNode_t *, size_t, cudaGraph_t))             \
    X(cudaGraphAddMemAllocNode, (cudaGraphNode_t *, cudaGraph_t, const cudaGraphNode_t *, size_t, \
                                 struct cudaMemAllocNodeParams *))                                \
    X(cudaGraphAddMemFreeNode,                                                                    \
      (cudaGraphNode_t *, cudaGraph_t, const cudaGraphNode_t *, size_t, void *))                  \
    X(cudaGraphMemsetNodeGetParams, (cudaGraphNode_t, struct cudaMemsetParams *))                 \
    X(cudaGraphExecMemsetNodeSetParams,                                                           \
      (cudaGraphExec_t, cudaGraphNode_t, const struct cudaMemsetParams *))                        \
    X(cudaGraphInstantiate, (cudaGraphExec_t *, cudaGraph_t, unsigned long long))                 \
    X(cudaGraphExecUpdate, (cudaGraphExec_t, cudaGraph_t, cudaGraphExecUpdateResultInfo *))       \
    X(cudaGraphExecDestroy, (cudaGraphExec_t))                                                    \
    X(cudaGraphLaunch, (cudaGraphExec_t, cudaStream_t))                                           \
    X(cudaUserObjectCreate, (cudaUserObject_t *, void *, cudaHostFn_t, unsigned, unsigned))       \
    X(cudaGraphRetainUserObject, (cudaGraph_t, cudaUserObject_t, unsigned, unsigned))             \
    X(cudaIpcGetMemHandle, (void *, void *))

#define DRIVER_FUNCTIONS(X)                                                                    \
    X(cuInit, (unsigned))                                                                      \
    X(cuDeviceGet, (CUdevice *, int))                                                          \
    X(cuDevicePrimaryCtxRetain, (CUcontext *, CUdevice))                                       \
    X(cuCtxSetCurrent, (CUcontext))                                                            \
    X(cuModuleLoadData, (CUmodule *, const void *))                                            \
    X(cuModuleUnload, (CUmodule))                                                              \
    X(cuModuleGetFunction, (CUfunction *, CUmodule, const char *))                             \
    X(cuModuleGetGlobal_v2, (CUdeviceptr *, size_t *, CUmodule, const char *))                 \
    X(cuLaunchKernel, (CUfunction, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, \
                       unsigned, CUstream, void **, void **))

#define X(name, args) static int(*name) args;
RUNTIME_FUNCTIONS(X)
DRIVER_FUNCTIONS(X)
#undef X

static inline void api_load(void)
{
#define X(name, args) name = (__typeof__(name))(void *)api_entry_find(#name, 13, NULL);
    RUNTIME_FUNCTIONS(X)
#undef X
#define X(name, args) name = (__typeof__(name))(void *)api_entry_find(#name, 0, NULL);
    DRIVER_FUNCTIONS(X)
#undef X
}

#define OK(call) assert_int_equal((call), 0)

#endif
