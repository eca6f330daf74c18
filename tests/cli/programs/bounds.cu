// A good launch, then one that reads behind the end of its array.
#include "common.h"

__global__ void shift(const int *in, int *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    out[i] = in[i + n]; // the line of the fault
}

int main()
{
    int *data = filled(1024, 1);
    shift<<<8, 128>>>(data, data, 4096);
    std::printf("%s\n", cudaGetErrorName(cudaDeviceSynchronize()));
    std::printf("%s\n", cudaGetErrorName(cudaMemset(data, 0, 4))); // the error sticks
}
