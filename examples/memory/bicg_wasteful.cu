/* Both forms of the matrix are there from the beginning to the end, and all rows are added up in device memory. */
#include "bicg.h"

/* Adds rows of a, each times its element of x, to the sums of the columns; a block takes every BLOCKS-th row. */
__global__ void add_rows(const float *a, const float *x, float *sums, int n, bool below)
{
    for (int i = blockIdx.x; i < n; i += BLOCKS) {
        float factor = x[i]; // finds: hot p_gpu (cached), hot r_gpu (cached)
        int begin = below ? 0 : i / 32 * 32, end = below ? i + 1 : n;
        for (int j = begin + threadIdx.x; j < end; j += THREADS)
            atomicAdd(&sums[j], a[i * n + j] * factor); // finds: scattered-atomics q_gpu, scattered-atomics s_gpu
    }
}

int main(int argc, char **argv)
{
    return run_bicg(argc, argv, [](const float *a, const float *a_t, const float *r, const float *p, float *results,
                                   int n, bool launch) {
        size_t bytes = n * sizeof(float);
        float *A_gpu, *A_t_gpu, *r_gpu, *s_gpu, *p_gpu, *q_gpu;
        CHECK(cudaMalloc(&A_gpu, n * bytes)); // finds: late-deallocation A_gpu
        CHECK(cudaMalloc(&A_t_gpu, n * bytes)); // finds: early-allocation A_t_gpu, redundant-allocation A_t_gpu
        CHECK(cudaMalloc(&r_gpu, bytes)); // finds: late-deallocation r_gpu
        CHECK(cudaMalloc(&s_gpu, bytes)); // finds: late-deallocation s_gpu
        CHECK(cudaMalloc(&p_gpu, bytes)); // finds: early-allocation p_gpu
        CHECK(cudaMalloc(&q_gpu, bytes)); // finds: early-allocation q_gpu
        CHECK(cudaMemcpy(A_gpu, a, n * bytes, cudaMemcpyHostToDevice));
        CHECK(cudaMemcpy(r_gpu, r, bytes, cudaMemcpyHostToDevice));
        CHECK(cudaMemset(s_gpu, 0, bytes));
        if (launch)
            add_rows<<<BLOCKS, THREADS>>>(A_gpu, r_gpu, s_gpu, n, true);
        CHECK(cudaMemcpy(results, s_gpu, bytes, cudaMemcpyDeviceToHost));
        CHECK(cudaMemcpy(A_t_gpu, a_t, n * bytes, cudaMemcpyHostToDevice));
        CHECK(cudaMemcpy(p_gpu, p, bytes, cudaMemcpyHostToDevice));
        CHECK(cudaMemset(q_gpu, 0, bytes));
        if (launch)
            add_rows<<<BLOCKS, THREADS>>>(A_t_gpu, p_gpu, q_gpu, n, false);
        CHECK(cudaMemcpy(results + n, q_gpu, bytes, cudaMemcpyDeviceToHost));
        CHECK(cudaFree(A_gpu));
        CHECK(cudaFree(A_t_gpu));
        CHECK(cudaFree(r_gpu));
        CHECK(cudaFree(s_gpu));
        CHECK(cudaFree(p_gpu));
        CHECK(cudaFree(q_gpu));
    });
}
