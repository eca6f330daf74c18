/* Launches and attributes of kernels. */
#include "runtime.h"

enum { MAX_CONFIGS = 16 };

typedef struct call_config {
    dim3 grid, block;
    size_t shared;
    cudaStream_t stream;
} call_config;

static __thread call_config configs[MAX_CONFIGS];
static __thread unsigned nconfigs;

unsigned __cudaPushCallConfiguration(dim3 grid, dim3 block, size_t shared, cudaStream_t stream);
cudaError_t __cudaPopCallConfiguration(dim3 *grid, dim3 *block, size_t *shared, void *stream);
cudaError_t __cudaLaunchKernel(cudaKernel_t kernel, dim3 grid, dim3 block, void **args,
                               size_t shared, cudaStream_t stream);
cudaError_t __cudaLaunchKernel_ptsz(cudaKernel_t kernel, dim3 grid, dim3 block, void **args,
                                    size_t shared, cudaStream_t stream);

unsigned __cudaPushCallConfiguration(dim3 grid, dim3 block, size_t shared, cudaStream_t stream)
{
    if (nconfigs == MAX_CONFIGS)
        return 1;
    configs[nconfigs++] = (call_config){grid, block, shared, stream};
    return 0;
}

cudaError_t __cudaPopCallConfiguration(dim3 *grid, dim3 *block, size_t *shared, void *stream)
{
    if (!nconfigs)
        return cudaErrorMissingConfiguration;
    const call_config *c = &configs[--nconfigs];
    *grid = c->grid, *block = c->block, *shared = c->shared;
    *(cudaStream_t *)stream = c->stream;
    return cudaSuccess;
}

static bool is_empty(const call_config *c)
{
    return !c->grid.x || !c->grid.y || !c->grid.z || !c->block.x || !c->block.y || !c->block.z;
}

static cudaError_t launch(const call_config *c, const void *function, void **args)
{
    CUkernel kernel;
    cudaError_t result = rt_begin();
    if (result == cudaSuccess && RUNTIME_MAJOR < 13 && is_empty(c))
        result = cudaErrorInvalidConfiguration;
    if (result == cudaSuccess)
        result = rt_kernel(function, &kernel);
    if (result == cudaSuccess)
        result = DRIVER(cuLaunchKernel, (CUfunction)kernel, c->grid.x, c->grid.y, c->grid.z,
                        c->block.x, c->block.y, c->block.z, (unsigned)c->shared,
                        (CUstream)c->stream, args, NULL);
    return rt_end(result);
}

cudaError_t cudaLaunchKernel(const void *function, dim3 grid, dim3 block, void **args,
                             size_t shared, cudaStream_t stream)
{
    return launch(&(call_config){grid, block, shared, stream}, function, args);
}

cudaError_t __cudaLaunchKernel(cudaKernel_t kernel, dim3 grid, dim3 block, void **args,
                               size_t shared, cudaStream_t stream)
{
    return launch(&(call_config){grid, block, shared, stream}, kernel, args);
}

cudaError_t __cudaLaunchKernel_ptsz(cudaKernel_t kernel, dim3 grid, dim3 block, void **args,
                                    size_t shared, cudaStream_t stream)
{
    cudaStream_t own = stream ? stream : cudaStreamPerThread;
    return launch(&(call_config){grid, block, shared, own}, kernel, args);
}

cudaError_t cudaLaunchCooperativeKernel(const void *function, dim3 grid, dim3 block, void **args,
                                        size_t shared, cudaStream_t stream)
{
    CUkernel kernel;
    cudaError_t result = rt_begin();
    if (result == cudaSuccess)
        result = rt_kernel(function, &kernel);
    if (result == cudaSuccess)
        result = DRIVER(cuLaunchCooperativeKernel, (CUfunction)kernel, grid.x, grid.y, grid.z,
                        block.x, block.y, block.z, (unsigned)shared, (CUstream)stream, args);
    return rt_end(result);
}

/* The attributes of both interfaces are the same bytes. */
cudaError_t cudaLaunchKernelExC(const cudaLaunchConfig_t *c, const void *function, void **args)
{
    CUkernel kernel;
    CUlaunchConfig config = {.gridDimX = c->gridDim.x,
                             .gridDimY = c->gridDim.y,
                             .gridDimZ = c->gridDim.z,
                             .blockDimX = c->blockDim.x,
                             .blockDimY = c->blockDim.y,
                             .blockDimZ = c->blockDim.z,
                             .sharedMemBytes = (unsigned)c->dynamicSmemBytes,
                             .hStream = (CUstream)c->stream,
                             .attrs = (CUlaunchAttribute *)c->attrs,
                             .numAttrs = c->numAttrs};
    cudaError_t result = rt_begin();
    if (result == cudaSuccess)
        result = rt_kernel(function, &kernel);
    if (result == cudaSuccess)
        result = DRIVER(cuLaunchKernelEx, &config, (CUfunction)kernel, args, NULL);
    return rt_end(result);
}

/* ---- attributes ---- */

static int attribute(CUfunction function, CUfunction_attribute which)
{
    int value = 0;
    DRIVER(cuFuncGetAttribute, &value, which, function);
    return value;
}

cudaError_t cudaFuncGetAttributes(struct cudaFuncAttributes *a, const void *host)
{
    CUfunction f;
    cudaError_t result = rt_begin();
    if (result == cudaSuccess)
        result = rt_function(host, &f);
    if (result != cudaSuccess)
        return rt_end(result);
    *a = (struct cudaFuncAttributes){
        .sharedSizeBytes = (size_t)attribute(f, CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES),
        .constSizeBytes = (size_t)attribute(f, CU_FUNC_ATTRIBUTE_CONST_SIZE_BYTES),
        .localSizeBytes = (size_t)attribute(f, CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES),
        .maxThreadsPerBlock = attribute(f, CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK),
        .numRegs = attribute(f, CU_FUNC_ATTRIBUTE_NUM_REGS),
        .ptxVersion = attribute(f, CU_FUNC_ATTRIBUTE_PTX_VERSION),
        .binaryVersion = attribute(f, CU_FUNC_ATTRIBUTE_BINARY_VERSION),
        .maxDynamicSharedSizeBytes = attribute(f, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES)};
    return cudaSuccess;
}

cudaError_t cudaFuncSetAttribute(const void *host, enum cudaFuncAttribute which, int value)
{
    CUfunction f;
    cudaError_t result = rt_begin();
    if (result == cudaSuccess)
        result = rt_function(host, &f);
    if (result == cudaSuccess)
        result = DRIVER(cuFuncSetAttribute, f, (CUfunction_attribute)which, value);
    return rt_end(result);
}

cudaError_t cudaFuncSetCacheConfig(const void *host, enum cudaFuncCache config)
{
    CUfunction f;
    cudaError_t result = rt_begin();
    if (result == cudaSuccess)
        result = rt_function(host, &f);
    if (result == cudaSuccess)
        result = DRIVER(cuFuncSetCacheConfig, f, (CUfunc_cache)config);
    return rt_end(result);
}

cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int *blocks, const void *host,
                                                                   int size, size_t shared,
                                                                   unsigned flags)
{
    CUfunction f;
    cudaError_t result = rt_begin();
    if (result == cudaSuccess)
        result = rt_function(host, &f);
    if (result == cudaSuccess)
        result = DRIVER(cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags, blocks, f, size,
                        shared, flags);
    return rt_end(result);
}
