/* A thread for each sum, in their order: the last blocks add up most terms, and the launch lasts as long as they do. */
#include "series.h"

__global__ void add_up(float *sums, int n) // finds: imbalance -
{
    int i = blockIdx.x * THREADS + threadIdx.x;
    float sum = 0;
    for (int k = i + 1; k > 0; k--)
        sum += 1.0f / ((float)k * (float)k);
    sums[i] = sum;
}

int main(int argc, char **argv)
{
    // advises: let each warp take many, every n-th or from both ends of their order, and let its lanes share each
    return run_series(argc, argv, [](float *sums, int n) { add_up<<<n / THREADS, THREADS>>>(sums, n); });
}
