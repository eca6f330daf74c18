/* All four buffers are there from the beginning to the end. */
#include "copies.h"

int main(int argc, char **argv)
{
    return run_copies(argc, argv, [](const float *in1, const float *in2, float *out1, float *out2, int n,
                                     cudaStream_t *streams, bool launch) {
        size_t bytes = n * sizeof(float);
        float *d_data_in1, *d_data_in2, *d_data_out1, *d_data_out2;
        CHECK(cudaMalloc(&d_data_in1, bytes)); // finds: temporary-idleness d_data_in1
        CHECK(cudaMalloc(&d_data_out1, bytes)); // finds: early-allocation d_data_out1, redundant-allocation d_data_out1
        CHECK(cudaMalloc(&d_data_in2, bytes)); // finds: early-allocation d_data_in2, late-deallocation d_data_in2
        CHECK(cudaMalloc(&d_data_out2, bytes)); // finds: late-deallocation d_data_out2
        CHECK(cudaMemcpyAsync(d_data_in1, in1, bytes, cudaMemcpyHostToDevice, streams[0]));
        for (int i = 0; i < TURNS; i++) {
            CHECK(cudaMemcpyAsync(d_data_in2, in2 + i * n, bytes, cudaMemcpyHostToDevice, streams[1]));
            if (launch)
                compute<<<blocks_of(n), THREADS, 0, streams[1]>>>(d_data_in2, d_data_out2, 0.5f, n);
            CHECK(cudaMemcpyAsync(out2 + i * n, d_data_out2, bytes, cudaMemcpyDeviceToHost, streams[1]));
        }
        CHECK(cudaStreamSynchronize(streams[1]));
        if (launch)
            compute<<<blocks_of(n), THREADS, 0, streams[0]>>>(d_data_in1, d_data_out1, add_of(out2 + (TURNS - 1) * n, n), n);
        CHECK(cudaMemcpyAsync(out1, d_data_out1, bytes, cudaMemcpyDeviceToHost, streams[0]));
        CHECK(cudaStreamSynchronize(streams[0]));
        CHECK(cudaFree(d_data_in1));
        CHECK(cudaFree(d_data_out1));
        CHECK(cudaFree(d_data_in2));
        CHECK(cudaFree(d_data_out2));
    });
}
