/* Sums of 256 numbers each, a block for each sum: data, launch and check. */
#ifndef SUMS_H
#define SUMS_H

#include "../common/example.h"

constexpr int EACH = 256;

template <typename Launch> int run_sums(int argc, char **argv, Launch launch)
{
    int sums = size_argument(argc, argv, 1024);
    std::vector<float> values = numbers(static_cast<size_t>(sums) * EACH, 1), got(sums), want(sums);
    float *d_values, *d_sums;
    CHECK(cudaMalloc(&d_values, values.size() * sizeof(float)));
    CHECK(cudaMalloc(&d_sums, sums * sizeof(float)));
    CHECK(cudaMemcpy(d_values, values.data(), values.size() * sizeof(float),
                     cudaMemcpyHostToDevice));
    CHECK(cudaMemset(d_sums, 0, sums * sizeof(float)));
    if (!skip_kernel(argc, argv))
        launch(d_values, d_sums, sums);
    CHECK(cudaGetLastError());
    CHECK(cudaMemcpy(got.data(), d_sums, sums * sizeof(float), cudaMemcpyDeviceToHost));
    CHECK(cudaFree(d_values));
    CHECK(cudaFree(d_sums));
    for (int i = 0; i < sums; i++) {
        double sum = 0;
        for (int k = 0; k < EACH; k++)
            sum += values[static_cast<size_t>(i) * EACH + k];
        want[i] = static_cast<float>(sum);
    }
    return verdict(got, want, 1e-3f);
}

#endif
