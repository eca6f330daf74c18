/* A block counts four values a thread in a copy of its own, which it adds to the bins at the end. What is left are lanes that meet in a bank. */
#include "histogram.h"

__global__ void histogram(const unsigned char *values, unsigned *bins, int n)
{
    __shared__ unsigned own[BINS];
    own[threadIdx.x] = 0;
    __syncthreads();
    for (int i = blockIdx.x * BINS + threadIdx.x; i < n; i += BINS * gridDim.x)
        atomicAdd(&own[values[i]], 1u); // finds: bank-conflict own (hidden)
    __syncthreads();
    atomicAdd(&bins[threadIdx.x], own[threadIdx.x]);
}

int main(int argc, char **argv)
{
    return run_histogram(argc, argv, [](const unsigned char *values, unsigned *bins, int n) {
        histogram<<<(n / 4 + BINS - 1) / BINS, BINS>>>(values, bins, n);
    });
}
