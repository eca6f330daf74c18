/* What one request costs: sectors, wavefronts, and the shape of its addresses. Pure functions of
 * the request.
 *
 * Definitions, for the active lanes of one warp instruction, each of which takes the bytes [addr,
 * addr + bytes):
 *   sectors         distinct aligned 32-byte pieces that hold any of these bytes; of a cp.async.cg
 *                   those of each lane, though once for lanes 2k and 2k + 1 that take its halves
 *   sectors_min     distinct bytes / 32, rounded up; bytes that several lanes take count once
 *   wavefronts      passes through shared memory, see banks.c
 *   wavefronts_min  the passes that would be left without bank conflicts: one a group of lanes
 *                   served together
 *   turns           of an atomic in global memory, how often L2 must change a sector: once for each
 *                   sector, and once more for each further lane that changes what another lane
 *                   there does; of several such places in a sector the busiest counts. 0 for
 *                   other requests
 * Sectors agree with l1tex__t_sectors_pipe_lsu_mem_global_op_{ld,st}, wavefronts with
 * l1tex__data_pipe_lsu_wavefronts_mem_shared_op_{ld,st,atom} and wavefronts - wavefronts_min with
 * l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_* of an H200, pattern by pattern
 * (tests/observe/data). That turns take time one after the other, those of one address at the same
 * rate from one request as from many, is what bench/device measured there (atomic_same_lanes).
 *
 * A box of a tensor is one request of one lane, though its rows come as lanes, 32 at a time: what
 * goes on with it (ACC_GOES_ON) adds sectors and wavefronts only.
 *
 * Local memory: addresses are offsets in the thread's own. The hardware lays word k of the 32
 * lanes of a warp side by side (CUDA programming guide, device memory accesses: consecutive 32-bit
 * words are accessed by consecutive threads), so word k of lane l lies at k * 128 + l * 4, and
 * that is what sectors are counted by. Distinct bytes of different lanes are always different.
 *
 * Shapes; each request has one:
 *   uniform     all active lanes have the same address (also a single lane)
 *   contiguous  addresses run up or down by `bytes` from lane to lane (inactive lanes counted:
 *               lane l has first + l * bytes), or from active lane to active lane, and the bytes
 *               between the lowest and the highest lie in as few sectors as so many bytes can; for
 *               a full warp: they begin on a sector boundary
 *   misaligned  as contiguous, but in one sector more, because of where they begin
 *   strided     at least three active lanes, another constant difference from lane to lane
 *               (inactive lanes counted)
 *   irregular   everything else
 * In local memory equal offsets are contiguous, any other constant difference of three lanes or
 * more is strided, and uniform and misaligned do not occur. */
#ifndef WL_OBSERVE_COST_H
#define WL_OBSERVE_COST_H

#include "observe/observe.h"

/* L2 consists of slices, each of which changes one sector after the other. Pieces of so many bytes
 * lie in one slice, and slices are taken to be so many: on an H200 words that share such a piece are
 * changed at the rate of a single word, and the most that it changes is 64 times that rate
 * (bench/device: atomic_row_sectors, atomic_sectors). */
enum { OBS_LANES = 32, OBS_SLICES = 64, OBS_SLICE_PIECE = 512 };

typedef enum obs_shape {
    OBS_SHAPE_UNIFORM,
    OBS_SHAPE_CONTIGUOUS,
    OBS_SHAPE_MISALIGNED,
    OBS_SHAPE_STRIDED,
    OBS_SHAPE_IRREGULAR,
    OBS_SHAPE_COUNT
} obs_shape;

typedef struct obs_cost {
    uint32_t requests; /* 1; 0 of what goes on with the request before */
    uint32_t lanes;
    uint32_t sectors, sectors_min;       /* 0 for shared memory */
    uint32_t wavefronts, wavefronts_min; /* 0 for other memory */
    uint32_t turns;                      /* 0 unless an atomic in global memory */
    obs_shape shape;
    int64_t stride; /* of a strided request, else 0 */
    bool pieces;    /* of rows; the caller's to fill in, by obs_is_pieces */
    bool unclear;   /* how many wavefronts is not known: it has the fewest */
} obs_cost;

