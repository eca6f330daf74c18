// Latencies of memories: one thread follows pointers.
#include "measure.h"

#include <algorithm>
#include <numeric>
#include <random>
#include <vector>

enum space { CONSTANT, SHARED, L1, L2 };

__constant__ uint32_t constants[1024];

template <space where> __device__ uint32_t load(const uint8_t *base, const uint8_t *shared, uint32_t at)
{
    uint32_t next;
    if (where == SHARED)
        asm volatile("ld.shared.u32 %0, [%1];" : "=r"(next) : "r"((uint32_t)__cvta_generic_to_shared(shared + at)));
    else if (where == L1)
        asm volatile("ld.global.ca.u32 %0, [%1];" : "=r"(next) : "l"(base + (size_t)at * 4));
    else
        asm volatile("ld.global.cg.u32 %0, [%1];" : "=r"(next) : "l"(base + (size_t)at * 4));
    return next;
}

template <space where> __global__ void chase(uint64_t *cycles, const uint8_t *base, uint32_t *sink, int warm, int hops)
{
    __shared__ uint32_t shared[1024];
    for (int i = 0; i < 1024; i++)
        shared[i] = ((i + 33) % 1024) * 4;
    uint32_t at = 0;
    for (int i = 0; i < warm; i++)
        at = load<where>(base, (uint8_t *)shared, at);
    if (warm)
        at = 0;
    block_timer timer;
    timer.start(cycles);
#pragma unroll 8
    for (int i = 0; i < hops; i++)
        at = load<where>(base, (uint8_t *)shared, at);
    timer.stop();
    *sink = at;
}

__global__ void chase_constants(uint64_t *cycles, uint32_t *sink, int hops)
{
    uint32_t at = 0;
    for (int i = 0; i < 1024; i++)
        at = constants[at];
    block_timer timer;
    timer.start(cycles);
#pragma unroll 8
    for (int i = 0; i < hops; i++)
        at = constants[at];
    timer.stop();
    *sink = at;
}

// One cycle through the lines of a region, in an order that no prefetcher follows; addresses count words of four bytes.
static void link(size_t bytes)
{
    static size_t linked;
    if (linked == bytes)
        return;
    const size_t line = 128, lines = bytes / line;
    std::vector<uint32_t> order(lines), words(bytes / 4);
    std::iota(order.begin(), order.end(), 0);
    std::mt19937 random(1);
    std::shuffle(order.begin() + 1, order.end(), random);
    for (size_t i = 0; i < lines; i++)
        words[order[i] * line / 4] = (uint32_t)(order[(i + 1) % lines] * line / 4);
    CHECK(cudaMemcpy(memory(bytes), words.data(), bytes, cudaMemcpyHostToDevice));
    linked = bytes;
}

static uint32_t *sink()
{
    static uint32_t *word;
    if (!word)
        CHECK(cudaMalloc(&word, 4));
    return word;
}

static double shared_latency()
{
    chase<SHARED><<<1, 1>>>(block_cycles(), memory(1 << 20), sink(), 1024, 4096);
    return cycles() / 4096;
}

static double constant_latency()
{
    std::vector<uint32_t> words(1024);
    for (uint32_t i = 0; i < 1024; i++)
        words[i] = (i + 17) % 256; // 1 KiB of it: the first level
    CHECK(cudaMemcpyToSymbol(constants, words.data(), 4096));
    chase_constants<<<1, 1>>>(block_cycles(), sink(), 4096);
    return cycles() / 4096;
}

static double l1_latency()
{
    link(32 << 10);
    chase<L1><<<1, 1>>>(block_cycles(), memory(1), sink(), 1024, 4096);
    return cycles() / 4096;
}

static double chase_l2(int mib)
{
    link((size_t)mib << 20);
    chase<L2><<<1, 1>>>(block_cycles(), memory(1), sink(), mib << 13, 1 << 15);
    return cycles() / (1 << 15);
}

static double l2_latency()
{
    return chase_l2(4);
}

static double l2_far_latency()
{
    return chase_l2(40);
}

static double dram_latency()
{
    const size_t region = (size_t)1 << 30;
    static uint8_t *other;
    link(region);
    if (!other)
        CHECK(cudaMalloc(&other, 256 << 20));
    CHECK(cudaMemset(other, 0, 256 << 20)); // nothing of the region stays in L2
    chase<L2><<<1, 1>>>(block_cycles(), memory(1), sink(), 0, 1 << 15);
    return cycles() / (1 << 15);
}

const figure latency_figures[] = {
    {"constant_latency", constant_latency},
    {"shared_latency", shared_latency},
    {"l1_latency", l1_latency},
    {"l2_latency", l2_latency},
    {"l2_far_latency", l2_far_latency},
    {"dram_latency", dram_latency},
    {}};
