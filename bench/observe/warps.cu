/* A vector addition of N elements, a warp for each 32 of them: what a profile of very many warps takes.
 *
 *   nvcc -arch=sm_90 -cudart shared -DN=3200000 -o warps warps.cu
 *   warplens profile --backend emulate --threads 1 --set sequences ./warps */
#include <cstdio>

#ifndef N
#define N 3200000
#endif

__global__ void add(const float *a, const float *b, float *c, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        c[i] = a[i] + b[i];
}

int main()
{
    float *a, *b, *c;
    cudaMalloc(&a, N * sizeof *a);
    cudaMalloc(&b, N * sizeof *b);
    cudaMalloc(&c, N * sizeof *c);
    cudaMemset(a, 0, N * sizeof *a);
    cudaMemset(b, 0, N * sizeof *b);
    add<<<(N + 255) / 256, 256>>>(a, b, c, N);
    cudaError_t error = cudaDeviceSynchronize();
    printf("%s\n", cudaGetErrorString(error));
    return error != cudaSuccess;
}
