/* Rows of 32 numbers turned round and weighted; a warp takes one row after the other. */
#ifndef REVERSED_H
#define REVERSED_H

#include "../common/example.h"

constexpr int LANES = 32, WARPS = 8, ROWS = 32;

template <typename Launch> int run_reversed(int argc, char **argv, Launch launch)
{
    const int blocks = size_argument(argc, argv, 1 << 20) / (LANES * WARPS * ROWS);
    const size_t n = static_cast<size_t>(blocks) * LANES * WARPS * ROWS;
    std::vector<float> x = numbers(static_cast<int>(n), 1), weights = numbers(LANES, 2), want(n),
                       got(n);
    for (size_t i = 0; i < n; i++)
        want[i] = weights[LANES - 1 - i % LANES] * x[i - i % LANES + LANES - 1 - i % LANES];
    float *d_x, *d_y, *d_weights;
    CHECK(cudaMalloc(&d_x, n * sizeof(float)));
    CHECK(cudaMalloc(&d_y, n * sizeof(float)));
    CHECK(cudaMalloc(&d_weights, LANES * sizeof(float)));
    CHECK(cudaMemcpy(d_x, x.data(), n * sizeof(float), cudaMemcpyHostToDevice));
    CHECK(cudaMemcpy(d_weights, weights.data(), LANES * sizeof(float), cudaMemcpyHostToDevice));
    CHECK(cudaMemset(d_y, 0, n * sizeof(float)));
    if (!skip_kernel(argc, argv))
        launch(blocks, d_x, d_y, d_weights);
    CHECK(cudaGetLastError());
    CHECK(cudaMemcpy(got.data(), d_y, n * sizeof(float), cudaMemcpyDeviceToHost));
    CHECK(cudaFree(d_x));
    CHECK(cudaFree(d_y));
    CHECK(cudaFree(d_weights));
    return verdict(got, want, 1e-4f);
}

#endif
