// Bandwidths: of an SM's shared memory and L1, of one SM from L2 and DRAM, of all SMs.
#include "measure.h"

// ---- one SM ----

enum { THREADS = 1024, ROUNDS = 512 };

// Every lane reads `width` words at `stride` words from its neighbour, out of 32 KiB, eight loads in flight a thread.
template <bool shared, int width> __global__ void __launch_bounds__(THREADS) words(uint64_t *cycles, const uint8_t *base, float *sink, int stride)
{
    __shared__ __align__(16) uint8_t own[32 << 10];
    for (int i = threadIdx.x; i < 8192; i += THREADS)
        ((float *)own)[i] = 0;
    uint32_t at = threadIdx.x * stride * 4 % (32 << 10);
    uint32_t near = (uint32_t)__cvta_generic_to_shared(own);
    float x[8] = {};
    for (int warm = 0; warm < 2; warm++)
        for (int i = threadIdx.x * 128; i < 32 << 10; i += THREADS * 128)
            x[0] += *(const volatile float *)(base + i);
    block_timer timer;
    timer.start(cycles);
    for (int r = 0; r < ROUNDS; r += 8) {
        uint32_t from = (at + r * 16) % (16 << 10); // another place each time, or the compiler keeps what it has read
        float y[8][4] = {};
#pragma unroll
        for (int i = 0; i < 8; i++) {
            uint32_t place = from + i * 2048;
            if (shared && width == 4)
                asm volatile("ld.shared.v4.f32 {%0, %1, %2, %3}, [%4];" : "=f"(y[i][0]), "=f"(y[i][1]), "=f"(y[i][2]), "=f"(y[i][3]) : "r"(near + place));
            else if (shared)
                asm volatile("ld.shared.f32 %0, [%1];" : "=f"(y[i][0]) : "r"(near + place));
            else if (width == 4)
                asm volatile("ld.global.ca.v4.f32 {%0, %1, %2, %3}, [%4];" : "=f"(y[i][0]), "=f"(y[i][1]), "=f"(y[i][2]), "=f"(y[i][3]) : "l"(base + place));
            else
                asm volatile("ld.global.ca.f32 %0, [%1];" : "=f"(y[i][0]) : "l"(base + place));
        }
#pragma unroll
        for (int i = 0; i < 8; i++)
            x[i] += width == 4 ? (y[i][0] + y[i][1]) + (y[i][2] + y[i][3]) : y[i][0];
    }
    timer.stop();
    float sum = 0;
    for (int i = 0; i < 8; i++)
        sum += x[i];
    if (sum == 12345)
        *sink = sum;
}

template <bool shared, int width, int stride> static double requests_per_clock()
{
    uint8_t *base = memory(1 << 20);
    words<shared, width><<<1, THREADS>>>(block_cycles(), base, (float *)base, stride);
    return ROUNDS * (THREADS / 32) / cycles();
}

template <bool shared, int width> static double bytes_per_clock()
{
    return requests_per_clock<shared, width, width>() * 32 * 4 * width;
}

// Every lane in a line of its own, or in a bank's next row: 32 passes a request.
template <bool shared> static double passes_per_clock()
{
    return requests_per_clock<shared, 1, 32>() * 32;
}

// ---- the way to L2 and DRAM ----

enum way { READ, WRITE, COPY, SECTORS };

struct region {
    size_t bytes, repeats;
    int blocks;
};
static region now;

// Each thread goes on by the whole grid; sixteen bytes a lane, or one sector in four.
template <way how> __global__ void __launch_bounds__(1024) stream(uint8_t *base, float4 *sink, size_t bytes, size_t repeats)
{
    const size_t step = how == SECTORS ? 128 : 16, all = (size_t)gridDim.x * blockDim.x * step;
    float4 sum = {};
    for (size_t r = 0; r < repeats; r++)
#pragma unroll 4
        for (size_t at = ((size_t)blockIdx.x * blockDim.x + threadIdx.x) * step; at < bytes; at += all) {
            if (how != WRITE) {
                float4 x;
                asm volatile("ld.global.cg.v4.f32 {%0, %1, %2, %3}, [%4];" : "=f"(x.x), "=f"(x.y), "=f"(x.z), "=f"(x.w) : "l"(base + at));
                sum.x += (x.x + x.y) + (x.z + x.w);
            }
            if (how == WRITE || how == COPY)
                __stcg((float4 *)(base + at + (how == COPY ? bytes : 0)), make_float4(0, 0, 0, 0));
        }
    if (sum.x == 12345)
        *sink = sum;
}

template <way how> static void go()
{
    uint8_t *base = memory(now.bytes * 2);
    stream<how><<<now.blocks, 1024>>>(base, (float4 *)base, now.bytes, now.repeats);
}

template <way how> static double bytes_per_second(size_t bytes, size_t repeats, int blocks)
{
    now = {bytes, repeats, blocks};
    double moved = (double)bytes * repeats * (how == COPY ? 2 : how == SECTORS ? 0.25 : 1);
    return moved / seconds(go<how>);
}

static const size_t MiB = 1 << 20;

static int full()
{
    return 2 * multiprocessors();
}

static double l2_read() { return bytes_per_second<READ>(16 * MiB, 64, full()); }
static double read_rate(size_t mib) { return bytes_per_second<READ>(mib * MiB, 16, full()); }

static double l2_holds()
{
    int bytes;
    CHECK(cudaDeviceGetAttribute(&bytes, cudaDevAttrL2CacheSize, 0));
    const double fast = 0.9 * read_rate(bytes / MiB / 2);
    size_t mib = bytes / MiB / 2;
    while (read_rate(mib + 1) > fast)
        mib++;
    return (double)(mib * MiB);
}

static double l2_write() { return bytes_per_second<WRITE>(16 * MiB, 64, full()); }
static double l2_sectors() { return bytes_per_second<SECTORS>(64 * MiB, 64, full()); } // 16 MiB of them
static double l2_far() { return bytes_per_second<READ>(40 * MiB, 32, full()); }
static double dram_read() { return bytes_per_second<READ>(4096 * MiB, 1, full()); }
static double dram_write() { return bytes_per_second<WRITE>(4096 * MiB, 1, full()); }
static double dram_copy() { return bytes_per_second<COPY>(4096 * MiB, 1, full()); }
static double dram_sectors() { return bytes_per_second<SECTORS>(4096 * MiB, 1, full()); }
static double l2_one() { return bytes_per_second<READ>(4 * MiB, 32, 1); }
static double dram_one() { return bytes_per_second<READ>(512 * MiB, 1, 1); }

const figure memory_figures[] = {
    {"shared", bytes_per_clock<true, 1>},
    {"shared_wide", bytes_per_clock<true, 4>},
    {"shared_passes", passes_per_clock<true>},
    {"l1", bytes_per_clock<false, 1>},
    {"l1_wide", bytes_per_clock<false, 4>},
    {"l1_lines", passes_per_clock<false>},
    {"l2_one_sm", l2_one},
    {"dram_one_sm", dram_one},
    {"l2_read", l2_read},
    {"l2_read_wide", l2_far},
    {"l2_holds", l2_holds},
    {"l2_write", l2_write},
    {"l2_sectors", l2_sectors},
    {"dram_read", dram_read},
    {"dram_write", dram_write},
    {"dram_copy", dram_copy},
    {"dram_sectors", dram_sectors},
    {}};
