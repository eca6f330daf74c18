// Arithmetic: how long one instruction takes until the next can use its result (a warp alone, one chain), and how many results an SM
// gives in a clock (a full SM, several chains a thread).
#include "measure.h"

#define STEP(T, asm_text, c)                               \
    typedef T value;                                       \
    static __device__ T step(T x, T a, T b)                \
    {                                                      \
        asm volatile(asm_text : "+" c(x) : c(a), c(b));    \
        return x;                                          \
    }

struct fp32 { STEP(float, "fma.rn.f32 %0, %0, %1, %2;", "f") };
struct fp64 { STEP(double, "fma.rn.f64 %0, %0, %1, %2;", "d") };
struct half2 { STEP(uint32_t, "fma.rn.f16x2 %0, %0, %1, %2;", "r") };
struct integer { STEP(uint32_t, "add.u32 %0, %0, %1;\n\txor.b32 %0, %0, %2;", "r") }; // two, which do not melt into one
struct multiply { STEP(uint32_t, "mad.lo.u32 %0, %0, %1, %2;", "r") };
struct special { STEP(float, "ex2.approx.ftz.f32 %0, %0;", "f") };
struct root { STEP(float, "rsqrt.approx.ftz.f32 %0, %0;", "f") };
struct convert { STEP(uint32_t, "{.reg .f32 f;\n\tcvt.rn.f32.u32 f, %0;\n\tmov.b32 %0, f;}", "r") };
struct shift { STEP(uint32_t, "shf.l.wrap.b32 %0, %0, %1, %2;", "r") };
struct choose { STEP(uint32_t, "{.reg .pred p;\n\tsetp.lt.u32 p, %0, %1;\n\tselp.b32 %0, %2, %0, p;}", "r") }; // two
struct shuffle { STEP(uint32_t, "shfl.sync.bfly.b32 %0, %0, 1, 31, -1;", "r") };
struct vote { STEP(uint32_t, "{.reg .pred p;\n\tsetp.ne.u32 p, %0, 0;\n\tvote.sync.ballot.b32 %0, p, -1;}", "r") };
// Arithmetic of two pipes in turn: what the schedulers can issue.
struct both {
    typedef float value;
    static __device__ float step(float x, float a, float b)
    {
        asm volatile("fma.rn.f32 %0, %0, %1, %2;" : "+f"(x) : "f"(a), "f"(b));
        uint32_t y = __float_as_uint(x);
        asm volatile("xor.b32 %0, %0, %1;" : "+r"(y) : "r"(__float_as_uint(b)));
        return __uint_as_float(y);
    }
};

template <class op, int chains, int unrolled>
__global__ void __launch_bounds__(1024) repeat(uint64_t *cycles, typename op::value *sink, typename op::value a, typename op::value b, int rounds)
{
    typename op::value x[chains];
    for (int i = 0; i < chains; i++)
        x[i] = a * (typename op::value)(threadIdx.x + i + 1);
    block_timer timer;
    timer.start(cycles);
    for (int r = 0; r < rounds; r++) {
#pragma unroll
        for (int u = 0; u < unrolled; u++)
#pragma unroll
            for (int i = 0; i < chains; i++)
                x[i] = op::step(x[i], a, b);
    }
    timer.stop();
    typename op::value sum = 0;
    for (int i = 0; i < chains; i++)
        sum += x[i];
    if (sum == (typename op::value)12345)
        *sink = sum; // keeps the chains alive
}

template <class op, int operations> static double latency()
{
    const int rounds = 64;
    repeat<op, 1, 128><<<1, 32>>>(block_cycles(), (typename op::value *)memory(1 << 20), 1, 1, rounds);
    return cycles() / (rounds * 128 * operations);
}

template <class op, int operations> static double rate()
{
    const int rounds = 256, chains = 4, unrolled = 16, threads = 1024;
    repeat<op, chains, unrolled><<<1, threads>>>(block_cycles(), (typename op::value *)memory(1 << 20), 1, 1, rounds);
    return (double)rounds * chains * unrolled * threads * operations / cycles();
}

// Tensor: m16n8k16, FP16 with FP32 accumulators, 2048 multiply-adds a warp.
template <int chains> __global__ void __launch_bounds__(1024) tensor(uint64_t *cycles, float *sink, uint32_t a, int rounds)
{
    float d[chains][4] = {};
    block_timer timer;
    timer.start(cycles);
    for (int r = 0; r < rounds; r++)
#pragma unroll
        for (int i = 0; i < chains; i++)
            asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%4, %4, %4, %4}, {%4, %4}, {%0, %1, %2, %3};"
                         : "+f"(d[i][0]), "+f"(d[i][1]), "+f"(d[i][2]), "+f"(d[i][3])
                         : "r"(a));
    timer.stop();
    float sum = 0;
    for (int i = 0; i < chains; i++)
        sum += d[i][0] + d[i][1] + d[i][2] + d[i][3];
    if (sum == 12345)
        *sink = sum;
}

static double tensor_latency()
{
    tensor<1><<<1, 32>>>(block_cycles(), (float *)memory(1 << 20), 1, 4096);
    return cycles() / 4096;
}

static double tensor_rate()
{
    tensor<4><<<1, 1024>>>(block_cycles(), (float *)memory(1 << 20), 1, 1024);
    return 2048.0 * 32 * 4 * 1024 / cycles();
}

__global__ void barriers(uint64_t *cycles, int rounds)
{
    block_timer timer;
    timer.start(cycles);
#pragma unroll 16
    for (int r = 0; r < rounds; r++)
        __syncthreads();
    timer.stop();
}

template <int warps> static double barrier()
{
    barriers<<<1, warps * 32>>>(block_cycles(), 1024);
    return cycles() / 1024;
}

const figure pipe_figures[] = {
    {"fp32_latency", latency<fp32, 1>},
    {"fp64_latency", latency<fp64, 1>},
    {"half2_latency", latency<half2, 1>},
    {"int32_latency", latency<integer, 2>},
    {"int32_multiply_latency", latency<multiply, 1>},
    {"sfu_latency", latency<special, 1>},
    {"rsqrt_latency", latency<root, 1>},
    {"convert_latency", latency<convert, 1>},
    {"shuffle_latency", latency<shuffle, 1>},
    {"vote_latency", latency<vote, 1>},
    {"tensor_fp16_latency", tensor_latency},
    {"fp32", rate<fp32, 1>},
    {"fp64", rate<fp64, 1>},
    {"half2", rate<half2, 1>},
    {"int32", rate<integer, 2>},
    {"int32_multiply", rate<multiply, 1>},
    {"shift", rate<shift, 1>},
    {"compare", rate<choose, 2>},
    {"sfu", rate<special, 1>},
    {"rsqrt", rate<root, 1>},
    {"convert", rate<convert, 1>},
    {"shuffle", rate<shuffle, 1>},
    {"issue", rate<both, 2>},
    {"tensor_fp16", tensor_rate},
    {"barrier_1", barrier<1>},
    {"barrier_8", barrier<8>},
    {"barrier_32", barrier<32>},
    {}};
