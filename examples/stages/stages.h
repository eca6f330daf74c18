/* Two stages, one after the other: each needs what the stage before it made, and nothing older. */
#ifndef STAGES_H
#define STAGES_H

#include "../common/example.h"

__global__ void square(const float *in, float *mid, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        mid[i] = in[i] * in[i];
}

__global__ void smooth(const float *mid, float *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        out[i] = mid[i] + 1;
}

inline int blocks_of(int n)
{
    return (n + 255) / 256;
}

/* `stages` takes the input to the results on the device. */
template <typename Stages> int run_stages(int argc, char **argv, Stages stages)
{
    int n = size_argument(argc, argv, 1 << 18);
    std::vector<float> data = numbers(n, 7), got(n), want(n);
    stages(data.data(), got.data(), n, !skip_kernel(argc, argv));
    CHECK(cudaGetLastError());
    for (int i = 0; i < n; i++)
        want[i] = data[i] * data[i] + 1;
    return verdict(got, want, 1e-6f);
}

#endif
