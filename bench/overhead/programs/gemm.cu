/* C = A * B, square: naive with the lanes of a warp in rows (v00), in columns (v01), and through tiles in shared memory. */
#include "common.cuh"

constexpr int TILE = 32;

__global__ void gemm_v00(const float *a, const float *b, float *c, int n)
{
    int row = blockIdx.x * blockDim.x + threadIdx.x, column = blockIdx.y * blockDim.y + threadIdx.y;
    if (row >= n || column >= n)
        return;
    float sum = 0;
    for (int k = 0; k < n; k++)
        sum += a[row * n + k] * b[k * n + column];
    c[row * n + column] = sum;
}

__global__ void gemm_v01(const float *a, const float *b, float *c, int n)
{
    int column = blockIdx.x * blockDim.x + threadIdx.x, row = blockIdx.y * blockDim.y + threadIdx.y;
    if (row >= n || column >= n)
        return;
    float sum = 0;
    for (int k = 0; k < n; k++)
        sum += a[row * n + k] * b[k * n + column];
    c[row * n + column] = sum;
}

/* n must be a multiple of TILE. */
__global__ void gemm_tiled(const float *a, const float *b, float *c, int n)
{
    __shared__ float tile_a[TILE][TILE], tile_b[TILE][TILE];
    int x = threadIdx.x, y = threadIdx.y, column = blockIdx.x * TILE + x, row = blockIdx.y * TILE + y;
    float sum = 0;
    for (int first = 0; first < n; first += TILE) {
        tile_a[y][x] = a[row * n + first + x];
        tile_b[y][x] = b[(first + y) * n + column];
        __syncthreads();
        for (int k = 0; k < TILE; k++)
            sum += tile_a[y][k] * tile_b[k][x];
        __syncthreads();
    }
    c[row * n + column] = sum;
}

static std::vector<float> product(const std::vector<float> &a, const std::vector<float> &b, int n)
{
    std::vector<float> c(a.size());
    for (int i = 0; i < n; i++)
        for (int k = 0; k < n; k++)
            for (int j = 0; j < n; j++)
                c[i * n + j] += a[i * n + k] * b[k * n + j];
    return c;
}

int main(int argc, char **argv)
{
    Bench bench(argc, argv, 1024);
    int n = bench.size = (bench.size + TILE - 1) / TILE * TILE;
    std::vector<float> a = random_floats(n * n, 1), b = random_floats(n * n, 2), want;
    Array<float> d_a(a), d_b(b), d_v00(n * n), d_v01(n * n), d_tiled(n * n);
    dim3 grid(n / TILE, n / TILE), block(TILE, TILE);
    bench.rounds([&] {
        bench.time("gemm_v00", [&] { gemm_v00<<<grid, block>>>(d_a, d_b, d_v00, n); });
        bench.time("gemm_v01", [&] { gemm_v01<<<grid, block>>>(d_a, d_b, d_v01, n); });
        bench.time("gemm_tiled", [&] { gemm_tiled<<<grid, block>>>(d_a, d_b, d_tiled, n); });
    });
    if (bench.check)
        want = product(a, b, n);
    bench.expect("v00", bench.result("v00", d_v00), want, 1e-3);
    bench.expect("v01", bench.result("v01", d_v01), want, 1e-3);
    bench.expect("tiled", bench.result("tiled", d_tiled), want, 1e-3);
    return bench.done();
}
