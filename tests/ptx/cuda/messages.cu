// printf, assert, trap, device malloc, clocks.
#include <cassert>
#include <cstdio>

__device__ int failures;
__device__ const char *names[] = {"zero", "one", "two"};

__global__ void talk(int *data, int n, double d)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    assert(i < n);
    printf("%d of %d: %s %f %llx\n", i, n, names[i % 3], d, (unsigned long long)data);
    if (data[i] < 0) {
        atomicAdd(&failures, 1);
        __trap();
    }
    int *scratch = (int *)malloc(sizeof(int) * (size_t)n);
    if (scratch) {
        scratch[i] = data[i];
        data[i] = scratch[n - i];
        free(scratch);
    }
    long long start = clock64();
    __nanosleep(100);
    data[i] += (int)(clock64() - start) + clock();
}
