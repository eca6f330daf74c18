/* The warp's sum and its place go from one lane to the others by shuffles. */
#include "broadcast.h"

__global__ void place(const unsigned *lengths, unsigned *starts, unsigned *used)
{
    int i = blockIdx.x * 32 + threadIdx.x;
    unsigned length = lengths[i], sum = scan(length), base = 0;
    unsigned all = __shfl_sync(0xffffffff, sum, 31);
    if (threadIdx.x == 0)
        base = atomicAdd(used, all); // finds: same-address d_used
    // advises: Use blocks of several warps
    starts[i] = __shfl_sync(0xffffffff, base, 0) + sum - length;
}

int main(int argc, char **argv)
{
    return run_place(argc, argv);
}
