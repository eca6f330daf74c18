/* G = (A * B) * (C * D) with each matrix on the device while a product needs it; E = A * B waits on the host until
 * then. */
#include "three_products.h"

int main(int argc, char **argv)
{
    return run_three_products(argc, argv, [](const float *a, const float *b, const float *c, const float *d, float *g,
                                             int n, bool launch) {
        size_t bytes = static_cast<size_t>(n) * n * sizeof(float);
        float *d_A, *d_B, *d_C, *d_D, *d_E, *d_F, *d_G;
        std::vector<float> e(static_cast<size_t>(n) * n);
        CHECK(cudaMalloc(&d_A, bytes));
        CHECK(cudaMalloc(&d_B, bytes));
        CHECK(cudaMalloc(&d_E, bytes));
        CHECK(cudaMemcpy(d_A, a, bytes, cudaMemcpyHostToDevice));
        CHECK(cudaMemcpy(d_B, b, bytes, cudaMemcpyHostToDevice));
        if (launch)
            product<<<tiles(n, n), threads()>>>(d_A, d_B, d_E, n, n);
        CHECK(cudaFree(d_A));
        CHECK(cudaFree(d_B));
        CHECK(cudaMemcpy(e.data(), d_E, bytes, cudaMemcpyDeviceToHost));
        CHECK(cudaFree(d_E));
        CHECK(cudaMalloc(&d_C, bytes));
        CHECK(cudaMemcpy(d_C, c, bytes, cudaMemcpyHostToDevice));
        CHECK(cudaMalloc(&d_D, bytes));
        CHECK(cudaMemcpy(d_D, d, bytes, cudaMemcpyHostToDevice));
        CHECK(cudaMalloc(&d_F, bytes));
        if (launch)
            product<<<tiles(n, n), threads()>>>(d_C, d_D, d_F, n, n);
        CHECK(cudaFree(d_C));
        CHECK(cudaFree(d_D));
        CHECK(cudaMalloc(&d_E, bytes));
        CHECK(cudaMemcpy(d_E, e.data(), bytes, cudaMemcpyHostToDevice));
        CHECK(cudaMalloc(&d_G, bytes));
        if (launch)
            product<<<tiles(n, n), threads()>>>(d_E, d_F, d_G, n, n);
        CHECK(cudaMemcpy(g, d_G, bytes, cudaMemcpyDeviceToHost));
        CHECK(cudaFree(d_E));
        CHECK(cudaFree(d_F));
        CHECK(cudaFree(d_G));
    });
}
