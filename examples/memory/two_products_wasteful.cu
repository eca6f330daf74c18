/* E = (A * B) * D with all matrices on the device from the beginning to the end. */
#include "two_products.h"

int main(int argc, char **argv)
{
    return run_two_products(argc, argv, [](const float *a, const float *b, const float *d, float *e, int n, bool launch) {
        size_t bytes = static_cast<size_t>(n) * n * sizeof(float);
        float *d_A, *d_B, *d_C, *d_D, *d_E;
        CHECK(cudaMalloc(&d_A, bytes)); // finds: late-deallocation d_A
        CHECK(cudaMalloc(&d_B, bytes)); // finds: late-deallocation d_B
        CHECK(cudaMalloc(&d_C, bytes));
        CHECK(cudaMalloc(&d_D, bytes)); // finds: early-allocation d_D, redundant-allocation d_D
        CHECK(cudaMalloc(&d_E, bytes)); // finds: early-allocation d_E, redundant-allocation d_E
        CHECK(cudaMemcpy(d_A, a, bytes, cudaMemcpyHostToDevice));
        CHECK(cudaMemcpy(d_B, b, bytes, cudaMemcpyHostToDevice));
        if (launch)
            product<<<tiles(n, n), threads()>>>(d_A, d_B, d_C, n, n);
        CHECK(cudaMemcpy(d_D, d, bytes, cudaMemcpyHostToDevice));
        if (launch)
            product<<<tiles(n, n), threads()>>>(d_C, d_D, d_E, n, n);
        CHECK(cudaMemcpy(e, d_E, bytes, cudaMemcpyDeviceToHost));
        CHECK(cudaFree(d_A));
        CHECK(cudaFree(d_B));
        CHECK(cudaFree(d_C));
        CHECK(cudaFree(d_D));
        CHECK(cudaFree(d_E));
    });
}
