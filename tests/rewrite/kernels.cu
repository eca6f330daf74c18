// Kernels for test_dynamic.c, each with something that probes have to get right; all take (int *data, int n): n numbers in
// [0, n), and 2 n zeroes behind them. kernels.ptx is made from this by
//   nvcc -ptx -O3 -lineinfo -arch=sm_80 kernels.cu
#include <cuda_pipeline.h>
#include <mma.h>

#define KERNEL(name) extern "C" __global__ void name(int *data, int n)

__constant__ int weights[16] = {3, 1, 4, 1, 5, 9, 2, 6, 5, 3, 5, 8, 9, 7, 9, 3};
__device__ int table[64] = {7, 3, 5}, sink[64];

__device__ int thread_index()
{
    int block = blockIdx.x + gridDim.x * (blockIdx.y + gridDim.y * blockIdx.z);
    int thread = threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z);
    return block * blockDim.x * blockDim.y * blockDim.z + thread;
}

// A generic pointer that is to global memory in some lanes, to shared in others, to local in the rest.
KERNEL(mixed_spaces)
{
    __shared__ int tile[64];
    int mine[4] = {n, n + 1, n + 2, n + 3}, i = thread_index();
    tile[threadIdx.x % 64] = i;
    __syncthreads();
    const int *from = i % 3 == 0 ? data + i : i % 3 == 1 ? tile + i % 64 : mine + data[i] % 4;
    data[n + i] = *from;
}

__device__ __noinline__ int gather(const int *data, int at, int depth)
{
    if (at % 5 == 4)
        return -1;
    return depth == 0 ? data[at] : data[at] + gather(data, data[at], depth - 1);
}

// Accesses in a function, which calls itself, with an early return.
KERNEL(called)
{
    int i = thread_index();
    data[n + i] = gather(data, i, data[i] % 3);
}

__device__ __noinline__ void last_words(int *data, int n, int i)
{
    if (data[i] % 2)
        asm volatile("exit;");
    data[n + i] = data[data[i]];
}

// Threads that end inside a function.
KERNEL(ends_in_function)
{
    int i = thread_index(), before = data[data[i]];
    last_words(data, n, i);
    data[n + i] += before;
}

// Threads that leave at several places, and others that go on.
KERNEL(leaves)
{
    int i = thread_index(), value = data[i];
    for (int k = 0; k < 5; k++) {
        if (value % 7 == k) {
            data[n + i] = data[(value + k) % n];
            return;
        }
        value = data[(value + 1) % n];
    }
    data[n + i] = value;
}

// Copies into shared memory that bypass registers, of 4, 8 and 16 bytes, and zeroes for lanes with nothing to copy.
KERNEL(copied)
{
    __shared__ alignas(16) int wide[4 * 64];
    __shared__ int narrow[64];
    int t = threadIdx.x % 64, i = thread_index(), from = data[i] % (n / 4) * 4;
    if (threadIdx.x < 64) {
        __pipeline_memcpy_async(wide + 4 * t, data + from, 16, t % 3 == 0 ? 16 : 0);
        __pipeline_memcpy_async(narrow + t, data + data[i], 4);
        __pipeline_commit();
    }
    __pipeline_wait_prior(0);
    __syncthreads();
    data[n + i] = wide[(4 * t + data[i]) % 256] + narrow[t];
}

// ldmatrix and mma.
KERNEL(matrices)
{
    __shared__ alignas(32) __half tile[16 * 16];
    int t = threadIdx.x;
    for (int k = t; k < 256; k += blockDim.x)
        tile[k] = __int2half_rn(data[k % n] % 8);
    __syncthreads();
    unsigned a, b, c, d, at = __cvta_generic_to_shared(tile + t % 32 / 16 * 8 + t % 16 * 16);
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];" : "=r"(a), "=r"(b), "=r"(c), "=r"(d) : "r"(at));
    unsigned e;
    asm volatile("ldmatrix.sync.aligned.m8n8.x1.trans.shared.b16 {%0}, [%1];" : "=r"(e) : "r"(at));
    data[n + thread_index()] = a ^ b ^ c ^ d ^ e;
}

