/* What a component needs is on the device while it is transformed; the last one waits for the others on the host. */
#include "wavelet.h"

/* All levels of a component; in each the means of the one before are transformed again. */
static void transform_all(float *in, float *out, int side, bool launch)
{
    size_t pitch = side * sizeof(float);
    for (int level = 0, size = side; level < LEVELS; level++, size /= 2) {
        if (launch)
            transform<<<blocks_of(size), dim3(WIDE, HIGH)>>>(in, out, size, side);
        CHECK(cudaMemcpy2D(in, pitch, out, pitch, size / 2 * sizeof(float), size / 2, cudaMemcpyDeviceToDevice));
    }
}

int main(int argc, char **argv)
{
    return run_wavelet(argc, argv, [](const byte *source, float *results, int side, bool launch) {
        int n = side * side;
        size_t bytes = n * sizeof(float);
        byte *src;
        float *c_r, *c_g, *c_b, *c_r_out, *c_g_out, *c_b_out;
        CHECK(cudaMalloc(&src, 3 * n));
        CHECK(cudaMalloc(&c_r, bytes));
        CHECK(cudaMalloc(&c_g, bytes));
        CHECK(cudaMalloc(&c_b, bytes));
        CHECK(cudaMemcpy(src, source, 3 * n, cudaMemcpyHostToDevice));
        if (launch)
            split<<<(n + 255) / 256, 256>>>(src, c_r, c_g, c_b, n);
        CHECK(cudaFree(src));
        std::vector<float> waiting(n);
        CHECK(cudaMemcpy(waiting.data(), c_b, bytes, cudaMemcpyDeviceToHost));
        CHECK(cudaFree(c_b));
        CHECK(cudaMalloc(&c_r_out, bytes));
        transform_all(c_r, c_r_out, side, launch);
        CHECK(cudaMemcpy(results, c_r_out, bytes, cudaMemcpyDeviceToHost));
        CHECK(cudaFree(c_r));
        CHECK(cudaFree(c_r_out));
        CHECK(cudaMalloc(&c_g_out, bytes));
        transform_all(c_g, c_g_out, side, launch);
        CHECK(cudaMemcpy(results + n, c_g_out, bytes, cudaMemcpyDeviceToHost));
        CHECK(cudaFree(c_g));
        CHECK(cudaFree(c_g_out));
        CHECK(cudaMalloc(&c_b, bytes));
        CHECK(cudaMemcpy(c_b, waiting.data(), bytes, cudaMemcpyHostToDevice));
        CHECK(cudaMalloc(&c_b_out, bytes));
        transform_all(c_b, c_b_out, side, launch);
        CHECK(cudaMemcpy(results + 2 * n, c_b_out, bytes, cudaMemcpyDeviceToHost));
        CHECK(cudaFree(c_b));
        CHECK(cudaFree(c_b_out));
    });
}
