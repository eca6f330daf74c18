/* The whole block waits for each step, also where the threads of one warp are left. */
#include "tails.h"

__global__ void add_rows(const float *x, float *y)
{
    __shared__ float part[THREADS];
    const int t = threadIdx.x;
    for (int r = 0; r < ROWS; r++) {
        const int row = blockIdx.x * ROWS + r;
        part[t] = x[row * THREADS + t];
        __syncthreads();
        if (t < 128)
            part[t] += part[t + 128];
        __syncthreads();
        if (t < 64)
            part[t] += part[t + 64];
        __syncthreads();
        if (t < 32)
            part[t] += part[t + 32];
        __syncthreads(); // finds: superfluous-barrier -
        if (t < 16)
            part[t] += part[t + 16];
        __syncthreads(); // finds: superfluous-barrier -
        if (t < 8)
            part[t] += part[t + 8];
        __syncthreads(); // finds: superfluous-barrier -
        if (t < 4)
            part[t] += part[t + 4];
        __syncthreads(); // finds: superfluous-barrier -
        if (t < 2)
            part[t] += part[t + 2];
        __syncthreads(); // finds: superfluous-barrier -
        if (t == 0)
            y[row] = part[0] + part[1];
        __syncthreads();
    }
}

int main(int argc, char **argv)
{
    return run_tails(argc, argv, [](int blocks, const float *x, float *y) {
        add_rows<<<blocks, THREADS>>>(x, y);
    });
}
