/* Q and R are there as a whole, though a step makes one vector and one row, and needs no others. */
#include "orthonormal.h"

int main(int argc, char **argv)
{
    return run_orthonormal(argc, argv, [](const float *a, float *q, int n, bool launch) {
        size_t row = n * sizeof(float);
        float *A_gpu, *R_gpu, *Q_gpu;
        CHECK(cudaMalloc(&A_gpu, n * row));
        CHECK(cudaMalloc(&R_gpu, n * row)); // finds: structured-access R_gpu
        CHECK(cudaMalloc(&Q_gpu, n * row)); // finds: structured-access Q_gpu
        CHECK(cudaMemcpy(A_gpu, a, n * row, cudaMemcpyHostToDevice));
        for (int k = 0; k < n && launch; k++)
            launch_step(A_gpu, Q_gpu + k * n, R_gpu + k * n + k, n, k);
        CHECK(cudaMemcpy(q, Q_gpu, n * row, cudaMemcpyDeviceToHost));
        CHECK(cudaFree(A_gpu));
        CHECK(cudaFree(R_gpu));
        CHECK(cudaFree(Q_gpu));
    });
}
