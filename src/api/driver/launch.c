/* Launches and occupancy in the driver interface. */
#include "api/driver/driver.h"

#include <string.h>

static CUresult launch(const char *api, bool per_thread, CUstream handle, CUfunction function,
                       dev_launch *l)
{
    DR_BEGIN(api, CAP_CALL_LAUNCH, DEV_CURRENT);
    dev_stream *stream;
    result = dev_stream_get(call, handle, per_thread, &stream);
    if (result)
        DR_END(result);
    l->function = dr_function(dev_stream_context(stream), function);
    DR_END(l->function ? dev_do_launch(call, stream, l) : DEV_INVALID_HANDLE);
}

WL_DRIVER_STREAM(ptsz, cuLaunchKernel,
                 (CUfunction function, unsigned gx, unsigned gy, unsigned gz, unsigned bx,
                  unsigned by, unsigned bz, unsigned shared, CUstream stream, void **params,
                  void **extra),
                 (function, gx, gy, gz, bx, by, bz, shared, stream, params, extra))
{
    dev_launch l = {.grid = {gx, gy, gz}, .block = {bx, by, bz}, .shared = shared};
    if (api_arguments(params, extra, &l))
        return CUDA_ERROR_INVALID_VALUE;
    return launch(api, per_thread, stream, function, &l);
}

WL_DRIVER_STREAM(ptsz, cuLaunchCooperativeKernel,
                 (CUfunction function, unsigned gx, unsigned gy, unsigned gz, unsigned bx,
                  unsigned by, unsigned bz, unsigned shared, CUstream stream, void **params),
                 (function, gx, gy, gz, bx, by, bz, shared, stream, params))
{
    dev_launch l = {.grid = {gx, gy, gz},
                    .block = {bx, by, bz},
                    .shared = shared,
                    .cooperative = true,
                    .params = params};
    return launch(api, per_thread, stream, function, &l);
}

static bool read_config(const CUlaunchConfig *config, dev_launch *l)
{
    if (!config || (config->numAttrs && !config->attrs))
        return false;
    l->grid = (emu_dim){config->gridDimX, config->gridDimY, config->gridDimZ};
    l->block = (emu_dim){config->blockDimX, config->blockDimY, config->blockDimZ};
    l->shared = config->sharedMemBytes;
    for (unsigned i = 0; i < config->numAttrs; i++) {
        const CUlaunchAttributeValue *v = &config->attrs[i].value;
        if (config->attrs[i].id == CU_LAUNCH_ATTRIBUTE_COOPERATIVE)
            l->cooperative = v->cooperative != 0;
        else if (config->attrs[i].id == CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION)
            l->cluster = (emu_dim){v->clusterDim.x, v->clusterDim.y, v->clusterDim.z};
    } /* the others concern timing and priority */
    return true;
}

WL_DRIVER_STREAM(ptsz, cuLaunchKernelEx,
                 (const CUlaunchConfig *config, CUfunction function, void **params, void **extra),
                 (config, function, params, extra))
{
    dev_launch l = {0};
    if (!read_config(config, &l) || api_arguments(params, extra, &l))
        return CUDA_ERROR_INVALID_VALUE;
    return launch(api, per_thread, config->hStream, function, &l);
}

/* ---- occupancy ---- */

static CUresult occupancy(const char *api, int *blocks, CUfunction handle, int block, size_t shared)
{
    DR_QUIET(api);
    dev_function *function = dr_function(call->context, handle);
    if (!blocks || !function)
        DR_END(blocks ? DEV_INVALID_HANDLE : DEV_INVALID_VALUE);
    DR_END(dev_occupancy(function, block, shared, blocks));
}

WL_DRIVER(CUresult, cuOccupancyMaxActiveBlocksPerMultiprocessor,
          (int *blocks, CUfunction function, int block, size_t shared))
{
    return occupancy("cuOccupancyMaxActiveBlocksPerMultiprocessor", blocks, function, block,
                     shared);
}

WL_DRIVER(CUresult, cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags,
          (int *blocks, CUfunction function, int block, size_t shared, unsigned flags))
{
    if (flags & ~1u)
        return CUDA_ERROR_INVALID_VALUE;
    return occupancy("cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags", blocks, function,
                     block, shared);
}

