/* Requests of many kinds, whose sectors and wavefronts a profiler counts: each launch makes requests of one kind, or, of
 * `mixed`, of all kinds at once. A launch has 4 blocks of 128 threads; each thread makes ROUNDS accesses. Offsets follow from
 * the parameters alone, so that nothing else accesses global or shared memory.
 *
 *     requests [FIRST [COUNT]]    runs launches FIRST to FIRST + COUNT - 1, all of them by default */
#include "../../support/ends.h"

#include <cstdint>
#include <cstdio>
#include <cstdlib>

enum { BLOCKS = 4, THREADS = 128, ROUNDS = 8, GLOBAL_BYTES = 1 << 20, SHARED_BYTES = 16384 };

/* Which element a lane takes, in units of its size. */
enum where { LINEAR, REVERSED, COLUMN, RANDOM, RANDOM_PAIRS, RANDOM_QUADS, RANDOM_HALVES, SWIZZLED, KINDS };
/* Which lanes do. */
enum who { ALL, FIRST_LANES, EVERY_OTHER, SOME, ONE };

struct pattern {
    uint32_t where, stride, shift, range; /* stride, shift and range in elements */
    uint32_t who, lanes;
    uint32_t magic; /* that no value is */
};

__device__ inline uint32_t mix(uint32_t x)
{
    x = (x ^ x >> 16) * 0x7feb352du;
    x = (x ^ x >> 15) * 0x846ca68bu;
    return x ^ x >> 16;
}

__device__ inline uint32_t element(const pattern &p, uint32_t round)
{
    uint32_t lane = threadIdx.x & 31, warp = blockIdx.x * (THREADS / 32) + threadIdx.x / 32;
    uint32_t seed = (warp * ROUNDS + round) * 64, at = 0;
    switch (p.where) {
    case LINEAR: at = lane * p.stride + p.shift * (round + 1); break;
    case REVERSED: at = (31 - lane) * p.stride + p.shift * round; break;
    case COLUMN: at = lane / 8 * p.stride + lane % 8 + p.shift * round; break;
    case RANDOM: at = mix(seed + lane); break;
    case RANDOM_PAIRS: at = mix(seed + lane / 2); break;
    case RANDOM_QUADS: at = mix(seed + (lane & ~2u)); break; /* lanes n and n ^ 2 agree */
    case RANDOM_HALVES: at = mix(seed + lane % 16); break;
    case SWIZZLED: at = lane * p.stride + (lane ^ (round & 7)) % 8 + p.shift; break;
    }
    return at % p.range;
}

__device__ inline bool takes_part(const pattern &p, uint32_t round)
{
    uint32_t lane = threadIdx.x & 31, warp = blockIdx.x * (THREADS / 32) + threadIdx.x / 32;
    switch (p.who) {
    case FIRST_LANES: return lane < p.lanes;
    case EVERY_OTHER: return lane % 2 == round % 2;
    case SOME: return mix((warp * ROUNDS + round) * 64 + lane + 32) % 4 < p.lanes;
    case ONE: return lane == round * 5 % 32;
    }
    return true;
}

/* ---- one access: of 1, 2, 4, 8 or 16 bytes ---- */

template <int BYTES> __device__ uint32_t load_global(uint64_t at)
{
    uint32_t a = 0, b = 0, c = 0, d = 0;
    uint16_t half;
    if (BYTES == 1)
        asm volatile("ld.global.u8 %0, [%1];" : "=r"(a) : "l"(at));
    else if (BYTES == 2)
        asm volatile("ld.global.u16 %0, [%1];" : "=h"(half) : "l"(at));
    else if (BYTES == 4)
        asm volatile("ld.global.u32 %0, [%1];" : "=r"(a) : "l"(at));
    else if (BYTES == 8)
        asm volatile("ld.global.v2.u32 {%0, %1}, [%2];" : "=r"(a), "=r"(b) : "l"(at));
    else
        asm volatile("ld.global.v4.u32 {%0, %1, %2, %3}, [%4];" : "=r"(a), "=r"(b), "=r"(c), "=r"(d) : "l"(at));
    return BYTES == 2 ? half : a ^ b * 3 ^ c * 5 ^ d * 7;
}

