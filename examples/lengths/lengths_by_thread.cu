/* A thread for each sum: nearly every warp has a long one, for which its other lanes wait. */
#include "lengths.h"

__global__ void add_up(float *sums) // finds: divergent -
{
    int i = blockIdx.x * THREADS + threadIdx.x;
    float sum = 0;
    for (int k = terms_of(i); k > 0; k--)
        sum += 1.0f / ((float)k * (float)k);
    sums[i] = sum;
}

int main(int argc, char **argv)
{
    // advises: let the lanes of a warp share each item
    return run_lengths(argc, argv, [](float *sums, int n) { add_up<<<n / THREADS, THREADS>>>(sums); });
}
