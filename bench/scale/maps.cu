// Launches no two of which are alike, with a heat map each: maps [LAUNCHES [KERNELS]] (100,000, 1; KERNELS up to 16). Each is of several blocks, goes
// through two arrays by a step of its own, and through one in shared memory.
#include <cstdio>
#include <cstdlib>

template <int KERNEL>
__global__ void step(const float *in, float *out, int n, int turn)
{
    __shared__ float tile[64];
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    tile[threadIdx.x * 3 % 64] = in[(i * (1 + turn % 97) + turn) % n];
    __syncthreads();
    out[(i + turn) % n] = tile[threadIdx.x] + KERNEL;
}

template <int KERNEL>
static void launch(int kernel, const float *in, float *out, int n, int turn)
{
    if (kernel == KERNEL)
        step<KERNEL><<<36, 64>>>(in, out, n, turn);
    else if constexpr (KERNEL > 0)
        launch<KERNEL - 1>(kernel, in, out, n, turn);
}

int main(int argc, char **argv)
{
    constexpr int LENGTH = 8192;
    int launches = argc > 1 ? std::atoi(argv[1]) : 100000, kernels = argc > 2 ? std::atoi(argv[2]) : 1;
    float *in, *out;
    cudaMalloc(&in, LENGTH * sizeof(float));
    cudaMalloc(&out, LENGTH * sizeof(float));
    cudaMemset(in, 0, LENGTH * sizeof(float));
    for (int i = 0; i < launches; i++)
        launch<15>(i % kernels, in, out, LENGTH, i);
    cudaError_t error = cudaDeviceSynchronize();
    cudaFree(in);
    cudaFree(out);
    std::puts(cudaGetErrorName(error));
    return error != cudaSuccess;
}
