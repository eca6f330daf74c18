/* G = (A * B) * (C * D). */
#ifndef THREE_PRODUCTS_H
#define THREE_PRODUCTS_H

#include "products.h"

/* `multiply` takes the matrices to the result on the device. */
template <typename Multiply> int run_three_products(int argc, char **argv, Multiply multiply)
{
    int n = size_argument(argc, argv, 1024);
    std::vector<float> a = make_matrix(n, 1), b = make_matrix(n, 2), c = make_matrix(n, 3),
                       d = make_matrix(n, 5);
    std::vector<float> g(a.size()), x = numbers(n, 4);
    multiply(a.data(), b.data(), c.data(), d.data(), g.data(), n, !skip_kernel(argc, argv));
    CHECK(cudaGetLastError());
    return verdict(times(g, x), times(a, times(b, times(c, times(d, x)))), 1e-3f);
}

#endif
