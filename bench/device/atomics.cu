// Atomics: on one address and on many, in L2 and in shared memory.
#include "measure.h"

enum pattern { ONE_LANE, SAME, SAME_ROW, SIDE_BY_SIDE, OWN_SECTOR, ONE_BANK };

__device__ size_t place(pattern p, size_t thread)
{
    switch (p) {
    case SAME_ROW: return thread % 32;
    case SIDE_BY_SIDE: return thread % (1 << 22);
    case OWN_SECTOR: return thread * 8 % (1 << 22);
    default: return 0;
    }
}

// `zeros` and `one` keep the compiler from knowing that the lanes have one address, or what they add: it would add them up itself.
template <class T, pattern p> __global__ void global_atomics(T *base, const uint32_t *zeros, int rounds, int one)
{
    if (p == ONE_LANE && threadIdx.x % 32)
        return;
    T *at = base + place(p, (size_t)blockIdx.x * blockDim.x + threadIdx.x) + zeros[threadIdx.x % 32];
    for (int r = 0; r < rounds; r++) {
        if (sizeof(T) == 8 && (T)0.5 > 0)
            asm volatile("red.global.add.f64 [%0], %1;" ::"l"(at), "d"((double)one) : "memory");
        else if (sizeof(T) == 8)
            asm volatile("red.global.add.u64 [%0], %1;" ::"l"(at), "l"((uint64_t)one) : "memory");
        else if ((T)0.5 > 0)
            asm volatile("red.global.add.f32 [%0], %1;" ::"l"(at), "f"((float)one) : "memory");
        else
            asm volatile("red.global.add.u32 [%0], %1;" ::"l"(at), "r"(one) : "memory");
    }
}

static int rounds_now;

template <class T, pattern p> static void go()
{
    uint32_t *zeros = (uint32_t *)memory(64 << 20) + (12 << 20);
    global_atomics<T, p><<<2 * multiprocessors(), 1024>>>((T *)memory(64 << 20), zeros, rounds_now, 1);
}

// Lanes that were served in a second.
template <class T, pattern p, int rounds> static double per_second()
{
    rounds_now = rounds;
    return 2.0 * multiprocessors() * (p == ONE_LANE ? 32 : 1024) * rounds / seconds(go<T, p>);
}

__global__ void dependent(uint64_t *cycles, uint32_t *base, uint32_t *sink, int hops)
{
    uint32_t x = 0;
    block_timer timer;
    timer.start(cycles);
#pragma unroll 4
    for (int i = 0; i < hops; i++)
        x = atomicAdd(base + (x & 0x40000000), 1); // waits for the one before
    timer.stop();
    *sink = x;
}

static double latency()
{
    CHECK(cudaMemset(memory(64 << 20), 0, 4));
    dependent<<<1, 1>>>(block_cycles(), (uint32_t *)memory(1), (uint32_t *)memory(1) + 1024, 4096);
    return cycles() / 4096;
}

// Each lane adds one to the word, and tries until nobody was faster.
__global__ void compare_and_swap(uint64_t *cycles, uint32_t *word)
{
    block_timer timer;
    timer.start(cycles);
    uint32_t was, old = *word;
    do {
        was = old;
        old = atomicCAS(word, was, was + 1);
    } while (old != was);
    __syncthreads();
    timer.stop();
}

static double swap_latency()
{
    const int lanes = 256;
    compare_and_swap<<<1, lanes>>>(block_cycles(), (uint32_t *)memory(64 << 20));
    return cycles() / lanes;
}

static void many_swap()
{
    compare_and_swap<<<256, 256>>>(block_cycles(), (uint32_t *)memory(64 << 20));
}

// Half of the lanes wait on average while one after the other succeeds. Called after swap_latency(), whose part is little.
static double swap_rate()
{
    const double lanes = 65536;
    return lanes * lanes / 2 / seconds(many_swap);
}

