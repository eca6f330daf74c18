// loop LAUNCHES SHAPES: many launches of few shapes, on three buffers in turn, with a scalar that is never the same.
#include <cstdio>
#include <cstdlib>

__global__ void saxpy(float *y, const float *x, float a, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        y[i] += a * x[i];
}

__global__ void reverse(float *y, const float *x, float a, int n)
{
    __shared__ float tile[256];
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    tile[threadIdx.x] = i < n ? x[i] : 0;
    __syncthreads();
    if (i < n)
        y[i] = a * tile[255 - threadIdx.x];
}

int main(int argc, char **argv)
{
    int launches = argc > 1 ? atoi(argv[1]) : 10000, shapes = argc > 2 ? atoi(argv[2]) : 5, n = 1 << 14;
    float *buffers[3];
    for (float *&buffer : buffers) {
        cudaMalloc(&buffer, n * sizeof(float));
        cudaMemset(buffer, 0, n * sizeof(float));
    }
    for (int i = 0; i < launches; i++) {
        int shape = i % shapes, count = n - 256 * (shape / 2), blocks = (count + 255) / 256;
        float *to = buffers[i % 3], *from = buffers[(i + 1) % 3];
        if (shape % 2)
            saxpy<<<blocks, 256>>>(to, from, 1.0f / (i + 1), count);
        else
            reverse<<<blocks, 256>>>(to, from, 1.0f / (i + 1), count);
    }
    cudaDeviceSynchronize();
    puts(cudaGetErrorString(cudaGetLastError()));
    return 0;
}
