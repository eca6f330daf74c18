// 10,000 launches of 50 kernels: launches [LAUNCHES] (10000). Every kernel has a step of its own, so that they differ in
// their addresses; a launch's length and buffers differ from those of the kernel's launch before, and come again.
#include <cstdio>
#include <cstdlib>
#include <utility>

constexpr int KERNELS = 50, BUFFERS = 4, LENGTH = 1 << 20, MOST = 1 << 16;

template <int STEP> __global__ void gather(float *to, const float *from, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        to[i] += from[i * (STEP + 1) % LENGTH] * STEP;
}

using kernel = void (*)(float *, const float *, int);

template <int... STEPS> static kernel pick(int which, std::integer_sequence<int, STEPS...>)
{
    static const kernel all[] = {gather<STEPS>...};
    return all[which];
}

int main(int argc, char **argv)
{
    int launches = argc > 1 ? std::atoi(argv[1]) : 10000;
    float *buffers[BUFFERS];
    for (float *&b : buffers) {
        cudaMalloc(&b, LENGTH * sizeof(float));
        cudaMemset(b, 0, LENGTH * sizeof(float));
    }
    for (int i = 0; i < launches; i++) {
        int turn = i / KERNELS, n = MOST - turn % 8 * 4096;
        kernel k = pick(i % KERNELS, std::make_integer_sequence<int, KERNELS>());
        k<<<n / 256, 256>>>(buffers[turn % BUFFERS], buffers[(turn + 1) % BUFFERS], n);
    }
    cudaError_t error = cudaDeviceSynchronize();
    for (float *b : buffers)
        cudaFree(b);
    std::puts(cudaGetErrorName(error));
    return error != cudaSuccess;
}
