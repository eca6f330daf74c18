// Accesses that follow from data, in every space, by launches of few blocks: all of them are recorded on the device, so that
// what they did is known exactly.
#include "check.h"

#include <cstdio>
#include <vector>

enum { N = 7 * 128, BINS = 64 };

__constant__ int table[BINS];
__device__ int found[BINS];

// Global memory by loaded index, a constant by loaded index, lanes that leave early.
__global__ void gather(int *out, const int *in, const int *index)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    int k = index[i];
    if (k % 3 == 0)
        return;
    out[i] = in[k] + table[k % BINS];
    if (k % 5 == 0)
        found[k % BINS] = k;
}

// Shared memory by loaded index: static, dynamic, atomics; a loop as long as data says.
__global__ void count(int *out, const int *in)
{
    __shared__ int bins[BINS];
    extern __shared__ int order[];
    bins[threadIdx.x % BINS] = 0;
    order[threadIdx.x] = 0;
    __syncthreads();
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    int k = in[i];
    for (int n = 0; n < k % 4; n++)
        atomicAdd(&bins[(k + 7 * n) % BINS], 1);
    order[k % 128] = k;
    __syncthreads();
    if (threadIdx.x < BINS)
        atomicAdd(&out[(bins[threadIdx.x] + order[threadIdx.x]) % BINS], 1);
}

// A generic pointer that leads to either space, and local memory by loaded index.
__device__ __noinline__ int pick(const int *a, const int *b, int k)
{
    const int *p = k & 1 ? a : b;
    return p[k % BINS];
}

__global__ void mixed(int *out, const int *in)
{
    __shared__ int part[BINS];
    int own[16];
    for (int n = 0; n < 16; n++)
        own[n] = in[n] * n;
    if (threadIdx.x < BINS)
        part[threadIdx.x] = in[threadIdx.x];
    __syncthreads();
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    int k = in[i];
    out[i] = pick(part, in, k) + own[k % 16];
}

int main()
{
    int *in, *index, *out;
    std::vector<int> host(N), order(N), values(BINS);
    unsigned seed = 1;
    for (int i = 0; i < N; i++) {
        seed = seed * 1664525u + 1013904223u;
        host[i] = (int)(seed >> 16) % 1000;
        order[i] = (int)(seed >> 8) % N;
        order[i] = order[i] < 0 ? -order[i] : order[i];
    }
    for (int i = 0; i < BINS; i++)
        values[i] = i * i;
    CHECK(cudaMalloc(&in, N * sizeof *in));
    CHECK(cudaMalloc(&index, N * sizeof *index));
    CHECK(cudaMalloc(&out, N * sizeof *out));
    CHECK(cudaMemset(out, 0, N * sizeof *out));
    CHECK(cudaMemcpy(in, host.data(), N * sizeof *in, cudaMemcpyHostToDevice));
    CHECK(cudaMemcpy(index, order.data(), N * sizeof *index, cudaMemcpyHostToDevice));
    CHECK(cudaMemcpyToSymbol(table, values.data(), sizeof table));
    gather<<<7, 128>>>(out, in, index);
    count<<<7, 128, 128 * sizeof(int)>>>(out, in);
    mixed<<<7, 128>>>(out, in);
    CHECK(cudaMemcpy(host.data(), out, N * sizeof *out, cudaMemcpyDeviceToHost));
    long sum = 0;
    for (int v : host)
        sum = sum * 31 % 1000003 + v;
    printf("%ld\n", sum);
    CHECK(cudaFree(in));
    CHECK(cudaFree(index));
    CHECK(cudaFree(out));
    return 0;
}
