/* Sums of all numbers up to each, within blocks of 512: data, launch and check. */
#ifndef SCAN_H
#define SCAN_H

#include "../common/example.h"

constexpr int EACH = 512; /* numbers of a block, two a thread */

template <typename Launch> int run_scan(int argc, char **argv, Launch launch)
{
    int blocks = size_argument(argc, argv, 1024);
    std::vector<float> values = numbers(static_cast<size_t>(blocks) * EACH, 1);
    std::vector<float> got(values.size()), want(values.size());
    float *d_values, *d_sums;
    CHECK(cudaMalloc(&d_values, values.size() * sizeof(float)));
    CHECK(cudaMalloc(&d_sums, values.size() * sizeof(float)));
    CHECK(cudaMemcpy(d_values, values.data(), values.size() * sizeof(float),
                     cudaMemcpyHostToDevice));
    CHECK(cudaMemset(d_sums, 0, values.size() * sizeof(float)));
    if (!skip_kernel(argc, argv))
        launch(d_values, d_sums, blocks);
    CHECK(cudaGetLastError());
    CHECK(cudaMemcpy(got.data(), d_sums, got.size() * sizeof(float), cudaMemcpyDeviceToHost));
    CHECK(cudaFree(d_values));
    CHECK(cudaFree(d_sums));
    double sum = 0;
    for (size_t i = 0; i < want.size(); i++) {
        sum = (i % EACH ? sum : 0) + values[i];
        want[i] = static_cast<float>(sum);
    }
    return verdict(got, want, 1e-3f);
}

#endif
