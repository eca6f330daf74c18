/* A pattern in a kernel that does not matter: the set-up goes through its table at a stride, but the work is elsewhere. */
#include "../common/example.h"

constexpr int WEIGHTS = 65536, APART = 8, THREADS = 256;

__global__ void set_up(float *weights)
{
    int i = blockIdx.x * THREADS + threadIdx.x;
    weights[i * APART] = 1.0f / static_cast<float>(i + 1); // finds: strided d_weights (tiny)
}

__global__ void work(const float *x, float *y, int rounds)
{
    int i = blockIdx.x * THREADS + threadIdx.x;
    float value = x[i];
#pragma unroll 1
    for (int k = 0; k < rounds; k++)
        value = value * 0.5f + 1.0f;
    y[i] = value;
}

int main(int argc, char **argv)
{
    int n = size_argument(argc, argv, 1 << 23), rounds = 4;
    std::vector<float> x = numbers(n, 1), y(n), want(n), weights(WEIGHTS), ones(WEIGHTS);
    for (int i = 0; i < n; i++) {
        want[i] = x[i];
        for (int k = 0; k < rounds; k++)
            want[i] = want[i] * 0.5f + 1.0f;
    }
    float *d_weights, *d_x, *d_y;
    CHECK(cudaMalloc(&d_weights, WEIGHTS * sizeof(float)));
    CHECK(cudaMalloc(&d_x, n * sizeof(float)));
    CHECK(cudaMalloc(&d_y, n * sizeof(float)));
    CHECK(cudaMemcpy(d_x, x.data(), n * sizeof(float), cudaMemcpyHostToDevice));
    CHECK(cudaMemset(d_y, 0, n * sizeof(float)));
    if (!skip_kernel(argc, argv)) {
        set_up<<<WEIGHTS / APART / THREADS, THREADS>>>(d_weights);
        work<<<n / THREADS, THREADS>>>(d_x, d_y, rounds);
    }
    CHECK(cudaGetLastError());
    CHECK(cudaMemcpy(y.data(), d_y, n * sizeof(float), cudaMemcpyDeviceToHost));
    return verdict(y, want, 1e-3f);
}
