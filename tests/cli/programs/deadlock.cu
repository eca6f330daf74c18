// A barrier that waits for more threads than the block has.
#include "common.h"

__global__ void uneven(int *data)
{
    asm volatile("bar.sync 1, 256;"); // a block has only 128 threads
    data[threadIdx.x] = 1;
}

int main()
{
    int *data = filled(1024, 0);
    uneven<<<1, 128>>>(data);
    std::printf("%s\n", cudaGetErrorName(cudaDeviceSynchronize()));
}
