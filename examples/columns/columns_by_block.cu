/* A block takes a column, its lanes the rows: a block uses one word of each sector, the next seven blocks the others. */
#include "columns.h"

__global__ void scale(const float *matrix, float *scaled, int columns)
{
    int i = threadIdx.x * columns + blockIdx.x;
    float x = matrix[i];   // finds: uncoalesced d_matrix
    scaled[i] = 2 * x + 1; // finds: uncoalesced d_scaled
    // advises: Swap the two in the index
    // never advises: one array per field
}

int main(int argc, char **argv)
{
    return run_scaling(argc, argv, [](const float *matrix, float *scaled, int columns) {
        scale<<<columns, ROWS>>>(matrix, scaled, columns);
    });
}
