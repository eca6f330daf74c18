// Launches no two of which are alike: distinct [LAUNCHES] (100,000). Each is given another number, which goes into its addresses and values.
#include <cstdio>
#include <cstdlib>

__global__ void step(float *x, int n, int turn)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        x[(i + turn) % n] += turn;
}

int main(int argc, char **argv)
{
    constexpr int LENGTH = 64;
    int launches = argc > 1 ? std::atoi(argv[1]) : 100000;
    float *x;
    cudaMalloc(&x, LENGTH * sizeof(float));
    cudaMemset(x, 0, LENGTH * sizeof(float));
    for (int i = 0; i < launches; i++)
        step<<<1, LENGTH>>>(x, LENGTH, i);
    cudaError_t error = cudaDeviceSynchronize();
    cudaFree(x);
    std::puts(cudaGetErrorName(error));
    return error != cudaSuccess;
}
