/* out = transpose(in), 512 x 512 floats, in 1,024 blocks of 256 threads: directly, by way of a tile
 * in shared memory, and with a tile whose rows are a word longer (Listings 1 to 3 of Rosen, "A visual
 * approach to investigating shared and global memory behavior of CUDA kernels", 2013). */
#include "../common/example.h"

constexpr int N = 512, TILE = 16;

__global__ void transpose_naive(float *out, const float *in)
{
    int x = blockIdx.x * TILE + threadIdx.x, y = blockIdx.y * TILE + threadIdx.y;
    out[x * N + y] = in[y * N + x];
}

template <int PAD> __device__ void by_tile(float *out, const float *in)
{
    __shared__ float tile[TILE][TILE + PAD];
    int x = blockIdx.x * TILE + threadIdx.x, y = blockIdx.y * TILE + threadIdx.y;
    tile[threadIdx.y][threadIdx.x] = in[y * N + x];
    __syncthreads();
    x = blockIdx.y * TILE + threadIdx.x, y = blockIdx.x * TILE + threadIdx.y;
    out[y * N + x] = tile[threadIdx.x][threadIdx.y];
}

__global__ void transpose_shared(float *out, const float *in)
{
    by_tile<0>(out, in);
}

__global__ void transpose_padded(float *out, const float *in)
{
    by_tile<1>(out, in);
}

int main(int argc, char **argv)
{
    const size_t bytes = N * N * sizeof(float);
    std::vector<float> in = numbers(N * N, 1), want(N * N), got(N * N);
    for (int y = 0; y < N; y++)
        for (int x = 0; x < N; x++)
            want[x * N + y] = in[y * N + x];
    float *d_in, *d_out;
    CHECK(cudaMalloc(&d_in, bytes));
    CHECK(cudaMalloc(&d_out, bytes));
    CHECK(cudaMemcpy(d_in, in.data(), bytes, cudaMemcpyHostToDevice));
    const dim3 grid(N / TILE, N / TILE), block(TILE, TILE);
    int wrong = 0;
    for (auto *kernel : {transpose_naive, transpose_shared, transpose_padded}) {
        CHECK(cudaMemset(d_out, 0, bytes));
        if (!skip_kernel(argc, argv))
            kernel<<<grid, block>>>(d_out, d_in);
        CHECK(cudaMemcpy(got.data(), d_out, bytes, cudaMemcpyDeviceToHost));
        wrong |= verdict(got, want, 0);
    }
    CHECK(cudaFree(d_in));
    CHECK(cudaFree(d_out));
    return wrong;
}
