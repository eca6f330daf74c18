// Variables of a module that launches share: those that record run in modules of their own, and must work on the same ones.
#include "check.h"

#include <cstdio>

enum { N = 256 };

__device__ int table[N];
static __device__ int hidden = 3;
__device__ int *place = table;
__device__ int marks[N], counters[2];
__managed__ int total;
__constant__ int factors[4] = {1, 2, 3, 4};
static __constant__ int offsets[4];

// What it accesses follows from the launch.
__global__ void fill(int start)
{
    table[threadIdx.x] = start + (int)threadIdx.x * 7 % N + marks[threadIdx.x];
    if (threadIdx.x == 0)
        hidden += 1;
}

// What these do follows from data.
__device__ __noinline__ int twice(int k)
{
    return table[table[k % N] % N] + hidden;
}

__global__ void gather(int *out, const int *index)
{
    int k = index[threadIdx.x] % N;
    out[threadIdx.x] = table[k] * factors[k % 4] + offsets[table[k] % 4] + twice(k) + place[k];
    if (k % 3 == 0)
        marks[k] += k;
    atomicAdd(&counters[table[k] & 1], 1);
    atomicAdd(&total, 1);
}

// Through a generic address.
__global__ void generic(int *out, const int *index)
{
    const int *from = index[threadIdx.x] & 1 ? factors : table;
    out[threadIdx.x] = from[index[threadIdx.x] % 4];
}

__global__ void wide(int *out, const int *index)
{
    extern __shared__ int cells[];
    cells[threadIdx.x * 63 % (16 * N)] = index[threadIdx.x];
    __syncthreads();
    out[threadIdx.x] = cells[index[threadIdx.x] % N * 63 % (16 * N)];
}

__global__ void print(const int *index)
{
    if (index[threadIdx.x] == 5)
        printf("thread %d has %d of %s\n", (int)threadIdx.x, index[threadIdx.x], "those");
}

// It calls through a pointer: it cannot record.
__device__ __noinline__ int plus(int a) { return a + 1; }
__device__ __noinline__ int minus(int a) { return a - 1; }
__device__ int (*const functions[2])(int) = {plus, minus};

__global__ void call(int *out, const int *index)
{
    out[threadIdx.x] = functions[index[threadIdx.x] & 1](table[index[threadIdx.x] % N]);
}

static int sum(const char *what, const int *out)
{
    int host[N];
    long long all = 0;
    CHECK(cudaMemcpy(host, out, sizeof host, cudaMemcpyDeviceToHost));
    for (int i = 0; i < N; i++)
        all += (long long)host[i] * (i + 1);
    printf("%s %lld\n", what, all);
    return 0;
}

// Constants that change from launch to launch, in the order of the stream.
static int change_constants(int *out, const int *index, cudaStream_t stream, cudaStream_t other)
{
    int *address, *device, *pinned;
    CHECK(cudaGetSymbolAddress((void **)&address, offsets));
    CHECK(cudaMalloc(&device, 4 * sizeof *device));
    CHECK(cudaMallocHost(&pinned, 40 * sizeof *pinned));
    for (int i = 0; i < 40; i++)
        pinned[i] = i * i;
    for (int i = 0; i < 4; i++) {
        CHECK(cudaMemcpyAsync(address, pinned + 4 * i, 4 * sizeof *pinned, cudaMemcpyHostToDevice, stream));
        gather<<<1, N, 0, stream>>>(out, index);
        gather<<<1, N, 0, stream>>>(out, index);
    }
    CHECK(cudaStreamSynchronize(stream));
    if (sum("copied", out))
        return 1;
    CHECK(cudaMemcpy(device, pinned + 20, 4 * sizeof *pinned, cudaMemcpyHostToDevice));
    CHECK(cudaMemcpy(address, device, 4 * sizeof *pinned, cudaMemcpyDeviceToDevice));
    gather<<<1, N, 0, other>>>(out, index);
    CHECK(cudaStreamSynchronize(other));
    if (sum("on the device", out))
        return 1;
    CHECK(cudaMemset(address, 1, 4 * sizeof *pinned));
    gather<<<1, N, 0, stream>>>(out, index);
    CHECK(cudaStreamSynchronize(stream));
    CHECK(cudaFreeHost(pinned));
    CHECK(cudaFree(device));
    return sum("set", out);
}

int main()
{
    int host[N], *index, *out, value[4];
    cudaStream_t stream, other;
    CHECK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
    CHECK(cudaStreamCreateWithFlags(&other, cudaStreamNonBlocking));
    CHECK(cudaMalloc(&index, sizeof host));
    CHECK(cudaMalloc(&out, sizeof host));
    for (int i = 0; i < N; i++)
        host[i] = i * 37 % N;
    CHECK(cudaMemcpy(index, host, sizeof host, cudaMemcpyHostToDevice));
    CHECK(cudaDeviceSynchronize());
    for (int i = 0; i < 3; i++) {
        fill<<<1, N>>>(i);
        gather<<<1, N>>>(out, index);
        if (sum("gather", out))
            return 1;
        generic<<<1, N>>>(out, index);
        if (sum("generic", out))
            return 1;
        for (int k = 0; k < 4; k++)
            value[k] = 5 * i + k;
        CHECK(cudaMemcpyToSymbol(factors, value, sizeof value));
        CHECK(cudaMemcpyToSymbol(table, host, 16 * sizeof *host, 64));
    }
    if (change_constants(out, index, stream, other))
        return 1;
    CHECK(cudaFuncSetAttribute(wide, cudaFuncAttributeMaxDynamicSharedMemorySize, 16 * N * (int)sizeof(int) * 4));
    wide<<<1, N, 16 * N * sizeof(int) * 4>>>(out, index);
    CHECK(cudaGetLastError());
    if (sum("wide", out))
        return 1;
    print<<<1, N>>>(index);
    CHECK(cudaDeviceSynchronize());
    call<<<1, N>>>(out, index);
    if (sum("call", out))
        return 1;
    CHECK(cudaMemcpyFromSymbol(value, counters, 2 * sizeof *value));
    CHECK(cudaMemcpyFromSymbol(value + 2, hidden, sizeof *value));
    printf("counters %d %d, hidden %d, total %d\n", value[0], value[1], value[2], total);
    return 0;
}
