/* The sum of n numbers: data, launch and check. */
#ifndef TOTAL_H
#define TOTAL_H

#include "../common/example.h"

constexpr int THREADS = 256;

template <typename Launch> int run_total(int argc, char **argv, Launch launch)
{
    int n = size_argument(argc, argv, 1 << 18);
    std::vector<float> x = numbers(n, 3), got(1), want(1);
    for (float &v : x)
        v = std::round(v * v * 4); // whole numbers: their sum is the same in any order
    float *d_x, *d_total;
    CHECK(cudaMalloc(&d_x, n * sizeof(float)));
    CHECK(cudaMalloc(&d_total, sizeof(float)));
    CHECK(cudaMemcpy(d_x, x.data(), n * sizeof(float), cudaMemcpyHostToDevice));
    CHECK(cudaMemset(d_total, 0, sizeof(float)));
    if (!skip_kernel(argc, argv))
        launch(d_x, d_total, n);
    CHECK(cudaGetLastError());
    CHECK(cudaMemcpy(got.data(), d_total, sizeof(float), cudaMemcpyDeviceToHost));
    CHECK(cudaFree(d_x));
    CHECK(cudaFree(d_total));
    double sum = 0;
    for (float v : x)
        sum += v;
    want[0] = static_cast<float>(sum);
    return verdict(got, want, 0);
}

#endif
