/* The square's texels are loaded once into shared memory. */
#include "dxtc.h"

__global__ void compress(const colour *texels, float *errors)
{
    __shared__ colour square[TEXELS];
    __shared__ float least[THREADS];
    const int t = threadIdx.x;
    const float *from = &texels[blockIdx.x * TEXELS].r;
    if (t < 3 * TEXELS)
        (&square[0].r)[t] = from[t];
    __syncthreads();
    float best = INFINITY;
    for (int number = t; number < TRIES; number += THREADS) {
        const int low = number % TEXELS, high = (number / TEXELS + low + 1) % TEXELS;
        float sum = 0;
        for (int i = 0; i < TEXELS; i++)
            sum += error_of(square[i], square[low], square[high]);
        best = fminf(best, sum);
    }
    least[t] = best;
    __syncthreads();
    for (int d = THREADS / 2; d > 0; d /= 2) {
        if (t < d)
            least[t] = fminf(least[t], least[t + d]); // finds: divergent least (hidden)
        __syncthreads();
    }
    if (t == 0)
        errors[blockIdx.x] = least[0];
}

int main(int argc, char **argv)
{
    return run_dxtc(argc, argv, [](int n, const colour *texels, float *errors) {
        compress<<<n, THREADS>>>(texels, errors);
    });
}
