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
 * the bank. Groups without an active lane take none. The conflict-free minimum is one pass a
 * group, whose distinct words never exceed 32.
 *
 * Checked against an H200, where all of this holds for each of 1,109 requests of 1 to 16 bytes
 * (tests/observe/data). Not measured: cp.async, counted as a store of its bytes, and bulk copies,
 * counted as consecutive words of one lane. */
#include "observe/cost.h"

#include <string.h>

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

static bool joins(const obs_active *active)
{
    uint64_t by_lane[OBS_LANES];
    for (uint32_t i = 0; i < active->count; i++)
        by_lane[active->lane[i]] = active->addr[i];
    return pairs_equal(active, by_lane, 1) || pairs_equal(active, by_lane, 2);
}

/* Lanes of a group read or write 128 bytes at most: fewer lanes the wider they are. */
static grouping group_of(const obs_active *active, obs_op op, uint32_t flags)
{
    grouping g = {.size = OBS_LANES, .atomic = op == OBS_ATOMIC || op == OBS_REDUCTION};
    while (g.size > 1 && g.size * active->bytes > 128)
        g.size /= 2;
    bool wide = active->bytes == 8 || active->bytes == 16;
    if (wide && op == OBS_LOAD && !(flags & OBS_ACCESS_MATRIX) && joins(active))
        g.size *= 2;
    return g;
}

static uint32_t count_groups(const obs_active *active, uint32_t size)
{
    uint32_t groups = 0, last = UINT32_MAX;
    for (uint32_t i = 0; i < active->count; i++) {
        groups += active->lane[i] / size != last;
        last = active->lane[i] / size;
    }
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
    obs_active group = {.count = to - from};
    uint64_t sorted[OBS_LANES], next = 0; /* the first word not counted yet */
    uint32_t banks[OBS_LANES] = {0};
    memcpy(group.addr, active->addr + from, group.count * sizeof group.addr[0]);
    obs_sort_addresses(&group, sorted);
    for (uint32_t i = 0; i < group.count; i++) {
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
 * quadruple of banks each. `slot` numbers the banks of all groups one after another, so that there
 * are always 32 of them, or 16 where groups are joined. */
typedef struct units {
    uint32_t banks; /* a group's */
    uint32_t slots;
    uint8_t slot[OBS_LANES];
    uint64_t key[OBS_LANES]; /* unit and group */
} units;

static void units_of(const obs_active *active, uint32_t size, units *u)
{
    uint32_t width = active->bytes < OBS_WORD_BYTES ? OBS_WORD_BYTES : active->bytes;
    uint32_t shift = (uint32_t)__builtin_ctz(width), group = (uint32_t)__builtin_ctz(size);
    u->banks = 128 / width;
    u->slots = u->banks * (OBS_LANES / size);
    for (uint32_t i = 0; i < active->count; i++) {
        uint64_t unit = active->addr[i] >> shift, g = active->lane[i] >> group;
        u->slot[i] = (uint8_t)(g * u->banks + (unit & (u->banks - 1)));
        u->key[i] = unit << 5 | g;
    }
}

static bool conflict_free(const units *u, uint32_t count)
{
    uint64_t holder[OBS_LANES], different = 0;
    for (uint32_t i = 0; i < count; i++)
        holder[u->slot[i]] = u->key[i];
    for (uint32_t i = 0; i < count; i++)
        different |= holder[u->slot[i]] ^ u->key[i];
    return different == 0;
}

static void wavefronts_of_units(const obs_active *active, grouping g, obs_cost *cost)
{
    units u;
    uint32_t banks[OBS_LANES] = {0};
    units_of(active, g.size, &u);
    if (!g.atomic && conflict_free(&u, active->count)) {
        cost->wavefronts = cost->wavefronts_min;
        return;
    }
    uint32_t count = g.atomic ? UINT32_MAX : obs_distinct(u.key, active->count, NULL, NULL);
    for (uint32_t i = 0; i < active->count; i++)
        banks[u.slot[i]] += count >> i & 1;
    for (uint32_t slot = 0; slot < u.slots; slot += u.banks)
        cost->wavefronts += fullest(banks + slot, u.banks);
}

static bool in_units(const obs_active *active)
{
    uint64_t any = 0;
    for (uint32_t i = 0; i < active->count; i++)
        any |= active->addr[i];
    return active->bytes <= 16 && obs_is_pow2(active->bytes) && (any & (active->bytes - 1)) == 0;
}

void obs_wavefronts(const obs_active *active, obs_op op, uint32_t flags, obs_cost *cost)
{
    grouping g = group_of(active, op, flags);
    if (in_units(active)) {
        cost->wavefronts_min = count_groups(active, g.size);
        wavefronts_of_units(active, g, cost);
    } else {
        wavefronts_of_any(active, g, cost);
    }
}
