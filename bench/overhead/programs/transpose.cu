/* The transpose of a square matrix: naive, and through a padded tile in shared memory. */
#include "common.cuh"

constexpr int TILE = 32, ROWS = 8;

__global__ void transpose_naive(const float *in, float *out, int n)
{
    int x = blockIdx.x * TILE + threadIdx.x, y = blockIdx.y * TILE + threadIdx.y;
    for (int i = 0; i < TILE; i += ROWS)
        if (x < n && y + i < n)
            out[x * n + y + i] = in[(y + i) * n + x];
}

__global__ void transpose_tiled(const float *in, float *out, int n)
{
    __shared__ float tile[TILE][TILE + 1];
    int x = blockIdx.x * TILE + threadIdx.x, y = blockIdx.y * TILE + threadIdx.y;
    for (int i = 0; i < TILE; i += ROWS)
        if (x < n && y + i < n)
            tile[threadIdx.y + i][threadIdx.x] = in[(y + i) * n + x];
    __syncthreads();
    x = blockIdx.y * TILE + threadIdx.x, y = blockIdx.x * TILE + threadIdx.y;
    for (int i = 0; i < TILE; i += ROWS)
        if (x < n && y + i < n)
            out[(y + i) * n + x] = tile[threadIdx.x][threadIdx.y + i];
}

int main(int argc, char **argv)
{
    Bench bench(argc, argv, 4096);
    int n = bench.size;
    size_t count = static_cast<size_t>(n) * n;
    std::vector<float> in = random_floats(count, 1), want;
    Array<float> d_in(in), d_naive(count), d_tiled(count);
    dim3 grid(blocks_for(n, TILE), blocks_for(n, TILE)), block(TILE, ROWS);
    bench.rounds([&] {
        bench.time("transpose_naive", [&] { transpose_naive<<<grid, block>>>(d_in, d_naive, n); });
        bench.time("transpose_tiled", [&] { transpose_tiled<<<grid, block>>>(d_in, d_tiled, n); });
    });
    for (size_t i = 0; bench.check && i < count; i++)
        want.push_back(in[i % n * n + i / n]);
    bench.expect("naive", bench.result("naive", d_naive), want);
    bench.expect("tiled", bench.result("tiled", d_tiled), want);
    return bench.done();
}
