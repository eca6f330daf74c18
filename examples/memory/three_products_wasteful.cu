/* G = (A * B) * (C * D) with all matrices on the device from the beginning to the end. */
#include "three_products.h"

int main(int argc, char **argv)
{
    return run_three_products(argc, argv, [](const float *a, const float *b, const float *c, const float *d, float *g,
                                             int n, bool launch) {
        size_t bytes = static_cast<size_t>(n) * n * sizeof(float);
        float *d_A, *d_B, *d_C, *d_D, *d_E, *d_F, *d_G;
        CHECK(cudaMalloc(&d_A, bytes)); // finds: late-deallocation d_A
        CHECK(cudaMalloc(&d_B, bytes)); // finds: late-deallocation d_B
        CHECK(cudaMalloc(&d_C, bytes)); // finds: early-allocation d_C, late-deallocation d_C
        CHECK(cudaMalloc(&d_D, bytes)); // finds: early-allocation d_D, late-deallocation d_D, redundant-allocation d_D
        CHECK(cudaMalloc(&d_E, bytes)); // finds: temporary-idleness d_E
        CHECK(cudaMalloc(&d_F, bytes)); // finds: early-allocation d_F, redundant-allocation d_F
        CHECK(cudaMalloc(&d_G, bytes)); // finds: early-allocation d_G, redundant-allocation d_G
        CHECK(cudaMemcpy(d_A, a, bytes, cudaMemcpyHostToDevice));
        CHECK(cudaMemcpy(d_B, b, bytes, cudaMemcpyHostToDevice));
        if (launch)
            product<<<tiles(n, n), threads()>>>(d_A, d_B, d_E, n, n);
        CHECK(cudaMemcpy(d_C, c, bytes, cudaMemcpyHostToDevice));
        CHECK(cudaMemcpy(d_D, d, bytes, cudaMemcpyHostToDevice));
        if (launch)
            product<<<tiles(n, n), threads()>>>(d_C, d_D, d_F, n, n);
        if (launch)
            product<<<tiles(n, n), threads()>>>(d_E, d_F, d_G, n, n);
        CHECK(cudaMemcpy(g, d_G, bytes, cudaMemcpyDeviceToHost));
        CHECK(cudaFree(d_A));
        CHECK(cudaFree(d_B));
        CHECK(cudaFree(d_C));
        CHECK(cudaFree(d_D));
        CHECK(cudaFree(d_E));
        CHECK(cudaFree(d_F));
        CHECK(cudaFree(d_G));
    });
}
