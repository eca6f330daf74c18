/* A loop that the launch decides around one that data decides, which reads nothing else that data decides: only the trace's
 * records tell where one round ends and the next begins. */
#include "check.h"

#include <vector>

enum { BLOCKS = 8, THREADS = 64, ROUNDS = 3, LISTS = BLOCKS * THREADS * ROUNDS, WIDE = 8 };

__global__ void sum_lists(const int *length, const float *value, float *sums)
{
#pragma unroll 1
    for (int round = 0; round < ROUNDS; round++) {
        int list = (round * BLOCKS + blockIdx.x) * THREADS + threadIdx.x, n = length[list];
        float sum = 0;
        for (int k = 0; k < n; k++)
            sum += value[list * WIDE + k];
        sums[list] = sum;
    }
}

/* Some lanes take the one way, others the other, some neither. */
__global__ void branch(const int *length, const float *value, float *sums)
{
#pragma unroll 1
    for (int round = 0; round < ROUNDS; round++) {
        int list = (round * BLOCKS + blockIdx.x) * THREADS + threadIdx.x, n = length[list];
        if (n < 3)
            sums[list] += value[list * WIDE + n];
        else if (n > 5)
            sums[list] -= value[list * WIDE];
    }
}

int main()
{
    std::vector<int> length(LISTS);
    std::vector<float> value(LISTS * WIDE, 1), sums(LISTS);
    for (int i = 0; i < LISTS; i++)
        length[i] = 1 + (i * 7 + i / 32) % (WIDE - 1); /* none is empty: that could not be told */
    int *d_length;
    float *d_value, *d_sums;
    CHECK(cudaMalloc(&d_length, LISTS * sizeof(int)));
    CHECK(cudaMalloc(&d_value, LISTS * WIDE * sizeof(float)));
    CHECK(cudaMalloc(&d_sums, LISTS * sizeof(float)));
    CHECK(cudaMemcpy(d_length, length.data(), LISTS * sizeof(int), cudaMemcpyHostToDevice));
    CHECK(cudaMemcpy(d_value, value.data(), LISTS * WIDE * sizeof(float), cudaMemcpyHostToDevice));
    sum_lists<<<BLOCKS, THREADS>>>(d_length, d_value, d_sums);
    CHECK(cudaGetLastError());
    CHECK(cudaDeviceSynchronize());
    branch<<<BLOCKS, THREADS>>>(d_length, d_value, d_sums);
    CHECK(cudaGetLastError());
    CHECK(cudaMemcpy(sums.data(), d_sums, LISTS * sizeof(float), cudaMemcpyDeviceToHost));
    float sum = 0;
    for (float s : sums)
        sum += s;
    printf("%.0f\n", (double)sum);
    return 0;
}
