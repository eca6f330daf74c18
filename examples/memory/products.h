/* Products of matrices in row-major order, and a check that multiplies by a vector. */
#ifndef PRODUCTS_H
#define PRODUCTS_H

#include "../common/example.h"

constexpr int TILE = 64, STEP = 16, SIDE = 16, EACH = TILE / SIDE;

/* c = a * b, with n columns, of `depth` products each; a block makes a tile of 64 x 64 results, a thread 4 x 4 of
 * them. */
__global__ void product(const float *a, const float *b, float *c, int n, int depth)
{
    __shared__ float tile_a[STEP][TILE + 2], tile_b[STEP][TILE];
    int tx = threadIdx.x, ty = threadIdx.y, thread = ty * SIDE + tx;
    int row0 = blockIdx.y * TILE, col0 = blockIdx.x * TILE, row = thread / 4, k = thread % 4 * 4;
    float sum[EACH][EACH] = {};
    for (int k0 = 0; k0 < depth; k0 += STEP) {
        float4 four = *reinterpret_cast<const float4 *>(&a[(row0 + row) * depth + k0 + k]);
        tile_a[k + 0][row] = four.x;
        tile_a[k + 1][row] = four.y;
        tile_a[k + 2][row] = four.z;
        tile_a[k + 3][row] = four.w;
        for (int i = thread; i < STEP * TILE; i += SIDE * SIDE)
            tile_b[i / TILE][i % TILE] = b[(k0 + i / TILE) * n + col0 + i % TILE];
        __syncthreads();
        for (int s = 0; s < STEP; s++)
            for (int i = 0; i < EACH; i++)
                for (int j = 0; j < EACH; j++)
                    sum[i][j] += tile_a[s][ty + i * SIDE] * tile_b[s][tx + j * SIDE];
        __syncthreads();
    }
    for (int i = 0; i < EACH; i++)
        for (int j = 0; j < EACH; j++)
            c[(row0 + ty + i * SIDE) * n + col0 + tx + j * SIDE] = sum[i][j];
}

/* The grid for so many results, and its blocks. */
inline dim3 tiles(int rows, int columns)
{
    return dim3(columns / TILE, rows / TILE);
}

inline dim3 threads()
{
    return dim3(SIDE, SIDE);
}

/* Matrices whose products stay small. */
inline std::vector<float> make_matrix(int n, unsigned seed)
{
    std::vector<float> a = numbers(static_cast<size_t>(n) * n, seed);
    for (float &x : a)
        x /= 16;
    return a;
}

inline std::vector<float> times(const std::vector<float> &a, const std::vector<float> &x)
{
    size_t n = x.size();
    std::vector<float> y(n);
    for (size_t i = 0; i < n; i++) {
        double sum = 0;
        for (size_t k = 0; k < n; k++)
            sum += static_cast<double>(a[i * n + k]) * x[k];
        y[i] = static_cast<float>(sum);
    }
    return y;
}

#endif
