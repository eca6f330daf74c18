/* The warp's sum and its place go from one lane to the others through shared memory. */
#include "broadcast.h"

__global__ void place(const unsigned *lengths, unsigned *starts, unsigned *used)
{
    __shared__ unsigned excl_sum, base_idx;
    int i = blockIdx.x * 32 + threadIdx.x;
    unsigned length = lengths[i], sum = scan(length);
    if (threadIdx.x == 31)
        excl_sum = sum; // finds: shared-warp-local excl_sum (hidden)
    __syncthreads();
    if (threadIdx.x == 0)
        base_idx = atomicAdd(used, excl_sum); // finds: shared-warp-local base_idx (hidden), same-address d_used
    __syncthreads();
    starts[i] = base_idx + sum - length;
}

int main(int argc, char **argv)
{
    return run_place(argc, argv);
}
