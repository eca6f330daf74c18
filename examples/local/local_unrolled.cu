/* The same with a number of steps that the compiler knows: all loops are unrolled, every index is a constant, and the array is
 * registers. */
#include "local.h"

__global__ void walk(const float *steps, float *sums, int points)
{
    int point = blockIdx.x * THREADS + threadIdx.x;
    float kept[STEPS], sum = 0;
#pragma unroll
    for (int k = 0; k < STEPS; k++)
        kept[k] = steps[k * points + point];
#pragma unroll
    for (int k = STEPS - 1; k >= 0; k--)
        sum += kept[k];
    sums[point] = sum;
}

int main(int argc, char **argv)
{
    return run_local(argc, argv, [](const float *steps, float *sums, int points) {
        walk<<<points / THREADS, THREADS>>>(steps, sums, points);
    });
}
