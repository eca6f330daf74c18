/* A thread for each element. */
#include "saxpy.h"

__global__ void saxpy(int n, float a, const float *x, float *y)
{
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
        y[i] = a * x[i] + y[i];
}

int main(int argc, char **argv)
{
    return run_saxpy(argc, argv, [](int n, float a, const float *x, float *y) {
        saxpy<<<(n + 255) / 256, 256>>>(n, a, x, y);
    });
}
