/* The largest number of a group goes to the lanes of its warp by shuffles. */
#include "broadcast.h"

__global__ void normalize(float *data)
{
    int i = blockIdx.x * THREADS + threadIdx.x;
    float mine = data[i], most = fabsf(mine);
    for (int step = 16; step > 0; step /= 2)
        most = fmaxf(most, __shfl_xor_sync(0xffffffff, most, step));
    data[i] = mine / most;
}

int main(int argc, char **argv)
{
    return run_normalize(argc, argv);
}
