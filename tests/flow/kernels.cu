// Kernels of one shape for test_dynamic.c: in holds n numbers in [0, n), out has room for n. The test runs each twice with
// the same parameters and different numbers; kernels.ptx is made from this by
//   nvcc -ptx -O3 -lineinfo -arch=sm_80 kernels.cu
#include <stdio.h>

#define KERNEL(name) extern "C" __global__ void name(const int *__restrict__ in, int *out, int n)

__device__ int index_of_thread()
{
    return blockIdx.x * blockDim.x + threadIdx.x;
}

// ---- all proven ----

KERNEL(copy)
{
    int i = index_of_thread();
    if (i < n)
        out[i] = in[i] + 1;
}

KERNEL(tiled)
{
    __shared__ int tile[32][33];
    int x = threadIdx.x % 32, y = threadIdx.x / 32, i = index_of_thread();
    tile[y][x] = i < n ? in[i] : 0;
    __syncthreads();
    int sum = 0;
    for (int k = 0; k < blockDim.x / 32; k++)
        sum += tile[k][x] * (k + 1);
    if (i < n)
        out[i] = sum;
}

KERNEL(reduce)
{
    __shared__ int part[256];
    int i = index_of_thread(), t = threadIdx.x;
    part[t] = i < n ? in[i] : 0;
    __syncthreads();
    for (int step = blockDim.x / 2; step > 0; step /= 2) {
        if (t < step)
            part[t] += part[t + step];
        __syncthreads();
    }
    if (t == 0)
        out[blockIdx.x] = part[0];
}

KERNEL(shuffle_sum)
{
    int i = index_of_thread(), value = i < n ? in[i] : 0;
    for (int step = 16; step > 0; step /= 2)
        value += __shfl_down_sync(0xffffffff, value, step);
    int warp = __shfl_sync(0xffffffff, threadIdx.x / 32, 0);
    if (threadIdx.x % 32 == 0)
        out[blockIdx.x * (blockDim.x / 32) + warp] = value;
}

// Indices that are stored in shared memory and read back by others, beside loaded data in another array.
KERNEL(shared_table)
{
    __shared__ int table[256], data[256];
    int t = threadIdx.x, i = index_of_thread();
    table[t] = (t * 7 + 3) % 256;
    data[t] = i < n ? in[i] : 0;
    __syncthreads();
    int from = table[(t + 1) % 256];
    if (i < n)
        out[i] = data[from];
}

struct Pair {
    const int *data;
    int value;
};

__device__ __noinline__ int fetch(const Pair *pair, int at)
{
    return pair->data[at] + pair->value;
}

// A pointer and loaded data next to each other in one variable in local memory.
KERNEL(pair_in_local)
{
    int i = index_of_thread();
    if (i >= n)
        return;
    Pair pair = {in, in[i]};
    out[i] = fetch(&pair, n - 1 - i);
}

__device__ __noinline__ int mirror(int i, int n)
{
    if (i < 0 || i >= n)
        __trap();
    return n - 1 - i;
}

KERNEL(call_clean)
{
    int i = index_of_thread();
    if (i < n)
        out[i] = in[mirror(i, n)];
}

KERNEL(local_table)
{
    int steps[8];
    int i = index_of_thread();
    for (int k = 0; k < 8; k++)
        steps[k] = (k * k + n) % 31;
    int sum = 0;
    for (int k = 0; k < 4; k++)
        sum += in[(i + steps[(i + k) % 8]) % n];
    if (i < n)
        out[i] = sum;
}

KERNEL(faults_aside)
{
    int i = index_of_thread();
    if (i < n) {
        if (in[i] < 0 || in[i] >= n) {
            printf("bad %d\n", in[i]);
            __trap();
        }
        out[i] = in[i];
    }
}

// ---- some proven ----

KERNEL(gather)
{
    int i = index_of_thread();
    if (i < n)
        out[i] = in[in[i]];
}

KERNEL(scatter)
{
    int i = index_of_thread();
    if (i < n)
        out[in[i]] = i;
}

KERNEL(conditional)
{
    int i = index_of_thread();
    if (i < n) {
        int value = in[i];
        if (value % 3 == 0)
            out[i] = in[(i + 5) % n];
        out[n - 1 - i] = value;
    }
}

KERNEL(rows)
{
    int i = index_of_thread();
    if (i >= n)
        return;
    int sum = 0;
    for (int k = 0; k < in[i] % 16; k++)
        sum += in[(i + k) % n];
    out[i] = sum;
}

