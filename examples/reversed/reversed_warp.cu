/* A warp waits for its own lanes alone. */
#include "reversed.h"

__global__ void reverse(const float *x, float *y, const float *weights)
{
    __shared__ float weight[LANES], row[WARPS][LANES];
    const int lane = threadIdx.x, warp = threadIdx.y;
    if (warp == 0)
        weight[lane] = weights[lane];
    __syncthreads();
    for (int r = 0; r < ROWS; r++) {
        const int i = ((blockIdx.x * ROWS + r) * WARPS + warp) * LANES + lane;
        row[warp][lane] = x[i]; // finds: shared-warp-local row (hidden)
        __syncwarp();
        y[i] = weight[LANES - 1 - lane] * row[warp][LANES - 1 - lane];
        __syncwarp();
    }
}

int main(int argc, char **argv)
{
    return run_reversed(argc, argv, [](int blocks, const float *x, float *y, const float *weights) {
        reverse<<<blocks, dim3(LANES, WARPS)>>>(x, y, weights);
    });
}
