/* Sums of the squares' reciprocals, each of a number of terms of its own: data, launch and check. */
#ifndef LENGTHS_H
#define LENGTHS_H

#include "../common/example.h"

constexpr int THREADS = 256, LANES = 32;

/* How many terms sum i has: one in eight has many. */
__host__ __device__ inline int terms_of(int i)
{
    unsigned hash = (unsigned)i * 2654435761u >> 16;
    return hash % 8 == 0 ? 1024 : 32 + (int)(hash % 64);
}

/* n is a multiple of THREADS. */
template <typename Launch> int run_lengths(int argc, char **argv, Launch launch)
{
    int n = size_argument(argc, argv, 1 << 17);
    std::vector<float> got(n), want(n);
    float *d_sums;
    CHECK(cudaMalloc(&d_sums, n * sizeof(float)));
    CHECK(cudaMemset(d_sums, 0, n * sizeof(float)));
    if (!skip_kernel(argc, argv))
        launch(d_sums, n);
    CHECK(cudaGetLastError());
    CHECK(cudaMemcpy(got.data(), d_sums, n * sizeof(float), cudaMemcpyDeviceToHost));
    CHECK(cudaFree(d_sums));
    for (int i = 0; i < n; i++) {
        double sum = 0;
        for (int k = terms_of(i); k > 0; k--)
            sum += 1.0 / ((double)k * k);
        want[i] = static_cast<float>(sum);
    }
    return verdict(got, want, 1e-3);
}

#endif
