/* y = M * x for a sparse matrix in compressed rows, a thread a row; 1 to 31 entries a row, 16 on average. SIZE is the number
 * of entries. */
#include "common.cuh"

constexpr int MEAN = 16;

__global__ void spmv_scalar(const int *first, const int *columns, const float *values, const float *x, float *y, int rows)
{
    int row = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= rows)
        return;
    float sum = 0;
    for (int i = first[row]; i < first[row + 1]; i++)
        sum += values[i] * x[columns[i]];
    y[row] = sum;
}

int main(int argc, char **argv)
{
    Bench bench(argc, argv, 1 << 21);
    int entries = bench.size, rows = std::max(entries / MEAN, 2);
    Random random(3);
    std::vector<int> first(rows + 1), columns(entries);
    for (int i = 0; i < rows; i += 2) { /* of two neighbours one has what the other lacks */
        int more = static_cast<int>(random.below(MEAN));
        first[i + 1] = std::min(first[i] + MEAN + more, entries);
        if (i + 2 <= rows)
            first[i + 2] = std::min(first[i] + 2 * MEAN, entries);
    }
    for (int &column : columns)
        column = static_cast<int>(random.below(rows));
    std::vector<float> values = random_floats(entries, 1), x = random_floats(rows, 2), want;
    Array<int> d_first(first), d_columns(columns);
    Array<float> d_values(values), d_x(x), d_y(rows);
    bench.rounds([&] {
        bench.time("spmv_scalar", [&] {
            spmv_scalar<<<blocks_for(rows, 256), 256>>>(d_first, d_columns, d_values, d_x, d_y, rows);
        });
    });
    for (int row = 0; bench.check && row < rows; row++) {
        double sum = 0;
        for (int i = first[row]; i < first[row + 1]; i++)
            sum += static_cast<double>(values[i]) * x[columns[i]];
        want.push_back(static_cast<float>(sum));
    }
    bench.expect("y", bench.result("y", d_y), want, 1e-4);
    return bench.done();
}
