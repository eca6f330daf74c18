/* Sums over a table, looked up from rows of numbers: a block goes through the rows again and again for a table of its own. */
#ifndef PLACES_H
#define PLACES_H

#include "../common/example.h"

constexpr int THREADS = 256, ROW = 8192, TABLE = 8192, LOOKUPS = 64;

/* Where in its table a thread looks up: lanes take neighbours. */
__device__ __host__ inline int place_of(int t, int lookup)
{
    return (t + lookup * 131) % TABLE;
}

template <typename Launch> int run_places(int argc, char **argv, Launch launch)
{
    const int blocks = size_argument(argc, argv, 1 << 23) / TABLE;
    const size_t n = static_cast<size_t>(blocks) * TABLE;
    std::vector<float> rows = numbers(blocks * ROW, 1), tables = numbers(static_cast<int>(n), 2),
                       want(static_cast<size_t>(blocks) * THREADS), got(want.size());
    for (int b = 0; b < blocks; b++)
        for (int t = 0; t < THREADS; t++) {
            float sum = 0;
            for (int i = t; i < ROW; i += THREADS)
                sum += rows[static_cast<size_t>(b) * ROW + i];
            for (int pass = 0; pass < 4; pass++)
                for (int k = 0; k < LOOKUPS; k++)
                    sum += tables[static_cast<size_t>(b) * TABLE + place_of(t, k)];
            want[static_cast<size_t>(b) * THREADS + t] = sum;
        }
    float *d_rows, *d_tables, *d_sums;
    CHECK(cudaMalloc(&d_rows, rows.size() * sizeof(float)));
    CHECK(cudaMalloc(&d_tables, n * sizeof(float)));
    CHECK(cudaMalloc(&d_sums, got.size() * sizeof(float)));
    CHECK(cudaMemcpy(d_rows, rows.data(), rows.size() * sizeof(float), cudaMemcpyHostToDevice));
    CHECK(cudaMemcpy(d_tables, tables.data(), n * sizeof(float), cudaMemcpyHostToDevice));
    CHECK(cudaMemset(d_sums, 0, got.size() * sizeof(float)));
    if (!skip_kernel(argc, argv))
        launch(blocks, d_rows, d_tables, d_sums);
    CHECK(cudaGetLastError());
    CHECK(cudaMemcpy(got.data(), d_sums, got.size() * sizeof(float), cudaMemcpyDeviceToHost));
    CHECK(cudaFree(d_rows));
    CHECK(cudaFree(d_tables));
    CHECK(cudaFree(d_sums));
    return verdict(got, want, 1e-2f);
}

#endif
