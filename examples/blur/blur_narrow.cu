/* Blocks of 8 x 32 threads: a warp takes pieces of four rows, and each of them lies in two sectors where it starts off the
 * boundary. */
#include "blur.h"

__global__ void blur(const float *image, float *blurred, int n)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x < 1 || x >= n - 1 || y >= n)
        return;
    const float *at = image + y * n + x;
    float left = at[-1]; // finds: uncoalesced d_image
    float right = at[1]; // finds: uncoalesced d_image
    blurred[y * n + x] = (left + *at + right) / 3;
    // advises: Start blocks of 32 x 8 threads in place of 8 x 32
    // never advises: __shared__
}

int main(int argc, char **argv)
{
    return run_blur(argc, argv, [](const float *image, float *blurred, int n) {
        blur<<<dim3((n + 7) / 8, (n + 31) / 32), dim3(8, 32)>>>(image, blurred, n);
    });
}
