/* Launches, attributes of kernels and occupancy in the runtime. */
#include "api/runtime/runtime.h"

#include <string.h>

static emu_dim dim(dim3 d)
{
    return (emu_dim){d.x, d.y, d.z};
}

/* ---- the <<<...>>> that the compiler writes ---- */

WL_RUNTIME(unsigned, __cudaPushCallConfiguration,
           (dim3 grid, dim3 block, size_t shared, cudaStream_t stream))
{
    dev_thread *self = dev_self();
    if (!self || self->nconfigs == DEV_MAX_CONFIGS)
        return (unsigned)rt_fail(cudaErrorMemoryAllocation);
    self->configs[self->nconfigs++] = (dev_config){dim(grid), dim(block), shared, stream};
    return 0;
}

WL_RUNTIME(int, __cudaPopCallConfiguration,
           (dim3 * grid, dim3 *block, size_t *shared, void *stream))
{
    dev_thread *self = dev_self();
    if (!self || !self->nconfigs)
        return rt_fail(cudaErrorMissingConfiguration);
    const dev_config *c = &self->configs[--self->nconfigs];
    *grid = (dim3){c->grid.x, c->grid.y, c->grid.z};
    *block = (dim3){c->block.x, c->block.y, c->block.z};
    *shared = c->shared;
    *(void **)stream = c->stream;
    return cudaSuccess;
}

/* ---- launches ---- */

static int do_launch(const char *api, bool per_thread, cudaStream_t handle, const void *function,
                     dev_launch *launch, size_t shared)
{
    RT_BEGIN(api, CAP_CALL_LAUNCH, DEV_PRIMARY);
    dev_stream *stream;
    static void *none[1]; /* a kernel without parameters may be launched without a list */
    result = dev_stream_get(call, handle, per_thread, &stream);
    if (result == DEV_OK)
        result = rt_resolve(dev_stream_context(stream), function, &launch->function);
    if (result == DEV_OK && shared > UINT32_MAX)
        result = DEV_INVALID_VALUE;
    if (result)
        RT_END(result);
    launch->shared = (uint32_t)shared;
    launch->old_runtime = api_runtime_release() < 13;
    if (!launch->params)
        launch->params = none;
    RT_END(dev_do_launch(call, stream, launch));
}

static int launch_kernel(const char *api, bool per_thread, const void *function, dim3 grid,
                         dim3 block, void **args, size_t shared, cudaStream_t stream,
                         bool cooperative)
{
    dev_launch launch = {
        .grid = dim(grid), .block = dim(block), .cooperative = cooperative, .params = args};
    return do_launch(api, per_thread, stream, function, &launch, shared);
}

WL_RUNTIME_STREAM(ptsz, cudaLaunchKernel,
                  (const void *function, dim3 grid, dim3 block, void **args, size_t shared,
                   cudaStream_t stream),
                  (function, grid, block, args, shared, stream))
{
    return launch_kernel(api, per_thread, function, grid, block, args, shared, stream, false);
}

WL_RUNTIME_STREAM(ptsz, __cudaLaunchKernel,
                  (cudaKernel_t kernel, dim3 grid, dim3 block, void **args, size_t shared,
                   cudaStream_t stream),
                  (kernel, grid, block, args, shared, stream))
{
    (void)api;
    return launch_kernel("cudaLaunchKernel", per_thread, kernel, grid, block, args, shared, stream,
                         false);
}

WL_RUNTIME_STREAM(ptsz, cudaLaunchCooperativeKernel,
                  (const void *function, dim3 grid, dim3 block, void **args, size_t shared,
                   cudaStream_t stream),
                  (function, grid, block, args, shared, stream))
{
    return launch_kernel(api, per_thread, function, grid, block, args, shared, stream, true);
}

