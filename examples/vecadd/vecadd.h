/* z = x + y over vectors that are laid out as the version wants: data, launch and check. */
#ifndef VECADD_H
#define VECADD_H

#include "../common/example.h"

/* Element i lies at i * stride. */
template <typename Launch> int run_vecadd(int argc, char **argv, int stride, Launch launch)
{
    int n = size_argument(argc, argv, 1 << 18);
    size_t count = static_cast<size_t>(n) * stride, bytes = count * sizeof(float);
    std::vector<float> x = numbers(count, 1), y = numbers(count, 2), z(count), got(n), want(n);
    float *d_x, *d_y, *d_z;
    CHECK(cudaMalloc(&d_x, bytes));
    CHECK(cudaMalloc(&d_y, bytes));
    CHECK(cudaMalloc(&d_z, bytes));
    CHECK(cudaMemcpy(d_x, x.data(), bytes, cudaMemcpyHostToDevice));
    CHECK(cudaMemcpy(d_y, y.data(), bytes, cudaMemcpyHostToDevice));
    CHECK(cudaMemset(d_z, 0, bytes));
    if (!skip_kernel(argc, argv))
        launch(d_x, d_y, d_z, n);
    CHECK(cudaGetLastError());
    CHECK(cudaMemcpy(z.data(), d_z, bytes, cudaMemcpyDeviceToHost));
    CHECK(cudaFree(d_x));
    CHECK(cudaFree(d_y));
    CHECK(cudaFree(d_z));
    for (int i = 0; i < n; i++) {
        got[i] = z[static_cast<size_t>(i) * stride];
        want[i] = x[static_cast<size_t>(i) * stride] + y[static_cast<size_t>(i) * stride];
    }
    return verdict(got, want, 0);
}

#endif
