// The paper's microbenchmarks: chains of arithmetic by ILP and warps; special functions among multiply-adds; branches.
#include "harness.h"

const int sizes[2] = {1 << 16, 1 << 20}; // threads
static float *out;
static int n;

static void prepare(int size)
{
    n = size;
    out = device<float>(n);
}

static double result() { return sum_of(out, n); }

enum { STEPS = 1024 };

// The same number of multiply-adds a thread, in 1 to 8 chains; their sum is what one chain of each would give.
template <int ilp> __global__ void chains(float *out, float a, float b)
{
    float x[ilp];
    for (int i = 0; i < ilp; i++) // all different, or the compiler makes one of them; their mean is 0.5
        x[i] = 0.5f + (float)(2 * i - (ilp - 1)) * (float)(threadIdx.x + 1) * 0x1p-16f;
    for (int s = 0; s < STEPS; s += 8)
#pragma unroll
        for (int u = 0; u < 8 / ilp; u++)
#pragma unroll
            for (int i = 0; i < ilp; i++)
                asm volatile("fma.rn.f32 %0, %0, %1, %2;" : "+f"(x[i]) : "f"(a), "f"(b));
    float sum = 0;
    for (int i = 0; i < ilp; i++)
        sum += x[i] / ilp; // a = 1, b = 0
    out[blockIdx.x * blockDim.x + threadIdx.x] = sum;
}

// Among eight multiply-adds `count` results of the SFU.
template <int count> __global__ void special(float *out, float a, float b)
{
    float x[8], y[8];
    for (int i = 0; i < 8; i++)
        x[i] = y[i] = 0.5f + (float)(i * threadIdx.x) * 0x1p-16f;
    for (int s = 0; s < STEPS; s += 8)
#pragma unroll
        for (int i = 0; i < 8; i++) {
            asm volatile("fma.rn.f32 %0, %0, %1, %2;" : "+f"(x[i]) : "f"(a), "f"(b));
            if (i < count)
                asm volatile("sin.approx.ftz.f32 %0, %0;" : "+f"(y[i]));
        }
    float sum = 0;
    for (int i = 0; i < 8; i++)
        sum += x[i] / 8 + y[i] * b;
    out[blockIdx.x * blockDim.x + threadIdx.x] = sum;
}

__device__ float work(float x, float a, float b)
{
#pragma unroll 16
    for (int s = 0; s < STEPS; s++)
        asm volatile("fma.rn.f32 %0, %0, %1, %2;" : "+f"(x) : "f"(a), "f"(b));
    return x;
}

// Half of the threads work, by lane or by warp; the others have nothing to do.
template <bool by_warp> __global__ void branch(float *out, float a, float b)
{
    int t = blockIdx.x * blockDim.x + threadIdx.x, which = by_warp ? t / 32 % 2 : t % 2;
    float x = 0.5f;
    if (which)
        x = work(x, a, b);
    out[t] = x;
}

const variant variants[] = {
    {"ilp_1", [] { chains<1><<<n / 256, 256>>>(out, 1, 0); }},
    {"ilp_2", [] { chains<2><<<n / 256, 256>>>(out, 1, 0); }},
    {"ilp_4", [] { chains<4><<<n / 256, 256>>>(out, 1, 0); }},
    {"ilp_8", [] { chains<8><<<n / 256, 256>>>(out, 1, 0); }},
    {"ilp_1_block_32", [] { chains<1><<<n / 32, 32>>>(out, 1, 0); }},
    {"ilp_4_block_32", [] { chains<4><<<n / 32, 32>>>(out, 1, 0); }},
    {"sfu_0", [] { special<0><<<n / 256, 256>>>(out, 1, 0); }},
    {"sfu_1", [] { special<1><<<n / 256, 256>>>(out, 1, 0); }},
    {"sfu_2", [] { special<2><<<n / 256, 256>>>(out, 1, 0); }},
    {"sfu_4", [] { special<4><<<n / 256, 256>>>(out, 1, 0); }},
    {"sfu_8", [] { special<8><<<n / 256, 256>>>(out, 1, 0); }},
    {"branch_by_lane", [] { branch<false><<<n / 256, 256>>>(out, 1, 0); }},
    {"branch_by_warp", [] { branch<true><<<n / 256, 256>>>(out, 1, 0); }},
    {}};
