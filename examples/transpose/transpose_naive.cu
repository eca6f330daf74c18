/* Transpose whose stores go down a column: each lane of a warp hits a sector of its own. */
#include "transpose.h"

__global__ void transpose(float *out, const float *in, int n)
{
    int x = blockIdx.x * TILE + threadIdx.x, y = blockIdx.y * TILE + threadIdx.y;
    for (int j = 0; j < TILE; j += ROWS)
        out[x * n + y + j] = in[(y + j) * n + x]; // finds: false-sharing d_out
}

int main(int argc, char **argv)
{
    return run_transpose(argc, argv, transpose);
}
