/* A filter of TAPS taps over n numbers, with TAPS - 1 more numbers after them: data, launch and check. */
#ifndef FILTER_H
#define FILTER_H

#include "../common/example.h"

constexpr int TAPS = 33, THREADS = 256;

__constant__ float weights[TAPS];

template <typename Launch> int run_filter(int argc, char **argv, Launch launch)
{
    int n = size_argument(argc, argv, 1 << 16);
    std::vector<float> x = numbers(n + TAPS - 1, 3), w = numbers(TAPS, 5), got(n), want(n);
    float *d_x, *d_y;
    CHECK(cudaMalloc(&d_x, x.size() * sizeof(float)));
    CHECK(cudaMalloc(&d_y, n * sizeof(float)));
    CHECK(cudaMemcpy(d_x, x.data(), x.size() * sizeof(float), cudaMemcpyHostToDevice));
    CHECK(cudaMemcpyToSymbol(weights, w.data(), sizeof weights));
    CHECK(cudaMemset(d_y, 0, n * sizeof(float)));
    if (!skip_kernel(argc, argv))
        launch(d_x, d_y, n);
    CHECK(cudaGetLastError());
    CHECK(cudaMemcpy(got.data(), d_y, n * sizeof(float), cudaMemcpyDeviceToHost));
    CHECK(cudaFree(d_x));
    CHECK(cudaFree(d_y));
    for (int i = 0; i < n; i++)
        for (int k = 0; k < TAPS; k++)
            want[i] += w[k] * x[i + k];
    return verdict(got, want, 1e-4f);
}

#endif
