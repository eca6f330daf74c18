/* Tensor times matrix with the sums in shared memory, though each belongs to one thread. */
#include "ttm.h"

__global__ void ttm(const float *tensor, float *result, int fibers)
{
    __shared__ float sums[RANK][THREADS];
    int fiber = blockIdx.x * THREADS + threadIdx.x;
#pragma unroll 1
    for (int r = 0; r < RANK; r++)
        sums[r][threadIdx.x] = 0; // finds: shared-thread-local sums
#pragma unroll 1
    for (int k = 0; k < LENGTH; k++) {
        float t = tensor[k * fibers + fiber];
#pragma unroll 1
        for (int r = 0; r < RANK; r++)
            sums[r][threadIdx.x] += t * matrix[k * RANK + r]; // finds: shared-thread-local sums
    }
#pragma unroll 1
    for (int r = 0; r < RANK; r++)
        result[r * fibers + fiber] = sums[r][threadIdx.x]; // finds: shared-thread-local sums
}

int main(int argc, char **argv)
{
    return run_ttm(argc, argv);
}
