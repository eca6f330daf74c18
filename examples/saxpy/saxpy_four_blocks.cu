/* Four blocks go through all of the data: the other multiprocessors have nothing to do. */
#include "saxpy.h"

__global__ void saxpy(int n, float a, const float *x, float *y) // finds: too-few-blocks -
{
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
        y[i] = a * x[i] + y[i];
}

int main(int argc, char **argv)
{
    // advises: Start 132 blocks
    return run_saxpy(argc, argv, [](int n, float a, const float *x, float *y) {
        saxpy<<<4, 256>>>(n, a, x, y);
    });
}