dev_result rt_launch_attributes(const cudaLaunchAttribute *attributes, unsigned count,
                                dev_launch *launch)
{
    if (count && !attributes)
        return DEV_INVALID_VALUE;
    for (unsigned i = 0; i < count; i++) {
        const cudaLaunchAttributeValue *v = &attributes[i].val;
        if (attributes[i].id == cudaLaunchAttributeCooperative)
            launch->cooperative = v->cooperative != 0;
        else if (attributes[i].id == cudaLaunchAttributeClusterDimension)
            launch->cluster = (emu_dim){v->clusterDim.x, v->clusterDim.y, v->clusterDim.z};
    }
    return DEV_OK; /* the others concern timing and priority */
}

WL_RUNTIME_STREAM(ptsz, cudaLaunchKernelExC,
                  (const cudaLaunchConfig_t *config, const void *function, void **args),
                  (config, function, args))
{
    if (!config)
        return rt_fail(cudaErrorInvalidValue);
    dev_launch launch = {
        .grid = dim(config->gridDim), .block = dim(config->blockDim), .params = args};
    dev_result r = rt_launch_attributes(config->attrs, config->numAttrs, &launch);
    if (r)
        return rt_fail(r);
    return do_launch(api, per_thread, config->stream, function, &launch, config->dynamicSmemBytes);
}

/* ---- attributes ---- */

static int get_int(dev_function *function, int attribute)
{
    int value = 0;
    dev_function_get(function, attribute, &value);
    return value;
}

/* The fields of 11.x come first in the struct of later releases. */
static int attributes_of(struct cudaFuncAttributes_v12 *out, const void *stub, bool clusters)
{
    RT_QUIET("cudaFuncGetAttributes");
    dev_function *f;
    result = out ? rt_resolve(call->context, stub, &f) : DEV_INVALID_VALUE;
    if (result == DEV_OK && !dev_function_info(f, NULL))
        result = DEV_NOT_SUPPORTED;
    if (result)
        RT_END(result);
    memset(out, 0, clusters ? sizeof *out : sizeof(struct cudaFuncAttributes_v11));
    out->sharedSizeBytes = (size_t)get_int(f, CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES);
    out->constSizeBytes = (size_t)get_int(f, CU_FUNC_ATTRIBUTE_CONST_SIZE_BYTES);
    out->localSizeBytes = (size_t)get_int(f, CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES);
    out->maxThreadsPerBlock = get_int(f, CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK);
    out->numRegs = get_int(f, CU_FUNC_ATTRIBUTE_NUM_REGS);
    out->ptxVersion = get_int(f, CU_FUNC_ATTRIBUTE_PTX_VERSION);
    out->binaryVersion = get_int(f, CU_FUNC_ATTRIBUTE_BINARY_VERSION);
    out->maxDynamicSharedSizeBytes = get_int(f, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES);
    out->preferredShmemCarveout = get_int(f, CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT);
    if (clusters) {
        out->nonPortableClusterSizeAllowed =
            get_int(f, CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED);
        out->clusterSchedulingPolicyPreference =
            get_int(f, CU_FUNC_ATTRIBUTE_CLUSTER_SCHEDULING_POLICY_PREFERENCE);
    }
    RT_END(DEV_OK);
}

WL_RUNTIME_FOR(11, 11, int, cudaFuncGetAttributes,
               (struct cudaFuncAttributes_v12 * out, const void *stub))
{
    return attributes_of(out, stub, false);
}

WL_RUNTIME_FOR(12, 13, int, cudaFuncGetAttributes,
               (struct cudaFuncAttributes_v12 * out, const void *stub))
{
    return attributes_of(out, stub, true);
}

static int set_attribute(const char *api, const void *stub, int attribute, int value)
{
    RT_QUIET(api);
    dev_function *f;
    result = rt_resolve(call->context, stub, &f);
    RT_END(result ? result : dev_function_set(f, attribute, value));
}

WL_RUNTIME(int, cudaFuncSetAttribute, (const void *stub, int attribute, int value))
{
    return set_attribute("cudaFuncSetAttribute", stub, attribute, value);
}

