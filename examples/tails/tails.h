/* Sums of rows of 256 numbers; a block takes one row after the other, half as many threads in each step. The host adds in
 * the same order, so that not a bit may differ. */
#ifndef TAILS_H
#define TAILS_H

#include "../common/example.h"

constexpr int THREADS = 256, ROWS = 16;

template <typename Launch> int run_tails(int argc, char **argv, Launch launch)
{
    const int blocks = size_argument(argc, argv, 1 << 20) / (THREADS * ROWS), rows = blocks * ROWS;
    const size_t n = static_cast<size_t>(rows) * THREADS;
    std::vector<float> x = numbers(n, 1), want(rows), got(rows);
    std::vector<float> parts = x;
    for (int count = THREADS / 2; count > 0; count /= 2)
        for (size_t i = 0; i < n; i++)
            if (i % THREADS < static_cast<size_t>(count))
                parts[i] += parts[i + count];
    for (int row = 0; row < rows; row++)
        want[row] = parts[static_cast<size_t>(row) * THREADS];
    float *d_x, *d_y;
    CHECK(cudaMalloc(&d_x, n * sizeof(float)));
    CHECK(cudaMalloc(&d_y, rows * sizeof(float)));
    CHECK(cudaMemcpy(d_x, x.data(), n * sizeof(float), cudaMemcpyHostToDevice));
    CHECK(cudaMemset(d_y, 0, rows * sizeof(float)));
    if (!skip_kernel(argc, argv))
        launch(blocks, d_x, d_y);
    CHECK(cudaGetLastError());
    CHECK(cudaMemcpy(got.data(), d_y, rows * sizeof(float), cudaMemcpyDeviceToHost));
    CHECK(cudaFree(d_x));
    CHECK(cudaFree(d_y));
    return verdict(got, want, 0);
}

#endif
