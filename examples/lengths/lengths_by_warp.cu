/* The lanes of a warp share each sum: 32 of them, one after the other. */
#include "lengths.h"

__global__ void add_up(float *sums)
{
    int lane = threadIdx.x % LANES, first = blockIdx.x * THREADS + threadIdx.x - lane;
    float own = 0;
    for (int s = 0; s < LANES; s++) {
        float sum = 0;
        for (int k = terms_of(first + s) - lane; k > 0; k -= LANES)
            sum += 1.0f / ((float)k * (float)k);
        for (int d = LANES / 2; d > 0; d /= 2)
            sum += __shfl_xor_sync(0xffffffff, sum, d);
        own = lane == s ? sum : own;
    }
    sums[first + lane] = own;
}

int main(int argc, char **argv)
{
    return run_lengths(argc, argv, [](float *sums, int n) { add_up<<<n / THREADS, THREADS>>>(sums); });
}