template <int BYTES> __device__ uint32_t load_shared(uint32_t at)
{
    uint32_t a = 0, b = 0, c = 0, d = 0;
    uint16_t half;
    if (BYTES == 1)
        asm volatile("ld.shared.u8 %0, [%1];" : "=r"(a) : "r"(at));
    else if (BYTES == 2)
        asm volatile("ld.shared.u16 %0, [%1];" : "=h"(half) : "r"(at));
    else if (BYTES == 4)
        asm volatile("ld.shared.u32 %0, [%1];" : "=r"(a) : "r"(at));
    else if (BYTES == 8)
        asm volatile("ld.shared.v2.u32 {%0, %1}, [%2];" : "=r"(a), "=r"(b) : "r"(at));
    else
        asm volatile("ld.shared.v4.u32 {%0, %1, %2, %3}, [%4];" : "=r"(a), "=r"(b), "=r"(c), "=r"(d) : "r"(at));
    return BYTES == 2 ? half : a ^ b * 3 ^ c * 5 ^ d * 7;
}

template <int BYTES> __device__ void store_global(uint64_t at, uint32_t v)
{
    if (BYTES == 1)
        asm volatile("st.global.u8 [%0], %1;" ::"l"(at), "r"(v));
    else if (BYTES == 2)
        asm volatile("st.global.u16 [%0], %1;" ::"l"(at), "h"((uint16_t)v));
    else if (BYTES == 4)
        asm volatile("st.global.u32 [%0], %1;" ::"l"(at), "r"(v));
    else if (BYTES == 8)
        asm volatile("st.global.v2.u32 [%0], {%1, %1};" ::"l"(at), "r"(v));
    else
        asm volatile("st.global.v4.u32 [%0], {%1, %1, %1, %1};" ::"l"(at), "r"(v));
}

template <int BYTES> __device__ void store_shared(uint32_t at, uint32_t v)
{
    if (BYTES == 1)
        asm volatile("st.shared.u8 [%0], %1;" ::"r"(at), "r"(v));
    else if (BYTES == 2)
        asm volatile("st.shared.u16 [%0], %1;" ::"r"(at), "h"((uint16_t)v));
    else if (BYTES == 4)
        asm volatile("st.shared.u32 [%0], %1;" ::"r"(at), "r"(v));
    else if (BYTES == 8)
        asm volatile("st.shared.v2.u32 [%0], {%1, %1};" ::"r"(at), "r"(v));
    else
        asm volatile("st.shared.v4.u32 [%0], {%1, %1, %1, %1};" ::"r"(at), "r"(v));
}

/* ---- kernels ---- */

extern __shared__ __align__(1024) char smem[];

/* Keeps loaded values alive by a store that never happens. */
__device__ inline void keep(uint32_t v, const pattern &p, char *out)
{
    asm volatile("{.reg .pred p; setp.eq.u32 p, %0, %1; @p st.global.u32 [%2], %0;}" ::"r"(v), "r"(p.magic), "l"(out));
}

#define KERNEL(NAME, ...)                                                                                              \
    template <int BYTES> __global__ void NAME(char *memory, pattern p)                                                 \
    {                                                                                                                  \
        const uint64_t global = (uint64_t)__cvta_generic_to_global(memory);                                            \
        const uint32_t shared = (uint32_t)__cvta_generic_to_shared(smem);                                              \
        uint32_t v = 0;                                                                                                \
        _Pragma("unroll 1") for (uint32_t round = 0; round < ROUNDS; round++)                                          \
        {                                                                                                              \
            const uint32_t at = element(p, round) * BYTES;                                                             \
            if (takes_part(p, round)) {                                                                                \
                __VA_ARGS__;                                                                                           \
            }                                                                                                          \
        }                                                                                                              \
        keep(v + (uint32_t)global + shared, p, memory);                                                                \
    }

