/* Kernels whose accesses, or whose ways, data decides: what replay computes of a warp and what probes trace of it have to be
 * put together. Some rows are much longer than others, so that warps stand out. */
#include "check.h"

#include <cstdint>
#include <vector>

enum { BLOCKS = 16, THREADS = 64, ROWS = BLOCKS * THREADS, STEPS = 4 };

/* A row a thread; how long it is, data says. */
__global__ void sum_rows(const int *begin, const int *column, const float *value, const float *x, float *y)
{
    int i = blockIdx.x * THREADS + threadIdx.x;
    float sum = 0;
    for (int at = begin[i]; at < begin[i + 1]; at++)
        sum += value[at] * x[column[at]];
    y[i] = sum;
}

/* Always the same way; where it reads, data says. */
__global__ void gather(const int *index, const float *table, float *out)
{
    __shared__ float tile[THREADS];
    int i = blockIdx.x * THREADS + threadIdx.x;
    for (int step = 0; step < STEPS; step++) {
        tile[threadIdx.x] = table[index[step * ROWS + i]];
        __syncthreads();
        out[step * ROWS + i] = tile[THREADS - 1 - threadIdx.x];
        __syncthreads();
    }
}

/* Lists of different lengths, a round of a loop each; their ends are counted in shared memory. */
__global__ void follow(const int *next, int *ends, int *counts)
{
    __shared__ int bins[32];
    int i = blockIdx.x * THREADS + threadIdx.x, at;
    if (threadIdx.x < 32)
        bins[threadIdx.x] = 0;
    __syncthreads();
    for (int step = 0; step < 2; step++) {
        for (at = (i + step * 7) % ROWS; next[at] >= 0;)
            at = next[at];
        ends[step * ROWS + i] = at;
        atomicAdd(&bins[at % 32], 1);
    }
    __syncthreads();
    if (threadIdx.x < 32)
        counts[blockIdx.x * 32 + threadIdx.x] = bins[threadIdx.x];
}

/* NULL where the device has no room. */
template <typename T> static T *upload(const std::vector<T> &from)
{
    T *to = nullptr;
    if (cudaMalloc(&to, from.size() * sizeof(T)) == cudaSuccess)
        cudaMemcpy(to, from.data(), from.size() * sizeof(T), cudaMemcpyHostToDevice);
    return to;
}

static uint32_t number(uint32_t x)
{
    x = (x ^ x >> 16) * 0x7feb352du;
    x = (x ^ x >> 15) * 0x846ca68bu;
    return x ^ x >> 16;
}

int main()
{
    std::vector<int> begin(ROWS + 1), column, index(STEPS * ROWS), next(ROWS);
    std::vector<float> value, x(ROWS);
    for (int i = 0; i < ROWS; i++) {
        int length = 1 + i / 32 % 3 + (i / THREADS == 5 ? 12 : 0); /* warps differ, and block 5 does */
        length = i % 97 == 0 ? 0 : length;
        begin[i + 1] = begin[i] + length;
        for (int k = 0; k < length; k++) {
            column.push_back((int)(number((uint32_t)(i * 16 + k)) % ROWS));
            value.push_back((float)(k + 1));
        }
        x[i] = (float)(i % 8);
        next[i] = i % 10 == 9 ? -1 : (i + 1) % ROWS;
    }
    next[ROWS - 1] = -1;
    for (int i = 0; i < STEPS * ROWS; i++)
        index[i] = (int)(number((uint32_t)i) % ROWS);
    float *y, *out;
    int *ends, *counts;
    CHECK(cudaMalloc(&y, ROWS * sizeof *y));
    CHECK(cudaMalloc(&out, STEPS * ROWS * sizeof *out));
    CHECK(cudaMalloc(&ends, 2 * ROWS * sizeof *ends));
    CHECK(cudaMalloc(&counts, BLOCKS * 32 * sizeof *counts));
    float *d_x = upload(x);
    sum_rows<<<BLOCKS, THREADS>>>(upload(begin), upload(column), upload(value), d_x, y);
    CHECK(cudaGetLastError());
    CHECK(cudaDeviceSynchronize());
    gather<<<BLOCKS, THREADS>>>(upload(index), d_x, out);
    CHECK(cudaGetLastError());
    CHECK(cudaDeviceSynchronize());
    follow<<<BLOCKS, THREADS>>>(upload(next), ends, counts);
    CHECK(cudaGetLastError());
    CHECK(cudaDeviceSynchronize());
    std::vector<float> sums(ROWS);
    std::vector<int> counted(BLOCKS * 32);
    CHECK(cudaMemcpy(sums.data(), y, ROWS * sizeof(float), cudaMemcpyDeviceToHost));
    CHECK(cudaMemcpy(counted.data(), counts, BLOCKS * 32 * sizeof(int), cudaMemcpyDeviceToHost));
    float sum = 0;
    int all = 0;
    for (float s : sums)
        sum += s;
    for (int c : counted)
        all += c;
    printf("%.0f %d\n", (double)sum, all);
    return 0;
}
