// loop N BYTES: N launches in a row, no waiting in between; prints seconds on the host for all.
#include <chrono>
#include <cstdio>
#include <cstdlib>

__global__ void add(float *data, int n)
{
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
        data[i] += 1;
}

int main(int argc, char **argv)
{
    int count = argc > 1 ? atoi(argv[1]) : 10000, n = argc > 2 ? atoi(argv[2]) / 4 : 1 << 20;
    float *data, first = 0;
    cudaMalloc(&data, (size_t)n * 4);
    cudaMemset(data, 0, (size_t)n * 4);
    add<<<256, 256>>>(data, 0);
    cudaDeviceSynchronize();
    auto start = std::chrono::steady_clock::now();
    for (int i = 0; i < count; i++)
        add<<<256, 256>>>(data, n);
    cudaDeviceSynchronize();
    std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - start;
    cudaMemcpy(&first, data, 4, cudaMemcpyDeviceToHost);
    printf("%g\n", first);
    fprintf(stderr, "seconds %.6f\n", seconds.count());
    return first == (float)count ? 0 : 1;
}
