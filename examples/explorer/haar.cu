/* A Haar wavelet transform of 16 pieces of 1,024 samples, one a block of 512 threads. Each level
 * leaves half as many averages, so that warps have nothing more to do, one after the other. The first
 * block goes on with the averages of the four pieces before: it runs longer than the others. */
#include "../common/example.h"

constexpr int BLOCKS = 16, THREADS = 512, PIECE = 2 * THREADS, BEFORE = 4;
__constant__ float half_root = 0.70710678f;

/* Halves `count` values in `values`, level by level; details go to `out`, and the average to out[0]. */
__device__ void levels(float *values, float *out, int count)
{
#pragma unroll 1
    for (int left = count / 2; left > 0; left /= 2) {
        float a = 0, b = 0;
        if (threadIdx.x < left)
            a = values[2 * threadIdx.x], b = values[2 * threadIdx.x + 1];
        __syncthreads();
        if (threadIdx.x < left) {
            values[threadIdx.x] = (a + b) * half_root;
            out[left + threadIdx.x] = (a - b) * half_root;
        }
        __syncthreads();
    }
    if (threadIdx.x == 0)
        out[0] = values[0];
}

__global__ void haar(float *out, const float *in, float *out_before, const float *before)
{
    __shared__ float values[PIECE];
    const float *piece = in + blockIdx.x * PIECE;
    values[threadIdx.x] = piece[threadIdx.x];
    values[threadIdx.x + THREADS] = piece[threadIdx.x + THREADS];
    __syncthreads();
    levels(values, out + blockIdx.x * PIECE, PIECE);
    if (blockIdx.x == 0) {
        __syncthreads();
        if (threadIdx.x < BEFORE)
            values[threadIdx.x] = before[threadIdx.x];
        __syncthreads();
        levels(values, out_before, BEFORE);
    }
}

static void transform(std::vector<float> values, float *out)
{
    for (size_t left = values.size() / 2; left > 0; left /= 2)
        for (size_t i = 0; i < left; i++) {
            float a = values[2 * i], b = values[2 * i + 1];
            values[i] = (a + b) * 0.70710678f;
            out[left + i] = (a - b) * 0.70710678f;
        }
    out[0] = values[0];
}

int main(int argc, char **argv)
{
    const size_t count = BLOCKS * PIECE, bytes = count * sizeof(float);
    std::vector<float> in = numbers(count, 1), before = numbers(BEFORE, 2);
    std::vector<float> want(count + BEFORE), got(count + BEFORE);
    for (size_t i = 0; i < BLOCKS; i++)
        transform({in.begin() + i * PIECE, in.begin() + (i + 1) * PIECE}, &want[i * PIECE]);
    transform(before, &want[count]);
    float *d_in, *d_out, *d_before;
    CHECK(cudaMalloc(&d_in, bytes));
    CHECK(cudaMalloc(&d_before, BEFORE * sizeof(float)));
    CHECK(cudaMalloc(&d_out, bytes + BEFORE * sizeof(float)));
    CHECK(cudaMemcpy(d_in, in.data(), bytes, cudaMemcpyHostToDevice));
    CHECK(cudaMemcpy(d_before, before.data(), BEFORE * sizeof(float), cudaMemcpyHostToDevice));
    CHECK(cudaMemset(d_out, 0, bytes + BEFORE * sizeof(float)));
    if (!skip_kernel(argc, argv))
        haar<<<BLOCKS, THREADS>>>(d_out, d_in, d_out + count, d_before);
    CHECK(cudaMemcpy(got.data(), d_out, got.size() * sizeof(float), cudaMemcpyDeviceToHost));
    CHECK(cudaFree(d_in));
    CHECK(cudaFree(d_before));
    CHECK(cudaFree(d_out));
    return verdict(got, want, 1e-4f);
}
