/* Each warp takes sums in turn, short ones and long ones, and its lanes share each of them: all warps have as many terms. */
#include "series.h"

constexpr int LANES = 32;

__global__ void add_up(float *sums, int n)
{
    int thread = blockIdx.x * THREADS + threadIdx.x, lane = threadIdx.x % LANES;
    for (int i = thread / LANES; i < n; i += gridDim.x * THREADS / LANES) {
        float sum = 0;
        for (int k = i + 1 - lane; k > 0; k -= LANES)
            sum += 1.0f / ((float)k * (float)k);
        for (int d = LANES / 2; d > 0; d /= 2)
            sum += __shfl_down_sync(0xffffffff, sum, d);
        if (lane == 0)
            sums[i] = sum; // finds: false-sharing d_sums (hidden), strided d_sums (hidden)
    }
}

int main(int argc, char **argv)
{
    return run_series(argc, argv, [](float *sums, int n) { add_up<<<n / THREADS, THREADS>>>(sums, n); });
}
