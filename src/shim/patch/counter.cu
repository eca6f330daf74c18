/* Counts what instructions of patched kernels do to memory: the API calls one of these functions before
 * each of them, on each lane that accesses.
 *
 * Compiled to counter.ptx by tools/gen_patches.py, which is what is built in; run it after a change.
 * Lanes that come together count together, as a warp's request; the first of them writes. With the
 * definitions of observe/cost.h and banks.c, for accesses of 1 to 16 bytes, a power of two, aligned. */
#include "table.h"

enum { WARP = 32, SECTOR = 32, BANKS = 32, WORD = 4 };
enum { UNIFORM, CONTIGUOUS, MISALIGNED, STRIDED, IRREGULAR };

typedef unsigned long long counter;

struct request { /* the same in all its lanes but for lane, address, below */
    uint32_t mask, lane, below, first, count;
    uint64_t address;
    uint32_t bytes, flags;
};

__device__ static inline uint32_t lane_id()
{
    uint32_t id;
    asm volatile("mov.u32 %0, %%laneid;" : "=r"(id));
    return id;
}

__device__ static inline uint32_t multiprocessor()
{
    uint32_t id;
    asm volatile("mov.u32 %0, %%smid;" : "=r"(id));
    return id;
}

__device__ static inline request request_of(uint64_t address, uint32_t bytes, uint32_t flags)
{
    request r;
    r.mask = __activemask();
    r.lane = lane_id();
    r.below = r.mask & ((1u << r.lane) - 1);
    r.first = __ffs(r.mask) - 1;
    r.count = __popc(r.mask);
    r.address = address;
    r.bytes = bytes;
    r.flags = flags;
    return r;
}

/* How many lanes have a key that no lane before them has. */
__device__ static inline uint32_t distinct(const request &r, uint64_t key)
{
    return __popc(__ballot_sync(r.mask, !(__match_any_sync(r.mask, key) & r.below)));
}

/* ---- passes through shared memory (banks.c) ---- */

__device__ static inline bool joins_pairs(const request &r, uint32_t distance)
{
    uint64_t other = __shfl_sync(r.mask, r.address, r.lane ^ distance);
    return __all_sync(r.mask, !(r.mask >> (r.lane ^ distance) & 1) || other == r.address);
}

__device__ static inline uint32_t lanes_together(const request &r)
{
    uint32_t lanes = r.bytes <= WORD ? WARP : 128 / r.bytes;
    bool joins = r.bytes > WORD && r.flags == PATCH_READS &&
                 (joins_pairs(r, 1) || joins_pairs(r, 2));
    return joins ? lanes * 2 : lanes;
}

/* The most that any of the group's lanes has; `ways` counts from 1. */
__device__ static inline uint32_t most_of_group(const request &r, bool in_group, uint32_t ways)
{
    uint32_t most = 0;
    while (__any_sync(r.mask, in_group && ways > most))
        most++;
    return most;
}

__device__ static inline void count_wavefronts(const request &r, patch_row *sum)
{
    bool atomic = r.flags == (PATCH_READS | PATCH_WRITES);
    uint32_t together = lanes_together(r), group = r.lane / together;
    uint32_t unit = (uint32_t)r.address / (r.bytes < WORD ? WORD : r.bytes);
    uint32_t slots = r.bytes <= WORD ? BANKS : 128 / r.bytes;
    uint32_t same = __match_any_sync(r.mask, (uint64_t)group << 32 | unit);
    bool takes = atomic || !(same & r.below);
    uint32_t slot = takes ? group * BANKS + unit % slots : ~r.lane;
    uint32_t ways = __popc(__match_any_sync(r.mask, slot));
    for (uint32_t i = 0; i < WARP / together; i++) {
        bool here = group == i;
        sum->wavefronts += most_of_group(r, here && takes, ways);
        sum->wavefronts_min += __any_sync(r.mask, here) ? 1 : 0;
    }
}

/* ---- sectors ---- */

__device__ static inline void count_sectors(const request &r, uint32_t addresses, patch_row *sum)
{
    sum->sectors = distinct(r, r.address / SECTOR);
    sum->sectors_min = (addresses * r.bytes + SECTOR - 1) / SECTOR;
}

/* Word k of a warp's lanes lies side by side. */
__device__ static inline void count_local_sectors(const request &r, patch_row *sum)
{
    uint32_t words = r.bytes > WORD ? r.bytes / WORD : 1;
    sum->sectors = distinct(r, r.address / WORD * (WARP / 8) + r.lane / 8) * words;
    sum->sectors_min = (r.count * r.bytes + SECTOR - 1) / SECTOR;
}

/* cp.async.cg of 16 bytes: each lane counts for itself, but for two neighbours that take the halves of one
 * sector. */
__device__ static inline void count_pairs(const request &r, patch_row *sum)
{
    bool together = r.mask >> (r.lane ^ 1) & 1;
    uint64_t other = __shfl_sync(r.mask, r.address, together ? r.lane ^ 1 : r.lane);
    bool halves = together && (r.address ^ other) == 16;
    if (r.bytes == 16)
        sum->sectors = r.count - __popc(__ballot_sync(r.mask, halves)) / 2;
}

/* ---- shapes ---- */

__device__ static inline uint32_t shape_of_neighbours(const request &r, uint64_t first)
{
    uint64_t last = __shfl_sync(r.mask, r.address, WARP - 1 - __clz(r.mask));
    uint64_t low = first < last ? first : last, span = (first < last ? last - first : first - last) + r.bytes;
    uint64_t sectors = (low + span - 1) / SECTOR - low / SECTOR + 1;
    return sectors > (span + SECTOR - 1) / SECTOR ? MISALIGNED : CONTIGUOUS;
}

