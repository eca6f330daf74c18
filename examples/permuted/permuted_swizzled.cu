/* Each row's columns are permuted by the row's number, so that lanes read different banks. */
#include "permuted.h"

__global__ void sum_rows(const float *x, float *sums)
{
    __shared__ float tile[ROWS][COLUMNS];
    const int t = threadIdx.x, first = blockIdx.x * ROWS;
    for (int row = 0; row < ROWS; row++)
        for (int col = t; col < COLUMNS; col += ROWS)
            tile[row][col ^ row % COLUMNS] = x[(first + row) * COLUMNS + col];
    __syncthreads();
    float sum = 0;
    for (int col = 0; col < COLUMNS; col++)
        sum += tile[t][col ^ t % COLUMNS];
    sums[first + t] = sum;
}

int main(int argc, char **argv)
{
    return run_sums(argc, argv,
                    [](int n, const float *x, float *sums) { sum_rows<<<n, ROWS>>>(x, sums); });
}