// Atomics of all kinds, on global and shared memory, with and without a result; many lanes on one address.
KERNEL(atomics)
{
    __shared__ unsigned bins[32];
    if (threadIdx.x < 32)
        bins[threadIdx.x] = 0;
    __syncthreads();
    int i = thread_index();
    atomicAdd(&bins[data[i] % 32], 1u);
    atomicMax(&data[n + data[i]], i);
    atomicAdd(&data[2 * n + 5], 1);
    if (data[i] % 3 == 0 && atomicOr(&data[2 * n + 7], 1 << data[i] % 20) >= 0)
        atomicAdd(&data[2 * n + 6], data[i]);
    __syncthreads();
    if (threadIdx.x < 32)
        atomicAdd(&data[2 * n + n / 2 + threadIdx.x], (int)bins[threadIdx.x]);
}

// Wide and narrow accesses at addresses from data; misaligned rows of the bitmap's words.
KERNEL(widths)
{
    int i = thread_index(), at = data[i];
    const int4 *quads = (const int4 *)data;
    const int2 *pairs = (const int2 *)data;
    const unsigned char *bytes = (const unsigned char *)data;
    const short *halves = (const short *)data;
    int4 q = quads[at % (n / 4)];
    int2 p = pairs[at % (n / 2)];
    data[n + i] = q.x + q.w + p.y + bytes[at] + halves[at] + data[(i + 5) % n];
}

// Constant and module variables, indexed by data; shared memory of the launch's size.
KERNEL(variables)
{
    extern __shared__ int sized[];
    int i = thread_index();
    sized[threadIdx.x] = weights[data[i] % 16];
    __syncthreads();
    data[n + i] = sized[data[i] % blockDim.x] + table[data[i] % 64];
    sink[data[i] % 64] = i;
}

__device__ __noinline__ int plus(const int *data, int i) { return data[i] + 1; }
__device__ __noinline__ int minus(const int *data, int i) { return data[data[i]] - 1; }
__device__ int (*const operations[2])(const int *, int) = {plus, minus};

// A function that is called directly and through a pointer.
KERNEL(pointers)
{
    int i = thread_index(), value = data[i];
    data[n + i] = operations[value % 2](data, i) + minus(data, value);
}

// Nested loops whose bounds are data; a branch within.
KERNEL(nested)
{
    int i = thread_index(), sum = 0;
    for (int j = 0; j < data[i] % 9; j++)
        for (int k = j; k < data[(i + j) % n] % 7; k++)
            sum += (j ^ k) & 1 ? data[(i * j + k) % n] : k;
    data[n + i] = sum;
}

// A switch, compiled to a table of branches.
KERNEL(cases)
{
    int i = thread_index(), value = data[i];
    switch (value % 8) {
    case 0: value += data[(i + 1) % n]; break;
    case 1: value ^= data[(i + 2) % n]; break;
    case 2: value *= data[(i + 3) % n]; break;
    case 3: value -= data[(i + 4) % n]; break;
    case 4: value |= data[(i + 5) % n]; break;
    case 5: value &= data[(i + 6) % n]; break;
    case 6: data[n + i] = 1; return;
    default: value = __shfl_xor_sync(__activemask(), value, 1);
    }
    data[n + i] = value;
}

// Rows whose bounds are data: words one after the other, backwards, in pairs, with a way out in the middle; unrolled.
KERNEL(rows)
{
    int i = thread_index(), sum = 0, first = data[i] / 2, length = data[(i + 1) % n] % 37;
#pragma unroll 1
    for (int k = first; k < first + length; k++)
        sum += data[k];
#pragma unroll 1
    for (int k = first + length; k > first; k--)
        sum ^= data[k];
    const int2 *pairs = (const int2 *)data;
#pragma unroll 1
    for (int k = first / 2; k < (first + length) / 2; k++) {
        int2 p = pairs[k];
        if (p.x % 11 == 0)
            break;
        sum += p.y;
    }
    for (int k = first; k < first + length; k++)
        sum += data[k] * k;
    data[n + i] = sum;
}

// Rows within rows, each of another thread's choice; every second word only.
KERNEL(rows_of_rows)
{
    int i = thread_index(), sum = 0;
#pragma unroll 1
    for (int j = 0; j < data[i] % 5; j++) {
        int first = data[(i + j) % n] / 2;
#pragma unroll 1
        for (int k = 0; k < data[j] % 23; k++)
            sum += data[first + k];
#pragma unroll 1
        for (int k = 0; k < data[j] % 23; k++)
            sum -= data[first + 2 * k];
        if (sum % 13 == 5)
            return;
    }
    data[n + i] = sum;
}
