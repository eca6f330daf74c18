/* Vector addition in which neighbouring lanes take neighbouring elements. */
#include "vecadd.h"

__global__ void vecadd(const float *x, const float *y, float *z, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        z[i] = x[i] + y[i];
}

int main(int argc, char **argv)
{
    return run_vecadd(argc, argv, 1, [](const float *x, const float *y, float *z, int n) {
        vecadd<<<(n + 255) / 256, 256>>>(x, y, z, n);
    });
}
