#include "observe/cost.h"

#include <string.h>

/* A hash table without deletion or probing: every key writes its index into its slot, the last
 * writer of a slot represents all equal keys, and keys that lost their slot to another go round
 * again. */
uint32_t obs_distinct(const uint64_t *key, uint32_t count, const uint32_t *bits, uint32_t *group)
{
    uint8_t slot[256], at[OBS_LANES], index[OBS_LANES];
    uint32_t representatives = 0;
    for (uint32_t i = 0; i < count; i++)
        index[i] = (uint8_t)i;
    while (count) {
        uint32_t lost = 0;
        for (uint32_t i = 0; i < count; i++) {
            at[i] = (uint8_t)((key[index[i]] * 0x9e3779b97f4a7c15u) >> 56);
            slot[at[i]] = index[i];
        }
        for (uint32_t i = 0; i < count; i++) {
            uint32_t self = index[i], other = slot[at[i]];
            bool same = key[self] == key[other];
            representatives |= (uint32_t)(self == other) << self;
            if (group)
                group[other] |= same ? bits[self] : 0;
            index[lost] = (uint8_t)self;
            lost += !same;
        }
        count = lost;
    }
    return representatives;
}

void obs_sort_addresses(const obs_active *active, uint64_t *sorted)
{
    for (uint32_t i = 0; i < active->count; i++) {
        uint64_t a = active->addr[i];
        uint32_t at = i;
        for (; at && sorted[at - 1] > a; at--)
            sorted[at] = sorted[at - 1];
        sorted[at] = a;
    }
}

/* Any width and alignment. */
static void sectors_of_any(const obs_active *active, obs_cost *cost)
{
    uint64_t sorted[OBS_LANES], bytes = 0, byte = 0,
                                sector = 0; /* byte, sector: the first not counted yet */
    obs_sort_addresses(active, sorted);
    for (uint32_t i = 0; i < active->count; i++) {
        uint64_t first = sorted[i], end = first + active->bytes;
        uint64_t from = first / OBS_SECTOR_BYTES, to = (end - 1) / OBS_SECTOR_BYTES + 1;
        bytes += end - (i && byte > first ? byte : first);
        cost->sectors += (uint32_t)(to - (i && sector > from ? sector : from));
        byte = end;
        sector = to;
    }
    cost->sectors_min = obs_div_up(bytes, OBS_SECTOR_BYTES);
}

static bool naturally_aligned(const obs_active *active)
{
    uint64_t any = 0;
    for (uint32_t i = 0; i < active->count; i++)
        any |= active->addr[i];
    return active->bytes <= OBS_SECTOR_BYTES && obs_is_pow2(active->bytes) &&
           (any & (active->bytes - 1)) == 0;
}

void obs_sectors(const obs_active *active, obs_cost *cost)
{
    if (!naturally_aligned(active)) {
        sectors_of_any(active, cost);
        return;
    }
    uint64_t key[OBS_LANES];
    uint32_t bits[OBS_LANES], taken[OBS_LANES], ones = (uint32_t)((1ull << active->bytes) - 1),
                                                bytes = 0;
    memset(taken, 0, sizeof taken);
    for (uint32_t i = 0; i < active->count; i++) {
        key[i] = active->addr[i] / OBS_SECTOR_BYTES;
        bits[i] = ones << (active->addr[i] % OBS_SECTOR_BYTES);
    }
    uint32_t distinct = obs_distinct(key, active->count, bits, taken);
    for (uint32_t i = 0; i < OBS_LANES; i++)
        bytes += (uint32_t)__builtin_popcount(taken[i]);
    cost->sectors = (uint32_t)__builtin_popcount(distinct);
    cost->sectors_min = obs_div_up(bytes, OBS_SECTOR_BYTES);
}

/* Word k of the lanes 8 j .. 8 j + 7 is one sector: the union of these lanes' words, summed over
 * the octets. */
void obs_sectors_local(const obs_active *active, obs_cost *cost)
{
    for (uint32_t from = 0, to; from < active->count; from = to) {
        obs_active octet = {.bytes = active->bytes};
        uint64_t sorted[OBS_LANES], next = 0; /* the first word not counted yet */
        for (to = from; to < active->count && active->lane[to] / 8 == active->lane[from] / 8; to++)
            octet.addr[octet.count++] = active->addr[to];
        obs_sort_addresses(&octet, sorted);
        for (uint32_t i = 0; i < octet.count; i++) {
            uint64_t first = sorted[i] / OBS_WORD_BYTES,
                     end = (sorted[i] + octet.bytes - 1) / OBS_WORD_BYTES + 1;
            cost->sectors += (uint32_t)(end - (i && next > first ? next : first));
            next = end;
        }
    }
    cost->sectors_min = obs_div_up((uint64_t)active->bytes * active->count, OBS_SECTOR_BYTES);
}
