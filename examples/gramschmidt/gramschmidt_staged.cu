/* Gram-Schmidt with Q stored by columns and its column staged in shared memory once a block. */
#include "gramschmidt.h"

/* Column k of A is gathered where it must be; from here on it is contiguous. */
__global__ void kernel2(const float *a, const float *r, float *q, int k)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float x = a[i * SIZE + k];    // finds: strided d_a
    float norm = r[k * SIZE + k]; // finds: hot d_r
    q[k * SIZE + i] = x / norm;
}

__global__ void kernel3(float *a, float *r, const float *q, int k)
{
    __shared__ float column[SIZE];
    int j = blockIdx.x * blockDim.x + threadIdx.x;
    for (int i = threadIdx.x; i < SIZE; i += THREADS)
        column[i] = q[k * SIZE + i];
    __syncthreads();
    if (j <= k)
        return;
    float sum = 0;
#pragma unroll 1
    for (int i = 0; i < SIZE; i++)
        sum += column[i] * a[i * SIZE + j];
#pragma unroll 1
    for (int i = 0; i < SIZE; i++)
        a[i * SIZE + j] -= column[i] * sum;
    r[k * SIZE + j] = sum;
}

int main(int argc, char **argv)
{
    return run_gramschmidt(argc, argv);
}

void launch_steps(float *d_a, float *d_r, float *d_q)
{
    kernel2<<<SIZE / THREADS, THREADS>>>(d_a, d_r, d_q, STEP);
    kernel3<<<SIZE / THREADS, THREADS>>>(d_a, d_r, d_q, STEP);
}
