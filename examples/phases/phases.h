/* What n numbers add up to in each phase of their period: data, launch and check. */
#ifndef PHASES_H
#define PHASES_H

#include "../common/example.h"

constexpr int PERIOD = 96, THREADS = 256, EACH = 4096; /* EACH: numbers of a block */

template <typename Launch> int run_phases(int argc, char **argv, Launch launch)
{
    int n = size_argument(argc, argv, 1 << 19);
    std::vector<float> random = numbers(n, 3), got(PERIOD), want(PERIOD);
    std::vector<int> x(n), sums(PERIOD);
    for (int i = 0; i < n; i++) {
        x[i] = static_cast<int>(random[i] * 100);
        want[i % PERIOD] += static_cast<float>(x[i]);
    }
    int *d_x, *d_sums;
    CHECK(cudaMalloc(&d_x, n * sizeof(int)));
    CHECK(cudaMalloc(&d_sums, PERIOD * sizeof(int)));
    CHECK(cudaMemcpy(d_x, x.data(), n * sizeof(int), cudaMemcpyHostToDevice));
    CHECK(cudaMemset(d_sums, 0, PERIOD * sizeof(int)));
    if (!skip_kernel(argc, argv))
        launch(d_x, d_sums, n);
    CHECK(cudaGetLastError());
    CHECK(cudaMemcpy(sums.data(), d_sums, PERIOD * sizeof(int), cudaMemcpyDeviceToHost));
    CHECK(cudaFree(d_x));
    CHECK(cudaFree(d_sums));
    for (int i = 0; i < PERIOD; i++)
        got[i] = static_cast<float>(sums[i]);
    return verdict(got, want, 0);
}

#endif
