/* Differences of neighbouring numbers along the rows of a picture. */
#ifndef DIFFERENCES_H
#define DIFFERENCES_H

#include "../common/example.h"

constexpr int THREADS = 256, APART = 32;

template <typename Launch> int run_differences(int argc, char **argv, Launch launch)
{
    const int n = size_argument(argc, argv, 1 << 16) / THREADS * THREADS;
    std::vector<float> x = numbers(n + APART, 7), y(n), want(n);
    for (int i = 0; i < n; i++)
        want[i] = x[i + APART] - x[i];
    float *d_x, *d_y;
    CHECK(cudaMalloc(&d_x, x.size() * sizeof(float)));
    CHECK(cudaMalloc(&d_y, y.size() * sizeof(float)));
    CHECK(cudaMemcpy(d_x, x.data(), x.size() * sizeof(float), cudaMemcpyHostToDevice));
    if (!skip_kernel(argc, argv))
        launch(d_x, d_y, n);
    CHECK(cudaGetLastError());
    CHECK(cudaMemcpy(y.data(), d_y, y.size() * sizeof(float), cudaMemcpyDeviceToHost));
    CHECK(cudaFree(d_x));
    CHECK(cudaFree(d_y));
    return verdict(y, want, 0);
}

#endif