/* The constant difference by lane number, where there is one of at most 31 bits. */
__device__ static inline bool lane_stride(const request &r, uint64_t first, int64_t *stride)
{
    uint32_t second = __ffs(r.mask & (r.mask - 1)) - 1;
    int64_t over = (int64_t)(__shfl_sync(r.mask, r.address, second) - first);
    int32_t lanes = (int32_t)(second - r.first);
    bool fits = lanes == 1 || over == (int32_t)over;
    *stride = lanes == 1 ? over : fits ? (int32_t)over / lanes : 0;
    uint64_t expected = first + (uint64_t)((int64_t)(r.lane - r.first) * *stride);
    return __all_sync(r.mask, fits && r.address == expected) && *stride * lanes == over;
}

/* Whether each active lane is `step` above the active lane before. */
__device__ static inline bool follows(const request &r, uint64_t first, uint64_t step)
{
    return __all_sync(r.mask, r.address == first + step * __popc(r.below));
}

__device__ static inline uint32_t shape_of(const request &r, bool local, uint32_t addresses, int64_t *stride)
{
    if (addresses == 1)
        return local ? CONTIGUOUS : UNIFORM;
    uint64_t first = __shfl_sync(r.mask, r.address, r.first);
    bool constant = lane_stride(r, first, stride);
    bool up = follows(r, first, r.bytes), down = follows(r, first, 0 - (uint64_t)r.bytes);
    bool neighbours = up || down || (constant && (*stride == r.bytes || *stride == -(int64_t)r.bytes));
    if (neighbours && !local)
        return shape_of_neighbours(r, first);
    return constant && r.count > 2 ? STRIDED : IRREGULAR;
}

/* ---- the table ---- */

__device__ static inline void add(uint64_t *to, uint64_t n)
{
    if (n)
        atomicAdd((counter *)to, (counter)n);
}

__device__ static inline void widen(patch_row *row, const request &r)
{
    volatile patch_row *seen = row;
    if (~r.address > seen->not_low)
        atomicMax((counter *)&row->not_low, (counter)~r.address);
    if (r.address + r.bytes > seen->high)
        atomicMax((counter *)&row->high, (counter)(r.address + r.bytes));
}

__device__ static inline void add_row(patch_row *row, const request &r, const patch_row &sum, uint32_t shape, int64_t stride)
{
    add(&row->requests, 1);
    add(&row->lanes, r.count);
    add(&row->sectors, sum.sectors);
    add(&row->sectors_min, sum.sectors_min);
    add(&row->wavefronts, sum.wavefronts);
    add(&row->wavefronts_min, sum.wavefronts_min);
    if (shape < IRREGULAR)
        add(&row->shapes[shape], 1);
    row->bytes = r.bytes;
    row->flags = r.flags;
    if (shape == STRIDED)
        row->stride = stride;
}

/* NULL: the instruction is not the kernel's own, or has no slot. */
__device__ static inline patch_row *row_of(patch_head *head, uint64_t pc, uint32_t space, bool *pairs)
{
    if (pc < head->begin || pc >= head->end)
        return 0;
    uint64_t insns = (head->end - head->begin) / PATCH_INSN_BYTES;
    uint32_t slot = ((const uint16_t *)(head + 1))[(pc - head->begin) / PATCH_INSN_BYTES];
    *pairs = slot & PATCH_PAIRS;
    slot &= PATCH_MOST_SLOTS;
    uint64_t copy = multiprocessor() & (head->copies - 1);
    patch_row *rows = (patch_row *)((char *)head + patch_rows_at(insns));
    return slot ? rows + (copy * head->slots + slot - 1) * PATCH_SPACES + space : 0;
}

__device__ static void count(void *table, uint64_t pc, uint64_t address, uint32_t bytes, uint32_t flags, uint32_t space, bool copied)
{
    patch_head *head = (patch_head *)table;
    if (!head)
        return;
    request r = request_of(address, bytes, flags & (PATCH_READS | PATCH_WRITES));
    bool pairs = false;
    patch_row *row = row_of(head, pc, space, &pairs), sum = {};
    int64_t stride = 0;
    if (!row) {
        if (!r.below)
            add(&head->elsewhere, 1);
        return;
    }
    uint32_t addresses = distinct(r, address);
    if (space == PATCH_SHARED)
        count_wavefronts(r, &sum);
    else if (space == PATCH_LOCAL)
        count_local_sectors(r, &sum);
    else
        count_sectors(r, addresses, &sum);
    if (copied && pairs)
        count_pairs(r, &sum);
    uint32_t shape = shape_of(r, space == PATCH_LOCAL, addresses, &stride);
    widen(row, r);
    if (!r.below)
        add_row(row, r, sum, shape, stride);
}

/* ---- what the API calls ---- */

#define ACCESS(name, space)                                                                        \
    extern "C" __device__ __noinline__ int name(void *table, uint64_t pc, void *address,            \
                                                uint32_t bytes, uint32_t flags, const void *)       \
    {                                                                                              \
        count(table, pc, (uint64_t)address, bytes, flags, space, false);                           \
        return 0;                                                                                  \
    }

ACCESS(wl_global, PATCH_GLOBAL)
ACCESS(wl_shared, PATCH_SHARED)
ACCESS(wl_local, PATCH_LOCAL)

/* A copy to shared memory that does not pass through registers: what it stores, and what it loads; `from` is
 * NULL where it only clears. */
extern "C" __device__ __noinline__ int wl_copied(void *table, uint64_t pc, void *from, uint32_t to, uint32_t bytes)
{
    count(table, pc, to, bytes, PATCH_WRITES, PATCH_SHARED, false);
    if (from)
        count(table, pc, (uint64_t)from, bytes, PATCH_READS, PATCH_GLOBAL, true);
    return 0;
}
