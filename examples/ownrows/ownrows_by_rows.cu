/* Each thread adds up a row of its own: the lanes of a warp take elements of 32 rows at a time. */
#include "ownrows.h"

__global__ void add_up(const float *matrix, float *sums, int rows, int columns)
{
    int row = blockIdx.x * blockDim.x + threadIdx.x;
    float sum = 0;
    // advises: Store d_matrix transposed
    // never advises: shared memory
    for (int c = 0; c < columns; c++)
        sum += matrix[row * columns + c]; // finds: uncoalesced d_matrix
    sums[row] = sum;
}

int main(int argc, char **argv)
{
    return run_sums(argc, argv, false, [](const float *matrix, float *sums, int rows) {
        add_up<<<rows / 256, 256>>>(matrix, sums, rows, COLUMNS);
    });
}
