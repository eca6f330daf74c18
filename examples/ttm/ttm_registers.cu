/* Tensor times matrix with the sums in registers. */
#include "ttm.h"

__global__ void ttm(const float *tensor, float *result, int fibers)
{
    float sums[RANK] = {};
    int fiber = blockIdx.x * THREADS + threadIdx.x;
    for (int k = 0; k < LENGTH; k++) {
        float t = tensor[k * fibers + fiber];
#pragma unroll
        for (int r = 0; r < RANK; r++)
            sums[r] += t * matrix[k * RANK + r];
    }
#pragma unroll
    for (int r = 0; r < RANK; r++)
        result[r * fibers + fiber] = sums[r];
}

int main(int argc, char **argv)
{
    return run_ttm(argc, argv);
}
