/* Vector addition in which each thread walks through eight neighbouring elements: all words are used in the end, but each
 * request of a warp needs 32 sectors. */
#include "vecadd.h"

constexpr int CHUNK = 8;

__global__ void vecadd(const float *x, const float *y, float *z, int n)
{
    int first = (blockIdx.x * blockDim.x + threadIdx.x) * CHUNK;
#pragma unroll 1
    for (int i = first; i < first + CHUNK && i < n; i++) {
        float a = x[i]; // finds: uncoalesced d_x
        float b = y[i]; // finds: uncoalesced d_y
        z[i] = a + b;   // finds: uncoalesced d_z
    }
}

int main(int argc, char **argv)
{
    return run_vecadd(argc, argv, 1, [](const float *x, const float *y, float *z, int n) {
        vecadd<<<(n / CHUNK + 255) / 256, 256>>>(x, y, z, n);
    });
}
