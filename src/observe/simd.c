#include "observe/cost.h"

#include <stdlib.h>
#include <string.h>

#if defined(__x86_64__)

#include <immintrin.h>

#define AVX2 __attribute__((target("avx2,popcnt")))
#define AVX2_INLINE __attribute__((target("avx2,popcnt"), always_inline)) static inline

/* 32 numbers; number k of a sorted sequence is lane k / 4 of v[k % 4]. */
typedef struct numbers {
    __m256i v[4];
} numbers;

/* WARPLENS_ISA=generic turns this off. */
static bool simd_usable(void)
{
    static int known; /* 0: not yet; every thread finds the same */
    int is = __atomic_load_n(&known, __ATOMIC_RELAXED);
    if (!is) {
        const char *wish = getenv("WARPLENS_ISA");
        bool off = wish && strcmp(wish, "generic") == 0;
        is = !off && __builtin_cpu_supports("avx2") && __builtin_cpu_supports("popcnt") ? 1 : 2;
        __atomic_store_n(&known, is, __ATOMIC_RELAXED);
    }
    return is == 1;
}

AVX2_INLINE void order(__m256i *low, __m256i *high)
{
    __m256i min = _mm256_min_epu32(*low, *high);
    *high = _mm256_max_epu32(*low, *high);
    *low = min;
}

/* Numbers at a distance of 1 or 2: in different vectors, same lane. */
AVX2_INLINE void order_near(numbers *n)
{
    order(&n->v[0], &n->v[2]);
    order(&n->v[1], &n->v[3]);
    order(&n->v[0], &n->v[1]);
    order(&n->v[2], &n->v[3]);
}

#define ACROSS1(x) _mm256_shuffle_epi32(x, 0xb1)                                 /* lane ^ 1 */
#define ACROSS2(x) _mm256_shuffle_epi32(x, 0x4e)                                 /* lane ^ 2 */
#define ACROSS3(x) _mm256_shuffle_epi32(x, 0x1b)                                 /* lane ^ 3 */
#define ACROSS7(x) _mm256_permute4x64_epi64(_mm256_shuffle_epi32(x, 0x1b), 0x4e) /* lane ^ 7 */

/* Compares with the lane across in the same vector; `upper` has the lanes that keep the larger. */
#define ORDER_ACROSS(n, ACROSS, upper)                                             \
    for (int i = 0; i < 4; i++) {                                                  \
        __m256i other = ACROSS((n)->v[i]);                                         \
        (n)->v[i] = _mm256_blend_epi32(_mm256_min_epu32((n)->v[i], other),         \
                                       _mm256_max_epu32((n)->v[i], other), upper); \
    }

/* Compares with the lane across in vector 3 - i: number k with the one as far from the other end
 * of the part. */
#define ORDER_MIRRORED(n, ACROSS, upper)                             \
    for (int i = 0; i < 2; i++) {                                    \
        __m256i other = ACROSS((n)->v[3 - i]);                       \
        __m256i min = _mm256_min_epu32((n)->v[i], other);            \
        __m256i max = _mm256_max_epu32((n)->v[i], other);            \
        (n)->v[i] = _mm256_blend_epi32(min, max, upper);             \
        (n)->v[3 - i] = ACROSS(_mm256_blend_epi32(max, min, upper)); \
    }

/* A bitonic sorting network (Batcher 1968) in the form whose comparisons all go one way. */
AVX2_INLINE void sort(numbers *n)
{
    order(&n->v[0], &n->v[1]); /* pairs */
    order(&n->v[2], &n->v[3]);
    order(&n->v[0], &n->v[3]); /* fours */
    order(&n->v[1], &n->v[2]);
    order(&n->v[0], &n->v[1]);
    order(&n->v[2], &n->v[3]);
    ORDER_MIRRORED(n, ACROSS1, 0xaa) /* eights */
    order_near(n);
    ORDER_MIRRORED(n, ACROSS3, 0xcc) /* sixteens */
    ORDER_ACROSS(n, ACROSS1, 0xaa)
    order_near(n);
    ORDER_MIRRORED(n, ACROSS7, 0xf0) /* all */
    ORDER_ACROSS(n, ACROSS2, 0xcc)
    ORDER_ACROSS(n, ACROSS1, 0xaa)
    order_near(n);
}

AVX2_INLINE uint32_t mask_of(__m256i equal)
{
    return (uint32_t)_mm256_movemask_ps(_mm256_castsi256_ps(equal));
}

