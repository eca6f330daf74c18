/* Neighbouring threads add, half as many in each step, and one warp adds the last 64 values by shuffles. */
#include "sums.h"

__global__ void sums(const float *values, float *results)
{
    __shared__ float part[EACH];
    int t = threadIdx.x;
    part[t] = values[blockIdx.x * EACH + t];
    __syncthreads();
    for (int d = EACH / 2; d >= 64; d /= 2) {
        if (t < d)
            part[t] += part[t + d];
        __syncthreads();
    }
    if (t >= 32)
        return;
    float sum = part[t] + part[t + 32];
    for (int d = 16; d > 0; d /= 2)
        sum += __shfl_down_sync(0xffffffff, sum, d);
    if (t == 0)
        results[blockIdx.x] = sum;
}

int main(int argc, char **argv)
{
    return run_sums(argc, argv, [](const float *values, float *results, int count) {
        sums<<<count, EACH>>>(values, results);
    });
}
