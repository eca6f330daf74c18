/* C = A * B for square matrices in row-major order: data, launch and check, for all versions of the kernel. */
#ifndef GEMM_H
#define GEMM_H

#include "../common/example.h"

/* Checks `samples` rows: a full reference product would take longer than the kernel. */
static int check_gemm(const std::vector<float> &a, const std::vector<float> &b,
                      const std::vector<float> &c, int n)
{
    std::vector<float> got, want;
    for (int row = 0; row < n; row += n / 16) {
        for (int col = 0; col < n; col++) {
            double sum = 0;
            for (int k = 0; k < n; k++)
                sum += static_cast<double>(a[row * n + k]) * b[k * n + col];
            got.push_back(c[row * n + col]);
            want.push_back(static_cast<float>(sum));
        }
    }
    return verdict(got, want, 1e-3f);
}

template <typename Launch> int run_gemm(int argc, char **argv, Launch launch)
{
    int n = size_argument(argc, argv, 512);
    size_t bytes = static_cast<size_t>(n) * n * sizeof(float);
    std::vector<float> a = numbers(n * n, 1), b = numbers(n * n, 2), c(n * n);
    float *d_A, *d_B, *d_C;
    CHECK(cudaMalloc(&d_A, bytes));
    CHECK(cudaMalloc(&d_B, bytes));
    CHECK(cudaMalloc(&d_C, bytes));
    CHECK(cudaMemcpy(d_A, a.data(), bytes, cudaMemcpyHostToDevice));
    CHECK(cudaMemcpy(d_B, b.data(), bytes, cudaMemcpyHostToDevice));
    CHECK(cudaMemset(d_C, 0, bytes));
    if (!skip_kernel(argc, argv))
        launch(d_A, d_B, d_C, n);
    CHECK(cudaGetLastError());
    CHECK(cudaMemcpy(c.data(), d_C, bytes, cudaMemcpyDeviceToHost));
    CHECK(cudaFree(d_A));
    CHECK(cudaFree(d_B));
    CHECK(cudaFree(d_C));
    return check_gemm(a, b, c, n);
}

#endif
