/* The modified Gram-Schmidt process on a matrix of 2 * SIZE rows and SIZE columns: three kernels a column, of which the third
 * takes column k out of those behind it, and is the one whose time counts. */
#include "common.cuh"

constexpr int THREADS = 128;

__global__ void kernel1(const float *a, float *r, int rows, int columns, int k)
{
    float sum = 0;
    for (int i = threadIdx.x; i < rows; i += 32)
        sum += a[i * columns + k] * a[i * columns + k];
    for (int distance = 16; distance > 0; distance /= 2)
        sum += __shfl_down_sync(0xffffffffu, sum, distance);
    if (threadIdx.x == 0)
        r[k * columns + k] = sqrtf(sum);
}

__global__ void kernel2(const float *a, const float *r, float *q, int rows, int columns, int k)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < rows)
        q[i * columns + k] = a[i * columns + k] / r[k * columns + k];
}

__global__ void kernel3(float *a, float *r, const float *q, int rows, int columns, int k)
{
    int j = blockIdx.x * blockDim.x + threadIdx.x;
    if (j <= k || j >= columns)
        return;
    float sum = 0;
    for (int i = 0; i < rows; i++)
        sum += q[i * columns + k] * a[i * columns + j];
    for (int i = 0; i < rows; i++)
        a[i * columns + j] -= q[i * columns + k] * sum;
    r[k * columns + j] = sum;
}

/* What the columns of Q, each against each, should give: 1 on the diagonal, 0 elsewhere. */
static std::vector<float> gram(const std::vector<float> &q, int rows, int columns)
{
    std::vector<float> products(static_cast<size_t>(columns) * columns);
    for (int i = 0; i < rows; i++)
        for (int j = 0; j < columns; j++)
            for (int k = 0; k < columns; k++)
                products[j * columns + k] += q[i * columns + j] * q[i * columns + k];
    return products;
}

int main(int argc, char **argv)
{
    Bench bench(argc, argv, 512, 5);
    int columns = bench.size, rows = 2 * columns;
    size_t count = static_cast<size_t>(rows) * columns;
    std::vector<float> products, unit;
    Array<float> d_start(random_floats(count, 1)), d_a(count), d_r(static_cast<size_t>(columns) * columns), d_q(count);
    bench.rounds([&] {
        d_a.copy(d_start);
        for (int k = 0; k < columns; k++) {
            kernel1<<<1, 32>>>(d_a, d_r, rows, columns, k);
            kernel2<<<blocks_for(rows, THREADS), THREADS>>>(d_a, d_r, d_q, rows, columns, k);
            bench.time("kernel3", [&] {
                kernel3<<<blocks_for(columns, THREADS), THREADS>>>(d_a, d_r, d_q, rows, columns, k);
            });
        }
    });
    bench.result("r", d_r);
    std::vector<float> q = bench.result("q", d_q);
    if (bench.check) {
        products = gram(q, rows, columns);
        for (int i = 0; i < columns * columns; i++)
            unit.push_back(i / columns == i % columns ? 1.0f : 0.0f);
    }
    bench.expect("products of columns of q", products, unit, 1e-3);
    return bench.done();
}
