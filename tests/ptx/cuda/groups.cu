// Warps and groups: shuffles, votes, matches, reductions, cooperative groups over tiles, blocks and the grid.
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
#include <cooperative_groups/scan.h>

namespace cg = cooperative_groups;

__global__ void warps(int *out, const int *in)
{
    int i = threadIdx.x, v = in[i];
    v += __shfl_down_sync(~0u, v, 16);
    v += __shfl_xor_sync(~0u, v, 8, 16);
    v += __shfl_up_sync(~0u, v, 4);
    v += __shfl_sync(~0u, v, v & 31);
    unsigned ballot = __ballot_sync(~0u, v > 3);
    if (__all_sync(~0u, v > 0) || __any_sync(ballot, v < -5))
        v ^= __match_any_sync(~0u, v);
    int all;
    v += __match_all_sync(~0u, (unsigned long long)v, &all) + all;
#if __CUDA_ARCH__ >= 800
    v += __reduce_add_sync(~0u, v) + __reduce_max_sync(~0u, v);
    v ^= (int)__reduce_xor_sync(~0u, (unsigned)v);
#endif
    v += __syncthreads_count(v > 1) + __syncthreads_or(v) + __syncthreads_and(v);
    __syncwarp(__activemask());
    out[i] = v + __fns(ballot, 0, 3) + __ffs(v) + __ffsll(ballot);
}

__global__ void grid(float *data, int n)
{
    cg::grid_group g = cg::this_grid();
    cg::thread_block block = cg::this_thread_block();
    auto tile = cg::tiled_partition<16>(block);
    auto active = cg::coalesced_threads();
    float v = data[g.thread_rank() % n];
    v = cg::reduce(tile, v, cg::plus<float>());
    int s = cg::exclusive_scan(tile, (int)v);
    block.sync();
    if (active.thread_rank() == 0)
        data[block.group_index().x] = v + s;
    g.sync();
    data[g.thread_rank() % n] += v;
}
