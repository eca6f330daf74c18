// A histogram of 256 bins over numbers that are spread evenly or all alike, and a counter.
#include "harness.h"

const int sizes[2] = {1 << 20, 1 << 23};
enum { BINS = 256 };
static float *x;
static unsigned *bins;
static float *sum;
static int n, turn; // each launch has a sum of its own: it stays exact

static void prepare(int size)
{
    n = size;
    x = random_floats(n, 1);
    bins = device<unsigned>(BINS);
    sum = device<float>(32);
}

static double result()
{
    double counted = sum_of(bins, BINS), total = 0;
    float sums[32];
    CHECK(cudaMemcpy(sums, sum, sizeof sums, cudaMemcpyDeviceToHost));
    for (float one : sums)
        total += one;
    CHECK(cudaMemset(bins, 0, BINS * sizeof *bins));
    CHECK(cudaMemset(sum, 0, 32 * sizeof *sum));
    return (total > 0 ? total : counted) / launched;
}

__device__ int bin_of(float v) { return (int)(v * BINS) & (BINS - 1); }

__global__ void in_global(unsigned *bins, const float *x, int n)
{
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
        atomicAdd(bins + bin_of(x[i]), 1u);
}

__global__ void in_shared(unsigned *bins, const float *x, int n)
{
    __shared__ unsigned s[BINS];
    s[threadIdx.x] = 0;
    __syncthreads();
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
        atomicAdd(s + bin_of(x[i]), 1u);
    __syncthreads();
    atomicAdd(bins + threadIdx.x, s[threadIdx.x]);
}

__global__ void in_shared_by_warp(unsigned *bins, const float *x, int n)
{
    __shared__ unsigned s[8][BINS];
    for (int w = 0; w < 8; w++)
        s[w][threadIdx.x] = 0;
    __syncthreads();
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
        atomicAdd(&s[threadIdx.x / 32][bin_of(x[i])], 1u);
    __syncthreads();
    unsigned all = 0;
    for (int w = 0; w < 8; w++)
        all += s[w][threadIdx.x];
    atomicAdd(bins + threadIdx.x, all);
}

__global__ void one_sum_by_lane(float *sum, const float *x, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        atomicAdd(sum, x[i]);
}

__global__ void one_sum_by_warp(float *sum, const float *x, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float v = i < n ? x[i] : 0;
    for (int d = 16; d; d /= 2)
        v += __shfl_down_sync(~0u, v, d);
    if (threadIdx.x % 32 == 0)
        atomicAdd(sum, v);
}

__global__ void one_sum_by_block(float *sum, const float *x, int n)
{
    __shared__ float s[8];
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float v = i < n ? x[i] : 0;
    for (int d = 16; d; d /= 2)
        v += __shfl_down_sync(~0u, v, d);
    if (threadIdx.x % 32 == 0)
        s[threadIdx.x / 32] = v;
    __syncthreads();
    if (threadIdx.x == 0) {
        for (int w = 1; w < 8; w++)
            v += s[w];
        atomicAdd(sum, v);
    }
}

const variant variants[] = {
    {"global", [] { in_global<<<1056, BINS>>>(bins, x, n); }},
    {"shared", [] { in_shared<<<1056, BINS>>>(bins, x, n); }},
    {"shared_by_warp", [] { in_shared_by_warp<<<1056, BINS>>>(bins, x, n); }},
    {"sum_by_lane", [] { one_sum_by_lane<<<blocks_of(n, 256), 256>>>(sum + turn++ % 32, x, n); }},
    {"sum_by_warp", [] { one_sum_by_warp<<<blocks_of(n, 256), 256>>>(sum + turn++ % 32, x, n); }},
    {"sum_by_block", [] { one_sum_by_block<<<blocks_of(n, 256), 256>>>(sum + turn++ % 32, x, n); }},
    {}};
