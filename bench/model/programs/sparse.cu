// A sparse matrix times a vector: a thread a row, a warp a row, by columns (ELLPACK); and prefix sums of blocks: by steps, work-efficient
// with conflicts, padded, with shuffles.
#include "harness.h"

#include <random>

const int sizes[2] = {1 << 15, 1 << 20};
enum { WIDTH = 32, BLOCK = 512 };
static int *begins, *columns, *columns_across;
static float *values, *values_across, *x, *y, *scan_in, *scan_out;
static int n;

static void prepare(int size)
{
    n = size;
    std::mt19937 random(1);
    std::vector<int> b(n + 1), c((size_t)n * WIDTH), across((size_t)n * WIDTH);
    for (int i = 0; i <= n; i++)
        b[i] = i * WIDTH;
    for (int i = 0; i < n; i++)
        for (int k = 0; k < WIDTH; k++) {
            c[(size_t)i * WIDTH + k] = (int)((i + random() % 4096) % n);
            across[(size_t)k * n + i] = c[(size_t)i * WIDTH + k];
        }
    begins = device<int>(n + 1);
    columns = device<int>(c.size());
    columns_across = device<int>(c.size());
    values = device<float>(c.size());
    values_across = device<float>(c.size());
    std::vector<float> ones(c.size(), 0.5f);
    CHECK(cudaMemcpy(begins, b.data(), b.size() * 4, cudaMemcpyHostToDevice));
    CHECK(cudaMemcpy(columns, c.data(), c.size() * 4, cudaMemcpyHostToDevice));
    CHECK(cudaMemcpy(columns_across, across.data(), c.size() * 4, cudaMemcpyHostToDevice));
    CHECK(cudaMemcpy(values, ones.data(), c.size() * 4, cudaMemcpyHostToDevice));
    CHECK(cudaMemcpy(values_across, ones.data(), c.size() * 4, cudaMemcpyHostToDevice));
    x = random_floats(n, 2);
    y = device<float>(n);
    scan_in = random_floats((size_t)n * 16, 3);
    scan_out = device<float>((size_t)n * 16);
}

static double result()
{
    double product = sum_of(y, n), sums = sum_of(scan_out, (size_t)n * 16);
    CHECK(cudaMemset(y, 0, n * sizeof *y));
    CHECK(cudaMemset(scan_out, 0, (size_t)n * 16 * sizeof *scan_out));
    return product > 0 ? product : sums;
}

__global__ void thread_a_row(float *y, const int *begins, const int *columns, const float *values, const float *x, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float sum = 0;
    for (int k = begins[i]; k < begins[i + 1]; k++)
        sum += values[k] * x[columns[k]];
    y[i] = sum;
}

__global__ void warp_a_row(float *y, const int *begins, const int *columns, const float *values, const float *x, int n)
{
    int i = (blockIdx.x * blockDim.x + threadIdx.x) / 32;
    float sum = 0;
    for (int k = begins[i] + threadIdx.x % 32; k < begins[i + 1]; k += 32)
        sum += values[k] * x[columns[k]];
    for (int d = 16; d; d /= 2)
        sum += __shfl_down_sync(~0u, sum, d);
    if (threadIdx.x % 32 == 0)
        y[i] = sum;
}

__global__ void by_columns(float *y, const int *columns, const float *values, const float *x, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float sum = 0;
    for (int k = 0; k < WIDTH; k++)
        sum += values[(size_t)k * n + i] * x[columns[(size_t)k * n + i]];
    y[i] = sum;
}

__global__ void scan_by_steps(float *out, const float *in)
{
    __shared__ float s[2][BLOCK];
    int t = threadIdx.x, now = 0;
    size_t i = (size_t)blockIdx.x * BLOCK + t;
    s[0][t] = in[i];
    __syncthreads();
    for (int d = 1; d < BLOCK; d *= 2) {
        s[!now][t] = t >= d ? s[now][t] + s[now][t - d] : s[now][t];
        now = !now;
        __syncthreads();
    }
    out[i] = s[now][t];
}

// Two elements a thread, up and down a tree; inclusive in the end. `padded` leaves a word free after every 32.
template <bool padded> __global__ void scan_by_tree(float *out, const float *in)
{
    __shared__ float s[BLOCK + BLOCK / 32];
    auto at = [](int i) { return padded ? i + i / 32 : i; };
    int t = threadIdx.x;
    const float *from = in + (size_t)blockIdx.x * BLOCK;
    s[at(t)] = from[t];
    s[at(t + BLOCK / 2)] = from[t + BLOCK / 2];
    int offset = 1;
    for (int d = BLOCK / 2; d; d /= 2) {
        __syncthreads();
        if (t < d)
            s[at(offset * (2 * t + 2) - 1)] += s[at(offset * (2 * t + 1) - 1)];
        offset *= 2;
    }
    if (t == 0)
        s[at(BLOCK - 1)] = 0;
    for (int d = 1; d < BLOCK; d *= 2) {
        offset /= 2;
        __syncthreads();
        if (t < d) {
            int a = at(offset * (2 * t + 1) - 1), b = at(offset * (2 * t + 2) - 1);
            float v = s[a];
            s[a] = s[b];
            s[b] += v;
        }
    }
    __syncthreads();
    float *to = out + (size_t)blockIdx.x * BLOCK;
    to[t] = s[at(t)] + from[t];
    to[t + BLOCK / 2] = s[at(t + BLOCK / 2)] + from[t + BLOCK / 2];
}

__global__ void scan_by_shuffles(float *out, const float *in)
{
    __shared__ float s[BLOCK / 32];
    int t = threadIdx.x;
    size_t i = (size_t)blockIdx.x * BLOCK + t;
    float v = in[i];
    for (int d = 1; d < 32; d *= 2) {
        float other = __shfl_up_sync(~0u, v, d);
        v += t % 32 >= d ? other : 0;
    }
    if (t % 32 == 31)
        s[t / 32] = v;
    __syncthreads();
    for (int w = 0; w < t / 32; w++)
        v += s[w];
    out[i] = v;
}

const variant variants[] = {
    {"thread_a_row", [] { thread_a_row<<<n / 256, 256>>>(y, begins, columns, values, x, n); }},
    {"warp_a_row", [] { warp_a_row<<<n / 8, 256>>>(y, begins, columns, values, x, n); }},
    {"by_columns", [] { by_columns<<<n / 256, 256>>>(y, columns_across, values_across, x, n); }},
    {"scan_by_steps", [] { scan_by_steps<<<n * 16 / BLOCK, BLOCK>>>(scan_out, scan_in); }},
    {"scan_by_tree", [] { scan_by_tree<false><<<n * 16 / BLOCK, BLOCK / 2>>>(scan_out, scan_in); }},
    {"scan_by_tree_padded", [] { scan_by_tree<true><<<n * 16 / BLOCK, BLOCK / 2>>>(scan_out, scan_in); }},
    {"scan_by_shuffles", [] { scan_by_shuffles<<<n * 16 / BLOCK, BLOCK>>>(scan_out, scan_in); }},
    {}};
