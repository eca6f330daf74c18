// The program that the seeds of the fuzzers come from: small, so that they are.
#include <cstdio>

template <typename T> __global__ void turn(T *to, const T *from, int n)
{
    __shared__ T tile[32][32]; // with bank conflicts, so that a padded one is tried
    int x = threadIdx.x, y = threadIdx.y;
    for (int row = y; row < n; row += blockDim.y)
        tile[row][x] = from[row * n + x];
    __syncthreads();
    for (int row = y; row < n; row += blockDim.y)
        to[row * n + x] = tile[x][row];
}

__device__ int counter;

__global__ void count(const int *values)
{
    if (__ballot_sync(~0u, values[threadIdx.x * 3] > 0))
        atomicAdd(&counter, 1);
}

int main()
{
    float *a, *b;
    cudaMalloc(&a, 4096);
    cudaMalloc(&b, 4096);
    cudaMemset(a, 0, 4096);
    turn<float><<<1, dim3(8, 4)>>>(b, a, 8);
    count<<<2, 64>>>(reinterpret_cast<int *>(b));
    bool done = cudaDeviceSynchronize() == cudaSuccess;
    cudaFree(a);
    return done ? 0 : 1;
}
