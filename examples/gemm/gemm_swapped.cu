/* Matrix product in which the lanes of a warp take rows where they should take columns. */
#include "gemm.h"

__global__ void gemm(const float *A, const float *B, float *C, int n)
{
    int row = blockIdx.x * blockDim.x + threadIdx.x;
    int col = blockIdx.y * blockDim.y + threadIdx.y;
    float sum = 0;
    for (int k = 0; k < n; k++) {
        float a = A[row * n + k]; // finds: hot d_A
        float b = B[k * n + col]; // finds: false-sharing d_B (hidden)
        sum += a * b;
    }
    C[row * n + col] = sum; // finds: false-sharing d_C (covered)
}

int main(int argc, char **argv)
{
    return run_gemm(argc, argv, [](const float *a, const float *b, float *c, int n) {
        gemm<<<dim3(n / 32, n / 32), dim3(32, 32)>>>(a, b, c, n);
    });
}
