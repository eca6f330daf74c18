// Matrix times vector, both ways round, and its transposed twin: a thread a row, a warp a row, a block a row.
#include "harness.h"

const int sizes[2] = {2048, 8192};
static float *a, *x, *y;
static int n;

static void prepare(int size)
{
    n = size;
    a = random_floats((size_t)n * n, 1);
    x = random_floats(n, 2);
    y = device<float>(n);
}

static double result() { return sum_of(y, n); }

__global__ void thread_a_row(float *y, const float *a, const float *x, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float sum = 0;
    for (int j = 0; j < n; j++)
        sum += a[(size_t)i * n + j] * x[j];
    y[i] = sum;
}

__global__ void warp_a_row(float *y, const float *a, const float *x, int n)
{
    int i = (blockIdx.x * blockDim.x + threadIdx.x) / 32;
    float sum = 0;
    for (int j = threadIdx.x % 32; j < n; j += 32)
        sum += a[(size_t)i * n + j] * x[j];
    for (int d = 16; d; d /= 2)
        sum += __shfl_down_sync(~0u, sum, d);
    if (threadIdx.x % 32 == 0)
        y[i] = sum;
}

__global__ void block_a_row(float *y, const float *a, const float *x, int n)
{
    __shared__ float s[256];
    float sum = 0;
    for (int j = threadIdx.x; j < n; j += 256)
        sum += a[(size_t)blockIdx.x * n + j] * x[j];
    s[threadIdx.x] = sum;
    __syncthreads();
    for (int d = 128; d; d /= 2) {
        if (threadIdx.x < d)
            s[threadIdx.x] += s[threadIdx.x + d];
        __syncthreads();
    }
    if (threadIdx.x == 0)
        y[blockIdx.x] = s[0];
}

// The vector in shared memory first, which L1 keeps as well.
__global__ void warp_a_row_staged(float *y, const float *a, const float *x, int n)
{
    extern __shared__ float s[];
    for (int j = threadIdx.x; j < n; j += blockDim.x)
        s[j] = x[j];
    __syncthreads();
    int i = (blockIdx.x * blockDim.x + threadIdx.x) / 32;
    float sum = 0;
    for (int j = threadIdx.x % 32; j < n; j += 32)
        sum += a[(size_t)i * n + j] * s[j];
    for (int d = 16; d; d /= 2)
        sum += __shfl_down_sync(~0u, sum, d);
    if (threadIdx.x % 32 == 0)
        y[i] = sum;
}

const variant variants[] = {
    {"thread_a_row", [] { thread_a_row<<<n / 128, 128>>>(y, a, x, n); }},
    {"warp_a_row", [] { warp_a_row<<<n / 8, 256>>>(y, a, x, n); }},
    {"block_a_row", [] { block_a_row<<<n, 256>>>(y, a, x, n); }},
    {"warp_a_row_staged", [] { warp_a_row_staged<<<n / 8, 256, n * sizeof(float)>>>(y, a, x, n); }},
    {}};
