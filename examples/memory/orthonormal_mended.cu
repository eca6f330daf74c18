/* One vector of Q and one row of R serve all steps; the host gets each vector after its step. */
#include "orthonormal.h"

int main(int argc, char **argv)
{
    return run_orthonormal(argc, argv, [](const float *a, float *q, int n, bool launch) {
        size_t row = n * sizeof(float);
        float *A_gpu, *R_gpu, *Q_gpu;
        CHECK(cudaMalloc(&A_gpu, n * row));
        CHECK(cudaMalloc(&R_gpu, row));
        CHECK(cudaMalloc(&Q_gpu, row));
        CHECK(cudaMemcpy(A_gpu, a, n * row, cudaMemcpyHostToDevice));
        for (int k = 0; k < n && launch; k++) {
            launch_step(A_gpu, Q_gpu, R_gpu, n, k);
            CHECK(cudaMemcpy(q + k * n, Q_gpu, row, cudaMemcpyDeviceToHost));
        }
        CHECK(cudaFree(A_gpu));
        CHECK(cudaFree(R_gpu));
        CHECK(cudaFree(Q_gpu));
    });
}
