/* A block keeps its part of the row in shared memory, where each number is read once. */
#include "differences.h"

__global__ void differences(const float *x, float *y)
{
    __shared__ float tile[THREADS + APART];
    const int t = threadIdx.x, i = blockIdx.x * THREADS + t;
    float own = x[i];
    tile[t] = own; // finds: shared-used-once tile
    if (t < APART)
        tile[THREADS + t] = x[i + THREADS]; // finds: shared-used-once tile
    __syncthreads();
    y[i] = tile[t + APART] - own; // finds: shared-used-once tile
    // advises: Leave out tile: load from d_x where it is read now.
}

int main(int argc, char **argv)
{
    return run_differences(argc, argv, [](const float *x, float *y, int n) {
        differences<<<n / THREADS, THREADS>>>(x, y);
    });
}
