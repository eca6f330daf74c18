/* Gram-Schmidt with Q stored by columns, the next column of A kept beside A, and what a block needs of both staged in shared
 * memory once. */
#include "gramschmidt.h"

__global__ void kernel2(const float *column, const float *r, float *q, int k)
{
    __shared__ float norm;
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (threadIdx.x == 0)
        norm = r[k * SIZE + k];
    __syncthreads();
    q[k * SIZE + i] = column[i] / norm;
}

__global__ void kernel3(float *a, float *r, const float *q, int k) // finds: too-few-blocks -
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

void launch_steps(float *d_a, float *d_r, float *d_q, const float *d_column)
{
    kernel2<<<SIZE / THREADS, THREADS>>>(d_column, d_r, d_q, STEP);
    kernel3<<<SIZE / THREADS, THREADS>>>(d_a, d_r, d_q, STEP);
}
