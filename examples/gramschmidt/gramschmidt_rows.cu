/* Gram-Schmidt on row-major matrices: going down a column takes one word of each sector. */
#include "gramschmidt.h"

__global__ void kernel2(const float *a, const float *r, float *q, int k)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float x = a[i * SIZE + k];    // finds: strided d_a (tiny)
    float norm = r[k * SIZE + k]; // finds: hot d_r (tiny)
    q[i * SIZE + k] = x / norm;   // finds: strided d_q (tiny)
}

__global__ void kernel3(float *a, float *r, const float *q, int k) // finds: too-few-blocks -
{
    int j = blockIdx.x * blockDim.x + threadIdx.x;
    if (j <= k)
        return;
    float sum = 0;
#pragma unroll 1
    for (int i = 0; i < SIZE; i++)
        sum += q[i * SIZE + k] * a[i * SIZE + j]; // finds: hot d_q, strided d_q (hidden)
#pragma unroll 1
    for (int i = 0; i < SIZE; i++)
        a[i * SIZE + j] -= q[i * SIZE + k] * sum; // finds: hot d_q, strided d_q (hidden)
    r[k * SIZE + j] = sum;
}

int main(int argc, char **argv)
{
    return run_gramschmidt(argc, argv);
}

void launch_steps(float *d_a, float *d_r, float *d_q, const float *)
{
    kernel2<<<SIZE / THREADS, THREADS>>>(d_a, d_r, d_q, STEP);
    kernel3<<<SIZE / THREADS, THREADS>>>(d_a, d_r, d_q, STEP);
}
