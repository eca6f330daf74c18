// Five findings in as many kernels: two of columns, a conflict, a shift and one word for all.
#include "common.h"

enum { N = 1024, BLOCK = 256 };

__global__ void column_a(const float *in, float *out)
{
    int i = blockIdx.x * BLOCK + threadIdx.x;
    out[i] = in[(size_t)(i % N) * N + i / N];
}

__global__ void column_b(const double *in, double *out)
{
    int i = blockIdx.x * BLOCK + threadIdx.x;
    out[(size_t)(i % N) * N + i / N] = in[i];
}

__global__ void conflicts(float *out)
{
    __shared__ float tile[32][32];
    int x = threadIdx.x % 32, y = threadIdx.x / 32;
    for (int row = y; row < 32; row += BLOCK / 32)
        tile[row][x] = x + row;
    __syncthreads();
    float sum = 0;
    for (int row = y; row < 32; row += BLOCK / 32)
        sum += tile[x][row];
    out[blockIdx.x * BLOCK + threadIdx.x] = sum;
}

__global__ void shifted(const float *in, float *out)
{
    int i = blockIdx.x * BLOCK + threadIdx.x;
    out[i] = in[i + 1];
}

__global__ void records(const float4 *in, float *out)
{
    const float *fields = (const float *)in;
    int i = blockIdx.x * BLOCK + threadIdx.x;
    out[i] = fields[4 * i];
}

int main()
{
    void *in, *out;
    size_t bytes = (size_t)N * N * sizeof(double);
    CHECK(cudaMalloc(&in, 2 * bytes));
    CHECK(cudaMalloc(&out, bytes));
    CHECK(cudaMemset(in, 0, 2 * bytes));
    int blocks = N * N / BLOCK;
    column_a<<<blocks, BLOCK>>>((float *)in, (float *)out);
    column_b<<<blocks, BLOCK>>>((double *)in, (double *)out);
    conflicts<<<blocks, BLOCK>>>((float *)out);
    shifted<<<blocks, BLOCK>>>((float *)in, (float *)out);
    records<<<blocks, BLOCK>>>((float4 *)in, (float *)out);
    CHECK(cudaDeviceSynchronize());
    CHECK(cudaFree(in));
    CHECK(cudaFree(out));
    return 0;
}
