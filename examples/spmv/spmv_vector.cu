/* Sparse matrix times vector, unknowns renumbered, a warp a row: the lanes run along it. A lane fetches beginning and end of one row as a pair,
 * for all lanes; the block keeps its part of x in shared memory. */
#include "spmv.h"

constexpr int ROWS = THREADS; /* a block: 32 a warp */
constexpr int NEAR = ROWS + 2 * BAND;

__global__ void spmv(const int2 *pairs, const int *columns, const float *values, const float *x,
                     float *y, int rows)
{
    __shared__ float near[NEAR];
    int first = blockIdx.x * ROWS, lane = threadIdx.x % 32;
    for (int i = threadIdx.x; i < NEAR; i += THREADS)
        near[i] = x[(first - BAND + i + rows) % rows];
    __syncthreads();
    int2 mine = pairs[first + threadIdx.x];
    float result = 0;
    for (int k = 0; k < 32; k++) {
        int begin = __shfl_sync(0xffffffff, mine.x, k), end = __shfl_sync(0xffffffff, mine.y, k);
        float sum = 0;
#pragma unroll 1
        for (int i = begin + lane; i < end; i += 32)
            sum += values[i] * near[(columns[i] - first + BAND + rows) % rows];
        for (int step = 16; step > 0; step /= 2)
            sum += __shfl_xor_sync(0xffffffff, sum, step);
        if (lane == k)
            result = sum;
    }
    y[first + threadIdx.x] = result;
}

int main(int argc, char **argv)
{
    int rows = size_argument(argc, argv, 32768);
    Matrix m = make_matrix(rows, true);
    std::vector<float> x = numbers(rows, 2), y(rows);
    std::vector<int2> pairs(rows);
    for (int i = 0; i < rows; i++)
        pairs[i] = {m.offsets[i], m.offsets[i + 1]};
    int2 *d_pairs = upload(pairs);
    int *d_columns = upload(m.columns);
    float *d_values = upload(m.values);
    float *d_x = upload(x);
    float *d_y = upload(y);
    if (!skip_kernel(argc, argv))
        spmv<<<rows / ROWS, THREADS>>>(d_pairs, d_columns, d_values, d_x, d_y, rows);
    CHECK(cudaGetLastError());
    CHECK(cudaMemcpy(y.data(), d_y, rows * sizeof(float), cudaMemcpyDeviceToHost));
    return verdict(y, product(m, x), 1e-3f);
}
