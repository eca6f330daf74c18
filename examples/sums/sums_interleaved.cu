/* A block adds up pairs of neighbours, then of what is left: from step to step lanes are further apart in shared memory, and collide. */
#include "sums.h"

__global__ void sums(const float *values, float *results)
{
    __shared__ float part[EACH];
    int t = threadIdx.x;
    part[t] = values[blockIdx.x * EACH + t];
    __syncthreads();
    for (int d = 1; d < EACH; d *= 2) {
        int i = 2 * d * t;
        if (i < EACH)
            part[i] += part[i + d]; // finds: bank-conflict part (hidden), divergent part (hidden)
        __syncthreads();            // never advises: one element out in 32
    }
    if (t == 0)
        results[blockIdx.x] = part[0]; // advises: with d half as large in each step
}

int main(int argc, char **argv)
{
    return run_sums(argc, argv, [](const float *values, float *results, int count) {
        sums<<<count, EACH>>>(values, results);
    });
}
