/* Each thread keeps its steps in an array. How many there are is an argument, so that no index is known to the compiler, and the
 * array lies in local memory. */
#include "local.h"

__global__ void walk(const float *steps, float *sums, int points, int count)
{
    int point = blockIdx.x * THREADS + threadIdx.x;
    float kept[STEPS], sum = 0;
#pragma unroll 1
    for (int k = 0; k < count; k++)
        kept[k] = steps[k * points + point]; // finds: local-memory -
#pragma unroll 1
    for (int k = count - 1; k >= 0; k--)
        sum += kept[k]; // finds: local-memory -
    sums[point] = sum;
}

int main(int argc, char **argv)
{
    return run_local(argc, argv, [](const float *steps, float *sums, int points) {
        walk<<<points / THREADS, THREADS>>>(steps, sums, points, STEPS);
    });
}
