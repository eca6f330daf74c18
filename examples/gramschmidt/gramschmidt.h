/* One step k of the modified Gram-Schmidt process on a SIZE x SIZE matrix: column k becomes a column of Q (kernel 2), and
 * its part is taken out of the columns behind it (kernel 3). Data, launch and check. */
#ifndef GRAMSCHMIDT_H
#define GRAMSCHMIDT_H

#include "../common/example.h"

constexpr int SIZE = 2048, THREADS = 256, STEP = 3;

/* d_column: column STEP of the matrix. */
void launch_steps(float *d_a, float *d_r, float *d_q, const float *d_column);

/* A has columns of unit length at most, about. */
inline std::vector<float> make_matrix()
{
    std::vector<float> a = numbers(static_cast<size_t>(SIZE) * SIZE, 1);
    for (float &x : a)
        x *= 0.04f;
    return a;
}

inline float norm_of_column(const std::vector<float> &a)
{
    double norm = 0;
    for (int i = 0; i < SIZE; i++)
        norm += static_cast<double>(a[i * SIZE + STEP]) * a[i * SIZE + STEP];
    return static_cast<float>(std::sqrt(norm));
}

inline std::vector<float> reference(const std::vector<float> &a, float norm)
{
    std::vector<float> want = a;
    std::vector<double> sums(SIZE);
    for (int i = 0; i < SIZE; i++)
        for (int j = STEP + 1; j < SIZE; j++)
            sums[j] += a[i * SIZE + STEP] / norm * a[i * SIZE + j];
    for (int i = 0; i < SIZE; i++)
        for (int j = STEP + 1; j < SIZE; j++)
            want[i * SIZE + j] -= static_cast<float>(a[i * SIZE + STEP] / norm * sums[j]);
    return want;
}

inline int run_gramschmidt(int argc, char **argv)
{
    size_t count = static_cast<size_t>(SIZE) * SIZE, bytes = count * sizeof(float);
    std::vector<float> a = make_matrix(), got(count), column(SIZE);
    float norm = norm_of_column(a);
    for (int i = 0; i < SIZE; i++)
        column[i] = a[i * SIZE + STEP];
    float *d_a, *d_r, *d_q, *d_column;
    CHECK(cudaMalloc(&d_a, bytes));
    CHECK(cudaMalloc(&d_r, bytes));
    CHECK(cudaMalloc(&d_q, bytes));
    CHECK(cudaMalloc(&d_column, SIZE * sizeof(float)));
    CHECK(cudaMemcpy(d_a, a.data(), bytes, cudaMemcpyHostToDevice));
    CHECK(cudaMemset(d_r, 0, bytes));
    CHECK(cudaMemcpy(d_r + STEP * SIZE + STEP, &norm, sizeof norm, cudaMemcpyHostToDevice));
    CHECK(cudaMemset(d_q, 0, bytes));
    CHECK(cudaMemcpy(d_column, column.data(), SIZE * sizeof(float), cudaMemcpyHostToDevice));
    if (!skip_kernel(argc, argv))
        launch_steps(d_a, d_r, d_q, d_column);
    CHECK(cudaGetLastError());
    CHECK(cudaMemcpy(got.data(), d_a, bytes, cudaMemcpyDeviceToHost));
    CHECK(cudaFree(d_a));
    CHECK(cudaFree(d_r));
    CHECK(cudaFree(d_q));
    CHECK(cudaFree(d_column));
    return verdict(got, reference(a, norm), 1e-3f);
}

#endif
