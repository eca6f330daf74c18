/* Passes ("wavefronts") of a request through shared memory.
 *
 * Shared memory has 32 banks; successive 4-byte words lie in successive banks, and a bank gives or
 * takes one word a pass (CUDA programming guide, compute capability 5.x and later). Lanes are
 * served in groups:
 *   up to 4 bytes a lane   all 32 lanes together
 *   8 bytes                two halves of 16 lanes
 *   16 bytes               four quarters of 8 lanes
 * Loads of 8 or 16 bytes join two neighbouring groups into one (one group of 32, two of 16) where
 * every active lane n has the address of lane n ^ 1 or that lane is inactive, or where the same
 * holds of lane n ^ 2; the condition is about the whole warp, and a warp that loads one address
 * meets it. This is what NVIDIA says of compute capability 7.x in its developer forum (thread
 * 77228, "Unexpected shared memory bank conflict"). Stores, atomics and ldmatrix never join.
 *
 * A group takes as many passes as the fullest bank holds distinct words of it: lanes that take one
 * word share it, in stores too. Atomics do not share: there it is the number of lanes that need
 * the bank; but those that count lanes do (ACC_POPC), as Nsight Compute says of each such instruction of the
 * oracle's development half. Of ACC_SPIN it tells twice the passes where no bank is asked for two words,
 * and what it tells of others is not known: such requests are `unclear`, and counted as those are. Groups without an active lane take none. The conflict-free minimum is one pass a
 * group, whose distinct words never exceed 32.
 *
 * Checked against an H200, where all of this holds for each of 1,109 requests of 1 to 16 bytes
 * (tests/observe/data). Not measured: cp.async, counted as a store of its bytes, and bulk copies,
 * counted as consecutive words of one lane. */
#include "observe/cost.h"

typedef struct grouping {
    uint32_t size; /* lanes served together */
    bool atomic;
} grouping;

/* Lanes that differ from their partner n ^ distance, where both are active. */
static bool pairs_equal(const obs_active *active, const uint64_t *by_lane, uint32_t distance)
{
    for (uint32_t i = 0; i < active->count; i++) {
        uint32_t lane = active->lane[i], partner = lane ^ distance;
        if ((active->mask >> partner & 1) && by_lane[lane] != by_lane[partner])
            return false;
    }
    return true;
}

static bool joins_lane_pairs(const obs_active *active)
{
    uint64_t by_lane[OBS_LANES];
    for (uint32_t i = 0; i < active->count; i++)
        by_lane[active->lane[i]] = active->addr[i];
    return pairs_equal(active, by_lane, 1) || pairs_equal(active, by_lane, 2);
}

/* Lanes of a group read or write 128 bytes at most: fewer lanes the wider they are. */
static grouping group_of(const obs_active *active, acc_op op, uint32_t flags)
{
    grouping g = {.size = OBS_LANES, .atomic = obs_takes_turns(op, flags)};
    while (g.size > 1 && g.size * active->bytes > 128)
        g.size /= 2;
    bool wide = active->bytes == 8 || active->bytes == 16;
    if (wide && op == ACC_LOAD && !(flags & ACC_MATRIX) && joins_lane_pairs(active))
        g.size *= 2;
    return g;
}

/* Groups with an active lane; `size` is a power of two. */
static uint32_t count_groups(uint32_t mask, uint32_t size)
{
    uint32_t groups = 0, one = UINT32_MAX >> (OBS_LANES - size);
    for (uint32_t from = 0; from < OBS_LANES; from += size)
        groups += (mask >> from & one) != 0;
    return groups;
}

/* Adds the words [first, end) to the banks. */
static void add_words(uint32_t *banks, uint64_t first, uint64_t end)
{
    uint64_t words = end - first;
    for (uint32_t i = 0; i < OBS_LANES; i++)
        banks[i] += (uint32_t)(words / OBS_LANES);
    for (uint64_t w = end - words % OBS_LANES; w < end; w++)
        banks[w % OBS_LANES]++;
}

static uint32_t fullest(const uint32_t *banks, uint32_t count)
{
    uint32_t most = 0;
    for (uint32_t i = 0; i < count; i++)
        most = banks[i] > most ? banks[i] : most;
    return most;
}

/* Any width and alignment: the lanes active[from .. to) as one group. */
static uint32_t passes_of_any(const obs_active *active, uint32_t from, uint32_t to, bool atomic)
{
    uint64_t sorted[OBS_LANES], next = 0; /* the first word not counted yet */
    uint32_t banks[OBS_LANES] = {0};
    obs_sort_addresses(active->addr + from, to - from, sorted);
    for (uint32_t i = 0; i < to - from; i++) {
        uint64_t first = sorted[i] / OBS_WORD_BYTES,
                 end = (sorted[i] + active->bytes - 1) / OBS_WORD_BYTES + 1;
        add_words(banks, i && !atomic && next > first ? next : first, end);
        next = end;
    }
    return fullest(banks, OBS_LANES);
}

