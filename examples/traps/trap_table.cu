/* A pattern that costs next to nothing: every warp reads the same few coefficients, which stay in the L1 cache. */
#include "../common/example.h"

constexpr int TERMS = 16, THREADS = 256;

__global__ void polynomial(const float *coefficients, const float *x, float *y)
{
    int i = blockIdx.x * THREADS + threadIdx.x;
    float at = x[i], sum = 0;
#pragma unroll 1
    for (int k = TERMS; k-- > 0;)
        sum = sum * at + coefficients[k]; // finds: hot d_coefficients (cached)
    y[i] = sum;
}

int main(int argc, char **argv)
{
    int n = size_argument(argc, argv, 1 << 20);
    std::vector<float> c = numbers(TERMS, 2), x = numbers(n, 1), y(n), want(n);
    for (int i = 0; i < n; i++)
        for (int k = TERMS; k-- > 0;)
            want[i] = want[i] * x[i] + c[k];
    float *d_coefficients, *d_x, *d_y;
    CHECK(cudaMalloc(&d_coefficients, TERMS * sizeof(float)));
    CHECK(cudaMalloc(&d_x, n * sizeof(float)));
    CHECK(cudaMalloc(&d_y, n * sizeof(float)));
    CHECK(cudaMemcpy(d_coefficients, c.data(), TERMS * sizeof(float), cudaMemcpyHostToDevice));
    CHECK(cudaMemcpy(d_x, x.data(), n * sizeof(float), cudaMemcpyHostToDevice));
    CHECK(cudaMemset(d_y, 0, n * sizeof(float)));
    if (!skip_kernel(argc, argv))
        polynomial<<<n / THREADS, THREADS>>>(d_coefficients, d_x, d_y);
    CHECK(cudaGetLastError());
    CHECK(cudaMemcpy(y.data(), d_y, n * sizeof(float), cudaMemcpyDeviceToHost));
    return verdict(y, want, 1e-3f);
}
