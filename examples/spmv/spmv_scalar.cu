/* Sparse matrix times vector, a thread a row: each lane walks through a row of its own. */
#include "spmv.h"

__global__ void spmv(const int *offsets, const int *columns, const float *values, const float *x,
                     float *y, int rows)
{
    int row = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= rows)
        return;
    float sum = 0;
    int first = offsets[row];
    int end = offsets[row + 1]; // finds: misaligned d_offsets (hidden)
#pragma unroll 1
    for (int i = first; i < end; i++) {
        int column = columns[i];  // finds: uncoalesced d_columns
        float value = values[i];  // finds: uncoalesced d_values
        sum += value * x[column]; // finds: hot-random d_x
    }
    y[row] = sum;
}

int main(int argc, char **argv)
{
    int rows = size_argument(argc, argv, 32768);
    Matrix m = make_matrix(rows, false);
    std::vector<float> x = numbers(rows, 2), y(rows);
    int *d_offsets = upload(m.offsets);
    int *d_columns = upload(m.columns);
    float *d_values = upload(m.values);
    float *d_x = upload(x);
    float *d_y = upload(y);
    if (!skip_kernel(argc, argv))
        spmv<<<rows / THREADS, THREADS>>>(d_offsets, d_columns, d_values, d_x, d_y, rows);
    CHECK(cudaGetLastError());
    CHECK(cudaMemcpy(y.data(), d_y, rows * sizeof(float), cudaMemcpyDeviceToHost));
    return verdict(y, product(m, x), 1e-3f);
}
