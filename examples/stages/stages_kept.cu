/* All memory is allocated before the first stage and freed after the last one, with some that nobody uses. */
#include "stages.h"

int main(int argc, char **argv)
{
    return run_stages(argc, argv, [](const float *data, float *results, int n, bool launch) {
        size_t bytes = n * sizeof(float);
        float *in, *mid, *out, *spare;
        CHECK(cudaMalloc(&in, bytes)); // finds: dead-write in, late-deallocation in
        CHECK(cudaMalloc(&mid, bytes));
        CHECK(cudaMalloc(&out, bytes)); // finds: early-allocation out, redundant-allocation out
        CHECK(cudaMalloc(&spare, bytes / 2)); // finds: unused-allocation spare
        CHECK(cudaMemset(in, 0, bytes)); // advises: Leave out the memset at stages_kept.cu:13
        CHECK(cudaMemcpy(in, data, bytes, cudaMemcpyHostToDevice));
        if (launch) {
            square<<<blocks_of(n), 256>>>(in, mid, n); // advises: Free in just after the launch of square at stages_kept.cu:16
            smooth<<<blocks_of(n), 256>>>(mid, out, n); // advises: Allocate out just before the launch of smooth at stages_kept.cu:17
        }
        CHECK(cudaMemcpy(results, out, bytes, cudaMemcpyDeviceToHost));
        CHECK(cudaFree(in));
        CHECK(cudaFree(mid));
        CHECK(cudaFree(out));
        CHECK(cudaFree(spare));
    });
}
