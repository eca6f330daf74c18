// 256 threads in 4 blocks; how often each element is accessed is counted by hand in test_cli.py.
#include "common.h"

__global__ void weigh(const float *data, const float *weights, float *out, unsigned *count)
{
    volatile __shared__ float tile[64];
    int i = blockIdx.x * 64 + threadIdx.x;
    tile[threadIdx.x] = data[i];
    __syncthreads();
    float sum = 0;
    for (int k = 0; k < 8; k++)
        sum += weights[k] * tile[threadIdx.x ^ 1];
    if (threadIdx.x < 32)
        out[i] = sum;
    else
        atomicAdd(count, 1u);
}

int main()
{
    float *data, *weights, *out;
    unsigned *count, seen;
    CHECK(cudaMalloc(&data, 512 * sizeof(float)));
    CHECK(cudaMalloc(&weights, 16 * sizeof(float)));
    CHECK(cudaMalloc(&out, 256 * sizeof(float)));
    CHECK(cudaMalloc(&count, sizeof(unsigned)));
    CHECK(cudaMemset(data, 0, 512 * sizeof(float)));
    CHECK(cudaMemset(weights, 0, 16 * sizeof(float)));
    CHECK(cudaMemset(count, 0, sizeof(unsigned)));
    weigh<<<4, 64>>>(data, weights, out, count);
    CHECK(cudaMemcpy(&seen, count, sizeof seen, cudaMemcpyDeviceToHost));
    std::printf("%u\n", seen);
    return 0;
}
