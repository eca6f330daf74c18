/* Cells are numbered like atoms, along z first, so that the lanes of a warp count in neighbouring cells; the lists lie slot
 * by slot, so that they write neighbouring words, too. */
#include "cells.h"

__device__ int cell_of(Box box, int atom)
{
    int ix = box.x[atom], iy = box.y[atom], iz = box.z[atom];
    return iz + box.cells * (ix + box.cells * iy);
}

__global__ void find_cell_counts(Box box, int *cell_count)
{
    int atom = blockIdx.x * THREADS + threadIdx.x;
    atomicAdd(&cell_count[cell_of(box, atom)], 1);
}

__global__ void find_cell_contents(Box box, int *cell_count, int cells, int *contents)
{
    int atom = blockIdx.x * THREADS + threadIdx.x, cell = cell_of(box, atom);
    int slot = atomicAdd(&cell_count[cell], 1);
    contents[slot * cells + cell] = atom;
}

static void build(Box box, int atoms, int *d_contents, bool skip)
{
    int cells = box.cells * box.cells * box.cells;
    size_t bytes = cells * sizeof(int);
    int *d_cell_count;
    CHECK(cudaMalloc(&d_cell_count, bytes));
    CHECK(cudaMemset(d_cell_count, 0, bytes));
    if (!skip)
        find_cell_counts<<<atoms / THREADS, THREADS>>>(box, d_cell_count);
    CHECK(cudaMemset(d_cell_count, 0, bytes));
    if (!skip)
        find_cell_contents<<<atoms / THREADS, THREADS>>>(box, d_cell_count, cells, d_contents);
}

int main(int argc, char **argv)
{
    return run_cells(argc, argv, build, [](int cell, int k, int n) {
        int ix = cell % n, iy = cell / n % n, iz = cell / n / n;
        return k * n * n * n + iz + n * (ix + n * iy);
    });
}
