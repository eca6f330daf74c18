/* Shuffles add up the lanes of a warp, its first lane adds that to the block's sum, and one thread that to the sum of all. */
#include "total.h"

__global__ void total(const float *x, float *sum)
{
    __shared__ float own;
    int i = blockIdx.x * THREADS + threadIdx.x;
    if (threadIdx.x == 0)
        own = 0;
    __syncthreads();
    float value = x[i];
    for (int d = 16; d > 0; d /= 2)
        value += __shfl_down_sync(0xffffffff, value, d);
    if (threadIdx.x % 32 == 0)
        atomicAdd(&own, value);
    __syncthreads();
    if (threadIdx.x == 0)
        atomicAdd(sum, own);
}

int main(int argc, char **argv)
{
    return run_total(argc, argv, [](const float *x, float *sum, int n) {
        total<<<n / THREADS, THREADS>>>(x, sum);
    });
}
