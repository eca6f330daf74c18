/* The positive ones of SIZE random numbers, in their order: each block counts its own, one block adds up, each block writes. */
#include "common.cuh"

constexpr int THREADS = 256;

__global__ void compact_count(const float *in, int *counts, int n)
{
    int i = blockIdx.x * THREADS + threadIdx.x;
    int count = __syncthreads_count(i < n && in[i] > 0);
    if (threadIdx.x == 0)
        counts[blockIdx.x] = count;
}

/* counts[b] becomes the number before block b. */
__global__ void compact_scan(int *counts, int nblocks, int *total)
{
    __shared__ int sums[THREADS];
    int before = 0;
    for (int begin = 0; begin < nblocks; begin += THREADS) {
        int i = begin + threadIdx.x, own = i < nblocks ? counts[i] : 0;
        sums[threadIdx.x] = own;
        __syncthreads();
        for (int step = 1; step < THREADS; step *= 2) {
            int left = static_cast<int>(threadIdx.x) >= step ? sums[threadIdx.x - step] : 0;
            __syncthreads();
            sums[threadIdx.x] += left;
            __syncthreads();
        }
        if (i < nblocks)
            counts[i] = before + sums[threadIdx.x] - own;
        before += sums[THREADS - 1];
        __syncthreads();
    }
    if (threadIdx.x == 0)
        *total = before;
}

__global__ void compact_write(const float *in, const int *before, float *out, int n)
{
    __shared__ int warps[THREADS / 32];
    int i = blockIdx.x * THREADS + threadIdx.x, lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    float x = i < n ? in[i] : 0;
    unsigned kept = __ballot_sync(0xffffffff, x > 0);
    if (lane == 0)
        warps[warp] = __popc(kept);
    __syncthreads();
    int at = before[blockIdx.x] + __popc(kept & ((1u << lane) - 1));
    for (int w = 0; w < warp; w++)
        at += warps[w];
    if (x > 0)
        out[at] = x;
}

int main(int argc, char **argv)
{
    Bench bench(argc, argv, 1 << 24);
    int n = bench.size, nblocks = blocks_for(n, THREADS);
    std::vector<float> in = random_floats(n, 17), want;
    Array<float> d_in(in), d_out(n);
    Array<int> d_counts(nblocks), d_total(1);
    bench.rounds([&] {
        bench.time("compact_count", [&] { compact_count<<<nblocks, THREADS>>>(d_in, d_counts, n); });
        bench.time("compact_scan", [&] { compact_scan<<<1, THREADS>>>(d_counts, nblocks, d_total); });
        bench.time("compact_write", [&] { compact_write<<<nblocks, THREADS>>>(d_in, d_counts, d_out, n); });
    });
    for (float x : in)
        if (bench.check && x > 0)
            want.push_back(x);
    int kept = bench.result("total", d_total)[0];
    std::vector<float> out = bench.result("out", d_out);
    if (bench.check) {
        out.resize(kept);
        bench.expect("out", out, want);
    }
    return bench.done();
}
