/* A first step leaves results of a quarter of the device, and needs half of it for that; a second wants half of it for work of
 * its own, and takes as many rounds as it must where it gets less. */
#ifndef SHORTAGE_H
#define SHORTAGE_H

#include "../common/example.h"

__global__ void first_step(const float *field, float *result, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        result[i] = 2 * field[i];
}

__global__ void second_step(const float *result, float *work, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        work[i] = result[i] + 1;
}

inline int blocks_of(int n)
{
    return (n + 255) / 256;
}

/* A quarter of the device's memory, in whole MiB. */
inline size_t quarter_of_device()
{
    size_t free_bytes, total;
    CHECK(cudaMemGetInfo(&free_bytes, &total));
    return total / 4 >> 20 << 20;
}

/* `steps` takes the input to the results on the device. */
template <typename Steps> int run_steps(int argc, char **argv, Steps steps)
{
    int n = size_argument(argc, argv, 1 << 16);
    std::vector<float> data = numbers(n, 5), got(n), want(n);
    steps(data.data(), got.data(), n, !skip_kernel(argc, argv));
    for (int i = 0; i < n; i++)
        want[i] = 2 * data[i] + 1;
    return verdict(got, want, 1e-6f);
}

#endif
