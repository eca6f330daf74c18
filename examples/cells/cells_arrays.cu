/* Cell lists as arrays, the pairs stored neighbour by neighbour, so that the lanes of a warp take neighbouring words;
 * counts are read once a block. */
#include "cells.h"

constexpr int THREADS = 256, REACH = NEIGHBOURS * 37;

__global__ void count_pairs(const int *count, int *pairs, int n)
{
    __shared__ int near[THREADS + REACH];
    int first = blockIdx.x * THREADS;
    for (int i = threadIdx.x; i < THREADS + REACH; i += THREADS)
        near[i] = count[(first + i) % n];
    __syncthreads();
    for (int neighbour = 0; neighbour < NEIGHBOURS; neighbour++)
        pairs[neighbour * n + first + threadIdx.x] =
            near[threadIdx.x] * near[threadIdx.x + (neighbour + 1) * 37];
}

int main(int argc, char **argv)
{
    return run_cells(argc, argv, [](const std::vector<int> &count, bool skip) {
        int n = static_cast<int>(count.size());
        std::vector<int> pairs(static_cast<size_t>(n) * NEIGHBOURS);
        int *d_count, *d_pairs;
        CHECK(cudaMalloc(&d_count, n * sizeof(int)));
        CHECK(cudaMalloc(&d_pairs, pairs.size() * sizeof(int)));
        CHECK(cudaMemcpy(d_count, count.data(), n * sizeof(int), cudaMemcpyHostToDevice));
        CHECK(cudaMemset(d_pairs, 0, pairs.size() * sizeof(int)));
        if (!skip)
            count_pairs<<<n / THREADS, THREADS>>>(d_count, d_pairs, n);
        CHECK(cudaGetLastError());
        CHECK(cudaMemcpy(pairs.data(), d_pairs, pairs.size() * sizeof(int), cudaMemcpyDeviceToHost));
        CHECK(cudaFree(d_count));
        CHECK(cudaFree(d_pairs));
        std::vector<float> by_cell(pairs.size());
        for (int c = 0; c < n; c++)
            for (int k = 0; k < NEIGHBOURS; k++)
                by_cell[c * NEIGHBOURS + k] = static_cast<float>(pairs[k * n + c]);
        return by_cell;
    });
}
