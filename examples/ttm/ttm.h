/* Tensor times matrix: each fiber of a tensor (LENGTH numbers) times a LENGTH x RANK matrix, a thread a fiber. */
#ifndef TTM_H
#define TTM_H

#include "../common/example.h"

constexpr int LENGTH = 32, RANK = 16, THREADS = 128;

/* tensor[k][fiber], result[r][fiber]; the matrix lies in constant memory. */
__constant__ float matrix[LENGTH * RANK];
__global__ void ttm(const float *tensor, float *result, int fibers);

inline int run_ttm(int argc, char **argv)
{
    int fibers = size_argument(argc, argv, 32768);
    std::vector<float> tensor = numbers(static_cast<size_t>(LENGTH) * fibers, 1),
                       m = numbers(LENGTH * RANK, 2);
    std::vector<float> result(static_cast<size_t>(RANK) * fibers), want(result.size());
    for (int k = 0; k < LENGTH; k++)
        for (int r = 0; r < RANK; r++)
            for (int f = 0; f < fibers; f++)
                want[r * fibers + f] += tensor[k * fibers + f] * m[k * RANK + r];
    float *d_tensor, *d_result;
    CHECK(cudaMalloc(&d_tensor, tensor.size() * sizeof(float)));
    CHECK(cudaMalloc(&d_result, result.size() * sizeof(float)));
    CHECK(cudaMemcpy(d_tensor, tensor.data(), tensor.size() * sizeof(float),
                     cudaMemcpyHostToDevice));
    CHECK(cudaMemcpyToSymbol(matrix, m.data(), m.size() * sizeof(float)));
    CHECK(cudaMemset(d_result, 0, result.size() * sizeof(float)));
    if (!skip_kernel(argc, argv))
        ttm<<<fibers / THREADS, THREADS>>>(d_tensor, d_result, fibers);
    CHECK(cudaGetLastError());
    CHECK(cudaMemcpy(result.data(), d_result, result.size() * sizeof(float),
                     cudaMemcpyDeviceToHost));
    CHECK(cudaFree(d_tensor));
    CHECK(cudaFree(d_result));
    return verdict(result, want, 1e-3f);
}

#endif
