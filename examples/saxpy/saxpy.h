/* y = a x + y with a grid of any size: data, launch and check. */
#ifndef SAXPY_H
#define SAXPY_H

#include "../common/example.h"

template <typename Launch> int run_saxpy(int argc, char **argv, Launch launch)
{
    int n = size_argument(argc, argv, 1 << 20);
    std::vector<float> x = numbers(n, 1), y = numbers(n, 2), got(n), want(n);
    float *d_x, *d_y;
    CHECK(cudaMalloc(&d_x, n * sizeof(float)));
    CHECK(cudaMalloc(&d_y, n * sizeof(float)));
    CHECK(cudaMemcpy(d_x, x.data(), n * sizeof(float), cudaMemcpyHostToDevice));
    CHECK(cudaMemcpy(d_y, y.data(), n * sizeof(float), cudaMemcpyHostToDevice));
    if (!skip_kernel(argc, argv))
        launch(n, 2.0f, d_x, d_y);
    CHECK(cudaGetLastError());
    CHECK(cudaMemcpy(got.data(), d_y, n * sizeof(float), cudaMemcpyDeviceToHost));
    CHECK(cudaFree(d_x));
    CHECK(cudaFree(d_y));
    for (int i = 0; i < n; i++)
        want[i] = 2 * x[i] + y[i];
    return verdict(got, want, 1e-6f);
}

#endif
