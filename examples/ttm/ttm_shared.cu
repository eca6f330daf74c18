/* Tensor times matrix with the Y_shr in shared memory, though each belongs to one thread. */
#include "ttm.h"

__global__ void ttm(const float *tensor, float *result, int fibers)
{
    __shared__ float Y_shr[RANK][THREADS];
    int fiber = blockIdx.x * THREADS + threadIdx.x;
#pragma unroll 1
    for (int r = 0; r < RANK; r++)
        Y_shr[r][threadIdx.x] = 0; // finds: shared-thread-local Y_shr
#pragma unroll 1
    for (int k = 0; k < LENGTH; k++) {
        float t = tensor[k * fibers + fiber];
#pragma unroll 1
        for (int r = 0; r < RANK; r++)
            Y_shr[r][threadIdx.x] += t * matrix[k * RANK + r]; // finds: shared-thread-local Y_shr
    }
#pragma unroll 1
    for (int r = 0; r < RANK; r++)
        result[r * fibers + fiber] = Y_shr[r][threadIdx.x]; // finds: shared-thread-local Y_shr
}

int main(int argc, char **argv)
{
    return run_ttm(argc, argv);
}
