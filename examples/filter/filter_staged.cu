/* A block loads the numbers that its results are made of once, and takes them from shared memory. */
#include "filter.h"

__global__ void filter(const float *x, float *y)
{
    __shared__ float part[THREADS + TAPS - 1];
    int first = blockIdx.x * THREADS;
    for (int i = threadIdx.x; i < THREADS + TAPS - 1; i += THREADS)
        part[i] = x[first + i];
    __syncthreads();
    float sum = 0;
#pragma unroll 1
    for (int k = 0; k < TAPS; k++)
        sum += weights[k] * part[threadIdx.x + k];
    y[first + threadIdx.x] = sum;
}

int main(int argc, char **argv)
{
    return run_filter(argc, argv, [](const float *x, float *y, int n) {
        filter<<<n / THREADS, THREADS>>>(x, y);
    });
}
