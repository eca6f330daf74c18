/* The particles have gaps between the words that are used, the heights are taken by chunks, the results in order: each array of the pool
 * shows what it shows, though all are one allocation. */
#include "pool.h"

constexpr int CHUNK = 8, FIELDS = 4;

__global__ void add(const float *heights, const float *particles, float *results, int n)
{
    int first = (blockIdx.x * blockDim.x + threadIdx.x) * CHUNK;
#pragma unroll 1
    for (int k = 0; k < CHUNK; k++) {
        int own = first + k, i = blockIdx.x * blockDim.x * CHUNK + k * blockDim.x + threadIdx.x;
        float height = heights[own]; // finds: uncoalesced pool
        results[own] = height;       // finds: uncoalesced pool
        results[n + i] = particles[i * FIELDS]; // finds: strided pool
    }
}

__global__ void sum(float *results, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    results[i] += results[n + i];
}

int main(int argc, char **argv)
{
    return run_pool(argc, argv, FIELDS, [](const float *heights, const float *particles, float *results, int n) {
        add<<<n / 256 / CHUNK, 256>>>(heights, particles, results, n);
        sum<<<n / 256, 256>>>(results, n);
    });
}
