/* The two products of a step of the bi-conjugate gradients, s = A^T r and q = A p, for a lower triangular matrix. It
 * is there in row-major and in column-major order, so that both products add up rows: of A those below the diagonal,
 * of its transpose those above. */
#ifndef BICG_H
#define BICG_H

#include "../common/example.h"

constexpr int THREADS = 256, BLOCKS = 264;

inline void add_reference(const std::vector<float> &a, const std::vector<float> &x, int n,
                          bool below, std::vector<float> &sums)
{
    for (int j = 0; j < n; j++) {
        double sum = 0;
        for (int i = below ? j : 0; i < (below ? n : j + 1); i++)
            sum += static_cast<double>(a[i * n + j]) * x[i];
        sums.push_back(static_cast<float>(sum));
    }
}

/* `multiply` takes the matrix, its transpose and two vectors to s, and behind it q. */
template <typename Multiply> int run_bicg(int argc, char **argv, Multiply multiply)
{
    int n = size_argument(argc, argv, 2048);
    std::vector<float> a = numbers(static_cast<size_t>(n) * n, 1), a_t(a.size()), got(2 * n), want;
    std::vector<float> r = numbers(n, 2), p = numbers(n, 3);
    for (int i = 0; i < n; i++)
        for (int j = 0; j <= i; j++)
            a_t[j * n + i] = a[i * n + j];
    multiply(a.data(), a_t.data(), r.data(), p.data(), got.data(), n, !skip_kernel(argc, argv));
    CHECK(cudaGetLastError());
    add_reference(a, r, n, true, want);
    add_reference(a_t, p, n, false, want);
    return verdict(got, want, 1e-2f);
}

#endif
