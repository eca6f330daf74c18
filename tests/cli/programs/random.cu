// Warps that all do something else: what they did takes more room than a file has. And a launch that takes little.
#include "common.h"

__global__ void gather(float *out, const float *in, unsigned n, int rounds)
{
    unsigned x = blockIdx.x * blockDim.x + threadIdx.x + 1;
    float sum = 0;
    for (int i = 0; i < rounds; i++) {
        x = x * 1664525u + 1013904223u;
        sum += in[(x >> 8) % n];
    }
    out[blockIdx.x * blockDim.x + threadIdx.x] = sum;
}

int main()
{
    const unsigned n = 1 << 22, threads = 1024 * 256;
    float *in, *out;
    CHECK(cudaMalloc(&in, n * sizeof(float)));
    CHECK(cudaMalloc(&out, threads * sizeof(float)));
    gather<<<threads / 256, 256>>>(out, in, n, 80);
    gather<<<16, 256>>>(out, in, n, 8);
    CHECK(cudaDeviceSynchronize());
}
