/* Products and convolutions of CUTLASS whose tiles come by asynchronous copies of 4, 8 and 16 bytes or by plain loads, with edges that no
 * tile fits. */
#include "cutlass/conv/conv2d_problem_size.h"
#include "cutlass/conv/device/implicit_gemm_convolution.h"
#include "cutlass/conv/kernel/default_conv2d_fprop.h"
#include "cutlass/gemm/device/gemm.h"
#include "cutlass/gemm/device/gemm_splitk_parallel.h"

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
using f16 = cutlass::half_t;
using shape = cutlass::gemm::GemmShape<64, 64, 32>;
using warp = cutlass::gemm::GemmShape<32, 32, 32>;

template <typename T, typename LayoutA, typename LayoutB, typename Out, int Aligned, int AlignedOut, int Stages, typename Step>
using on_tensor_cores = cutlass::gemm::device::Gemm<
    T, LayoutA, T, LayoutB, Out, row, float, cutlass::arch::OpClassTensorOp, cutlass::arch::Sm80, shape, warp, Step,
    cutlass::epilogue::thread::LinearCombination<Out, AlignedOut, float, float>,
    cutlass::gemm::threadblock::GemmIdentityThreadblockSwizzle<>, Stages, Aligned, Aligned>;
using halves = cutlass::gemm::GemmShape<16, 8, 16>;
using singles = cutlass::gemm::GemmShape<16, 8, 8>;

template <typename Gemm> int multiply(int m, int n, int k, int lda, int ldb, int ldc)
{
    using A = typename Gemm::ElementA;
    using C = typename Gemm::ElementC;
    A *a = numbers<A>((m + k) * lda), *b = numbers<A>((n + k) * ldb);
    C *c = numbers<C>(m * ldc);
    Gemm gemm;
    auto status = gemm({{m, n, k}, {a, lda}, {b, ldb}, {c, ldc}, {c, ldc}, {1.5f, 0.5f}});
    return status != cutlass::Status::kSuccess || cudaDeviceSynchronize() != cudaSuccess;
}

int split(int m, int n, int k, int parts)
{
    using Gemm = cutlass::gemm::device::GemmSplitKParallel<f16, row, f16, column, float, row, float, cutlass::arch::OpClassTensorOp,
                                                           cutlass::arch::Sm80, shape, warp, halves>;
    f16 *a = numbers<f16>(m * k), *b = numbers<f16>(n * k);
    float *c = numbers<float>(m * n);
    typename Gemm::Arguments arguments({m, n, k}, {a, k}, {b, k}, {c, n}, {c, n}, {1.5f, 0.5f}, parts);
    void *workspace;
    cudaMalloc(&workspace, Gemm::get_workspace_size(arguments) + 1);
    Gemm gemm;
    return gemm.initialize(arguments, workspace) != cutlass::Status::kSuccess || gemm.run() != cutlass::Status::kSuccess ||
           cudaDeviceSynchronize() != cudaSuccess;
}

template <int Aligned> int convolve(int batch, int size, int channels, int filters, int side, int stride)
{
    using tensor = cutlass::layout::TensorNHWC;
    using Kernel = typename cutlass::conv::kernel::DefaultConv2dFprop<
        f16, tensor, f16, tensor, float, tensor, float, cutlass::arch::OpClassTensorOp, cutlass::arch::Sm80, shape, warp, halves,
        cutlass::epilogue::thread::LinearCombination<float, 4, float, float>,
        cutlass::gemm::threadblock::GemmIdentityThreadblockSwizzle<>, 3, cutlass::arch::OpMultiplyAdd,
        cutlass::conv::IteratorAlgorithm::kAnalytic, cutlass::conv::StrideSupport::kStrided, Aligned, Aligned>::Kernel;
    using Convolution = cutlass::conv::device::ImplicitGemmConvolution<Kernel>;
    int pad = side / 2, out = (size + 2 * pad - side) / stride + 1;
    cutlass::conv::Conv2dProblemSize problem({batch, size, size, channels}, {filters, side, side, channels}, {pad, pad, pad, pad},
                                             {stride, stride}, {1, 1}, {batch, out, out, filters});
    f16 *x = numbers<f16>(batch * size * size * channels), *w = numbers<f16>(filters * side * side * channels);
    float *y = numbers<float>(batch * out * out * filters);
    auto in = tensor::packed({batch, size, size, channels}), of = tensor::packed({filters, side, side, channels}),
         to = tensor::packed({batch, out, out, filters});
    Convolution run;
    typename Convolution::Arguments arguments(problem, {x, in}, {w, of}, {y, to}, {y, to}, {1.5f, 0.5f});
    return run.initialize(arguments, nullptr) != cutlass::Status::kSuccess || run() != cutlass::Status::kSuccess ||
           cudaDeviceSynchronize() != cudaSuccess;
}

int main()
{
    return multiply<on_tensor_cores<f16, row, column, float, 8, 4, 3, halves>>(200, 136, 104, 104, 104, 136) ||
           multiply<on_tensor_cores<f16, row, row, f16, 8, 8, 4, halves>>(192, 72, 80, 88, 80, 72) ||
           multiply<on_tensor_cores<f16, column, row, float, 4, 1, 3, halves>>(100, 60, 52, 100, 60, 61) ||
           multiply<on_tensor_cores<f16, row, column, f16, 2, 2, 4, halves>>(90, 70, 66, 66, 70, 70) ||
           multiply<on_tensor_cores<f16, column, column, float, 2, 1, 2, halves>>(130, 65, 34, 130, 36, 65) ||
           multiply<on_tensor_cores<float, row, column, float, 4, 4, 3, singles>>(132, 100, 68, 68, 72, 100) ||
           multiply<on_tensor_cores<float, column, row, float, 2, 2, 3, singles>>(130, 66, 38, 130, 66, 66) ||
           multiply<on_tensor_cores<float, row, row, float, 1, 1, 4, singles>>(77, 63, 41, 43, 63, 65) ||
           multiply<cutlass::gemm::device::Gemm<float, row, float, column, float, row>>(150, 99, 37, 37, 41, 99) ||
           multiply<cutlass::gemm::device::Gemm<float, column, float, row, float, row>>(150, 99, 37, 151, 99, 101) ||
           multiply<cutlass::gemm::device::Gemm<double, row, double, column, double, row>>(70, 65, 33, 35, 37, 67) ||
           split(128, 72, 512, 3) || convolve<8>(2, 14, 24, 40, 3, 1) || convolve<8>(1, 20, 16, 32, 5, 2) ||
           convolve<4>(2, 9, 12, 20, 3, 1) || convolve<2>(2, 10, 6, 12, 3, 1);
}
