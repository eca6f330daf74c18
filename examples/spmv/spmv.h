/* y = M * x for a sparse matrix in compressed rows: data, launch and check, for both versions of the kernel. The matrix is
 * that of a mesh whose nodes have 32 unknowns: a row holds one to three groups of 32 neighbouring columns, within BAND of
 * the diagonal. Rows have 64 entries on average. As a mesh generator numbers the unknowns, each window of WINDOW columns is
 * shuffled; renumbered, a group's columns follow one another. */
#ifndef SPMV_H
#define SPMV_H

#include "../common/example.h"

#include <utility>

constexpr int GROUP = 32, BAND = 512, WINDOW = 1024, THREADS = 256;

struct Matrix {
    std::vector<int> offsets, columns;
    std::vector<float> values;
};

inline Matrix make_matrix(int rows, bool renumbered)
{
    Matrix m;
    unsigned seed = 7;
    auto random = [&seed](unsigned n) {
        seed = seed * 1664525u + 1013904223u;
        return static_cast<int>((seed >> 8) % n);
    };
    std::vector<int> place(WINDOW);
    for (int i = 0; i < WINDOW; i++) {
        place[i] = i;
        std::swap(place[i], place[renumbered ? i : random(i + 1)]);
    }
    for (int row = 0; row < rows; row++) {
        m.offsets.push_back(static_cast<int>(m.columns.size()));
        int first = row / GROUP - BAND / GROUP, groups = 1 + random(3);
        for (int g = 0; g < groups; g++) {
            int column = (first + random(2 * BAND / GROUP) + rows / GROUP) % (rows / GROUP) * GROUP;
            for (int i = 0; i < GROUP; i++)
                m.columns.push_back(column / WINDOW * WINDOW + place[column % WINDOW + i]);
        }
    }
    m.offsets.push_back(static_cast<int>(m.columns.size()));
    m.values = numbers(m.columns.size(), 1);
    return m;
}

inline std::vector<float> product(const Matrix &m, const std::vector<float> &x)
{
    std::vector<float> y(x.size());
    for (size_t row = 0; row < y.size(); row++)
        for (int i = m.offsets[row]; i < m.offsets[row + 1]; i++)
            y[row] += m.values[i] * x[m.columns[i]];
    return y;
}

template <typename T> T *upload(const std::vector<T> &data)
{
    T *copy;
    CHECK(cudaMalloc(&copy, data.size() * sizeof(T)));
    CHECK(cudaMemcpy(copy, data.data(), data.size() * sizeof(T), cudaMemcpyHostToDevice));
    return copy;
}

#endif
