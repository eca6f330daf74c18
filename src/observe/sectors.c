#include "observe/cost.h"

enum { SLOTS = 256 };

/* Keys that lost their slot to another one: of the later ones those that equal an earlier one
 * follow it. */
static uint32_t settle_lost_keys(const uint64_t *key, uint32_t lost, uint8_t *same)
{
    uint32_t found = 0;
    for (; lost; lost &= lost - 1) {
        uint32_t i = (uint32_t)__builtin_ctz(lost), m = found;
        while (m && key[__builtin_ctz(m)] != key[i])
            m &= m - 1;
        same[i] = (uint8_t)(m ? (uint32_t)__builtin_ctz(m) : i);
        found |= 1u << same[i];
    }
    return found;
}

/* A hash table without clearing or probing: every key writes its index into its slot, and the last
 * writer stands for all equal keys. 32 keys in 256 slots seldom meet. */
uint32_t obs_distinct(const uint64_t *key, uint32_t count, uint8_t *same)
{
    uint8_t slot[SLOTS], at[OBS_LANES];
    uint32_t first = 0, lost = 0;
    for (uint32_t i = 0; i < count; i++)
        at[i] = (uint8_t)((uint32_t)key[i] * 0x9e3779b1u >> 24);
    for (uint32_t i = 0; i < count; i++)
        slot[at[i]] = (uint8_t)i;
    for (uint32_t i = 0; i < count; i++) {
        uint32_t j = slot[at[i]];
        same[i] = (uint8_t)j;
        first |= (uint32_t)(j == i) << i;
        lost |= (uint32_t)(key[j] != key[i]) << i;
    }
    if (lost)
        return first | settle_lost_keys(key, lost, same);
    return first;
}

void obs_sort_addresses(const uint64_t *addr, uint32_t count, uint64_t *sorted)
{
    for (uint32_t i = 0; i < count; i++) {
        uint64_t a = addr[i];
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
    obs_sort_addresses(active->addr, active->count, sorted);
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

/* Set bits of 32 words, in a form that vectorises without the popcnt instruction. */
static uint32_t count_bits(const uint32_t *words)
{
    uint32_t sum = 0;
    for (uint32_t i = 0; i < OBS_LANES; i++) {
        uint32_t w = words[i];
        w = w - (w >> 1 & 0x55555555);
        w = (w & 0x33333333) + (w >> 2 & 0x33333333);
        w = (w + (w >> 4)) & 0x0f0f0f0f;
        w += w >> 8;
        sum += (w + (w >> 16)) & 0xff;
    }
    return sum;
}

static void sectors_of_aligned(const obs_active *active, obs_cost *cost)
{
    uint64_t key[OBS_LANES];
    uint32_t taken[OBS_LANES] = {0}, ones = (uint32_t)((1ull << active->bytes) - 1);
    uint8_t same[OBS_LANES];
    for (uint32_t i = 0; i < OBS_LANES; i++)
        key[i] = active->addr[i] / OBS_SECTOR_BYTES;
    cost->sectors = (uint32_t)__builtin_popcount(obs_distinct(key, active->count, same));
    for (uint32_t i = 0; i < active->count; i++)
        taken[same[i]] |= ones << (active->addr[i] % OBS_SECTOR_BYTES);
    cost->sectors_min = obs_div_up(count_bits(taken), OBS_SECTOR_BYTES);
}

void obs_sectors(const obs_active *active, obs_cost *cost)
{
    if (obs_sectors_simd(active, cost))
        return;
    if (naturally_aligned(active))
        sectors_of_aligned(active, cost);
    else
        sectors_of_any(active, cost);
}

/* A bit for a lane of each sector; turns[that lane] are its turns: the lanes that change the busiest
 * place in it. */
static uint32_t turns_by_sector(const obs_active *active, uint8_t turns[OBS_LANES])
{
    uint8_t place[OBS_LANES], lanes[OBS_LANES] = {0}, same[OBS_LANES];
    uint64_t sector[OBS_LANES];
    obs_distinct(active->addr, active->count, place);
    for (uint32_t i = 0; i < active->count; i++) {
        sector[i] = active->addr[i] / OBS_SECTOR_BYTES;
        lanes[place[i]]++;
        turns[i] = 0;
    }
    uint32_t sectors = obs_distinct(sector, active->count, same);
    for (uint32_t i = 0; i < active->count; i++)
        if (lanes[i] > turns[same[i]])
            turns[same[i]] = lanes[i];
    return sectors;
}

uint32_t obs_further_turns(const obs_active *active)
{
    uint8_t turns[OBS_LANES];
    uint32_t sum = 0;
    for (uint32_t left = turns_by_sector(active, turns); left; left &= left - 1)
        sum += turns[__builtin_ctz(left)] - 1u;
    return sum;
}

/* Of any distance between addresses: which bits choose the slice is not published. */
static uint32_t slice_of(uint64_t address)
{
    return (uint32_t)(address / OBS_SLICE_PIECE * 0x9e3779b97f4a7c15u >> 32) % OBS_SLICES;
}

void obs_turns_by_slice(const obs_active *active, uint64_t slices[OBS_SLICES])
{
    uint8_t turns[OBS_LANES];
    for (uint32_t left = turns_by_sector(active, turns); left; left &= left - 1) {
        uint32_t i = (uint32_t)__builtin_ctz(left);
        slices[slice_of(active->addr[i])] += turns[i];
    }
}

/* Word k of the lanes 8 j .. 8 j + 7 is one sector: the union of these lanes' words, summed over
 * the octets. */
void obs_sectors_local(const obs_active *active, obs_cost *cost)
{
    for (uint32_t from = 0, to; from < active->count; from = to) {
        uint64_t sorted[OBS_LANES], next = 0; /* the first word not counted yet */
        for (to = from; to < active->count && active->lane[to] / 8 == active->lane[from] / 8;)
            to++;
        obs_sort_addresses(active->addr + from, to - from, sorted);
        for (uint32_t i = 0; i < to - from; i++) {
            uint64_t first = sorted[i] / OBS_WORD_BYTES;
            uint64_t end = (sorted[i] + active->bytes - 1) / OBS_WORD_BYTES + 1;
            cost->sectors += (uint32_t)(end - (i && next > first ? next : first));
            next = end;
        }
    }
    cost->sectors_min = obs_div_up((uint64_t)active->bytes * active->count, OBS_SECTOR_BYTES);
}