WL_DRIVER(CUresult, cuOccupancyAvailableDynamicSMemPerBlock,
          (size_t *shared, CUfunction handle, int blocks, int block))
{
    DR_QUIET("cuOccupancyAvailableDynamicSMemPerBlock");
    dev_function *function = dr_function(call->context, handle);
    if (!shared || !function)
        DR_END(shared ? DEV_INVALID_HANDLE : DEV_INVALID_VALUE);
    DR_END(dev_occupancy_shared(function, blocks, block, shared));
}

enum { WARP = 32, MOST_THREADS = 1024, SIZES = MOST_THREADS / WARP };

typedef struct potential {
    int threads, blocks; /* best so far */
} potential;

/* Block sizes from the largest down; the first of those with most threads on an SM. */
static dev_result best_size(dev_function *function, const size_t shared[SIZES], int limit,
                            potential *best)
{
    int most;
    dev_result result = dev_function_get(function, CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK, &most);
    if (limit <= 0 || limit > most)
        limit = most;
    *best = (potential){0};
    for (int i = SIZES - 1; result == DEV_OK && i >= 0; i--) {
        int threads = (i + 1) * WARP, blocks;
        if (threads - WARP >= limit)
            continue;
        threads = threads < limit ? threads : limit;
        result = dev_occupancy(function, threads, shared[i], &blocks);
        if (result == DEV_OK && blocks * threads > best->blocks * best->threads)
            *best = (potential){threads, blocks};
    }
    return result;
}

static CUresult potential_size(const char *api, int *grid, int *block, CUfunction handle,
                               CUoccupancyB2DSize shared_of, size_t shared, int limit)
{
    size_t bytes[SIZES];
    for (int i = 0; i < SIZES; i++) /* before the call begins: the application's own function */
        bytes[i] = shared_of ? shared_of((i + 1) * WARP) : shared;
    DR_QUIET(api);
    dev_function *function = dr_function(call->context, handle);
    potential best;
    int sms = 0;
    if (!grid || !block || !function)
        DR_END(grid && block ? DEV_INVALID_HANDLE : DEV_INVALID_VALUE);
    result = best_size(function, bytes, limit, &best);
    cuda_device_attribute(dev_gpu_description(dev_context_device(call->context)),
                          CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT, &sms);
    if (result == DEV_OK) {
        *block = best.threads;
        *grid = best.blocks * sms;
    }
    DR_END(result);
}

WL_DRIVER(CUresult, cuOccupancyMaxPotentialBlockSize,
          (int *grid, int *block, CUfunction function, CUoccupancyB2DSize shared_of, size_t shared,
           int limit))
{
    return potential_size("cuOccupancyMaxPotentialBlockSize", grid, block, function, shared_of,
                          shared, limit);
}

WL_DRIVER(CUresult, cuOccupancyMaxPotentialBlockSizeWithFlags,
          (int *grid, int *block, CUfunction function, CUoccupancyB2DSize shared_of, size_t shared,
           int limit, unsigned flags))
{
    if (flags & ~1u)
        return CUDA_ERROR_INVALID_VALUE;
    return potential_size("cuOccupancyMaxPotentialBlockSizeWithFlags", grid, block, function,
                          shared_of, shared, limit);
}

enum { PORTABLE_CLUSTER = 8, LARGEST_CLUSTER = 16 };

static CUresult clusters(const char *api, int *out, CUfunction handle, const CUlaunchConfig *config,
                         bool size)
{
    DR_QUIET(api);
    dev_function *function = dr_function(call->context, handle);
    dev_launch l = {.cluster = {1, 1, 1}};
    int larger = 0;
    if (!out || !function || !read_config(config, &l))
        DR_END(out && config ? DEV_INVALID_HANDLE : DEV_INVALID_VALUE);
    result = dev_max_clusters(function, &l, out);
    if (result == DEV_OK && size) {
        dev_function_get(function, CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED, &larger);
        *out = larger ? LARGEST_CLUSTER : PORTABLE_CLUSTER;
    }
    DR_END(result);
}

WL_DRIVER(CUresult, cuOccupancyMaxActiveClusters,
          (int *count, CUfunction function, const CUlaunchConfig *config))
{
    return clusters("cuOccupancyMaxActiveClusters", count, function, config, false);
}

WL_DRIVER(CUresult, cuOccupancyMaxPotentialClusterSize,
          (int *size, CUfunction function, const CUlaunchConfig *config))
{
    return clusters("cuOccupancyMaxPotentialClusterSize", size, function, config, true);
}
