/* Scales each row of an image by a factor of its own; a warp takes a row. Data, launch and check. */
#ifndef ROWS_H
#define ROWS_H

#include "../common/example.h"

constexpr int WARPS = 8; // of a block

__global__ void scale_rows(float *image, const float *factor, int width, int height, int pitch);

/* `pitch`: elements from one row to the next; 0 leaves it to cudaMallocPitch. */
inline int run_rows(int argc, char **argv, int width, int pitch)
{
    int height = size_argument(argc, argv, 2048);
    std::vector<float> image = numbers(static_cast<size_t>(width) * height, 1),
                       factor = numbers(height, 2);
    std::vector<float> got(image.size()), want(image.size());
    float *d_image, *d_factor;
    size_t pitch_bytes = pitch * sizeof(float), row_bytes = width * sizeof(float);
    if (pitch)
        CHECK(cudaMalloc(&d_image, pitch_bytes * height));
    else
        CHECK(cudaMallocPitch(&d_image, &pitch_bytes, row_bytes, height));
    CHECK(cudaMalloc(&d_factor, height * sizeof(float)));
    CHECK(cudaMemcpy2D(d_image, pitch_bytes, image.data(), row_bytes, row_bytes, height,
                       cudaMemcpyHostToDevice));
    CHECK(cudaMemcpy(d_factor, factor.data(), height * sizeof(float), cudaMemcpyHostToDevice));
    if (!skip_kernel(argc, argv))
        scale_rows<<<(height + WARPS - 1) / WARPS, dim3(32, WARPS)>>>(
            d_image, d_factor, width, height, static_cast<int>(pitch_bytes / sizeof(float)));
    CHECK(cudaGetLastError());
    CHECK(cudaMemcpy2D(got.data(), row_bytes, d_image, pitch_bytes, row_bytes, height,
                       cudaMemcpyDeviceToHost));
    CHECK(cudaFree(d_image));
    CHECK(cudaFree(d_factor));
    for (int y = 0; y < height; y++)
        for (int x = 0; x < width; x++)
            want[y * width + x] = image[y * width + x] * factor[y];
    return verdict(got, want, 0);
}

#endif
