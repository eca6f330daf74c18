/* One step k of the modified Gram-Schmidt process on a SIZE x SIZE matrix: column k becomes a column of Q (kernel 2), and
 * its part is taken out of the columns behind it (kernel 3). Data, launch and check. */
#ifndef GRAMSCHMIDT_H
#define GRAMSCHMIDT_H

#include "../common/example.h"

constexpr int SIZE = 512, THREADS = 256, STEP = 3;

void launch_steps(float *d_a, float *d_r, float *d_q);

inline int run_gramschmidt(int argc, char **argv)
{
    size_t count = static_cast<size_t>(SIZE) * SIZE, bytes = count * sizeof(float);
    std::vector<float> a = numbers(count, 1), got(count), want = a, r(count);
    double norm = 0;
    for (int i = 0; i < SIZE; i++)
        norm += static_cast<double>(a[i * SIZE + STEP]) * a[i * SIZE + STEP];
    r[STEP * SIZE + STEP] = static_cast<float>(std::sqrt(norm));
    for (int j = STEP + 1; j < SIZE; j++) {
        double sum = 0;
        for (int i = 0; i < SIZE; i++)
            sum += a[i * SIZE + STEP] / r[STEP * SIZE + STEP] * a[i * SIZE + j];
        for (int i = 0; i < SIZE; i++)
            want[i * SIZE + j] -= static_cast<float>(a[i * SIZE + STEP] / r[STEP * SIZE + STEP] *
                                                     sum);
    }
    float *d_a, *d_r, *d_q;
    CHECK(cudaMalloc(&d_a, bytes));
    CHECK(cudaMalloc(&d_r, bytes));
    CHECK(cudaMalloc(&d_q, bytes));
    CHECK(cudaMemcpy(d_a, a.data(), bytes, cudaMemcpyHostToDevice));
    CHECK(cudaMemcpy(d_r, r.data(), bytes, cudaMemcpyHostToDevice));
    CHECK(cudaMemset(d_q, 0, bytes));
    if (!skip_kernel(argc, argv))
        launch_steps(d_a, d_r, d_q);
    CHECK(cudaGetLastError());
    CHECK(cudaMemcpy(got.data(), d_a, bytes, cudaMemcpyDeviceToHost));
    CHECK(cudaFree(d_a));
    CHECK(cudaFree(d_r));
    CHECK(cudaFree(d_q));
    return verdict(got, want, 1e-3f);
}

#endif
