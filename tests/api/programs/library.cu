// A shared library with the static runtime inside, which uses CUDA in a constructor already.
#include <cstdio>

static int devices = -1;
static const struct early {
    early() { cudaGetDeviceCount(&devices); }
} early_user;

__global__ void twice(int *p)
{
    p[threadIdx.x] *= 2;
}

extern "C" int run_twice(void)
{
    int h[3] = {1, 2, 3}, *d;
    if (devices != 1 || cudaMalloc(&d, sizeof h))
        return -1;
    cudaMemcpy(d, h, sizeof h, cudaMemcpyHostToDevice);
    twice<<<1, 3>>>(d);
    cudaMemcpy(h, d, sizeof h, cudaMemcpyDeviceToHost);
    cudaFree(d);
    return h[0] * 100 + h[1] * 10 + h[2];
}
