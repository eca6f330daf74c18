/* A cubic of many numbers, whose coefficients are worked out from a table of weights; a block goes through its numbers
 * chunk by chunk. */
#ifndef TABLES_H
#define TABLES_H

#include "../common/example.h"

constexpr int THREADS = 256, CHUNKS = 32, WEIGHTS = 4;

__device__ __host__ inline float cubic(const float *w, float x)
{
    return ((w[3] * x + w[2]) * x + w[1]) * x + w[0];
}

template <typename Launch> int run_tables(int argc, char **argv, Launch launch)
{
    const int blocks = size_argument(argc, argv, 1 << 20) / (THREADS * CHUNKS);
    const size_t n = static_cast<size_t>(blocks) * THREADS * CHUNKS;
    std::vector<float> x = numbers(static_cast<int>(n), 1), weights = numbers(WEIGHTS, 2), want(n),
                       got(n);
    for (size_t i = 0; i < n; i++)
        want[i] = cubic(weights.data(), x[i]);
    float *d_x, *d_y, *d_weights;
    CHECK(cudaMalloc(&d_x, n * sizeof(float)));
    CHECK(cudaMalloc(&d_y, n * sizeof(float)));
    CHECK(cudaMalloc(&d_weights, WEIGHTS * sizeof(float)));
    CHECK(cudaMemcpy(d_x, x.data(), n * sizeof(float), cudaMemcpyHostToDevice));
    CHECK(cudaMemcpy(d_weights, weights.data(), WEIGHTS * sizeof(float), cudaMemcpyHostToDevice));
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