/* Different numbers among 32 sorted ones. */
AVX2_INLINE uint32_t count_distinct(const numbers *n)
{
    const __m256i up = _mm256_setr_epi32(1, 2, 3, 4, 5, 6, 7, 7);
    __m256i next = _mm256_permutevar8x32_epi32(n->v[0], up);
    uint32_t equal = mask_of(_mm256_cmpeq_epi32(n->v[0], n->v[1]));
    equal |= mask_of(_mm256_cmpeq_epi32(n->v[1], n->v[2])) << 8;
    equal |= mask_of(_mm256_cmpeq_epi32(n->v[2], n->v[3])) << 16;
    equal |= (mask_of(_mm256_cmpeq_epi32(n->v[3], next)) & 0x7f) << 24;
    return OBS_LANES - (uint32_t)__builtin_popcount(equal);
}

/* The addresses as distances from a sector boundary 2 GiB below the first, in any order; false
 * where 32 bits do not hold them or they are not aligned. */
AVX2_INLINE bool distances(const obs_active *active, numbers *n)
{
    uint64_t below = (active->addr[0] & ~(uint64_t)(OBS_SECTOR_BYTES - 1)) - ((uint64_t)1 << 31);
    __m256i base = _mm256_set1_epi64x((int64_t)below), all = _mm256_setzero_si256();
    for (int i = 0; i < 4; i++) {
        const __m256i *from = (const __m256i *)(active->addr + 8 * i);
        __m256i a = _mm256_sub_epi64(_mm256_loadu_si256(from), base);
        __m256i b = _mm256_sub_epi64(_mm256_loadu_si256(from + 1), base);
        __m256 low = _mm256_shuffle_ps(_mm256_castsi256_ps(a), _mm256_castsi256_ps(b), 0x88);
        all = _mm256_or_si256(all, _mm256_or_si256(a, b));
        n->v[i] = _mm256_castps_si256(low);
    }
    uint64_t wrong = 0xffffffff00000000u | (active->bytes - 1);
    return _mm256_testz_si256(all, _mm256_set1_epi64x((int64_t)wrong));
}

AVX2 static bool sectors(const obs_active *active, obs_cost *cost)
{
    numbers n;
    if (!distances(active, &n))
        return false;
    sort(&n);
    uint32_t elements = count_distinct(&n);
    for (int i = 0; i < 4; i++)
        n.v[i] = _mm256_srli_epi32(n.v[i], 5);
    cost->sectors = count_distinct(&n);
    cost->sectors_min = obs_div_up((uint64_t)elements * active->bytes, OBS_SECTOR_BYTES);
    return true;
}

/* Goes through the sorted keys: the slots of a group follow one another. */
static uint32_t sum_ways(const uint32_t (*sorted)[8], uint32_t per_group)
{
    uint32_t sum = 0, most = 0, here = 0, last = ~sorted[0][0];
    uint32_t group = (uint32_t)__builtin_ctz(per_group) + 27;
    for (uint32_t k = 0; k < OBS_LANES; k++) {
        uint32_t key = sorted[k % 4][k / 4], differ = key ^ last;
        here = differ >> 27 ? 1 : here + (differ != 0);
        if (group < 32 && differ >> group) {
            sum += most;
            most = 0;
        }
        most = here > most ? here : most;
        last = key;
    }
    return sum + most;
}

AVX2 static uint32_t ways(const uint32_t *key, uint32_t per_group)
{
    numbers n;
    uint32_t sorted[4][8];
    for (int i = 0; i < 4; i++)
        n.v[i] = _mm256_loadu_si256((const __m256i *)(key + 8 * i));
    sort(&n);
    for (int i = 0; i < 4; i++)
        _mm256_storeu_si256((__m256i *)sorted[i], n.v[i]);
    return sum_ways(sorted, per_group);
}

bool obs_ways_simd(const uint32_t *key, uint32_t per_group, uint32_t *sum)
{
    if (!simd_usable())
        return false;
    *sum = ways(key, per_group);
    return true;
}

bool obs_sectors_simd(const obs_active *active, obs_cost *cost)
{
    return obs_is_pow2(active->bytes) && active->bytes <= OBS_SECTOR_BYTES && simd_usable() &&
           sectors(active, cost);
}

#else

bool obs_ways_simd(const uint32_t *key, uint32_t per_group, uint32_t *sum)
{
    (void)key;
    (void)per_group;
    (void)sum;
    return false;
}

bool obs_sectors_simd(const obs_active *active, obs_cost *cost)
{
    (void)active;
    (void)cost;
    return false;
}

#endif
