// A sum in the steps of the paper's K0 to K6, and with shuffles.
#include "harness.h"

const int sizes[2] = {1 << 22, 1 << 26};
static float *in, *out;
static long n;

static void prepare(int size)
{
    n = size;
    in = random_floats(n, 1);
    out = device<float>(n / 256 + 1);
}

enum { T = 256 };

__global__ void k0_interleaved_divergent(const float *in, float *out)
{
    __shared__ float s[T];
    int t = threadIdx.x;
    s[t] = in[blockIdx.x * T + t];
    __syncthreads();
    for (int d = 1; d < T; d *= 2) {
        if (t % (2 * d) == 0)
            s[t] += s[t + d];
        __syncthreads();
    }
    if (t == 0)
        out[blockIdx.x] = s[0];
}

__global__ void k1_interleaved_conflicts(const float *in, float *out)
{
    __shared__ float s[T];
    int t = threadIdx.x;
    s[t] = in[blockIdx.x * T + t];
    __syncthreads();
    for (int d = 1; d < T; d *= 2) {
        int i = 2 * d * t;
        if (i < T)
            s[i] += s[i + d];
        __syncthreads();
    }
    if (t == 0)
        out[blockIdx.x] = s[0];
}

__global__ void k2_sequential(const float *in, float *out)
{
    __shared__ float s[T];
    int t = threadIdx.x;
    s[t] = in[blockIdx.x * T + t];
    __syncthreads();
    for (int d = T / 2; d > 0; d /= 2) {
        if (t < d)
            s[t] += s[t + d];
        __syncthreads();
    }
    if (t == 0)
        out[blockIdx.x] = s[0];
}

__global__ void k3_first_add(const float *in, float *out)
{
    __shared__ float s[T];
    int t = threadIdx.x, i = blockIdx.x * 2 * T + t;
    s[t] = in[i] + in[i + T];
    __syncthreads();
    for (int d = T / 2; d > 0; d /= 2) {
        if (t < d)
            s[t] += s[t + d];
        __syncthreads();
    }
    if (t == 0)
        out[blockIdx.x] = s[0];
}

__device__ void last_warp(volatile float *s, int t)
{
    for (int d = 32; d > 0; d /= 2) {
        float other = s[t + d];
        __syncwarp();
        s[t] += other;
        __syncwarp();
    }
}

__global__ void k4_last_warp(const float *in, float *out)
{
    __shared__ float s[T];
    int t = threadIdx.x, i = blockIdx.x * 2 * T + t;
    s[t] = in[i] + in[i + T];
    __syncthreads();
    for (int d = T / 2; d > 32; d /= 2) {
        if (t < d)
            s[t] += s[t + d];
        __syncthreads();
    }
    if (t < 32)
        last_warp(s, t);
    if (t == 0)
        out[blockIdx.x] = s[0];
}

__global__ void k5_unrolled(const float *in, float *out)
{
    __shared__ float s[T];
    int t = threadIdx.x, i = blockIdx.x * 2 * T + t;
    s[t] = in[i] + in[i + T];
    __syncthreads();
    if (t < 128)
        s[t] += s[t + 128];
    __syncthreads();
    if (t < 64)
        s[t] += s[t + 64];
    __syncthreads();
    if (t < 32)
        last_warp(s, t);
    if (t == 0)
        out[blockIdx.x] = s[0];
}

__global__ void k6_many_a_thread(const float *in, float *out, long n)
{
    __shared__ float s[T];
    int t = threadIdx.x;
    float sum = 0;
    for (long i = blockIdx.x * 2L * T + t; i < n; i += 2L * T * gridDim.x)
        sum += in[i] + in[i + T];
    s[t] = sum;
    __syncthreads();
    if (t < 128)
        s[t] += s[t + 128];
    __syncthreads();
    if (t < 64)
        s[t] += s[t + 64];
    __syncthreads();
    if (t < 32)
        last_warp(s, t);
    if (t == 0)
        out[blockIdx.x] = s[0];
}

__global__ void shuffles(const float *in, float *out, long n)
{
    __shared__ float s[T / 32];
    int t = threadIdx.x;
    float sum = 0;
    for (long i = blockIdx.x * (long)T + t; i < n; i += (long)T * gridDim.x)
        sum += in[i];
    for (int d = 16; d; d /= 2)
        sum += __shfl_down_sync(~0u, sum, d);
    if (t % 32 == 0)
        s[t / 32] = sum;
    __syncthreads();
    if (t == 0)
        for (int i = 1; i < T / 32; i++)
            sum += s[i];
    if (t == 0)
        out[blockIdx.x] = sum;
}

// Each leaves one sum a block; the rest of `out` is nothing.
static void clear() { CHECK(cudaMemsetAsync(out, 0, (n / 256 + 1) * sizeof *out)); }

static double result()
{
    std::vector<float> host(n / 256 + 1);
    CHECK(cudaMemcpy(host.data(), out, host.size() * sizeof(float), cudaMemcpyDeviceToHost));
    double sum = 0;
    for (float f : host)
        sum += f;
    clear();
    return sum;
}

const variant variants[] = {
    {"k0", [] { k0_interleaved_divergent<<<n / T, T>>>(in, out); }},
    {"k1", [] { k1_interleaved_conflicts<<<n / T, T>>>(in, out); }},
    {"k2", [] { k2_sequential<<<n / T, T>>>(in, out); }},
    {"k3", [] { k3_first_add<<<n / T / 2, T>>>(in, out); }},
    {"k4", [] { k4_last_warp<<<n / T / 2, T>>>(in, out); }},
    {"k5", [] { k5_unrolled<<<n / T / 2, T>>>(in, out); }},
    {"k6", [] { k6_many_a_thread<<<1024, T>>>(in, out, n); }},
    {"shuffles", [] { shuffles<<<2048, T>>>(in, out, n); }},
    {}};
