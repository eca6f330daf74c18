/* out = transpose(in) for a square matrix, 32 x 32 tiles, 256 threads a block: data, launch and check. */
#ifndef TRANSPOSE_H
#define TRANSPOSE_H

#include "../common/example.h"

constexpr int TILE = 32, ROWS = 8; // a block of 32 x 8 threads moves a tile of 32 x 32

template <typename Kernel> int run_transpose(int argc, char **argv, Kernel kernel)
{
    int n = size_argument(argc, argv, 512);
    size_t bytes = static_cast<size_t>(n) * n * sizeof(float);
    std::vector<float> in = numbers(n * n, 1), out(n * n), want(n * n);
    float *d_in, *d_out;
    CHECK(cudaMalloc(&d_in, bytes));
    CHECK(cudaMalloc(&d_out, bytes));
    CHECK(cudaMemcpy(d_in, in.data(), bytes, cudaMemcpyHostToDevice));
    CHECK(cudaMemset(d_out, 0, bytes));
    if (!skip_kernel(argc, argv))
        kernel<<<dim3(n / TILE, n / TILE), dim3(TILE, ROWS)>>>(d_out, d_in, n);
    CHECK(cudaGetLastError());
    CHECK(cudaMemcpy(out.data(), d_out, bytes, cudaMemcpyDeviceToHost));
    CHECK(cudaFree(d_in));
    CHECK(cudaFree(d_out));
    for (int y = 0; y < n; y++)
        for (int x = 0; x < n; x++)
            want[x * n + y] = in[y * n + x];
    return verdict(out, want, 0);
}

#endif
