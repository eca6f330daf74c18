/* y = M * x for a sparse matrix in compressed rows: data, launch and check, for both versions of the kernel. Every row
 * has NONZEROS entries in random columns, as in a random graph. */
#ifndef SPMV_H
#define SPMV_H

#include "../common/example.h"

constexpr int COLUMNS = 1024, NONZEROS = 64, THREADS = 256;

__global__ void spmv(const int *offsets, const int *columns, const float *values, const float *x,
                     float *y, int rows);

inline int run_spmv(int argc, char **argv, int threads_per_row)
{
    int rows = size_argument(argc, argv, 16384), entries = rows * NONZEROS;
    std::vector<float> values = numbers(entries, 1), x = numbers(COLUMNS, 2), y(rows), want(rows);
    std::vector<int> offsets(rows + 1), columns(entries);
    unsigned seed = 7;
    for (int i = 0; i <= rows; i++)
        offsets[i] = i * NONZEROS;
    for (int i = 0; i < entries; i++) {
        seed = seed * 1664525u + 1013904223u;
        columns[i] = seed >> 22;
        want[i / NONZEROS] += values[i] * x[columns[i]];
    }
    int *d_offsets, *d_columns;
    float *d_values, *d_x, *d_y;
    CHECK(cudaMalloc(&d_offsets, (rows + 1) * sizeof(int)));
    CHECK(cudaMalloc(&d_columns, entries * sizeof(int)));
    CHECK(cudaMalloc(&d_values, entries * sizeof(float)));
    CHECK(cudaMalloc(&d_x, COLUMNS * sizeof(float)));
    CHECK(cudaMalloc(&d_y, rows * sizeof(float)));
    CHECK(cudaMemcpy(d_offsets, offsets.data(), (rows + 1) * sizeof(int), cudaMemcpyHostToDevice));
    CHECK(cudaMemcpy(d_columns, columns.data(), entries * sizeof(int), cudaMemcpyHostToDevice));
    CHECK(cudaMemcpy(d_values, values.data(), entries * sizeof(float), cudaMemcpyHostToDevice));
    CHECK(cudaMemcpy(d_x, x.data(), COLUMNS * sizeof(float), cudaMemcpyHostToDevice));
    CHECK(cudaMemset(d_y, 0, rows * sizeof(float)));
    if (!skip_kernel(argc, argv))
        spmv<<<rows * threads_per_row / THREADS, THREADS>>>(d_offsets, d_columns, d_values, d_x,
                                                            d_y, rows);
    CHECK(cudaGetLastError());
    CHECK(cudaMemcpy(y.data(), d_y, rows * sizeof(float), cudaMemcpyDeviceToHost));
    CHECK(cudaFree(d_offsets));
    CHECK(cudaFree(d_columns));
    CHECK(cudaFree(d_values));
    CHECK(cudaFree(d_x));
    CHECK(cudaFree(d_y));
    return verdict(y, want, 1e-3f);
}

#endif
