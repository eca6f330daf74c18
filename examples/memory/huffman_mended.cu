/* What was coded is freed before the codes are packed, and the memory for these is allocated then. */
#include "huffman.h"

int main(int argc, char **argv)
{
    return run_huffman(argc, argv, [](const unsigned *words, const code *codes, unsigned *packed, unsigned n, bool launch) {
        size_t bytes = n * sizeof(unsigned), blocks = n / THREADS;
        std::vector<unsigned> offsets(blocks + 1);
        unsigned *d_source, *d_dest, *d_packed, *d_offsets;
        code *d_codes;
        CHECK(cudaMalloc(&d_source, bytes));
        CHECK(cudaMalloc(&d_dest, bytes));
        CHECK(cudaMalloc(&d_offsets, (blocks + 1) * sizeof(unsigned)));
        CHECK(cudaMalloc(&d_codes, SYMBOLS * sizeof(code)));
        CHECK(cudaMemcpy(d_source, words, bytes, cudaMemcpyHostToDevice));
        CHECK(cudaMemcpy(d_codes, codes, SYMBOLS * sizeof(code), cudaMemcpyHostToDevice));
        if (launch)
            encode<<<blocks, THREADS>>>(d_source, d_codes, d_dest, d_offsets);
        CHECK(cudaFree(d_source));
        CHECK(cudaMemcpy(offsets.data(), d_offsets, blocks * sizeof(unsigned), cudaMemcpyDeviceToHost));
        add_up(offsets);
        CHECK(cudaMemcpy(d_offsets, offsets.data(), (blocks + 1) * sizeof(unsigned), cudaMemcpyHostToDevice));
        CHECK(cudaMalloc(&d_packed, bytes));
        if (launch)
            pack<<<blocks, THREADS>>>(d_dest, d_offsets, d_packed);
        CHECK(cudaMemcpy(packed, d_packed, bytes, cudaMemcpyDeviceToHost));
        CHECK(cudaFree(d_dest));
        CHECK(cudaFree(d_packed));
        CHECK(cudaFree(d_offsets));
        CHECK(cudaFree(d_codes));
    });
}
