/* What a kernel may need beside its instructions, for test_ways.py: it prints the same however its kernels run. */
#include <cassert>
#include <cstdio>
#include <cstdlib>

#define CHECK(call)                                                   \
    do {                                                              \
        cudaError_t error_ = (call);                                  \
        if (error_ != cudaSuccess) {                                  \
            std::printf("%s: %s\n", #call, cudaGetErrorName(error_)); \
            std::exit(3);                                             \
        }                                                             \
    } while (0)

enum { N = 256 };

__constant__ int factors[4] = {1, 2, 3, 4};
__constant__ float offset = 0.5f;
__device__ int total;
__device__ int numbers[N];
static __device__ int started = 7;

__global__ void from_constants(float *out)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    out[i] = (float)(i * factors[i & 3]) + offset;
}

__global__ void to_variables(int add)
{
    numbers[threadIdx.x] += add + started;
    atomicAdd(&total, numbers[threadIdx.x]);
}

__global__ void all_shared(const float *in, float *out, int n)
{
    extern __shared__ float row[];
    for (int i = threadIdx.x; i < n; i += blockDim.x)
        row[i] = in[i % N];
    __syncthreads();
    out[threadIdx.x] = row[n - 1 - threadIdx.x];
}

__global__ void from_heap(int *out)
{
    int *own = (int *)malloc(2 * sizeof(int));
    own[0] = threadIdx.x;
    own[1] = own[0] * 3;
    out[threadIdx.x] = own[own[0] & 1];
    free(own);
}

__global__ void printing(int n)
{
    if (threadIdx.x < n)
        printf("lane %d\n", threadIdx.x);
}

__global__ void asserting(const int *in)
{
    assert(in[threadIdx.x] >= 0);
}

template <class T> static void show(const char *name, const T *device)
{
    static T host[N];
    double sum = 0;
    CHECK(cudaMemcpy(host, device, sizeof host, cudaMemcpyDeviceToHost));
    for (int i = 0; i < N; i++)
        sum += (i % 7 + 1) * (double)host[i];
    std::printf("%s %.3f\n", name, sum);
}

int main()
{
    float *reals, *more;
    int *wholes, sum, other[4] = {9, 8, 7, 6};
    int most = 227 << 10;
    CHECK(cudaMalloc(&reals, N * sizeof *reals));
    CHECK(cudaMalloc(&more, N * sizeof *more));
    CHECK(cudaMalloc(&wholes, N * sizeof *wholes));
    from_constants<<<2, N / 2>>>(reals);
    show("first constants", reals);
    CHECK(cudaMemcpyToSymbol(factors, other, sizeof other));
    from_constants<<<2, N / 2>>>(reals);
    show("other constants", reals);
    for (int i = 0; i < 4; i++)
        from_constants<<<2, N / 2>>>(reals);
    to_variables<<<1, N>>>(5);
    to_variables<<<1, N>>>(5);
    CHECK(cudaMemcpyFromSymbol(&sum, total, sizeof sum));
    std::printf("total %d\n", sum);
    CHECK(cudaFuncSetAttribute(all_shared, cudaFuncAttributeMaxDynamicSharedMemorySize, most));
    all_shared<<<1, N, most>>>(reals, more, most / (int)sizeof(float));
    show("shared", more);
    from_heap<<<1, N>>>(wholes);
    show("heap", wholes);
    printing<<<1, 32>>>(2);
    asserting<<<1, N>>>(wholes);
    CHECK(cudaDeviceSynchronize());
    std::printf("done\n");
    return 0;
}
