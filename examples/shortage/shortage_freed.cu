/* The field is freed after its last use, as the findings of shortage_kept advise: the second step gets what it asks for. */
#include "shortage.h"

int main(int argc, char **argv)
{
    return run_steps(argc, argv, [](const float *data, float *results, int n, bool launch) {
        size_t bytes = n * sizeof(float), quarter = quarter_of_device();
        float *field, *result, *work;
        CHECK(cudaMalloc(&field, 2 * quarter));
        CHECK(cudaMalloc(&result, quarter));
        CHECK(cudaMemcpy(field, data, bytes, cudaMemcpyHostToDevice));
        if (launch)
            first_step<<<blocks_of(n), 256>>>(field, result, n);
        CHECK(cudaDeviceSynchronize());
        CHECK(cudaFree(field));
        bool refused = cudaMalloc(&work, 2 * quarter) != cudaSuccess;
        if (refused)
            CHECK(cudaMalloc(&work, quarter / 2));
        if (launch)
            second_step<<<blocks_of(n), 256>>>(result, work, n);
        CHECK(cudaMemcpy(results, work, bytes, cudaMemcpyDeviceToHost));
        CHECK(cudaFree(result));
        CHECK(cudaFree(work));
    });
}
