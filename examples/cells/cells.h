/* Cell lists of atoms on a lattice: how many atoms each cell has (find_cell_counts), and which (find_cell_contents). Atoms are
 * numbered along z first, then x, then y; a cell holds 2 x 2 x 2 of them. Data, launch and check. */
#ifndef CELLS_H
#define CELLS_H

#include "../common/example.h"

#include <algorithm>

constexpr int ATOMS_A_CELL = 8, THREADS = 256;

/* The cells along each axis, and where each atom is. */
struct Box {
    int cells;
    const float *x, *y, *z;
};

/* Fills contents[slot of the k-th atom of cell c] for all cells, and the slots' positions: position(c, k). */
template <typename Build, typename Position>
int run_cells(int argc, char **argv, Build build, Position position)
{
    int cells = size_argument(argc, argv, 32), side = 2 * cells, atoms = side * side * side;
    size_t bytes = atoms * sizeof(float);
    std::vector<float> x(atoms), y(atoms), z(atoms), jitter = numbers(atoms, 3);
    for (int i = 0; i < atoms; i++) {
        z[i] = static_cast<float>(i % side) / 2 + 0.25f + 0.2f * jitter[i];
        x[i] = static_cast<float>(i / side % side) / 2 + 0.25f;
        y[i] = static_cast<float>(i / side / side) / 2 + 0.25f;
    }
    Box box = {cells};
    float *d_x, *d_y, *d_z;
    int *d_contents;
    CHECK(cudaMalloc(&d_x, bytes));
    CHECK(cudaMalloc(&d_y, bytes));
    CHECK(cudaMalloc(&d_z, bytes));
    CHECK(cudaMalloc(&d_contents, bytes));
    CHECK(cudaMemcpy(d_x, x.data(), bytes, cudaMemcpyHostToDevice));
    CHECK(cudaMemcpy(d_y, y.data(), bytes, cudaMemcpyHostToDevice));
    CHECK(cudaMemcpy(d_z, z.data(), bytes, cudaMemcpyHostToDevice));
    CHECK(cudaMemset(d_contents, 0xff, bytes));
    box.x = d_x, box.y = d_y, box.z = d_z;
    build(box, atoms, d_contents, skip_kernel(argc, argv));
    CHECK(cudaGetLastError());
    std::vector<int> contents(atoms);
    CHECK(cudaMemcpy(contents.data(), d_contents, bytes, cudaMemcpyDeviceToHost));
    std::vector<float> got, want;
    for (int c = 0; c < cells * cells * cells; c++) {
        std::vector<int> in_cell;
        for (int k = 0; k < ATOMS_A_CELL; k++)
            in_cell.push_back(contents[position(c, k, cells)]);
        std::sort(in_cell.begin(), in_cell.end());
        int ix = c % cells, iy = c / cells % cells, iz = c / cells / cells;
        for (int k = 0; k < ATOMS_A_CELL; k++) {
            got.push_back(static_cast<float>(in_cell[k]));
            want.push_back(static_cast<float>(
                ((2 * iy + k / 4) * side + 2 * ix + k / 2 % 2) * side + 2 * iz + k % 2));
        }
    }
    return verdict(got, want, 0);
}

#endif
