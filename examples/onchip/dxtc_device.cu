/* Each thread loads the square's texels from device memory for each of its tries. */
#include "dxtc.h"

__global__ void compress(const colour *texels, float *errors)
{
    __shared__ float least[THREADS];
    const int t = threadIdx.x;
    float best = INFINITY;
    for (int number = t; number < TRIES; number += THREADS) {
        int low, high;
        ends_of(number, &low, &high);
        float sum = 0;
        for (int i = 0; i < TEXELS; i++)
            sum += error_of(texels[blockIdx.x * TEXELS + i], texels[blockIdx.x * TEXELS + low], texels[blockIdx.x * TEXELS + high]);
        best = fminf(best, sum);
    }
    least[t] = best;
    __syncthreads();
    for (int d = THREADS / 2; d > 0; d /= 2) {
        if (t < d)
            least[t] = fminf(least[t], least[t + d]);
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
