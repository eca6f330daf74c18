// All devices, one after another and from a thread each: memory, variables and launches of their own.
#include "check.h"

#include <cstdio>
#include <thread>
#include <vector>

__constant__ int factor;
__device__ int launches;

__global__ void scale(int *data, const int *index, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        data[index[i]] *= factor;
    if (i == 0)
        atomicAdd(&launches, 1);
}

static int on_device(int device, int rounds, int *result)
{
    const int n = 1000;
    int *data, *index, value = device + 2;
    std::vector<int> host(n, 1), order(n);
    for (int i = 0; i < n; i++)
        order[i] = n - 1 - i;
    CHECK(cudaSetDevice(device));
    CHECK(cudaMemcpyToSymbol(factor, &value, sizeof value));
    CHECK(cudaMalloc(&data, n * sizeof *data));
    CHECK(cudaMalloc(&index, n * sizeof *index));
    CHECK(cudaMemcpy(data, host.data(), n * sizeof *data, cudaMemcpyHostToDevice));
    CHECK(cudaMemcpy(index, order.data(), n * sizeof *index, cudaMemcpyHostToDevice));
    for (int i = 0; i < rounds; i++)
        scale<<<8, 128>>>(data, index, n);
    CHECK(cudaMemcpy(host.data(), data, n * sizeof *data, cudaMemcpyDeviceToHost));
    CHECK(cudaMemcpyFromSymbol(&value, launches, sizeof value));
    CHECK(cudaFree(data));
    CHECK(cudaFree(index));
    *result = host[n - 1] * 1000 + value;
    return 0;
}

int main()
{
    int count, results[16] = {0};
    CHECK(cudaGetDeviceCount(&count));
    if (count > 16)
        count = 16;
    for (int d = 0; d < count; d++)
        if (on_device(d, 1, &results[d]))
            return 1;
    for (int d = 0; d < count; d++)
        printf("device %d: %d\n", d, results[d]);
    std::vector<std::thread> threads;
    for (int d = 0; d < count; d++)
        threads.emplace_back([d, &results] { on_device(d, 3, &results[d]); });
    for (auto &t : threads)
        t.join();
    for (int d = 0; d < count; d++)
        printf("device %d: %d\n", d, results[d]);
    return 0;
}
