/* After each chunk all threads of the block wait for each other, though none takes what another one stored. */
#include "tables.h"

__global__ void evaluate(const float *x, float *y, const float *weights)
{
    __shared__ float w[WEIGHTS];
    const int t = threadIdx.x;
    if (t < WEIGHTS)
        w[t] = weights[t];
    __syncthreads();
    for (int chunk = 0; chunk < CHUNKS; chunk++) {
        const int i = (blockIdx.x * CHUNKS + chunk) * THREADS + t;
        y[i] = cubic(w, x[i]);
        __syncthreads(); // finds: superfluous-barrier -
    }
}

int main(int argc, char **argv)
{
    return run_tables(argc, argv, [](int blocks, const float *x, float *y, const float *weights) {
        evaluate<<<blocks, THREADS>>>(x, y, weights);
    });
}
