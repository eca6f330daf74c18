/* Each thread loads all the numbers that its result is made of, which its neighbours load, too. */
#include "filter.h"

__global__ void filter(const float *x, float *y)
{
    int i = blockIdx.x * THREADS + threadIdx.x;
    float sum = 0;
#pragma unroll 1
    for (int k = 0; k < TAPS; k++)
        sum += weights[k] * x[i + k]; // finds: misaligned d_x
    // advises: d_x into shared memory once: 288 elements (1152 bytes), before any thread takes them.
    // advises: All threads load them together, neighbouring threads neighbouring elements, and read them from there.
    y[i] = sum;
}

int main(int argc, char **argv)
{
    return run_filter(argc, argv, [](const float *x, float *y, int n) {
        filter<<<n / THREADS, THREADS>>>(x, y);
    });
}
