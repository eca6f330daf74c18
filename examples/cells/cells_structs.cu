/* Cell lists as structures, the pairs stored cell by cell while the lanes of a warp take different cells. */
#include "cells.h"

struct Cell {
    int count, first;
    float mass, center[3], spin[2];
};

__global__ void count_pairs(const Cell *cells, int *pairs, int n)
{
    int cell = blockIdx.x * 32 + threadIdx.x, neighbour = threadIdx.y;
    int other = (cell + (neighbour + 1) * 37) % n;
    int a = cells[cell].count;  // finds: strided d_cells, hot d_cells
    int b = cells[other].count; // finds: strided d_cells
    pairs[cell * NEIGHBOURS + neighbour] = a * b; // finds: false-sharing d_pairs
}

int main(int argc, char **argv)
{
    return run_cells(argc, argv, [](const std::vector<int> &count, bool skip) {
        int n = static_cast<int>(count.size());
        std::vector<Cell> cells(n);
        std::vector<int> pairs(static_cast<size_t>(n) * NEIGHBOURS);
        for (int i = 0; i < n; i++)
            cells[i].count = count[i];
        Cell *d_cells;
        int *d_pairs;
        CHECK(cudaMalloc(&d_cells, n * sizeof(Cell)));
        CHECK(cudaMalloc(&d_pairs, pairs.size() * sizeof(int)));
        CHECK(cudaMemcpy(d_cells, cells.data(), n * sizeof(Cell), cudaMemcpyHostToDevice));
        CHECK(cudaMemset(d_pairs, 0, pairs.size() * sizeof(int)));
        if (!skip)
            count_pairs<<<n / 32, dim3(32, NEIGHBOURS)>>>(d_cells, d_pairs, n);
        CHECK(cudaGetLastError());
        CHECK(cudaMemcpy(pairs.data(), d_pairs, pairs.size() * sizeof(int), cudaMemcpyDeviceToHost));
        CHECK(cudaFree(d_cells));
        CHECK(cudaFree(d_pairs));
        return std::vector<float>(pairs.begin(), pairs.end());
    });
}
