/* Each array is allocated just before its first use and freed just after its last one. */
#include "stages.h"

int main(int argc, char **argv)
{
    return run_stages(argc, argv, [](const float *data, float *results, int n, bool launch) {
        size_t bytes = n * sizeof(float);
        float *in, *mid, *out;
        CHECK(cudaMalloc(&in, bytes));
        CHECK(cudaMemcpy(in, data, bytes, cudaMemcpyHostToDevice));
        CHECK(cudaMalloc(&mid, bytes));
        if (launch)
            square<<<blocks_of(n), 256>>>(in, mid, n);
        CHECK(cudaFree(in));
        CHECK(cudaMalloc(&out, bytes));
        if (launch)
            smooth<<<blocks_of(n), 256>>>(mid, out, n);
        CHECK(cudaMemcpy(results, out, bytes, cudaMemcpyDeviceToHost));
        CHECK(cudaFree(mid));
        CHECK(cudaFree(out));
    });
}
