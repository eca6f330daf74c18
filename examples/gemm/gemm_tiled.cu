/* Matrix product through shared memory: a block makes a tile of 64 x 64 results, a thread 4 x 4 of them. */
#include "gemm.h"

constexpr int TILE = 64, STEP = 16, SIDE = 16, EACH = TILE / SIDE;

__global__ void gemm(const float *A, const float *B, float *C, int n) // finds: too-few-blocks -
{
    __shared__ float tile_A[STEP][TILE + 2]; // transposed; the padding keeps its stores free of conflicts
    __shared__ float tile_B[STEP][TILE];
    int tx = threadIdx.x, ty = threadIdx.y, thread = ty * SIDE + tx;
    int row0 = blockIdx.y * TILE, col0 = blockIdx.x * TILE;
    float sum[EACH][EACH] = {};
    for (int k0 = 0; k0 < n; k0 += STEP) {
        int row = thread / 4, k = thread % 4 * 4;
        float4 a = *reinterpret_cast<const float4 *>(&A[(row0 + row) * n + k0 + k]);
        tile_A[k + 0][row] = a.x;
        tile_A[k + 1][row] = a.y;
        tile_A[k + 2][row] = a.z;
        tile_A[k + 3][row] = a.w;
        for (int i = thread; i < STEP * TILE; i += SIDE * SIDE)
            tile_B[i / TILE][i % TILE] = B[(k0 + i / TILE) * n + col0 + i % TILE];
        __syncthreads();
        for (int s = 0; s < STEP; s++)
            for (int i = 0; i < EACH; i++)
                for (int j = 0; j < EACH; j++)
                    sum[i][j] += tile_A[s][ty + i * SIDE] * tile_B[s][tx + j * SIDE];
        __syncthreads();
    }
    for (int i = 0; i < EACH; i++)
        for (int j = 0; j < EACH; j++)
            C[(row0 + ty + i * SIDE) * n + col0 + tx + j * SIDE] = sum[i][j];
}

int main(int argc, char **argv)
{
    return run_gemm(argc, argv, [](const float *a, const float *b, float *c, int n) {
        gemm<<<dim3(n / TILE, n / TILE), dim3(SIDE, SIDE)>>>(a, b, c, n);
    });
}
