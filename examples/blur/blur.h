/* An image, each point the mean of itself and its two neighbours in the row: data, launch and check. */
#ifndef BLUR_H
#define BLUR_H

#include "../common/example.h"

template <typename Launch> int run_blur(int argc, char **argv, Launch launch)
{
    int n = size_argument(argc, argv, 256);
    size_t count = static_cast<size_t>(n) * n, bytes = count * sizeof(float);
    std::vector<float> image = numbers(count, 1), got(count), want(count);
    float *d_image, *d_blurred;
    CHECK(cudaMalloc(&d_image, bytes));
    CHECK(cudaMalloc(&d_blurred, bytes));
    CHECK(cudaMemcpy(d_image, image.data(), bytes, cudaMemcpyHostToDevice));
    CHECK(cudaMemset(d_blurred, 0, bytes));
    if (!skip_kernel(argc, argv))
        launch(d_image, d_blurred, n);
    CHECK(cudaGetLastError());
    CHECK(cudaMemcpy(got.data(), d_blurred, bytes, cudaMemcpyDeviceToHost));
    CHECK(cudaFree(d_image));
    CHECK(cudaFree(d_blurred));
    for (size_t i = 0; i < count; i++) {
        size_t x = i % n;
        want[i] = x == 0 || x + 1 == static_cast<size_t>(n)
                      ? 0
                      : (image[i - 1] + image[i] + image[i + 1]) / 3;
    }
    return verdict(got, want, 1e-5f);
}

#endif
