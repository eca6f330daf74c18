/* Sparse matrix times vector, a thread a row: each lane walks through a row of its own. */
#include "spmv.h"

__global__ void spmv(const int *offsets, const int *columns, const float *values, const float *x, float *y, int rows)
{
    int row = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= rows)
        return;
    float sum = 0;
    int first = offsets[row];
    int end = offsets[row + 1]; // finds: misaligned d_offsets
#pragma unroll 1
    for (int i = first; i < end; i++) {
        int column = columns[i];   // finds: uncoalesced d_columns
        float value = values[i];   // finds: uncoalesced d_values
        sum += value * x[column];  // finds: hot-random d_x
    }
    y[row] = sum;
}

int main(int argc, char **argv)
{
    return run_spmv(argc, argv, 1);
}
