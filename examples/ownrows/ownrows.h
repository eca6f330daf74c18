/* Sums of the rows of a matrix, a thread a row: data, launch and check. `by_columns`: the matrix is stored transposed. */
#ifndef OWNROWS_H
#define OWNROWS_H

#include "../common/example.h"

constexpr int COLUMNS = 128;

template <typename Launch> int run_sums(int argc, char **argv, bool by_columns, Launch launch)
{
    int rows = size_argument(argc, argv, 8192);
    size_t count = static_cast<size_t>(rows) * COLUMNS;
    std::vector<float> matrix = numbers(count, 1), stored(count), got(rows), want(rows);
    for (size_t i = 0; i < count; i++)
        stored[by_columns ? i % COLUMNS * rows + i / COLUMNS : i] = matrix[i];
    float *d_matrix, *d_sums;
    CHECK(cudaMalloc(&d_matrix, count * sizeof(float)));
    CHECK(cudaMalloc(&d_sums, rows * sizeof(float)));
    CHECK(cudaMemcpy(d_matrix, stored.data(), count * sizeof(float), cudaMemcpyHostToDevice));
    CHECK(cudaMemset(d_sums, 0, rows * sizeof(float)));
    if (!skip_kernel(argc, argv))
        launch(d_matrix, d_sums, rows);
    CHECK(cudaGetLastError());
    CHECK(cudaMemcpy(got.data(), d_sums, rows * sizeof(float), cudaMemcpyDeviceToHost));
    CHECK(cudaFree(d_matrix));
    CHECK(cudaFree(d_sums));
    for (int r = 0; r < rows; r++)
        for (int c = 0; c < COLUMNS; c++)
            want[r] += matrix[static_cast<size_t>(r) * COLUMNS + c];
    return verdict(got, want, 1e-5f);
}

#endif
