// Asynchronous copies, barriers in shared memory, pipelines; clusters, bulk copies and tensor maps from sm_90 on.
#include <cooperative_groups.h>
#include <cuda/barrier>
#include <cuda/pipeline>
#include <cuda_pipeline.h>

namespace cg = cooperative_groups;

__global__ void copies(int4 *out, const int4 *in, const int *words)
{
    __shared__ int4 stage[2][64];
    __shared__ int small[64];
    int t = threadIdx.x;
    __pipeline_memcpy_async(&stage[0][t], in + t, sizeof(int4));
    __pipeline_memcpy_async(&small[t], words + t, sizeof(int), 2);
    __pipeline_commit();
    __pipeline_memcpy_async(&stage[1][t], in + 64 + t, sizeof(int4));
    __pipeline_commit();
    __pipeline_wait_prior(1);
    __syncthreads();
    out[t] = stage[0][t ^ 1];
    __pipeline_wait_prior(0);
    out[t + 64] = make_int4(stage[1][t ^ 1].x, small[t], 0, 1);
}

__global__ void barriers(float *out, const float *in, int n)
{
    __shared__ cuda::barrier<cuda::thread_scope_block> ready;
    __shared__ float tile[256];
    auto block = cg::this_thread_block();
    if (block.thread_rank() == 0)
        init(&ready, block.size());
    block.sync();
    for (int i = 0; i < n; i += 256) {
        cuda::memcpy_async(block, tile, in + i, sizeof tile, ready);
        ready.arrive_and_wait();
        out[i + block.thread_rank()] = tile[255 - block.thread_rank()];
        auto token = ready.arrive();
        ready.wait(std::move(token));
    }
}

#if __CUDA_ARCH__ >= 900
__global__ void __cluster_dims__(2, 1, 1) clusters(int *out)
{
    __shared__ int mine[32];
    auto cluster = cg::this_cluster();
    mine[threadIdx.x] = (int)cluster.block_rank();
    cluster.sync();
    int *theirs = cluster.map_shared_rank(mine, cluster.block_rank() ^ 1);
    out[threadIdx.x] = theirs[threadIdx.x] + (int)cluster.num_blocks();
    auto token = cluster.barrier_arrive();
    cluster.barrier_wait(std::move(token));
    cudaGridDependencySynchronize();
    cudaTriggerProgrammaticLaunchCompletion();
}

__global__ void bulk(char *out, const char *in)
{
    __shared__ alignas(128) char tile[1024];
    __shared__ alignas(8) unsigned long long bar;
    unsigned where = (unsigned)__cvta_generic_to_shared(tile), b = (unsigned)__cvta_generic_to_shared(&bar), done = 0;
    if (threadIdx.x == 0) {
        asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(b), "r"(1));
        asm volatile("fence.mbarrier_init.release.cluster;\n\tfence.proxy.async.shared::cta;" ::: "memory");
        asm volatile("mbarrier.arrive.expect_tx.release.cta.shared::cta.b64 _, [%0], %1;" ::"r"(b), "r"(1024) : "memory");
        asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" ::"r"(where), "l"(in),
                     "r"(1024), "r"(b)
                     : "memory");
    }
    __syncthreads();
    while (!done)
        asm volatile("{ .reg .pred p; mbarrier.try_wait.parity.acquire.cta.shared::cta.b64 p, [%1], %2, 0x989680; selp.u32 %0, 1, 0, p; }"
                     : "=r"(done)
                     : "r"(b), "r"(0)
                     : "memory");
    if (threadIdx.x == 0) {
        asm volatile("cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], %2;" ::"l"(out), "r"(where), "r"(1024) : "memory");
        asm volatile("cp.async.bulk.commit_group;\n\tcp.async.bulk.wait_group.read 0;" ::: "memory");
        asm volatile("mbarrier.inval.shared.b64 [%0];" ::"r"(b));
    }
}

struct alignas(64) Map {
    unsigned long long words[16];
};

__global__ void tensors(const __grid_constant__ Map grid_map, int x, int y)
{
    const Map *map = &grid_map;
    __shared__ alignas(128) float tile[256];
    __shared__ unsigned long long bar;
    unsigned where = (unsigned)__cvta_generic_to_shared(tile), b = (unsigned)__cvta_generic_to_shared(&bar);
    asm volatile("prefetch.tensormap [%0];" ::"l"(map));
    asm volatile("cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%0], [%1, {%2, %3}], [%4];" ::"r"(where),
                 "l"(map), "r"(x), "r"(y), "r"(b)
                 : "memory");
    asm volatile("cp.async.bulk.tensor.2d.global.shared::cta.bulk_group [%0, {%1, %2}], [%3];" ::"l"(map), "r"(x), "r"(y), "r"(where)
                 : "memory");
    asm volatile("cp.reduce.async.bulk.global.shared::cta.bulk_group.add.f32 [%0], [%1], %2;" ::"l"(map), "r"(where), "r"(64) : "memory");
    unsigned elected;
    asm volatile("{ .reg .pred p; elect.sync _|p, 0xffffffff; selp.b32 %0, 1, 0, p; }" : "=r"(elected));
    tile[elected] = 1.0f;
}
#endif

#ifdef __CUDA_ARCH_FEAT_SM90_ALL
__global__ void warpgroups(float *out, unsigned long long a, unsigned long long b)
{
    float d[4] = {0, 0, 0, 0};
    asm volatile("setmaxnreg.inc.sync.aligned.u32 120;");
    asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
    asm volatile("{ .reg .pred p; setp.ne.b32 p, %6, 0;\n\t"
                 "wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%0, %1, %2, %3}, %4, %5, p, 1, -1, 0, 1; }"
                 : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
                 : "l"(a), "l"(b), "r"(1));
    asm volatile("wgmma.commit_group.sync.aligned;\n\twgmma.wait_group.sync.aligned 0;" ::: "memory");
    out[threadIdx.x] = d[0] + d[1] + d[2] + d[3];
}
#endif
