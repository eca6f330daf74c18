/* Launches, attributes of kernels and occupancy in the runtime. */
#include "api/both/function.h"
#include "api/runtime/runtime.h"

#include <string.h>

static emu_dim dim_of_dim3(dim3 d)
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
    self->configs[self->nconfigs++] = (dev_config){dim_of_dim3(grid), dim_of_dim3(block), shared,
                                                   stream};
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

static dev_result do_launch(dev_call *call, cudaStream_t stream, bool per_thread,
                            const void *function, dev_launch *launch, size_t shared)
{
    static void *none[1]; /* a kernel without parameters may be launched without a list */
    if (shared > UINT32_MAX)
        return DEV_INVALID_VALUE;
    launch->shared = (uint32_t)shared;
    launch->old_runtime = api_runtime_release() < 13;
    if (!launch->params)
        launch->params = none;
    return api_launch_kernel(call, rt_resolve, stream, per_thread, function, launch);
}

dev_result rt_launch(dev_call *call, cudaStream_t stream, bool per_thread, const void *function,
                     dim3 grid, dim3 block, void **args, size_t shared, bool cooperative)
{
    dev_launch launch = {.grid = dim_of_dim3(grid),
                         .block = dim_of_dim3(block),
                         .cooperative = cooperative,
                         .params = args};
    return do_launch(call, stream, per_thread, function, &launch, shared);
}

/* nvcc 12 and 13 launch with this one; it is recorded as the function that the program wrote. */
WL_RUNTIME_STREAM(ptsz, __cudaLaunchKernel,
                  (cudaKernel_t kernel, dim3 grid, dim3 block, void **args, size_t shared,
                   cudaStream_t stream),
                  (kernel, grid, block, args, shared, stream))
{
    (void)api;
    RT_BEGIN("cudaLaunchKernel", CAP_CALL_LAUNCH, DEV_PRIMARY);
    RT_END(rt_launch(call, stream, per_thread, kernel, grid, block, args, shared, false));
}

static dev_result read_runtime_config(const cudaLaunchConfig_t *config, dev_launch *launch)
{
    launch->grid = dim_of_dim3(config->gridDim);
    launch->block = dim_of_dim3(config->blockDim);
    return api_launch_attributes((const CUlaunchAttribute *)config->attrs, config->numAttrs,
                                 launch);
}

dev_result rt_launch_config(dev_call *call, bool per_thread, const cudaLaunchConfig_t *config,
                            const void *function, void **args)
{
    dev_launch launch = {.params = args};
    dev_result r = config ? read_runtime_config(config, &launch) : DEV_INVALID_VALUE;
    return r ? r
             : do_launch(call, config->stream, per_thread, function, &launch,
                         config->dynamicSmemBytes);
}

/* ---- attributes ---- */

/* The fields of 11.x come first in the struct of later releases. */
dev_result rt_attributes(dev_call *call, struct cudaFuncAttributes_v12 *out, const void *stub,
                         bool clusters)
{
    dev_function *f;
    dev_result r = out ? rt_resolve(call->context, stub, &f) : DEV_INVALID_VALUE;
    if (r == DEV_OK && !dev_function_info(f, NULL))
        r = DEV_NOT_SUPPORTED;
    if (r)
        return r;
    memset(out, 0, clusters ? sizeof *out : sizeof(struct cudaFuncAttributes_v11));
#define ATTRIBUTE(field, number) \
    out->field = (__typeof__(out->field))api_attribute_of(f, CU_FUNC_ATTRIBUTE_##number)
    ATTRIBUTE(sharedSizeBytes, SHARED_SIZE_BYTES);
    ATTRIBUTE(constSizeBytes, CONST_SIZE_BYTES);
    ATTRIBUTE(localSizeBytes, LOCAL_SIZE_BYTES);
    ATTRIBUTE(maxThreadsPerBlock, MAX_THREADS_PER_BLOCK);
    ATTRIBUTE(numRegs, NUM_REGS);
    ATTRIBUTE(ptxVersion, PTX_VERSION);
    ATTRIBUTE(binaryVersion, BINARY_VERSION);
    ATTRIBUTE(maxDynamicSharedSizeBytes, MAX_DYNAMIC_SHARED_SIZE_BYTES);
    ATTRIBUTE(preferredShmemCarveout, PREFERRED_SHARED_MEMORY_CARVEOUT);
    if (!clusters)
        return DEV_OK;
    ATTRIBUTE(nonPortableClusterSizeAllowed, NON_PORTABLE_CLUSTER_SIZE_ALLOWED);
    ATTRIBUTE(clusterSchedulingPolicyPreference, CLUSTER_SCHEDULING_POLICY_PREFERENCE);
#undef ATTRIBUTE
    return DEV_OK;
}

/* ---- occupancy ---- */

/* `count`: as of api_clusters. */
dev_result rt_clusters(dev_call *call, int *out, const void *stub, const cudaLaunchConfig_t *config,
                       dev_result (*count)(dev_function *, const dev_launch *, int *))
{
    dev_launch launch = {.cluster = {1, 1, 1}};
    if (!config)
        return DEV_INVALID_VALUE;
    launch.shared = (uint32_t)config->dynamicSmemBytes;
    dev_result r = read_runtime_config(config, &launch);
    return r ? r : api_clusters(call, rt_resolve, stub, &launch, count, out);
}
