/* Vector addition over one field of structures of eight floats: a word in each sector is used. */
#include "vecadd.h"

constexpr int FIELDS = 8;

__global__ void vecadd(const float *x, const float *y, float *z, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    float a = x[i * FIELDS]; // finds: strided d_x
    float b = y[i * FIELDS]; // finds: strided d_y
    z[i * FIELDS] = a + b;   // finds: strided d_z
}

int main(int argc, char **argv)
{
    return run_vecadd(argc, argv, FIELDS, [](const float *x, const float *y, float *z, int n) {
        vecadd<<<(n + 255) / 256, 256>>>(x, y, z, n);
    });
}
