/* C = A B, 128 x 128 floats, in tiles of 16 x 16 in shared memory. */
#include "../common/example.h"

constexpr int N = 128, TILE = 16;

__global__ void multiply(float *c, const float *a, const float *b)
{
    __shared__ float tile_a[TILE][TILE], tile_b[TILE][TILE];
    int x = blockIdx.x * TILE + threadIdx.x, y = blockIdx.y * TILE + threadIdx.y;
    float sum = 0;
#pragma unroll 1
    for (int k = 0; k < N; k += TILE) {
        tile_a[threadIdx.y][threadIdx.x] = a[y * N + k + threadIdx.x];
        tile_b[threadIdx.y][threadIdx.x] = b[(k + threadIdx.y) * N + x];
        __syncthreads();
#pragma unroll 1
        for (int i = 0; i < TILE; i++)
            sum += tile_a[threadIdx.y][i] * tile_b[i][threadIdx.x];
        __syncthreads();
    }
    c[y * N + x] = sum;
}

int main(int argc, char **argv)
{
    const size_t bytes = N * N * sizeof(float);
    std::vector<float> a = numbers(N * N, 1), b = numbers(N * N, 2), want(N * N), got(N * N);
    for (int y = 0; y < N; y++)
        for (int k = 0; k < N; k++)
            for (int x = 0; x < N; x++)
                want[y * N + x] += a[y * N + k] * b[k * N + x];
    float *d_a, *d_b, *d_c;
    CHECK(cudaMalloc(&d_a, bytes));
    CHECK(cudaMalloc(&d_b, bytes));
    CHECK(cudaMalloc(&d_c, bytes));
    CHECK(cudaMemcpy(d_a, a.data(), bytes, cudaMemcpyHostToDevice));
    CHECK(cudaMemcpy(d_b, b.data(), bytes, cudaMemcpyHostToDevice));
    CHECK(cudaMemset(d_c, 0, bytes));
    if (!skip_kernel(argc, argv))
        multiply<<<dim3(N / TILE, N / TILE), dim3(TILE, TILE)>>>(d_c, d_a, d_b);
    CHECK(cudaMemcpy(got.data(), d_c, bytes, cudaMemcpyDeviceToHost));
    CHECK(cudaFree(d_a));
    CHECK(cudaFree(d_b));
    CHECK(cudaFree(d_c));
    return verdict(got, want, 1e-3f);
}
