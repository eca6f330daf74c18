/* How often each of 256 values occurs: data, launch and check. */
#ifndef HISTOGRAM_H
#define HISTOGRAM_H

#include "../common/example.h"

constexpr int BINS = 256;

template <typename Launch> int run_histogram(int argc, char **argv, Launch launch)
{
    int n = size_argument(argc, argv, 1 << 18);
    std::vector<float> random = numbers(n, 7), got(BINS), want(BINS);
    std::vector<unsigned char> values(n);
    std::vector<unsigned> counts(BINS);
    for (int i = 0; i < n; i++) {
        values[i] = static_cast<unsigned char>((random[i] + 1) * 127);
        want[values[i]]++;
    }
    unsigned char *d_values;
    unsigned *d_bins;
    CHECK(cudaMalloc(&d_values, n));
    CHECK(cudaMalloc(&d_bins, BINS * sizeof(unsigned)));
    CHECK(cudaMemcpy(d_values, values.data(), n, cudaMemcpyHostToDevice));
    CHECK(cudaMemset(d_bins, 0, BINS * sizeof(unsigned)));
    if (!skip_kernel(argc, argv))
        launch(d_values, d_bins, n);
    CHECK(cudaGetLastError());
    CHECK(cudaMemcpy(counts.data(), d_bins, BINS * sizeof(unsigned), cudaMemcpyDeviceToHost));
    CHECK(cudaFree(d_values));
    CHECK(cudaFree(d_bins));
    for (int i = 0; i < BINS; i++)
        got[i] = static_cast<float>(counts[i]);
    return verdict(got, want, 0);
}

#endif
