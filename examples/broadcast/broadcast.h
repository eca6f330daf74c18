/* Scales groups of 32 numbers so that the largest of each becomes one, a warp a group: data, launch and check. */
#ifndef BROADCAST_H
#define BROADCAST_H

#include "../common/example.h"

constexpr int THREADS = 256, WARPS = THREADS / 32;

__global__ void normalize(float *data);

inline int run_normalize(int argc, char **argv)
{
    int n = size_argument(argc, argv, 1 << 18);
    std::vector<float> data = numbers(n, 1), want(n), got(n);
    for (int i = 0; i < n; i += 32) {
        float largest = 0;
        for (int j = 0; j < 32; j++)
            largest = std::fmax(largest, std::fabs(data[i + j]));
        for (int j = 0; j < 32; j++)
            want[i + j] = data[i + j] / largest;
    }
    float *d_data;
    CHECK(cudaMalloc(&d_data, n * sizeof(float)));
    CHECK(cudaMemcpy(d_data, data.data(), n * sizeof(float), cudaMemcpyHostToDevice));
    if (!skip_kernel(argc, argv))
        normalize<<<n / THREADS, THREADS>>>(d_data);
    CHECK(cudaGetLastError());
    CHECK(cudaMemcpy(got.data(), d_data, n * sizeof(float), cudaMemcpyDeviceToHost));
    CHECK(cudaFree(d_data));
    return verdict(got, want, 1e-6f);
}

#endif
