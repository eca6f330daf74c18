/* The matrix is stored transposed: the lanes of a warp take neighbouring elements. */
#include "ownrows.h"

__global__ void add_up(const float *matrix, float *sums, int rows, int columns)
{
    int row = blockIdx.x * blockDim.x + threadIdx.x;
    float sum = 0;
    for (int c = 0; c < columns; c++)
        sum += matrix[c * rows + row];
    sums[row] = sum;
}

int main(int argc, char **argv)
{
    return run_sums(argc, argv, true, [](const float *matrix, float *sums, int rows) {
        add_up<<<rows / 256, 256>>>(matrix, sums, rows, COLUMNS);
    });
}
