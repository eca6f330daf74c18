/* E = (A * B) * D. */
#ifndef TWO_PRODUCTS_H
#define TWO_PRODUCTS_H

#include "products.h"

/* `multiply` takes the matrices to the result on the device. */
template <typename Multiply> int run_two_products(int argc, char **argv, Multiply multiply)
{
    int n = size_argument(argc, argv, 1024);
    std::vector<float> a = make_matrix(n, 1), b = make_matrix(n, 2), d = make_matrix(n, 3);
    std::vector<float> e(a.size()), x = numbers(n, 4);
    multiply(a.data(), b.data(), d.data(), e.data(), n, !skip_kernel(argc, argv));
    CHECK(cudaGetLastError());
    return verdict(times(e, x), times(a, times(b, times(d, x))), 1e-3f);
}

#endif
