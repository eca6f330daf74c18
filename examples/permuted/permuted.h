/* Sums of rows, by a thread a row: tiles that take all shared memory that a block may have. */
#ifndef PERMUTED_H
#define PERMUTED_H

#include "../common/example.h"

constexpr int ROWS = 96, COLUMNS = 128;

template <typename Launch> int run_sums(int argc, char **argv, Launch launch)
{
    const int n = size_argument(argc, argv, 256); /* tiles */
    std::vector<float> x = numbers(static_cast<size_t>(n) * ROWS * COLUMNS, 11), got(n * ROWS),
                       want(n * ROWS);
    for (int row = 0; row < n * ROWS; row++)
        for (int col = 0; col < COLUMNS; col++)
            want[row] += x[static_cast<size_t>(row) * COLUMNS + col];
    float *d_x, *d_sums;
    CHECK(cudaMalloc(&d_x, x.size() * sizeof(float)));
    CHECK(cudaMalloc(&d_sums, got.size() * sizeof(float)));
    CHECK(cudaMemcpy(d_x, x.data(), x.size() * sizeof(float), cudaMemcpyHostToDevice));
    if (!skip_kernel(argc, argv))
        launch(n, d_x, d_sums);
    CHECK(cudaGetLastError());
    CHECK(cudaMemcpy(got.data(), d_sums, got.size() * sizeof(float), cudaMemcpyDeviceToHost));
    CHECK(cudaFree(d_x));
    CHECK(cudaFree(d_sums));
    return verdict(got, want, 1e-4f);
}

#endif
