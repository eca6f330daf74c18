/* The first n partial sums of the squares' reciprocals, each added up from its first term: data, launch and check. */
#ifndef SERIES_H
#define SERIES_H

#include "../common/example.h"

constexpr int THREADS = 64;

/* n is a multiple of 2 * THREADS. */
template <typename Launch> int run_series(int argc, char **argv, Launch launch)
{
    int n = size_argument(argc, argv, 1 << 14);
    std::vector<float> got(n), want(n);
    float *d_sums;
    CHECK(cudaMalloc(&d_sums, n * sizeof(float)));
    CHECK(cudaMemset(d_sums, 0, n * sizeof(float)));
    if (!skip_kernel(argc, argv))
        launch(d_sums, n);
    CHECK(cudaGetLastError());
    CHECK(cudaMemcpy(got.data(), d_sums, n * sizeof(float), cudaMemcpyDeviceToHost));
    CHECK(cudaFree(d_sums));
    double sum = 0;
    for (int i = 0; i < n; i++) {
        sum += 1.0 / ((i + 1.0) * (i + 1.0));
        want[i] = static_cast<float>(sum);
    }
    return verdict(got, want, 1e-3);
}

#endif
