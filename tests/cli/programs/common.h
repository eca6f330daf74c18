#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <unistd.h>

#define CHECK(call)                                                   \
    do {                                                              \
        cudaError_t error_ = (call);                                  \
        if (error_ != cudaSuccess) {                                  \
            std::printf("%s: %s\n", #call, cudaGetErrorName(error_)); \
            std::exit(3);                                             \
        }                                                             \
    } while (0)

__global__ void fill(int *data, int n, int value)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        data[i] = value + i;
}

static int *filled(int n, int value)
{
    int *data;
    CHECK(cudaMalloc(&data, n * sizeof(int)));
    fill<<<(n + 127) / 128, 128>>>(data, n, value);
    CHECK(cudaDeviceSynchronize());
    return data;
}

static bool is_filled(const int *data, int n, int value)
{
    int *copy = static_cast<int *>(std::malloc(n * sizeof(int)));
    CHECK(cudaMemcpy(copy, data, n * sizeof(int), cudaMemcpyDeviceToHost));
    bool right = true;
    for (int i = 0; i < n; i++)
        right &= copy[i] == value + i;
    std::free(copy);
    return right;
}
