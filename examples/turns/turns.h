/* A loop whose turns need memory of their own for a while. */
#ifndef TURNS_H
#define TURNS_H

#include "../common/example.h"

constexpr int TURNS = 5;

__global__ void half_of(const float *data, float *half, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        half[i] = data[i] / 2;
}

__global__ void add(float *data, const float *half, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        data[i] += half[i];
}

/* `turn` adds half of each element to it. */
template <typename Turn> int run_turns(int argc, char **argv, Turn turn)
{
    int n = size_argument(argc, argv, 1 << 17);
    std::vector<float> want = numbers(n, 9), got(n);
    float *data;
    CHECK(cudaMalloc(&data, n * sizeof(float)));
    CHECK(cudaMemcpy(data, want.data(), n * sizeof(float), cudaMemcpyHostToDevice));
    for (int i = 0; i < TURNS && !skip_kernel(argc, argv); i++)
        turn(data, n);
    CHECK(cudaGetLastError());
    CHECK(cudaMemcpy(got.data(), data, n * sizeof(float), cudaMemcpyDeviceToHost));
    CHECK(cudaFree(data));
    for (float &x : want)
        for (int i = 0; i < TURNS; i++)
            x += x / 2;
    return verdict(got, want, 1e-4f);
}

#endif
