/* Vector addition, a scalar product that sums up by interleaved pairs, and a reduction that keeps
 * neighbouring threads active: 64 blocks of 256 threads each. */
#include "../common/example.h"

constexpr int BLOCKS = 64, THREADS = 256, COUNT = BLOCKS * THREADS;

__global__ void vector_add(float *out, const float *a, const float *b)
{
    int i = blockIdx.x * THREADS + threadIdx.x;
    out[i] = a[i] + b[i];
}

/* Every second thread goes on, then every fourth: all warps stay busy with fewer and fewer lanes. */
__global__ void scalar_product(float *out, const float *a, const float *b)
{
    __shared__ float part[THREADS];
    int i = blockIdx.x * THREADS + threadIdx.x;
    part[threadIdx.x] = a[i] * b[i];
    __syncthreads();
#pragma unroll 1
    for (int step = 1; step < THREADS; step *= 2) {
        if (threadIdx.x % (2 * step) == 0)
            part[threadIdx.x] += part[threadIdx.x + step];
        __syncthreads();
    }
    if (threadIdx.x == 0)
        out[blockIdx.x] = part[0];
}

/* The lower half goes on, then the lower quarter: whole warps have nothing more to do. */
__global__ void reduction(float *out, const float *a, const float *b)
{
    __shared__ float part[THREADS];
    int i = blockIdx.x * THREADS + threadIdx.x;
    part[threadIdx.x] = a[i] + b[i];
    __syncthreads();
#pragma unroll 1
    for (int left = THREADS / 2; left > 0; left /= 2) {
        if (threadIdx.x < left)
            part[threadIdx.x] += part[threadIdx.x + left];
        __syncthreads();
    }
    if (threadIdx.x == 0)
        out[blockIdx.x] = part[0];
}

int main(int argc, char **argv)
{
    const size_t bytes = COUNT * sizeof(float);
    std::vector<float> a = numbers(COUNT, 1), b = numbers(COUNT, 2), got(COUNT);
    std::vector<float> sum(COUNT), product(BLOCKS), total(BLOCKS);
    for (int i = 0; i < COUNT; i++) {
        sum[i] = a[i] + b[i];
        product[i / THREADS] += a[i] * b[i];
        total[i / THREADS] += a[i] + b[i];
    }
    float *d_a, *d_b, *d_out;
    CHECK(cudaMalloc(&d_a, bytes));
    CHECK(cudaMalloc(&d_b, bytes));
    CHECK(cudaMalloc(&d_out, bytes));
    CHECK(cudaMemcpy(d_a, a.data(), bytes, cudaMemcpyHostToDevice));
    CHECK(cudaMemcpy(d_b, b.data(), bytes, cudaMemcpyHostToDevice));
    const std::vector<float> *want[] = {&sum, &product, &total};
    int wrong = 0, n = 0;
    for (auto *kernel : {vector_add, scalar_product, reduction}) {
        CHECK(cudaMemset(d_out, 0, bytes));
        if (!skip_kernel(argc, argv))
            kernel<<<BLOCKS, THREADS>>>(d_out, d_a, d_b);
        CHECK(cudaMemcpy(got.data(), d_out, bytes, cudaMemcpyDeviceToHost));
        wrong |= verdict(got, *want[n++], 1e-3f);
    }
    CHECK(cudaFree(d_a));
    CHECK(cudaFree(d_b));
    CHECK(cudaFree(d_out));
    return wrong;
}
