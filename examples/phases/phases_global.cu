/* Every number is added to its phase's sum in device memory. */
#include "phases.h"

__global__ void phases(const int *x, int *sums)
{
    int first = blockIdx.x * EACH;
#pragma unroll 1
    for (int i = first + threadIdx.x; i < first + EACH; i += THREADS)
        atomicAdd(&sums[i % PERIOD], x[i]); // finds: scattered-atomics d_sums
    // advises: Give each block a copy of its part of d_sums
    // advises: in shared memory: 96 elements (384 bytes). Update that, and then d_sums
    // advises: by it, once a block, neighbouring threads neighbouring elements.
}

int main(int argc, char **argv)
{
    return run_phases(argc, argv, [](const int *x, int *sums, int n) {
        phases<<<n / EACH, THREADS>>>(x, sums);
    });
}
