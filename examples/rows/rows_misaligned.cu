/* Rows of 1021 floats, one behind the other: nearly all start off the sector boundary. */
#include "rows.h"

__global__ void scale_rows(float *image, const float *factor, int width, int height, int pitch)
{
    int y = blockIdx.x * WARPS + threadIdx.y;
    if (y >= height)
        return;
    float f = factor[y];
#pragma unroll 1
    for (int x = threadIdx.x; x < width; x += 32)
        image[y * pitch + x] *= f; // finds: misaligned d_image (hidden)
    // advises: Pad each row of d_image from 1021 to 1024 elements
}

int main(int argc, char **argv)
{
    return run_rows(argc, argv, 1021, 1021);
}
