/* Launches and occupancy in the driver interface. */
#include "api/both/function.h"
#include "api/driver/driver.h"

dev_result dr_launch(dev_call *call, CUstream stream, bool per_thread, CUfunction function,
                     dev_launch launch, void **params, void **extra)
{
    dev_result r = api_arguments(params, extra, &launch);
    return r ? r : api_launch_kernel(call, dr_resolve, stream, per_thread, function, &launch);
}

static dev_result read_launch_config(const CUlaunchConfig *config, dev_launch *launch)
{
    if (!config)
        return DEV_INVALID_VALUE;
    launch->grid = (emu_dim){config->gridDimX, config->gridDimY, config->gridDimZ};
    launch->block = (emu_dim){config->blockDimX, config->blockDimY, config->blockDimZ};
    launch->shared = config->sharedMemBytes;
    return api_launch_attributes(config->attrs, config->numAttrs, launch);
}

dev_result dr_launch_config(dev_call *call, bool per_thread, const CUlaunchConfig *config,
                            CUfunction function, void **params, void **extra)
{
    dev_launch launch = {0};
    dev_result r = read_launch_config(config, &launch);
    return r ? r : dr_launch(call, config->hStream, per_thread, function, launch, params, extra);
}

/* `count`: as of api_clusters. */
dev_result dr_clusters(dev_call *call, int *out, CUfunction handle, const CUlaunchConfig *config,
                       dev_result (*count)(dev_function *, const dev_launch *, int *))
{
    dev_launch launch = {.cluster = {1, 1, 1}};
    dev_result r = read_launch_config(config, &launch);
    return r ? r : api_clusters(call, dr_resolve, handle, &launch, count, out);
}

/* ---- the block size of most threads on an SM ---- */

enum { DISABLE_CACHING_OVERRIDE = 1 }; /* the only flag; of no effect here */
enum { WARP = 32, MOST_THREADS = 1024, SIZES = MOST_THREADS / WARP };

static dev_result potential_size(dev_call *call, int *grid, int *block, CUfunction handle,
                                 const size_t shared[SIZES], int limit)
{
    dev_function *function;
    dev_result r = grid && block ? dr_resolve(call->context, handle, &function) : DEV_INVALID_VALUE;
    return r ? r : dev_occupancy_best(function, limit, shared, block, grid);
}

static CUresult ask_potential_size(const char *api, int *grid, int *block, CUfunction handle,
                                   CUoccupancyB2DSize shared_of, size_t shared, int limit)
{
    size_t bytes[SIZES];
    for (int i = 0; i < SIZES; i++) /* before the call begins: the application's own function */
        bytes[i] = shared_of ? shared_of((i + 1) * WARP) : shared;
    DR_BEGIN(api, CAP_CALL_OTHER, DEV_CURRENT | DEV_QUIET);
    DR_END(potential_size(call, grid, block, handle, bytes, limit));
}

WL_DRIVER(CUresult, cuOccupancyMaxPotentialBlockSize,
          (int *grid, int *block, CUfunction function, CUoccupancyB2DSize shared_of, size_t shared,
           int limit))
{
    return ask_potential_size("cuOccupancyMaxPotentialBlockSize", grid, block, function, shared_of,
                              shared, limit);
}

WL_DRIVER(CUresult, cuOccupancyMaxPotentialBlockSizeWithFlags,
          (int *grid, int *block, CUfunction function, CUoccupancyB2DSize shared_of, size_t shared,
           int limit, unsigned flags))
{
    if (flags & ~(unsigned)DISABLE_CACHING_OVERRIDE)
        return CUDA_ERROR_INVALID_VALUE;
    return ask_potential_size("cuOccupancyMaxPotentialBlockSizeWithFlags", grid, block, function,
                              shared_of, shared, limit);
}