static void wavefronts_of_any(const obs_active *active, grouping g, obs_cost *cost)
{
    for (uint32_t from = 0, to; from < active->count; from = to) {
        for (to = from;
             to < active->count && active->lane[to] / g.size == active->lane[from] / g.size;)
            to++;
        cost->wavefronts += passes_of_any(active, from, to, g.atomic);
        uint64_t words = ((uint64_t)active->bytes + OBS_WORD_BYTES - 1) / OBS_WORD_BYTES;
        cost->wavefronts_min += active->bytes > 128 ? obs_div_up(words, OBS_LANES) : 1;
    }
}

/* Aligned lanes of 1 to 16 bytes move in units of 4, 8 or 16 that lie in one bank, pair or
 * quadruple of banks each. A key has the unit's slot, which numbers the banks of all groups one
 * after another, in its upper five bits and the unit's row below. */
enum { ROW_BITS = 27 };

typedef struct units {
    uint32_t per_group; /* slots */
    uint32_t key[OBS_LANES];
} units;

static void units_of(const obs_active *active, uint32_t size, units *u)
{
    uint32_t width = active->bytes < OBS_WORD_BYTES ? OBS_WORD_BYTES : active->bytes;
    uint32_t shift = (uint32_t)__builtin_ctz(width), group = (uint32_t)__builtin_ctz(size);
    uint32_t banks = 5 + 2 - shift; /* log2 of a group's */
    u->per_group = 1u << banks;
    for (uint32_t i = 0; i < active->count; i++) {
        uint32_t unit = (uint32_t)active->addr[i] >> shift, g = active->lane[i] >> group;
        uint32_t slot = g << banks | (unit & (u->per_group - 1));
        u->key[i] = slot << ROW_BITS | unit >> banks;
    }
    for (uint32_t i = active->count; i < OBS_LANES; i++)
        u->key[i] = active->count ? u->key[0] : 0;
}

static bool conflict_free(const units *u)
{
    uint32_t holder[OBS_LANES], different = 0;
    for (uint32_t i = 0; i < OBS_LANES; i++)
        holder[u->key[i] >> ROW_BITS] = u->key[i];
    for (uint32_t i = 0; i < OBS_LANES; i++)
        different |= holder[u->key[i] >> ROW_BITS] ^ u->key[i];
    return different == 0;
}

/* Of the lanes in `lanes`, as many as share the fullest slot, summed over the groups. */
static uint32_t fullest_slots(const units *u, uint32_t lanes)
{
    uint32_t slots[OBS_LANES] = {0}, sum = 0;
    for (uint32_t i = 0; i < OBS_LANES; i++)
        slots[u->key[i] >> ROW_BITS] += lanes >> i & 1;
    for (uint32_t slot = 0; slot < OBS_LANES; slot += u->per_group)
        sum += fullest(slots + slot, u->per_group);
    return sum;
}

static void wavefronts_of_units(const obs_active *active, grouping g, obs_cost *cost)
{
    units u;
    uint8_t same[OBS_LANES];
    uint64_t key[OBS_LANES];
    units_of(active, g.size, &u);
    cost->wavefronts = cost->wavefronts_min;
    if (g.atomic) {
        cost->wavefronts = fullest_slots(&u, UINT32_MAX >> (OBS_LANES - active->count));
        return;
    }
    if (conflict_free(&u) || obs_ways_simd(u.key, u.per_group, &cost->wavefronts))
        return;
    for (uint32_t i = 0; i < OBS_LANES; i++)
        key[i] = u.key[i] ^ u.key[i] >> ROW_BITS << 5; /* the low bits differ, too */
    cost->wavefronts = fullest_slots(&u, obs_distinct(key, OBS_LANES, same));
}

static bool in_units(const obs_active *active)
{
    uint64_t any = 0;
    for (uint32_t i = 0; i < active->count; i++)
        any |= active->addr[i];
    return active->bytes <= 16 && obs_is_pow2(active->bytes) && (any & (active->bytes - 1)) == 0 &&
           any >> ROW_BITS == 0;
}

void obs_wavefronts(const obs_active *active, acc_op op, uint32_t flags, obs_cost *cost)
{
    grouping g = group_of(active, op, flags);
    if (in_units(active)) {
        cost->wavefronts_min = count_groups(active->mask, g.size);
        wavefronts_of_units(active, g, cost);
    } else {
        wavefronts_of_any(active, g, cost);
    }
    if (flags & ACC_BARRIER) /* what lanes wait for there is each other */
        cost->wavefronts = cost->wavefronts_min;
    if (flags & ACC_SPIN)
        obs_count_spin(cost);
}
