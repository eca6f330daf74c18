/* E = (A * B) * D with each matrix on the device while a product needs it. */
#include "two_products.h"

int main(int argc, char **argv)
{
    return run_two_products(argc, argv, [](const float *a, const float *b, const float *d, float *e, int n, bool launch) {
        size_t bytes = static_cast<size_t>(n) * n * sizeof(float);
        float *d_A, *d_B, *d_C, *d_D, *d_E;
        CHECK(cudaMalloc(&d_A, bytes));
        CHECK(cudaMalloc(&d_B, bytes));
        CHECK(cudaMalloc(&d_C, bytes));
        CHECK(cudaMemcpy(d_A, a, bytes, cudaMemcpyHostToDevice));
        CHECK(cudaMemcpy(d_B, b, bytes, cudaMemcpyHostToDevice));
        if (launch)
            product<<<tiles(n, n), threads()>>>(d_A, d_B, d_C, n, n);
        CHECK(cudaFree(d_A));
        CHECK(cudaFree(d_B));
        CHECK(cudaMalloc(&d_D, bytes));
        CHECK(cudaMemcpy(d_D, d, bytes, cudaMemcpyHostToDevice));
        CHECK(cudaMalloc(&d_E, bytes));
        if (launch)
            product<<<tiles(n, n), threads()>>>(d_C, d_D, d_E, n, n);
        CHECK(cudaMemcpy(e, d_E, bytes, cudaMemcpyDeviceToHost));
        CHECK(cudaFree(d_C));
        CHECK(cudaFree(d_D));
        CHECK(cudaFree(d_E));
    });
}
