/* How many blocks of a kernel fit on an SM. The rules are those of the CUDA C++ Programming Guide
 * and of NVIDIA's occupancy calculator; tests/cuda/recorded/h200_occupancy.txt holds what a real
 * chip answered. */
#include "cuda/device.h"

static uint32_t round_up(uint32_t value, uint32_t unit)
{
    return (value + unit - 1) / unit * unit;
}

static uint32_t least(uint32_t a, uint32_t b)
{
    return a < b ? a : b;
}

/* A warp's registers are allocated as a whole, in one partition of the SM. */
static uint32_t blocks_by_registers(const cuda_sm_limits *limits, const cuda_footprint *block,
                                    uint32_t warps)
{
    uint32_t registers = block->registers ? block->registers : 1;
    if (registers > limits->registers_per_thread)
        return 0;
    uint32_t of_warp = round_up(registers * 32, limits->register_unit);
    uint32_t of_partition = limits->registers / limits->partitions;
    if ((uint64_t)of_warp * warps > limits->registers_per_block)
        return 0;
    return of_partition / of_warp * limits->partitions / warps;
}

/* The shared memory that the SM is configured to: the smallest size that gives the preferred share
 * and holds a block. */
static uint32_t configured_shared_bytes(const cuda_sm_limits *limits, int carveout, uint32_t need)
{
    if (carveout < 0 || !limits->carveouts)
        return limits->shared;
    uint64_t wanted = (uint64_t)limits->shared * (uint32_t)(carveout > 100 ? 100 : carveout);
    for (uint32_t i = 0; i < limits->carveouts; i++)
        if ((uint64_t)limits->carveout_bytes[i] * 100 >= wanted &&
            limits->carveout_bytes[i] >= need)
            return limits->carveout_bytes[i];
    return limits->shared;
}

static uint32_t blocks_by_shared(const cuda_sm_limits *limits, const cuda_footprint *block)
{
    uint64_t own = (uint64_t)block->static_shared + block->dynamic_shared;
    uint32_t most = limits->shared_per_block_optin;
    if (own > most)
        return 0;
    uint32_t need = round_up((uint32_t)own + limits->shared_reserved, limits->shared_unit);
    return need ? configured_shared_bytes(limits, block->carveout, need) / need : UINT32_MAX;
}

cuda_occupancy cuda_occupancy_of(const cuda_device *device, const cuda_footprint *block)
{
    const cuda_sm_limits *limits = &device->limits;
    cuda_occupancy result = {0};
    uint32_t warps = (block->threads + 31) / 32;
    if (block->threads == 0 ||
        block->threads > (uint32_t)device->attributes[CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK])
        return result;
    result.by_blocks = limits->blocks;
    result.by_warps = limits->warps / warps;
    result.by_registers = blocks_by_registers(limits, block, warps);
    result.by_shared = blocks_by_shared(limits, block);
    result.blocks = least(least(result.by_blocks, result.by_warps),
                          least(result.by_registers, result.by_shared));
    result.warps = result.blocks * warps;
    result.limiters = (result.by_blocks == result.blocks ? CUDA_LIMIT_BLOCKS : 0u) |
                      (result.by_warps == result.blocks ? CUDA_LIMIT_WARPS : 0u) |
                      (result.by_registers == result.blocks ? CUDA_LIMIT_REGISTERS : 0u) |
                      (result.by_shared == result.blocks ? CUDA_LIMIT_SHARED : 0u);
    return result;
}

uint32_t cuda_occupancy_shared(const cuda_device *device, const cuda_footprint *block,
                               uint32_t blocks)
{
    const cuda_sm_limits *limits = &device->limits;
    cuda_footprint bare = *block;
    bare.static_shared = bare.dynamic_shared = 0;
    if (blocks == 0 || cuda_occupancy_of(device, &bare).blocks < blocks)
        return 0;
    uint32_t share = least(limits->shared / blocks / limits->shared_unit * limits->shared_unit,
                           limits->shared_per_block_optin);
    return share > block->static_shared ? share - block->static_shared : 0;
}

uint32_t cuda_occupancy_best(const cuda_device *device, const cuda_footprint *block, uint32_t limit,
                             const size_t *shared, uint32_t *min_grid)
{
    uint32_t most = (uint32_t)device->attributes[CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK];
    uint32_t sms = (uint32_t)device->attributes[CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT];
    uint32_t best = 0, best_threads = 0;
    if (limit == 0 || limit > most)
        limit = most;
    *min_grid = 0;
    for (uint32_t warps = round_up(limit, 32) / 32; warps > 0; warps--) {
        cuda_footprint tried = *block;
        tried.threads = least(warps * 32, limit);
        if (shared)
            tried.dynamic_shared = shared[warps - 1] > UINT32_MAX ? UINT32_MAX
                                                                  : (uint32_t)shared[warps - 1];
        uint32_t blocks = cuda_occupancy_of(device, &tried).blocks;
        if (blocks * tried.threads > best) {
            best = blocks * tried.threads;
            best_threads = tried.threads;
            *min_grid = blocks * sms;
        }
    }
    return best_threads;
}
