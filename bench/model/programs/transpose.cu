// A transposition: the store strided, staged with conflicts, padded, swizzled.
#include "harness.h"

const int sizes[2] = {1024, 8192};
static float *in, *out;
static int n;

static void prepare(int size)
{
    n = size;
    in = random_floats((size_t)n * n, 1);
    out = device<float>((size_t)n * n);
}

static double result() { return sum_of(out, (size_t)n * n); }

__global__ void strided_store(float *out, const float *in, int n)
{
    int x = blockIdx.x * 32 + threadIdx.x;
    for (int r = 0; r < 32; r += 8) {
        int y = blockIdx.y * 32 + threadIdx.y + r;
        out[(size_t)x * n + y] = in[(size_t)y * n + x];
    }
}

__global__ void strided_load(float *out, const float *in, int n)
{
    int x = blockIdx.x * 32 + threadIdx.x;
    for (int r = 0; r < 32; r += 8) {
        int y = blockIdx.y * 32 + threadIdx.y + r;
        out[(size_t)y * n + x] = in[(size_t)x * n + y];
    }
}

template <int pad> __global__ void tiled(float *out, const float *in, int n)
{
    __shared__ float s[32][32 + pad];
    int x = threadIdx.x;
    for (int y = threadIdx.y; y < 32; y += 8)
        s[y][x] = in[(size_t)(blockIdx.y * 32 + y) * n + blockIdx.x * 32 + x];
    __syncthreads();
    for (int y = threadIdx.y; y < 32; y += 8)
        out[(size_t)(blockIdx.x * 32 + y) * n + blockIdx.y * 32 + x] = s[x][y];
}

__global__ void swizzled(float *out, const float *in, int n)
{
    __shared__ float s[32][32];
    int x = threadIdx.x;
    for (int y = threadIdx.y; y < 32; y += 8)
        s[y][x ^ y] = in[(size_t)(blockIdx.y * 32 + y) * n + blockIdx.x * 32 + x];
    __syncthreads();
    for (int y = threadIdx.y; y < 32; y += 8)
        out[(size_t)(blockIdx.x * 32 + y) * n + blockIdx.y * 32 + x] = s[x][y ^ x];
}

const variant variants[] = {
    {"strided_store", [] { strided_store<<<dim3(n / 32, n / 32), dim3(32, 8)>>>(out, in, n); }},
    {"strided_load", [] { strided_load<<<dim3(n / 32, n / 32), dim3(32, 8)>>>(out, in, n); }},
    {"tiled", [] { tiled<0><<<dim3(n / 32, n / 32), dim3(32, 8)>>>(out, in, n); }},
    {"padded", [] { tiled<1><<<dim3(n / 32, n / 32), dim3(32, 8)>>>(out, in, n); }},
    {"padded_too_far", [] { tiled<2><<<dim3(n / 32, n / 32), dim3(32, 8)>>>(out, in, n); }},
    {"swizzled", [] { swizzled<<<dim3(n / 32, n / 32), dim3(32, 8)>>>(out, in, n); }},
    {}};
