/* A matrix of 256 rows, each element scaled: data, launch and check. */
#ifndef COLUMNS_H
#define COLUMNS_H

#include "../common/example.h"

constexpr int ROWS = 256;

template <typename Launch> int run_scaling(int argc, char **argv, Launch launch)
{
    int columns = size_argument(argc, argv, 1024);
    size_t count = static_cast<size_t>(ROWS) * columns, bytes = count * sizeof(float);
    std::vector<float> matrix = numbers(count, 1), got(count), want(count);
    float *d_matrix, *d_scaled;
    CHECK(cudaMalloc(&d_matrix, bytes));
    CHECK(cudaMalloc(&d_scaled, bytes));
    CHECK(cudaMemcpy(d_matrix, matrix.data(), bytes, cudaMemcpyHostToDevice));
    CHECK(cudaMemset(d_scaled, 0, bytes));
    if (!skip_kernel(argc, argv))
        launch(d_matrix, d_scaled, columns);
    CHECK(cudaGetLastError());
    CHECK(cudaMemcpy(got.data(), d_scaled, bytes, cudaMemcpyDeviceToHost));
    CHECK(cudaFree(d_matrix));
    CHECK(cudaFree(d_scaled));
    for (size_t i = 0; i < count; i++)
        want[i] = 2 * matrix[i] + 1;
    return verdict(got, want, 0);
}

#endif
