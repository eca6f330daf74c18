/* Matrix product by tiles of 32 x 32, one element a thread. A warp reads the row of As that it wrote itself, but all of Bs: the barriers
 * guard Bs, and the result is wrong without them, whatever is done with As. */
#include "gemm.h"

constexpr int TILE = 32;

__global__ void gemm(const float *A, const float *B, float *C, int n)
{
    __shared__ float As[TILE][TILE], Bs[TILE][TILE];
    int tx = threadIdx.x, ty = threadIdx.y;
    int row = blockIdx.y * TILE + ty, col = blockIdx.x * TILE + tx;
    float sum = 0;
    for (int k0 = 0; k0 < n; k0 += TILE) {
        As[ty][tx] = A[row * n + k0 + tx]; // finds: shared-warp-local As (hidden)
        Bs[ty][tx] = B[(k0 + ty) * n + col];
        __syncthreads(); // advises: leave the barriers where they are
        for (int k = 0; k < TILE; k++)
            sum += As[ty][k] * Bs[k][tx];
        __syncthreads(); // never advises: __syncwarp
    }
    C[row * n + col] = sum;
}

int main(int argc, char **argv)
{
    return run_gemm(argc, argv, [](const float *a, const float *b, float *c, int n) {
        gemm<<<dim3(n / TILE, n / TILE), dim3(TILE, TILE)>>>(a, b, c, n);
    });
}
