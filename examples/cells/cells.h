/* Cell lists: for each cell and each of its eight neighbours, how many pairs of particles there are to look at. */
#ifndef CELLS_H
#define CELLS_H

#include "../common/example.h"

constexpr int NEIGHBOURS = 8;

inline int neighbour_of(int cell, int n, int cells)
{
    return (cell + (n + 1) * 37) % cells;
}

template <typename Run> int run_cells(int argc, char **argv, Run run)
{
    int cells = size_argument(argc, argv, 32768);
    std::vector<int> count(cells);
    std::vector<float> want(static_cast<size_t>(cells) * NEIGHBOURS);
    for (int i = 0; i < cells; i++)
        count[i] = i * 7919 % 13;
    for (int c = 0; c < cells; c++)
        for (int n = 0; n < NEIGHBOURS; n++)
            want[c * NEIGHBOURS + n] = static_cast<float>(count[c] *
                                                          count[neighbour_of(c, n, cells)]);
    return verdict(run(count, skip_kernel(argc, argv)), want, 0);
}

#endif
