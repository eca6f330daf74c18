// Products of matrices and vectors, transposed and not: which index the lanes run along.
#include "harness.h"

const int sizes[2] = {512, 2048};
static float *a, *b, *c;
static int n;

static void prepare(int size)
{
    n = size;
    a = random_floats((size_t)n * n, 1);
    b = random_floats((size_t)n * n, 2);
    c = device<float>((size_t)n * n);
}

static double result() { return sum_of(c, (size_t)n * n); }

// Lanes run down a column of c.
__global__ void gemm_columns(float *c, const float *a, const float *b, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x, j = blockIdx.y * blockDim.y + threadIdx.y;
    float sum = 0;
    for (int k = 0; k < n; k++)
        sum += a[i * n + k] * b[k * n + j];
    c[i * n + j] = sum;
}

__global__ void gemm_rows(float *c, const float *a, const float *b, int n)
{
    int j = blockIdx.x * blockDim.x + threadIdx.x, i = blockIdx.y * blockDim.y + threadIdx.y;
    float sum = 0;
    for (int k = 0; k < n; k++)
        sum += a[i * n + k] * b[k * n + j];
    c[i * n + j] = sum;
}

template <int W, int pad> __global__ void gemm_tiled(float *c, const float *a, const float *b, int n)
{
    __shared__ float s[W][W + pad], t[W][W + pad];
    int x = threadIdx.x, y = threadIdx.y, j = blockIdx.x * W + x, i = blockIdx.y * W + y;
    float sum = 0;
    for (int k = 0; k < n; k += W) {
        s[y][x] = a[i * n + k + x];
        t[y][x] = b[(k + y) * n + j];
        __syncthreads();
        for (int l = 0; l < W; l++)
            sum += s[y][l] * t[l][x];
        __syncthreads();
    }
    c[i * n + j] = sum;
}

// The tile of a is read along columns: conflicts, unless it is padded.
template <int pad> __global__ void gemm_tiled_crossed(float *c, const float *a, const float *b, int n)
{
    const int W = 32;
    __shared__ float s[W][W + pad], t[W][W + pad];
    int x = threadIdx.x, y = threadIdx.y, j = blockIdx.x * W + x, i = blockIdx.y * W + y;
    float sum = 0;
    for (int k = 0; k < n; k += W) {
        s[x][y] = a[i * n + k + x]; // stored crossed
        t[y][x] = b[(k + y) * n + j];
        __syncthreads();
        for (int l = 0; l < W; l++)
            sum += s[l][y] * t[l][x];
        __syncthreads();
    }
    c[i * n + j] = sum;
}

// Each thread eight results of a column.
__global__ void gemm_registers(float *c, const float *a, const float *b, int n)
{
    const int W = 32;
    __shared__ float s[W][W], t[W][W];
    int x = threadIdx.x, y = threadIdx.y, j = blockIdx.x * W + x;
    float sum[8] = {};
    for (int k = 0; k < n; k += W) {
        for (int r = 0; r < 8; r++) {
            s[y * 8 + r][x] = a[(blockIdx.y * W + y * 8 + r) * n + k + x];
            t[y * 8 + r][x] = b[(k + y * 8 + r) * n + j];
        }
        __syncthreads();
        for (int l = 0; l < W; l++) {
            float v = t[l][x];
            for (int r = 0; r < 8; r++)
                sum[r] += s[y * 8 + r][l] * v;
        }
        __syncthreads();
    }
    for (int r = 0; r < 8; r++)
        c[(blockIdx.y * W + y * 8 + r) * n + j] = sum[r];
}

const variant variants[] = {
    {"columns", [] { gemm_columns<<<dim3(n / 32, n / 8), dim3(32, 8)>>>(c, a, b, n); }},
    {"rows", [] { gemm_rows<<<dim3(n / 32, n / 8), dim3(32, 8)>>>(c, a, b, n); }},
    {"rows_square", [] { gemm_rows<<<dim3(n / 16, n / 16), dim3(16, 16)>>>(c, a, b, n); }},
    {"tiled_16", [] { gemm_tiled<16, 0><<<dim3(n / 16, n / 16), dim3(16, 16)>>>(c, a, b, n); }},
    {"tiled_32", [] { gemm_tiled<32, 0><<<dim3(n / 32, n / 32), dim3(32, 32)>>>(c, a, b, n); }},
    {"tiled_32_padded", [] { gemm_tiled<32, 1><<<dim3(n / 32, n / 32), dim3(32, 32)>>>(c, a, b, n); }},
    {"crossed", [] { gemm_tiled_crossed<0><<<dim3(n / 32, n / 32), dim3(32, 32)>>>(c, a, b, n); }},
    {"crossed_padded", [] { gemm_tiled_crossed<1><<<dim3(n / 32, n / 32), dim3(32, 32)>>>(c, a, b, n); }},
    {"registers", [] { gemm_registers<<<dim3(n / 32, n / 32), dim3(32, 4)>>>(c, a, b, n); }},
    {}};
