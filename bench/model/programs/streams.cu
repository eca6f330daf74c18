// One pass over arrays, written in the ways that people write it.
#include "harness.h"

const int sizes[2] = {1 << 20, 1 << 26};
static float *x, *y;
static int n;

static void prepare(int size)
{
    n = size;
    x = random_floats(n + 64, 1);
    y = device<float>(n + 64);
}

static double result() { return sum_of(y, n); }

__global__ void plain(float *y, const float *x, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        y[i] = 2 * x[i] + 1;
}

__global__ void read_only(float *__restrict__ y, const float *__restrict__ x, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        y[i] = 2 * __ldg(x + i) + 1;
}

__global__ void grid_stride(float *y, const float *x, int n)
{
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
        y[i] = 2 * x[i] + 1;
}

// Every warp begins one word after a sector's begin; the first word of all is the last thread's.
__global__ void shifted(float *y, const float *x, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x + 1;
    if (i <= n) {
        int at = i == n ? 0 : i;
        y[at] = 2 * x[at] + 1;
    }
}

// Each thread a piece of its own.
__global__ void chunks(float *y, const float *x, int n)
{
    int threads = gridDim.x * blockDim.x, each = (n + threads - 1) / threads;
    int begin = (blockIdx.x * blockDim.x + threadIdx.x) * each;
    for (int i = begin; i < begin + each && i < n; i++)
        y[i] = 2 * x[i] + 1;
}

__global__ void vectors(float4 *y, const float4 *x, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n / 4) {
        float4 v = x[i];
        y[i] = make_float4(2 * v.x + 1, 2 * v.y + 1, 2 * v.z + 1, 2 * v.w + 1);
    }
}

// Neighbouring lanes are `stride` words apart; over the whole grid every word is used once.
__global__ void strided(float *y, const float *x, int n, int stride)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x, per = n / stride;
    int at = i % per * stride + i / per;
    if (i < n)
        y[at] = 2 * x[at] + 1;
}

// Shared memory between, for no reason.
__global__ void staged(float *y, const float *x, int n)
{
    __shared__ float s[256];
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    s[threadIdx.x] = i < n ? x[i] : 0;
    __syncthreads();
    if (i < n)
        y[i] = 2 * s[threadIdx.x] + 1;
}

const variant variants[] = {
    {"plain", [] { plain<<<blocks_of(n, 256), 256>>>(y, x, n); }},
    {"block_64", [] { plain<<<blocks_of(n, 64), 64>>>(y, x, n); }},
    {"block_1024", [] { plain<<<blocks_of(n, 1024), 1024>>>(y, x, n); }},
    {"read_only", [] { read_only<<<blocks_of(n, 256), 256>>>(y, x, n); }},
    {"misaligned", [] { shifted<<<blocks_of(n, 256), 256>>>(y, x, n); }},
    {"vectors", [] { vectors<<<blocks_of(n / 4, 256), 256>>>((float4 *)y, (const float4 *)x, n); }},
    {"staged", [] { staged<<<blocks_of(n, 256), 256>>>(y, x, n); }},
    {"grid_stride", [] { grid_stride<<<1056, 256>>>(y, x, n); }},
    {"blocks_1", [] { grid_stride<<<1, 256>>>(y, x, n); }},
    {"blocks_4", [] { grid_stride<<<4, 256>>>(y, x, n); }},
    {"blocks_32", [] { grid_stride<<<32, 256>>>(y, x, n); }},
    {"blocks_132", [] { grid_stride<<<132, 256>>>(y, x, n); }},
    {"chunks", [] { chunks<<<1056, 256>>>(y, x, n); }},
    {"strided_2", [] { strided<<<blocks_of(n, 256), 256>>>(y, x, n, 2); }},
    {"strided_8", [] { strided<<<blocks_of(n, 256), 256>>>(y, x, n, 8); }},
    {"strided_64", [] { strided<<<blocks_of(n, 256), 256>>>(y, x, n, 64); }},
    {}};
