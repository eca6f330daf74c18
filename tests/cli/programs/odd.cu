/* 100 blocks, of which number 47 does ten times the work, and 16 x 16 blocks whose edges do less. */
#include "common.h"

__global__ void one_odd(int *data)
{
    int i = blockIdx.x * 64 + threadIdx.x, rounds = blockIdx.x == 47 ? 50 : 5;
    for (int k = 0; k < rounds; k++)
        data[i + k] += 1;
}

__global__ void edges(int *data, int n)
{
    int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y;
    if (blockIdx.x > 0 && blockIdx.x < 15 && blockIdx.y > 0 && blockIdx.y < 15)
        for (int k = 0; k < 8; k++)
            data[y * n + x] += k;
}

int main()
{
    int *data;
    CHECK(cudaMalloc(&data, 16384 * sizeof(int)));
    CHECK(cudaMemset(data, 0, 16384 * sizeof(int)));
    one_odd<<<100, 64>>>(data);
    edges<<<dim3(16, 16), 32>>>(data, 512);
    CHECK(cudaDeviceSynchronize());
    printf("ok\n");
    return 0;
}
