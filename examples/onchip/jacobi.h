/* Jacobi's method on a plane: each new value is the mean of its four neighbours. A block goes down a strip of tiles. */
#ifndef JACOBI_H
#define JACOBI_H

#include "../common/example.h"

constexpr int WIDE = 32, HIGH = 8, STRIP = 64, STEPS = 4;

__device__ __host__ inline int place(int row, int col, int pitch)
{
    return row * pitch + col;
}

template <typename Launch> int run_jacobi(int argc, char **argv, Launch launch)
{
    const int n = size_argument(argc, argv, 512) / STRIP * STRIP, pitch = n + 2;
    std::vector<float> start = numbers(static_cast<size_t>(pitch) * pitch, 3), now = start,
                       next = start;
    for (int step = 0; step < STEPS; step++) {
        for (int row = 1; row <= n; row++)
            for (int col = 1; col <= n; col++)
                next[place(row, col, pitch)] = 0.25f * (now[place(row - 1, col, pitch)] +
                                                        now[place(row + 1, col, pitch)] +
                                                        now[place(row, col - 1, pitch)] +
                                                        now[place(row, col + 1, pitch)]);
        std::swap(now, next);
    }
    const size_t bytes = start.size() * sizeof(float);
    float *d_in, *d_out;
    CHECK(cudaMalloc(&d_in, bytes));
    CHECK(cudaMalloc(&d_out, bytes));
    CHECK(cudaMemcpy(d_in, start.data(), bytes, cudaMemcpyHostToDevice));
    CHECK(cudaMemcpy(d_out, start.data(), bytes, cudaMemcpyHostToDevice));
    for (int step = 0; step < STEPS && !skip_kernel(argc, argv); step++) {
        launch(dim3(n / WIDE, n / STRIP), dim3(WIDE, HIGH), d_in, d_out, n);
        std::swap(d_in, d_out);
    }
    CHECK(cudaGetLastError());
    std::vector<float> got(start.size());
    CHECK(cudaMemcpy(got.data(), d_in, bytes, cudaMemcpyDeviceToHost));
    CHECK(cudaFree(d_in));
    CHECK(cudaFree(d_out));
    return verdict(got, now, 1e-5f);
}

#endif