KERNEL(global_load, v ^= load_global<BYTES>(global + at))
KERNEL(global_store, store_global<BYTES>(global + at, round))
KERNEL(shared_load, v ^= load_shared<BYTES>(shared + at))
KERNEL(shared_store, store_shared<BYTES>(shared + at, round))
KERNEL(mixed, v ^= load_global<BYTES>(global + at); store_shared<BYTES>(shared + at, round); v ^= load_shared<BYTES>(shared + (at ^ 64));
       v ^= load_shared<16>(shared + at / 16 * 16); store_global<4>(global + at / 4 * 4, round); store_shared<8>(shared + at / 8 * 8, round);
       v ^= load_global<1>(global + at))

/* ---- launches ---- */

typedef void kernel(char *, pattern);

template <int BYTES> struct kernels {
    static constexpr kernel *of[] = {global_load<BYTES>, global_store<BYTES>, shared_load<BYTES>, shared_store<BYTES>, mixed<BYTES>};
};

static const pattern patterns[] = {
    {LINEAR, 1}, {LINEAR, 1, 1}, {LINEAR, 0, 1}, {LINEAR, 2}, {LINEAR, 3, 1}, {LINEAR, 8, 3}, {LINEAR, 17}, {LINEAR, 32, 1},
    {REVERSED, 1, 32}, {REVERSED, 5, 2}, {COLUMN, 32, 8}, {COLUMN, 33, 7}, {SWIZZLED, 8, 0},
    {RANDOM}, {RANDOM, 0, 0, 64}, {RANDOM_PAIRS}, {RANDOM_QUADS}, {RANDOM_HALVES},
    {LINEAR, 1, 0, 0, FIRST_LANES, 16}, {LINEAR, 1, 3, 0, FIRST_LANES, 11}, {LINEAR, 2, 1, 0, EVERY_OTHER}, {LINEAR, 1, 1, 0, ONE},
    {RANDOM, 0, 0, 0, FIRST_LANES, 20}, {RANDOM, 0, 0, 0, SOME, 2}, {RANDOM_PAIRS, 0, 0, 0, SOME, 3}, {RANDOM_QUADS, 0, 0, 0, SOME, 3},
    {RANDOM, 0, 0, 256, SOME, 1}, {COLUMN, 32, 1, 0, SOME, 2},
};

enum { PATTERNS = sizeof patterns / sizeof *patterns, OPS = 5, SIZES = 5, LAUNCHES = OPS * SIZES * PATTERNS };

static void launch(int number, char *memory)
{
    static kernel *const *const by_size[SIZES] = {kernels<1>::of, kernels<2>::of, kernels<4>::of, kernels<8>::of, kernels<16>::of};
    const int op = number / PATTERNS / SIZES, size = number / PATTERNS % SIZES;
    const uint32_t all = op < 2 ? GLOBAL_BYTES : SHARED_BYTES;
    pattern p = patterns[number % PATTERNS];
    if (!p.range || p.range > all >> size)
        p.range = all >> size;
    p.magic = 0x9e3779b9u;
    by_size[size][op]<<<BLOCKS, THREADS, SHARED_BYTES>>>(memory, p);
    CHECK(cudaGetLastError());
}

int main(int argc, char **argv)
{
    const int first = argc > 1 ? atoi(argv[1]) : 0, count = argc > 2 ? atoi(argv[2]) : LAUNCHES;
    char *memory;
    CHECK(cudaMalloc(&memory, GLOBAL_BYTES));
    CHECK(cudaMemset(memory, 0, GLOBAL_BYTES));
    for (int i = first; i < first + count && i < LAUNCHES; i++)
        launch(i, memory);
    CHECK(cudaDeviceSynchronize());
    printf("%d\n", LAUNCHES);
    return 0;
}
