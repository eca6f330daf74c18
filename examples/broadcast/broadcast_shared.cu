/* The largest number of a group goes to the lanes of its warp through shared memory. */
#include "broadcast.h"

__global__ void normalize(float *data)
{
    __shared__ float largest[WARPS][32];
    int i = blockIdx.x * THREADS + threadIdx.x, warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    float mine = data[i], most = 0;
    largest[warp][lane] = fabsf(mine); // finds: shared-warp-local largest
    __syncwarp();
#pragma unroll 1
    for (int j = 0; j < 32; j++)
        most = fmaxf(most, largest[warp][j]);
    data[i] = mine / most;
}

int main(int argc, char **argv)
{
    return run_normalize(argc, argv);
}
