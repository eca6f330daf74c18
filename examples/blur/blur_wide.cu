/* Blocks of 32 x 8 threads: a warp takes a part of one row. What stays is one sector a request, since the neighbours start
 * off the boundary. */
#include "blur.h"

__global__ void blur(const float *image, float *blurred, int n)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x < 1 || x >= n - 1 || y >= n)
        return;
    const float *at = image + y * n + x;
    float left = at[-1]; // finds: misaligned d_image (hidden)
    float right = at[1]; // finds: misaligned d_image (hidden)
    blurred[y * n + x] = (left + *at + right) / 3;
    // never advises: 32 wide
}

int main(int argc, char **argv)
{
    return run_blur(argc, argv, [](const float *image, float *blurred, int n) {
        blur<<<dim3((n + 31) / 32, (n + 7) / 8), dim3(32, 8)>>>(image, blurred, n);
    });
}
