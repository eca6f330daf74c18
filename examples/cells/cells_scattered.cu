/* Cells are numbered along x first, atoms along z: the lanes of a warp count in cells that lie far apart. */
#include "cells.h"

__device__ int cell_of(Box box, int atom)
{
    int ix = box.x[atom], iy = box.y[atom], iz = box.z[atom];
    return ix + box.cells * (iy + box.cells * iz);
}

__global__ void find_cell_counts(Box box, int *cell_count)
{
    int atom = blockIdx.x * THREADS + threadIdx.x;
    atomicAdd(&cell_count[cell_of(box, atom)], 1); // finds: strided d_cell_count, false-sharing d_cell_count
}

__global__ void find_cell_contents(Box box, int *cell_count, const int *cell_count_sum, int *contents)
{
    int atom = blockIdx.x * THREADS + threadIdx.x, cell = cell_of(box, atom);
    int slot = atomicAdd(&cell_count[cell], 1); // finds: strided d_cell_count (covered), false-sharing d_cell_count
    int first = cell_count_sum[cell]; // finds: strided d_cell_count_sum (hidden), false-sharing d_cell_count_sum (hidden)
    contents[first + slot] = atom; // finds: strided d_contents (hidden), false-sharing d_contents (hidden)
}

static void build(Box box, int atoms, int *d_contents, bool skip)
{
    int cells = box.cells * box.cells * box.cells;
    size_t bytes = cells * sizeof(int);
    std::vector<int> count(cells), sum(cells);
    int *d_cell_count, *d_cell_count_sum;
    CHECK(cudaMalloc(&d_cell_count, bytes));
    CHECK(cudaMalloc(&d_cell_count_sum, bytes));
    CHECK(cudaMemset(d_cell_count, 0, bytes));
    if (!skip)
        find_cell_counts<<<atoms / THREADS, THREADS>>>(box, d_cell_count);
    CHECK(cudaMemcpy(count.data(), d_cell_count, bytes, cudaMemcpyDeviceToHost));
    for (int c = 1; c < cells; c++)
        sum[c] = sum[c - 1] + count[c - 1];
    CHECK(cudaMemcpy(d_cell_count_sum, sum.data(), bytes, cudaMemcpyHostToDevice));
    CHECK(cudaMemset(d_cell_count, 0, bytes));
    if (!skip)
        find_cell_contents<<<atoms / THREADS, THREADS>>>(box, d_cell_count, d_cell_count_sum,
                                                         d_contents);
}

int main(int argc, char **argv)
{
    return run_cells(argc, argv, build,
                     [](int cell, int k, int) { return cell * ATOMS_A_CELL + k; });
}
