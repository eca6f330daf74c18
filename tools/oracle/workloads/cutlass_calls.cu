/* Matrix products of CUTLASS: on ordinary cores, and on tensor cores with copies into shared memory that run beside them. */
#include "cutlass/gemm/device/gemm.h"

#include <cstdio>
#include <vector>

template <typename T> T *numbers(int count)
{
    std::vector<T> v(count);
    unsigned seed = 3;
    for (T &x : v)
        x = T((float)((seed = seed * 1664525u + 1013904223u) >> 24) / 64 - 2);
    T *device;
    cudaMalloc(&device, count * sizeof(T));
    cudaMemcpy(device, v.data(), count * sizeof(T), cudaMemcpyHostToDevice);
    return device;
}

using row = cutlass::layout::RowMajor;
using column = cutlass::layout::ColumnMajor;
using on_cores = cutlass::gemm::device::Gemm<float, row, float, column, float, row>;
using on_tensor_cores =
    cutlass::gemm::device::Gemm<cutlass::half_t, row, cutlass::half_t, column, cutlass::half_t, row, float,
                                cutlass::arch::OpClassTensorOp, cutlass::arch::Sm80>;

template <typename Gemm> int multiply(int m, int n, int k)
{
    using A = typename Gemm::ElementA;
    using C = typename Gemm::ElementC;
    A *a = numbers<A>(m * k), *b = numbers<A>(k * n);
    C *c = numbers<C>(m * n);
    Gemm gemm;
    auto status = gemm({{m, n, k}, {a, k}, {b, k}, {c, n}, {c, n}, {1.5f, 0.5f}});
    return status != cutlass::Status::kSuccess || cudaDeviceSynchronize() != cudaSuccess;
}

int main()
{
    return multiply<on_cores>(200, 150, 96) || multiply<on_cores>(128, 128, 64) || multiply<on_tensor_cores>(256, 192, 128) ||
           multiply<on_tensor_cores>(136, 72, 40);
}
