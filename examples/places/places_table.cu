/* A block keeps its table in shared memory, and loads its row where it adds it up. */
#include "places.h"

__global__ void look_up(const float *rows, const float *tables, float *sums)
{
    __shared__ float table[TABLE];
    const int t = threadIdx.x;
    for (int i = t; i < TABLE; i += THREADS)
        table[i] = tables[static_cast<size_t>(blockIdx.x) * TABLE + i];
    __syncthreads();
    float sum = 0;
    for (int i = t; i < ROW; i += THREADS)
        sum += rows[blockIdx.x * ROW + i];
    for (int pass = 0; pass < 4; pass++)
        for (int k = 0; k < LOOKUPS; k++)
            sum += table[place_of(t, k)];
    sums[blockIdx.x * THREADS + t] = sum;
}

int main(int argc, char **argv)
{
    return run_places(argc, argv, [](int blocks, const float *rows, const float *tables, float *sums) {
        look_up<<<blocks, THREADS>>>(rows, tables, sums);
    });
}
