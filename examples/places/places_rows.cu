/* A block keeps its row in shared memory, of which each number is read once, and looks its table up in device memory. */
#include "places.h"

__global__ void look_up(const float *rows, const float *tables, float *sums)
{
    __shared__ float row[ROW];
    const int t = threadIdx.x;
    const float *table = tables + static_cast<size_t>(blockIdx.x) * TABLE;
    for (int i = t; i < ROW; i += THREADS)
        row[i] = rows[blockIdx.x * ROW + i]; // finds: shared-thread-local row (hidden)
    __syncthreads();
    float sum = 0;
    for (int i = t; i < ROW; i += THREADS)
        sum += row[i]; // finds: shared-thread-local row (hidden)
    for (int pass = 0; pass < 4; pass++)
        for (int k = 0; k < LOOKUPS; k++)
            sum += table[place_of(t, k)]; // finds: swap-arrays d_tables, misaligned d_tables (covered)
    sums[blockIdx.x * THREADS + t] = sum;
}

int main(int argc, char **argv)
{
    return run_places(argc, argv, [](int blocks, const float *rows, const float *tables, float *sums) {
        look_up<<<blocks, THREADS>>>(rows, tables, sums);
    });
}
