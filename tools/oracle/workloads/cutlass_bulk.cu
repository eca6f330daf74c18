/* Matrix products of CUTLASS on tensor cores of sm_90, whose tiles bulk copies bring by tensor maps. Compiled for sm_90a. */
#include "cutlass/cutlass.h"
#include "cute/tensor.hpp"
#include "cutlass/epilogue/collective/collective_builder.hpp"
#include "cutlass/gemm/collective/collective_builder.hpp"
#include "cutlass/gemm/device/gemm_universal_adapter.h"
#include "cutlass/gemm/kernel/gemm_universal.hpp"
#include "cutlass/util/packed_stride.hpp"

#include <cstdio>
#include <vector>

using namespace cute;
using row = cutlass::layout::RowMajor;
using column = cutlass::layout::ColumnMajor;

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

template <typename T, typename LayoutA, typename LayoutB, typename Out, typename Tile, typename Cluster, typename Schedule,
          typename Store>
struct tma_product {
    static constexpr int by = 16 / sizeof(T), by_out = 16 / sizeof(Out);
    using Epilogue = typename cutlass::epilogue::collective::CollectiveBuilder<
        cutlass::arch::Sm90, cutlass::arch::OpClassTensorOp, Tile, Cluster, cutlass::epilogue::collective::EpilogueTileAuto, float,
        float, Out, row, by_out, Out, row, by_out, Store>::CollectiveOp;
    using Mainloop = typename cutlass::gemm::collective::CollectiveBuilder<
        cutlass::arch::Sm90, cutlass::arch::OpClassTensorOp, T, LayoutA, by, T, LayoutB, by, float, Tile, Cluster,
        cutlass::gemm::collective::StageCountAutoCarveout<static_cast<int>(sizeof(typename Epilogue::SharedStorage))>,
        Schedule>::CollectiveOp;
    using Kernel = cutlass::gemm::kernel::GemmUniversal<Shape<int, int, int, int>, Mainloop, Epilogue>;
    using Gemm = cutlass::gemm::device::GemmUniversalAdapter<Kernel>;

    static int run(int m, int n, int k, int batch)
    {
        T *a = numbers<T>(m * k * batch), *b = numbers<T>(n * k * batch);
        Out *c = numbers<Out>(m * n * batch), *d = numbers<Out>(m * n * batch);
        auto stride_a = cutlass::make_cute_packed_stride(typename Kernel::StrideA{}, make_shape(m, k, batch));
        auto stride_b = cutlass::make_cute_packed_stride(typename Kernel::StrideB{}, make_shape(n, k, batch));
        auto stride_c = cutlass::make_cute_packed_stride(typename Kernel::StrideC{}, make_shape(m, n, batch));
        typename Gemm::Arguments arguments{cutlass::gemm::GemmUniversalMode::kGemm,
                                           {m, n, k, batch},
                                           {a, stride_a, b, stride_b},
                                           {{1.5f, 0.5f}, c, stride_c, d, stride_c}};
        Gemm gemm;
        void *workspace;
        cudaMalloc(&workspace, Gemm::get_workspace_size(arguments) + 1);
        if (gemm.initialize(arguments, workspace) != cutlass::Status::kSuccess || gemm.run() != cutlass::Status::kSuccess)
            return 1;
        return cudaDeviceSynchronize() != cudaSuccess;
    }
};

using f16 = cutlass::half_t;
using bf16 = cutlass::bfloat16_t;
using plain = cutlass::epilogue::NoSmemWarpSpecialized;
using bulk = cutlass::epilogue::TmaWarpSpecialized;
using together = cutlass::epilogue::TmaWarpSpecializedCooperative;

int main()
{
    using warps = cutlass::gemm::KernelTmaWarpSpecialized;
    using pingpong = cutlass::gemm::KernelTmaWarpSpecializedPingpong;
    using cooperative = cutlass::gemm::KernelTmaWarpSpecializedCooperative;
    return tma_product<f16, row, column, float, Shape<_64, _64, _64>, Shape<_1, _1, _1>, warps, plain>::run(256, 192, 320, 1) ||
           tma_product<f16, row, column, float, Shape<_64, _64, _64>, Shape<_1, _1, _1>, warps, plain>::run(200, 136, 72, 2) ||
           tma_product<bf16, column, row, bf16, Shape<_64, _128, _64>, Shape<_2, _1, _1>, pingpong, bulk>::run(384, 256, 200, 1) ||
           tma_product<f16, row, row, f16, Shape<_128, _128, _64>, Shape<_2, _1, _1>, cooperative, together>::run(512, 384, 256, 1) ||
           tma_product<cutlass::tfloat32_t, row, column, float, Shape<_64, _64, _32>, Shape<_1, _2, _1>, warps, plain>::run(192, 256,
                                                                                                                       96, 1);
}
