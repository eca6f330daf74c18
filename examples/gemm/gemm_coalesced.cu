/* Matrix product whose warps take a row of C each: coalesced, but every warp of a block fetches the same rows of B. */
#include "gemm.h"

__global__ void gemm(const float *A, const float *B, float *C, int n)
{
    int row = blockIdx.y * blockDim.y + threadIdx.y;
    int col = blockIdx.x * blockDim.x + threadIdx.x;
    float sum = 0;
    for (int k = 0; k < n; k++) {
        float a = A[row * n + k];
        float b = B[k * n + col]; // finds: hot d_B
        // advises: tile by tile: 1024 elements (4096 bytes), before the turns of the loop that take them
        sum += a * b;
    }
    C[row * n + col] = sum;
}

int main(int argc, char **argv)
{
    return run_gemm(argc, argv, [](const float *a, const float *b, float *c, int n) {
        gemm<<<dim3(n / 32, n / 32), dim3(32, 32)>>>(a, b, c, n);
    });
}
