/* The same with the used field packed, and neighbouring lanes at neighbouring elements. */
#include "pool.h"

__global__ void add(const float *heights, const float *particles, float *results, int n)
{
    (void)n;
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    results[i] = heights[i] + particles[i];
}

int main(int argc, char **argv)
{
    return run_pool(argc, argv, 1, [](const float *heights, const float *particles, float *results, int n) {
        add<<<n / 256, 256>>>(heights, particles, results, n);
    });
}
