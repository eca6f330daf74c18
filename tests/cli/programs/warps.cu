/* Kernels whose warps do not all do the same, each in a way of its own; and the paper's: transposes of a matrix of 512 x 512 by 1,024
 * blocks of 256 threads, and a Haar wavelet by 16 blocks of 512. */
#include "common.h"

constexpr int TILE = 16, N = 512;

__global__ void leave(float *x)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x, rounds = threadIdx.x / 32 < 12 ? 8 : 3;
    float sum = x[i];
#pragma unroll 1
    for (int k = 0; k < rounds; k++) // leave: the loop
        sum = sum * 0.5f + x[(i + k) % 2048];
    x[i] = sum;
}

__global__ void branch(float *x)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float value = x[i];
    if (i / 32 != 5) {
        for (int k = 0; k < 4; k++)
            x[4096 + 128 * k + i] = value + k; // branch: what warp 5 leaves out
    }
    x[i] = value + 1;
}

__global__ void lanes(float *x)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (blockIdx.x != 1 || threadIdx.x % 4 == 0)
        x[i] = sinf(x[i]) * cosf(x[i]) + expf(x[i]); // lanes: a fourth of them in block 1
}

__global__ void sectors(float *x)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x, at = blockIdx.x == 2 ? 8 * threadIdx.x : i;
    x[8192 + i] = x[at]; // sectors: block 2 takes one word of each
}

__global__ void guard(float *x, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    float value = x[i]; // guard: where the last ones end
    for (int k = 0; k < 3; k++)
        value = value * value + x[i + k + 1];
    x[i] = value;
}

__global__ void transpose_naive(const float *in, float *out)
{
    int x = blockIdx.x * TILE + threadIdx.x, y = blockIdx.y * TILE + threadIdx.y;
    out[x * N + y] = in[y * N + x];
}

template <int PITCH> __global__ void transpose_tile(const float *in, float *out)
{
    __shared__ float tile[TILE][PITCH];
    tile[threadIdx.y][threadIdx.x] = in[(blockIdx.y * TILE + threadIdx.y) * N + blockIdx.x * TILE + threadIdx.x];
    __syncthreads();
    out[(blockIdx.x * TILE + threadIdx.y) * N + blockIdx.y * TILE + threadIdx.x] = tile[threadIdx.x][threadIdx.y];
}

/* Nine levels of 1,024 elements a block; block 0 writes down where each level begins, too. */
__global__ void haar(const float *in, float *out, int *begins)
{
    __shared__ float low[1024];
    int t = threadIdx.x, at = blockIdx.x * 1024;
    low[t] = in[at + t];
    low[t + 512] = in[at + t + 512];
    __syncthreads();
#pragma unroll 1
    for (int active = 512; active > 1; active /= 2) { // haar: the levels
        float sum = 0;
        if (t < active) {
            float a = low[2 * t], b = low[2 * t + 1]; // haar: warps that are still active
            out[at + active + t] = (a - b) * 0.70710678f;
            sum = (a + b) * 0.70710678f;
        }
        __syncthreads();
        if (t < active)
            low[t] = sum;
        __syncthreads();
    }
    if (blockIdx.x == 0)
#pragma unroll 1
        for (int k = 0; k < 4; k++) // haar: what block 0 alone does
            begins[k * 512 + t] = (1 << k) * t;
    if (t < 2)
        out[at + t] = low[t];
}

int main()
{
    float *x, *y;
    int *begins;
    CHECK(cudaMalloc(&x, N * N * sizeof(float)));
    CHECK(cudaMalloc(&y, N * N * sizeof(float)));
    CHECK(cudaMalloc(&begins, 8 * 512 * sizeof(int)));
    CHECK(cudaMemset(x, 0, N * N * sizeof(float)));
    leave<<<4, 512>>>(x);
    branch<<<4, 64>>>(x);
    lanes<<<4, 128>>>(x);
    sectors<<<4, 128>>>(x);
    guard<<<8, 64>>>(x, 448);
    transpose_naive<<<dim3(N / TILE, N / TILE), dim3(TILE, TILE)>>>(x, y);
    transpose_tile<TILE><<<dim3(N / TILE, N / TILE), dim3(TILE, TILE)>>>(x, y);
    transpose_tile<TILE + 1><<<dim3(N / TILE, N / TILE), dim3(TILE, TILE)>>>(x, y);
    haar<<<16, 512>>>(x, y, begins);
    CHECK(cudaDeviceSynchronize());
    return 0;
}
