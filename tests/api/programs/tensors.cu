// Boxes of tensors, as a program written today has them: maps by cuTensorMapEncodeTiled from the runtime's entry point, in
// parameters and in constant memory; loads that wait at barriers of <cuda/barrier> and of cuda::ptx, stores, reductions, and
// what lies outside of a tensor. Results are compared with the host's; prints "ok" or what is wrong.
#include <cstdio>
#include <cstdlib>
#include <vector>

#include <cuda.h>
#include <cuda/barrier>
#include <cuda/ptx>
#include <cuda_runtime.h>

#define CHECK(call)                                                                      \
    do {                                                                                 \
        cudaError_t e_ = (call);                                                         \
        if (e_ != cudaSuccess) {                                                         \
            printf("%s: %s\n", #call, cudaGetErrorString(e_));                           \
            exit(1);                                                                     \
        }                                                                                \
    } while (0)

namespace ptx = cuda::ptx;
using barrier = cuda::barrier<cuda::thread_scope_block>;

constexpr int TILE = 32;

// ---- a transposition: the box comes swizzled, and leaves as it is ----

__global__ void transpose(const __grid_constant__ CUtensorMap from, const __grid_constant__ CUtensorMap to)
{
    __shared__ alignas(1024) float in[TILE][TILE];
    __shared__ alignas(128) float out[TILE][TILE];
#pragma nv_diag_suppress static_var_with_dynamic_init
    __shared__ barrier bar;
    const int x = blockIdx.x * TILE, y = blockIdx.y * TILE;
    if (threadIdx.x == 0) {
        init(&bar, blockDim.x);
        cuda::device::experimental::fence_proxy_async_shared_cta();
    }
    __syncthreads();
    barrier::arrival_token token;
    if (threadIdx.x == 0) {
        cuda::device::experimental::cp_async_bulk_tensor_2d_global_to_shared(&in, &from, x, y, bar);
        token = cuda::device::barrier_arrive_tx(bar, 1, sizeof in);
    } else {
        token = bar.arrive();
    }
    bar.wait(std::move(token));
    for (int i = threadIdx.x; i < TILE * TILE; i += blockDim.x) {
        const int row = i % TILE, column = i / TILE;
        out[column][row] = in[row][((column / 4) ^ (row % 8)) * 4 + column % 4];
    }
    cuda::device::experimental::fence_proxy_async_shared_cta();
    __syncthreads();
    if (threadIdx.x == 0) {
        cuda::device::experimental::cp_async_bulk_tensor_2d_shared_to_global(&to, y, x, &out);
        cuda::device::experimental::cp_async_bulk_commit_group();
        cuda::device::experimental::cp_async_bulk_wait_group_read<0>();
    }
}

// ---- C += A B, by maps in constant memory and two stages of boxes ----

__constant__ CUtensorMap maps[3];
constexpr int STAGES = 2;

__global__ void multiply(int steps)
{
    __shared__ alignas(128) float a[STAGES][TILE][TILE], b[STAGES][TILE][TILE], c[TILE][TILE];
    __shared__ uint64_t full[STAGES];
    const int x = threadIdx.x % TILE, y = threadIdx.x / TILE;
    const int row = blockIdx.y * TILE, column = blockIdx.x * TILE;
    const auto fetch = [&](int k) {
        const int32_t at_a[2] = {k * TILE, row}, at_b[2] = {column, k * TILE};
        uint64_t *bar = &full[k % STAGES];
        ptx::mbarrier_arrive_expect_tx(ptx::sem_release, ptx::scope_cta, ptx::space_shared, bar, 2 * sizeof c);
        ptx::cp_async_bulk_tensor(ptx::space_cluster, ptx::space_global, &a[k % STAGES], &maps[0], at_a, bar);
        ptx::cp_async_bulk_tensor(ptx::space_cluster, ptx::space_global, &b[k % STAGES], &maps[1], at_b, bar);
    };
    if (threadIdx.x == 0) {
        for (int s = 0; s < STAGES; s++)
            ptx::mbarrier_init(&full[s], 1);
        ptx::fence_mbarrier_init(ptx::sem_release, ptx::scope_cluster);
        for (int s = 0; s < STAGES && s < steps; s++)
            fetch(s);
    }
    __syncthreads();
    float sum = 0;
    for (int k = 0; k < steps; k++) {
        while (!ptx::mbarrier_try_wait_parity(&full[k % STAGES], k / STAGES % 2))
            ;
        for (int i = 0; i < TILE; i++)
            sum += a[k % STAGES][y][i] * b[k % STAGES][i][x];
        __syncthreads();
        if (threadIdx.x == 0 && k + STAGES < steps)
            fetch(k + STAGES);
    }
    c[y][x] = sum;
    ptx::fence_proxy_async(ptx::space_shared);
    __syncthreads();
    if (threadIdx.x == 0) {
        const int32_t at[2] = {column, row};
        ptx::cp_reduce_async_bulk_tensor(ptx::space_global, ptx::space_shared, ptx::op_add, &maps[2], at, &c);
        ptx::cp_async_bulk_commit_group();
        ptx::cp_async_bulk_wait_group_read(ptx::n32_t<0>{});
    }
}

// ---- the host's side ----

static CUtensorMap map_of(float *data, int columns, int rows, CUtensorMapSwizzle swizzle)
{
    static decltype(&cuTensorMapEncodeTiled) encode;
    if (!encode) {
        void *found = nullptr;
        cudaDriverEntryPointQueryResult status;
        CHECK(cudaGetDriverEntryPointByVersion("cuTensorMapEncodeTiled", &found, 12000, cudaEnableDefault, &status));
        if (status != cudaDriverEntryPointSuccess || !found) {
            printf("no cuTensorMapEncodeTiled\n");
            exit(1);
        }
        encode = (decltype(encode))found;
    }
    CUtensorMap map;
    cuuint64_t size[2] = {(cuuint64_t)columns, (cuuint64_t)rows}, stride[1] = {(cuuint64_t)columns * sizeof(float)};
    cuuint32_t box[2] = {TILE, TILE}, step[2] = {1, 1};
    CUresult e = encode(&map, CU_TENSOR_MAP_DATA_TYPE_FLOAT32, 2, data, size, stride, box, step,
                        CU_TENSOR_MAP_INTERLEAVE_NONE, swizzle, CU_TENSOR_MAP_L2_PROMOTION_L2_128B,
                        CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
    if (e != CUDA_SUCCESS) {
        printf("cuTensorMapEncodeTiled: %d\n", (int)e);
        exit(1);
    }
    return map;
}

static float *on_device(const std::vector<float> &data)
{
    float *d;
    CHECK(cudaMalloc(&d, data.size() * sizeof(float)));
    CHECK(cudaMemcpy(d, data.data(), data.size() * sizeof(float), cudaMemcpyHostToDevice));
    return d;
}

static std::vector<float> numbers(int count, int seed)
{
    std::vector<float> data(count);
    for (int i = 0; i < count; i++)
        data[i] = (float)((i * 37 + seed) % 13 - 6);
    return data;
}

static void compare(const char *what, const float *device, const std::vector<float> &want)
{
    std::vector<float> got(want.size());
    CHECK(cudaMemcpy(got.data(), device, got.size() * sizeof(float), cudaMemcpyDeviceToHost));
    for (size_t i = 0; i < want.size(); i++)
        if (got[i] != want[i]) {
            printf("%s: element %zu is %g instead of %g\n", what, i, got[i], want[i]);
            exit(1);
        }
}

static void transpose_all()
{
    const int columns = 100, rows = 72; // no multiples of a tile
    std::vector<float> in = numbers(columns * rows, 1), want(columns * rows);
    for (int y = 0; y < rows; y++)
        for (int x = 0; x < columns; x++)
            want[x * rows + y] = in[y * columns + x];
    float *from = on_device(in), *to = on_device(std::vector<float>(columns * rows, -1));
    transpose<<<dim3((columns + TILE - 1) / TILE, (rows + TILE - 1) / TILE), 128>>>(
        map_of(from, columns, rows, CU_TENSOR_MAP_SWIZZLE_128B),
        map_of(to, rows, columns, CU_TENSOR_MAP_SWIZZLE_NONE));
    CHECK(cudaDeviceSynchronize());
    compare("transpose", to, want);
    CHECK(cudaFree(from));
    CHECK(cudaFree(to));
}

static void multiply_all()
{
    const int m = 40, n = 52, k = 100;
    std::vector<float> a = numbers(m * k, 2), b = numbers(k * n, 3), c(m * n, 5);
    float *da = on_device(a), *db = on_device(b), *dc = on_device(c);
    CUtensorMap host[3] = {map_of(da, k, m, CU_TENSOR_MAP_SWIZZLE_NONE), map_of(db, n, k, CU_TENSOR_MAP_SWIZZLE_NONE),
                           map_of(dc, n, m, CU_TENSOR_MAP_SWIZZLE_NONE)};
    CHECK(cudaMemcpyToSymbol(maps, host, sizeof host));
    multiply<<<dim3((n + TILE - 1) / TILE, (m + TILE - 1) / TILE), TILE * TILE>>>((k + TILE - 1) / TILE);
    CHECK(cudaDeviceSynchronize());
    for (int y = 0; y < m; y++)
        for (int x = 0; x < n; x++)
            for (int i = 0; i < k; i++)
                c[y * n + x] += a[y * k + i] * b[i * n + x];
    compare("multiply", dc, c);
    CHECK(cudaFree(da));
    CHECK(cudaFree(db));
    CHECK(cudaFree(dc));
}

int main()
{
    transpose_all();
    multiply_all();
    printf("ok\n");
    return 0;
}
