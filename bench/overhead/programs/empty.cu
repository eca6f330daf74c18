/* Nothing but a context and a kernel that does nothing: what starting costs. */
#include "common.cuh"

__global__ void nothing() {}

int main()
{
    nothing<<<1, 1>>>();
    CUDA(cudaDeviceSynchronize());
    return 0;
}
