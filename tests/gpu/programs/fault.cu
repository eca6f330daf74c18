// A kernel that writes where nothing is: the error must be the program's own.
#include <cstdio>

__global__ void fault(int *p)
{
    p[threadIdx.x] = 1;
}

int main()
{
    fault<<<1, 32>>>((int *)16);
    printf("%s\n", cudaGetErrorName(cudaDeviceSynchronize()));
    return 5;
}
