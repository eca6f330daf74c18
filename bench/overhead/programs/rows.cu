/* y = M * x for a sparse matrix in compressed rows, a warp a row. Rows are skewed as in graphs of links: most have a few
 * entries, some thousands; 32 on average. SIZE is the number of rows. */
#include "common.cuh"

__global__ void rows_warp(const int *first, const int *columns, const float *values, const float *x, float *y, int rows)
{
    int row = (blockIdx.x * blockDim.x + threadIdx.x) / 32, lane = threadIdx.x % 32;
    if (row >= rows)
        return;
    float sum = 0;
    for (int i = first[row] + lane; i < first[row + 1]; i += 32)
        sum += values[i] * x[columns[i]];
    for (int step = 16; step > 0; step /= 2)
        sum += __shfl_down_sync(0xffffffff, sum, step);
    if (lane == 0)
        y[row] = sum;
}

/* Of a row: 2 to 2^12 entries, half as many rows with twice as many. */
static int row_length(Random &random)
{
    int length = 4;
    while (length < 4096 && random.next() & 1)
        length *= 2;
    return length / 2 + static_cast<int>(random.below(length));
}

int main(int argc, char **argv)
{
    Bench bench(argc, argv, 1 << 18);
    int rows = bench.size;
    Random random(9);
    std::vector<int> first(1, 0), columns;
    for (int row = 0; row < rows; row++)
        first.push_back(first.back() + row_length(random));
    columns.resize(first.back());
    for (int &column : columns)
        column = static_cast<int>(random.below(rows));
    std::vector<float> values = random_floats(columns.size(), 1), x = random_floats(rows, 2), want;
    Array<int> d_first(first), d_columns(columns);
    Array<float> d_values(values), d_x(x), d_y(rows);
    bench.rounds([&] {
        bench.time("rows_warp", [&] {
            rows_warp<<<blocks_for(32ll * rows, 256), 256>>>(d_first, d_columns, d_values, d_x, d_y, rows);
        });
    });
    for (int row = 0; bench.check && row < rows; row++) {
        double sum = 0;
        for (int i = first[row]; i < first[row + 1]; i++)
            sum += static_cast<double>(values[i]) * x[columns[i]];
        want.push_back(static_cast<float>(sum));
    }
    bench.expect("y", bench.result("y", d_y), want, 1e-3);
    return bench.done();
}