WL_RUNTIME(int, cudaKernelSetAttributeForDevice,
           (cudaKernel_t kernel, int attribute, int value, int device))
{
    (void)device; /* each has the same kernels */
    return set_attribute("cudaKernelSetAttributeForDevice", kernel, attribute, value);
}

static int check_function(const char *api, const void *stub, bool valid)
{
    RT_QUIET(api);
    dev_function *f;
    RT_END(valid ? rt_resolve(call->context, stub, &f) : DEV_INVALID_VALUE);
}

/* Preferences: nothing that can be observed here depends on them. */
WL_RUNTIME(int, cudaFuncSetCacheConfig, (const void *stub, int config))
{
    return check_function("cudaFuncSetCacheConfig", stub, config >= 0 && config <= 3);
}

WL_RUNTIME(int, cudaFuncSetSharedMemConfig, (const void *stub, int config))
{
    return check_function("cudaFuncSetSharedMemConfig", stub, config >= 0 && config <= 2);
}

/* ---- occupancy ---- */

static int occupancy(const char *api, int *blocks, const void *stub, int block, size_t shared)
{
    RT_QUIET(api);
    dev_function *f;
    result = blocks ? rt_resolve(call->context, stub, &f) : DEV_INVALID_VALUE;
    RT_END(result ? result : dev_occupancy(f, block, shared, blocks));
}

WL_RUNTIME(int, cudaOccupancyMaxActiveBlocksPerMultiprocessor,
           (int *blocks, const void *stub, int block, size_t shared))
{
    return occupancy("cudaOccupancyMaxActiveBlocksPerMultiprocessor", blocks, stub, block, shared);
}

WL_RUNTIME(int, cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags,
           (int *blocks, const void *stub, int block, size_t shared, unsigned flags))
{
    if (flags & ~1U)
        return rt_fail(cudaErrorInvalidValue);
    return occupancy("cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags", blocks, stub, block,
                     shared);
}

WL_RUNTIME(int, cudaOccupancyAvailableDynamicSMemPerBlock,
           (size_t *shared, const void *stub, int blocks, int block))
{
    RT_QUIET("cudaOccupancyAvailableDynamicSMemPerBlock");
    dev_function *f;
    result = shared ? rt_resolve(call->context, stub, &f) : DEV_INVALID_VALUE;
    RT_END(result ? result : dev_occupancy_shared(f, blocks, block, shared));
}

static int clusters(const char *api, int *out, const void *stub, const cudaLaunchConfig_t *config,
                    bool size)
{
    RT_QUIET(api);
    dev_function *f;
    if (!out || !config)
        RT_END(DEV_INVALID_VALUE);
    dev_launch launch = {.grid = dim(config->gridDim),
                         .block = dim(config->blockDim),
                         .cluster = {1, 1, 1},
                         .shared = (uint32_t)config->dynamicSmemBytes};
    result = rt_launch_attributes(config->attrs, config->numAttrs, &launch);
    if (result == DEV_OK)
        result = rt_resolve(call->context, stub, &f);
    if (result == DEV_OK)
        result = dev_max_clusters(f, &launch, out);
    if (result == DEV_OK && size) /* the largest that is portable, or 16 where it was allowed */
        *out = get_int(f, CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED) ? 16 : 8;
    RT_END(result);
}

WL_RUNTIME(int, cudaOccupancyMaxActiveClusters,
           (int *count, const void *stub, const cudaLaunchConfig_t *config))
{
    return clusters("cudaOccupancyMaxActiveClusters", count, stub, config, false);
}

WL_RUNTIME(int, cudaOccupancyMaxPotentialClusterSize,
           (int *size, const void *stub, const cudaLaunchConfig_t *config))
{
    return clusters("cudaOccupancyMaxPotentialClusterSize", size, stub, config, true);
}