template <class T, pattern p> __global__ void __launch_bounds__(1024) shared_atomics(uint64_t *cycles, const uint32_t *zeros, int rounds, int one)
{
    __shared__ T words[1024];
    words[threadIdx.x] = 0;
    uint32_t own = p == ONE_BANK ? threadIdx.x % 32 * 32 + threadIdx.x / 32 : threadIdx.x;
    uint32_t at = (uint32_t)__cvta_generic_to_shared(words + (p == SIDE_BY_SIDE || p == ONE_BANK ? own : zeros[threadIdx.x % 32]));
    block_timer timer;
    timer.start(cycles);
    if (p != ONE_LANE || threadIdx.x % 32 == 0)
        for (int r = 0; r < rounds; r++) {
            if (sizeof(T) == 8)
                asm volatile("red.shared.add.f64 [%0], %1;" ::"r"(at), "d"((double)one) : "memory");
            else if ((T)0.5 > 0)
                asm volatile("red.shared.add.f32 [%0], %1;" ::"r"(at), "f"((float)one) : "memory");
            else
                asm volatile("red.shared.add.u32 [%0], %1;" ::"r"(at), "r"(one) : "memory");
        }
    __syncthreads();
    timer.stop();
}

// Lanes that were served in a clock. The compiler makes a loop of additions of floating point: each turn serves the lanes that no other
// one has overtaken.
template <class T, pattern p> static double shared_rate()
{
    const int rounds = (T)0.5 > 0 ? 64 : 1024;
    shared_atomics<T, p><<<1, 1024>>>(block_cycles(), (uint32_t *)memory(64 << 20) + (12 << 20), rounds, 1);
    return (p == ONE_LANE ? 32.0 : 1024.0) * rounds / cycles();
}

// A loop of compare and swap: its one lane waits for each.
template <class T> static double shared_latency()
{
    const int rounds = 1024;
    shared_atomics<T, ONE_LANE><<<1, 32>>>(block_cycles(), (uint32_t *)memory(64 << 20) + (12 << 20), rounds, 1);
    return cycles() / rounds;
}

const figure atomic_figures[] = {
    {"atomic_latency", latency},
    {"atomic_same_requests", per_second<uint32_t, ONE_LANE, 64>},
    {"atomic_same_lanes", per_second<uint32_t, SAME, 16>},
    {"atomic_same_lanes_f32", per_second<float, SAME, 16>},
    {"atomic_same_requests_f32", per_second<float, ONE_LANE, 64>},
    {"atomic_same_requests_f64", per_second<double, ONE_LANE, 64>},
    {"atomic_same_lanes_u64", per_second<unsigned long long, SAME, 16>},
    {"atomic_same_row", per_second<uint32_t, SAME_ROW, 64>},
    {"atomic_same_row_f32", per_second<float, SAME_ROW, 64>},
    {"atomic_same_row_f64", per_second<double, SAME_ROW, 64>},
    {"atomic_lanes", per_second<uint32_t, SIDE_BY_SIDE, 256>},
    {"atomic_lanes_f32", per_second<float, SIDE_BY_SIDE, 256>},
    {"atomic_sectors", per_second<uint32_t, OWN_SECTOR, 64>},
    {"cas_latency", swap_latency},
    {"cas_lanes", swap_rate},
    {"shared_atomic_lanes", shared_rate<uint32_t, SIDE_BY_SIDE>},
    {"shared_atomic_same", shared_rate<uint32_t, SAME>},
    {"shared_atomic_same_requests", shared_rate<uint32_t, ONE_LANE>},
    {"shared_atomic_lanes_f32", shared_rate<float, SIDE_BY_SIDE>},
    {"shared_atomic_lanes_f64", shared_rate<double, SIDE_BY_SIDE>},
    {"shared_atomic_same_f32", shared_rate<float, SAME>},
    {"shared_atomic_same_f64", shared_rate<double, SAME>},
    {"shared_atomic_bank_f32", shared_rate<float, ONE_BANK>},
    {"shared_atomic_bank_f64", shared_rate<double, ONE_BANK>},
    {"shared_atomic_latency_f32", shared_latency<float>},
    {"shared_atomic_latency_f64", shared_latency<double>},
    {}};
