// One launch over 4 GB of objects: objects [MEGABYTES each] (256). Sixteen of them, each read and written whole; every
// eighth with a stride.
#include <cstdio>
#include <cstdlib>

constexpr int OBJECTS = 16;

struct objects {
    float *data[OBJECTS];
};

__global__ void touch(objects o, size_t n)
{
    size_t step = static_cast<size_t>(gridDim.x) * blockDim.x;
    for (int k = 0; k < OBJECTS; k++)
        for (size_t i = blockIdx.x * static_cast<size_t>(blockDim.x) + threadIdx.x; i < n; i += step)
            o.data[k][k % 8 == 7 ? i * 33 % n : i] += 1;
}

int main(int argc, char **argv)
{
    size_t bytes = static_cast<size_t>(argc > 1 ? std::atoi(argv[1]) : 256) << 20;
    objects o;
    for (float *&d : o.data)
        if (cudaMalloc(&d, bytes) != cudaSuccess)
            return 2;
    touch<<<1024, 256>>>(o, bytes / sizeof(float));
    cudaError_t error = cudaDeviceSynchronize();
    std::puts(cudaGetErrorName(error));
    return error != cudaSuccess;
}