/* Do lanes of one word in shared memory take turns? */
static inline bool obs_takes_turns(acc_op op, uint32_t flags)
{
    return (op == ACC_ATOMIC || op == ACC_REDUCTION) && !(flags & (ACC_POPC | ACC_SPIN));
}

/* Of ACC_SPIN, counted as a load of the same words. */
static inline void obs_count_spin(obs_cost *cost)
{
    cost->unclear = cost->wavefronts > cost->wavefronts_min;
    cost->wavefronts_min *= 2;
    cost->wavefronts = cost->wavefronts_min;
}

/* Consecutive active lanes whose addresses differ by a constant: lane + i has first + i * stride,
 * i < count. */
typedef struct obs_run {
    uint64_t first;
    int64_t stride;
    uint32_t lane, count;
} obs_run;

/* Whether all active lanes form one run. A single lane is a run of stride 0. */
bool obs_find_run(const acc_request *access, obs_run *run);

/* `access` needs at least one active lane and one byte. The two agree; cost_run is for accesses
 * that are a run. */
obs_cost obs_cost_run(const acc_request *access, const obs_run *run);
obs_cost obs_cost_irregular(const acc_request *access);

bool obs_is_global_atomic(const acc_request *access);
/* Adds the turns of an atomic in global memory to the slices of L2 that have its sectors. */
void obs_cost_by_slice(const acc_request *access, uint64_t slices[OBS_SLICES]);

/* Is the request made of pieces of rows, in a block that is `width` threads wide (a power of two
 * below OBS_LANES)? Then threads of one threadIdx.y and z take neighbouring elements, as
 * threadIdx.x runs, and what they take lies apart from what the threads before them take, or
 * follows it, though not everywhere: else it would be one row. */
bool obs_is_pieces(const acc_request *access, uint32_t width);

/* ---- parts, for cost.c ---- */

/* The active lanes, closed up: lane[i] has addr[i], i < count. Behind them addr repeats addr[0] up
 * to OBS_LANES. */
typedef struct obs_active {
    uint32_t count, bytes, mask;
    const uint8_t *lane;
    const uint64_t *addr;
} obs_active;

void obs_sectors(const obs_active *active, obs_cost *cost);
/* The same with AVX2, for naturally aligned lanes less than 2 GiB from the first; false (and
 * nothing done) for others and on other machines. */
bool obs_sectors_simd(const obs_active *active, obs_cost *cost);
void obs_sectors_local(const obs_active *active, obs_cost *cost);
uint32_t obs_further_turns(const obs_active *active); /* beside one for each sector */
/* Adds the turns to the slices of L2 that have the sectors in which lanes begin. */
void obs_turns_by_slice(const obs_active *active, uint64_t slices[OBS_SLICES]);
void obs_wavefronts(const obs_active *active, acc_op op, uint32_t flags, obs_cost *cost);

/* For 32 keys with a slot in the upper five bits: over groups of `per_group` slots, the sum of the
 * most different keys that share a slot of the group. False without AVX2. */
bool obs_ways_simd(const uint32_t *key, uint32_t per_group, uint32_t *sum);

/* Finds equal keys among at most 32: same[i] is the index of one key equal to key[i], the same one
 * for all of them. The result has a bit for each of these indices, as many as there are distinct
 * keys. */
uint32_t obs_distinct(const uint64_t *key, uint32_t count, uint8_t *same);

/* At most 32 addresses in ascending order. */
void obs_sort_addresses(const uint64_t *addr, uint32_t count, uint64_t *sorted);

static inline uint32_t obs_sectors_of_span(uint64_t first, uint64_t length)
{
    return (uint32_t)(((first + length - 1) / OBS_SECTOR_BYTES) - first / OBS_SECTOR_BYTES + 1);
}

static inline uint32_t obs_div_up(uint64_t n, uint32_t by)
{
    return (uint32_t)((n + by - 1) / by);
}

static inline bool obs_is_pow2(uint32_t n)
{
    return (n & (n - 1)) == 0;
}

#endif
