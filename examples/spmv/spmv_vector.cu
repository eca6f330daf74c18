/* Sparse matrix times vector, a warp a row; the block keeps its copy of x in shared memory, where gathering costs a few
 * bank conflicts instead of sectors. What is left is small: a warp uses one word of the sectors of offsets and y. */
#include "spmv.h"

__global__ void spmv(const int *offsets, const int *columns, const float *values, const float *x, float *y, int rows)
{
    __shared__ float copy_of_x[COLUMNS];
    for (int i = threadIdx.x; i < COLUMNS; i += THREADS)
        copy_of_x[i] = x[i];
    __syncthreads();
    int row = (blockIdx.x * blockDim.x + threadIdx.x) / 32, lane = threadIdx.x % 32;
    if (row >= rows)
        return;
    float sum = 0;
    int end = offsets[row + 1]; // finds: false-sharing d_offsets
#pragma unroll 1
    for (int i = offsets[row] + lane; i < end; i += 32) // finds: false-sharing d_offsets
        sum += values[i] * copy_of_x[columns[i]]; // finds: bank-conflict copy_of_x
    for (int step = 16; step > 0; step /= 2)
        sum += __shfl_down_sync(0xffffffff, sum, step);
    if (lane == 0)
        y[row] = sum; // finds: false-sharing d_y
}

int main(int argc, char **argv)
{
    return run_spmv(argc, argv, 32);
}
