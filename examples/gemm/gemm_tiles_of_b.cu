/* Matrix product whose warps take a row of C each. A block loads tiles of B into shared memory, a thread an element, where each
 * of its warps reads them. */
#include "gemm.h"

constexpr int TILE = 32;

__global__ void gemm(const float *A, const float *B, float *C, int n)
{
    __shared__ float Bs[TILE][TILE];
    int row = blockIdx.y * blockDim.y + threadIdx.y;
    int col = blockIdx.x * blockDim.x + threadIdx.x;
    float sum = 0;
    for (int k0 = 0; k0 < n; k0 += TILE) {
        Bs[threadIdx.y][threadIdx.x] = B[(k0 + threadIdx.y) * n + col];
        __syncthreads();
        for (int k = 0; k < TILE; k++) {
            float a = A[row * n + k0 + k];
            float b = Bs[k][threadIdx.x];
            sum += a * b;
        }
        __syncthreads();
    }
    C[row * n + col] = sum;
}

int main(int argc, char **argv)
{
    return run_gemm(argc, argv, [](const float *a, const float *b, float *c, int n) {
        gemm<<<dim3(n / 32, n / 32), dim3(32, 32)>>>(a, b, c, n);
    });
}
