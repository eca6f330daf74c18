/* Each thread adds its number to one sum: the L2 cache carries out one update after the other. */
#include "total.h"

__global__ void total(const float *x, float *sum)
{
    int i = blockIdx.x * THREADS + threadIdx.x;
    atomicAdd(sum, x[i]); // finds: same-address d_total
    // advises: Combine the values of a warp's lanes (__reduce_add_sync, shuffles), then those of the block's warps
    // advises: in shared memory, and let one thread update d_total for all of them, once a block.
}

int main(int argc, char **argv)
{
    return run_total(argc, argv, [](const float *x, float *sum, int n) {
        total<<<n / THREADS, THREADS>>>(x, sum);
    });
}
