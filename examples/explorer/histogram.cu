/* How often each of 64 values occurs, counted by atomics in shared memory, and added up at the end. */
#include "../common/example.h"

constexpr int BLOCKS = 32, THREADS = 256, EACH = 8, BINS = 64;

__global__ void histogram(unsigned *counts, const unsigned char *values)
{
    __shared__ unsigned bins[BINS];
    if (threadIdx.x < BINS)
        bins[threadIdx.x] = 0;
    __syncthreads();
#pragma unroll 1
    for (int i = 0; i < EACH; i++)
        atomicAdd(&bins[values[(blockIdx.x * EACH + i) * THREADS + threadIdx.x]], 1);
    __syncthreads();
    if (threadIdx.x < BINS)
        atomicAdd(&counts[threadIdx.x], bins[threadIdx.x]);
}

int main(int argc, char **argv)
{
    const int count = BLOCKS * THREADS * EACH;
    std::vector<float> random = numbers(count, 1), want(BINS), got(BINS);
    std::vector<unsigned char> values(count);
    std::vector<unsigned> counts(BINS);
    for (int i = 0; i < count; i++) {
        values[i] = static_cast<unsigned char>(std::fabs(random[i] * random[i]) * (BINS - 1)); /* low ones are common */
        want[values[i]]++;
    }
    unsigned char *d_values;
    unsigned *d_counts;
    CHECK(cudaMalloc(&d_values, count));
    CHECK(cudaMalloc(&d_counts, BINS * sizeof(unsigned)));
    CHECK(cudaMemcpy(d_values, values.data(), count, cudaMemcpyHostToDevice));
    CHECK(cudaMemset(d_counts, 0, BINS * sizeof(unsigned)));
    if (!skip_kernel(argc, argv))
        histogram<<<BLOCKS, THREADS>>>(d_counts, d_values);
    CHECK(cudaMemcpy(counts.data(), d_counts, BINS * sizeof(unsigned), cudaMemcpyDeviceToHost));
    got.assign(counts.begin(), counts.end());
    CHECK(cudaFree(d_values));
    CHECK(cudaFree(d_counts));
    return verdict(got, want, 0);
}
