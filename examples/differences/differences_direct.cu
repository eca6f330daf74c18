/* Each thread loads both of its numbers. */
#include "differences.h"

__global__ void differences(const float *x, float *y)
{
    const int i = blockIdx.x * THREADS + threadIdx.x;
    y[i] = x[i + APART] - x[i];
}

int main(int argc, char **argv)
{
    return run_differences(argc, argv, [](const float *x, float *y, int n) {
        differences<<<n / THREADS, THREADS>>>(x, y);
    });
}