KERNEL(leaves_early)
{
    int i = index_of_thread();
    if (i >= n || in[i] % 2)
        return;
    out[i] = in[(i + 1) % n];
}

KERNEL(histogram)
{
    __shared__ int bins[64];
    int i = index_of_thread(), t = threadIdx.x;
    if (t < 64)
        bins[t] = 0;
    __syncthreads();
    if (i < n)
        atomicAdd(&bins[in[i] % 64], 1);
    __syncthreads();
    if (t < 64)
        atomicAdd(&out[t], bins[t]);
}

KERNEL(compact)
{
    int i = index_of_thread();
    bool keep = i < n && in[i] % 2;
    unsigned mask = __ballot_sync(0xffffffff, keep);
    int lane = threadIdx.x % 32, at = __popc(mask & ((1u << lane) - 1));
    if (keep)
        out[i - lane + at] = i;
}

KERNEL(ticket)
{
    __shared__ int mine;
    if (threadIdx.x == 0)
        mine = atomicAdd(out, 1) % 4;
    __syncthreads();
    out[1 + (mine * blockDim.x + threadIdx.x) % (n - 1)] = in[threadIdx.x % n];
}

KERNEL(sort_pairs)
{
    __shared__ int keys[256];
    int t = threadIdx.x, i = index_of_thread();
    keys[t] = i < n ? in[i] : n;
    __syncthreads();
    for (int phase = 0; phase < 16; phase++) {
        int left = 2 * (t / 2) + (phase & 1);
        if (t % 2 == 0 && left + 1 < 256 && keys[left] > keys[left + 1]) {
            int held = keys[left];
            keys[left] = keys[left + 1];
            keys[left + 1] = held;
        }
        __syncthreads();
    }
    if (i < n)
        out[i] = keys[t];
}

KERNEL(until_done)
{
    __shared__ int left;
    __shared__ int work[256];
    int t = threadIdx.x, i = index_of_thread();
    work[t] = i < n ? in[i] % 5 : 0;
    if (t == 0)
        left = 1;
    __syncthreads();
    while (left) {
        __syncthreads();
        if (t == 0)
            left = 0;
        __syncthreads();
        if (work[t] > 0) {
            work[t]--;
            left = 1;
        }
        __syncthreads();
    }
    if (i < n)
        out[i] = work[t];
}

KERNEL(data_in_local)
{
    int counts[8] = {0};
    int i = index_of_thread();
    for (int k = 0; k < 8; k++)
        counts[in[(i + k) % n] % 8]++;
    if (i < n)
        out[i] = counts[i % 8];
}

__device__ __noinline__ int walk(const int *in, int at, int depth)
{
    return depth == 0 ? at : walk(in, in[at], depth - 1);
}

KERNEL(recursion)
{
    int i = index_of_thread();
    if (i < n)
        out[i] = walk(in, i, 3);
}

__device__ int plus_one(int x) { return x + 1; }
__device__ int times_two(int x) { return x * 2; }
__device__ int (*const functions[2])(int) = {plus_one, times_two};

KERNEL(through_pointer)
{
    int i = index_of_thread();
    if (i < n)
        out[i] = functions[in[i] % 2](i);
}

KERNEL(cases)
{
    int i = index_of_thread();
    if (i >= n)
        return;
    int value;
    switch (in[i] % 6) {
    case 0: value = in[(i + 1) % n]; break;
    case 1: value = i * 5; break;
    case 2: value = in[(i + 2) % n] * 3; break;
    case 3: value = n; break;
    case 4: value = in[(i + 7) % n] - i; break;
    default: value = 0;
    }
    out[i] = value;
}

KERNEL(last_value)
{
    int i = index_of_thread();
    int at = i;
    while (in[at % n] % 7)
        at++;
    if (i < n)
        out[i] = in[at % n];
    if (i < n)
        out[n - 1 - i] = at;
}

KERNEL(clocked)
{
    int i = index_of_thread();
    long long start = clock64();
    if (i < n)
        out[i] = in[i];
    if (i < n && clock64() - start > 1000000000000ll)
        out[0] = 1;
}

// The slot decides what is stored where, so what is read back is not clean although only constants are stored.
KERNEL(marks)
{
    __shared__ int seen[256];
    int t = threadIdx.x, i = index_of_thread();
    seen[t] = 0;
    __syncthreads();
    if (i < n)
        seen[in[i] % 256] = 1;
    __syncthreads();
    if (i < n && seen[t])
        out[i] = 1;
}

