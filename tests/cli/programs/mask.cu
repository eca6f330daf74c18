/* Each lane names those before it in its mask, but not itself: CUDA does not define what happens. */
#include <cstdio>

__global__ void before(unsigned *out)
{
    out[threadIdx.x] = __ballot_sync((1u << threadIdx.x) - 1, threadIdx.x % 2);
}

int main()
{
    unsigned *out;
    cudaMalloc(&out, 32 * sizeof *out);
    before<<<1, 32>>>(out);
    puts(cudaGetErrorName(cudaDeviceSynchronize()));
    return 0;
}
