/* A block adds up its numbers in sums of its own, and adds these to those of all. */
#include "phases.h"

__global__ void phases(const int *x, int *sums)
{
    __shared__ int own[PERIOD];
    int first = blockIdx.x * EACH;
    if (threadIdx.x < PERIOD)
        own[threadIdx.x] = 0;
    __syncthreads();
#pragma unroll 1
    for (int i = first + threadIdx.x; i < first + EACH; i += THREADS)
        atomicAdd(&own[i % PERIOD], x[i]);
    __syncthreads();
    if (threadIdx.x < PERIOD)
        atomicAdd(&sums[threadIdx.x], own[threadIdx.x]);
}

int main(int argc, char **argv)
{
    return run_phases(argc, argv, [](const int *x, int *sums, int n) {
        phases<<<n / EACH, THREADS>>>(x, sums);
    });
}
