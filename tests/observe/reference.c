#include "reference.h"

#include <stdlib.h>
#include <string.h>

typedef struct set {
    uint64_t *items;
    size_t count;
} set;

static int compare(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return x < y ? -1 : x > y;
}

static void unique(set *s)
{
    size_t n = 0;
    qsort(s->items, s->count, sizeof *s->items, compare);
    for (size_t i = 0; i < s->count; i++)
        if (i == 0 || s->items[i] != s->items[n - 1])
            s->items[n++] = s->items[i];
    s->count = n;
}

static bool active(const acc_request *access, uint32_t lane)
{
    return access->mask >> lane & 1;
}

/* Where byte `i` of a lane really lies: local memory is interleaved by words. */
static uint64_t place(const acc_request *access, uint32_t lane, uint32_t i)
{
    uint64_t a = access->addr[lane] + i;
    return access->space == ACC_LOCAL ? a / 4 * 128 + lane * 4 + a % 4 : a;
}

/* The distinct bytes of the active lanes divided by `unit`. */
static set pieces(const acc_request *access, uint64_t unit)
{
    set s = {malloc((size_t)32 * access->bytes * sizeof(uint64_t)), 0};
    for (uint32_t lane = 0; lane < 32; lane++)
        for (uint32_t i = 0; active(access, lane) && i < access->bytes; i++)
            s.items[s.count++] = place(access, lane, i) / unit;
    unique(&s);
    return s;
}

static size_t count_pieces(const acc_request *access, uint64_t unit)
{
    set s = pieces(access, unit);
    free(s.items);
    return s.count;
}

/* ---- wavefronts ---- */

static bool partners_agree(const acc_request *access, uint32_t distance)
{
    for (uint32_t n = 0; n < 32; n++)
        if (active(access, n) && active(access, n ^ distance) &&
            access->addr[n] != access->addr[n ^ distance])
            return false;
    return true;
}

static uint32_t lanes_together(const acc_request *access)
{
    uint32_t lanes = 32;
    while (lanes > 1 && lanes * access->bytes > 128)
        lanes /= 2;
    if (access->op == ACC_LOAD && !(access->flags & ACC_MATRIX) &&
        (access->bytes == 8 || access->bytes == 16) &&
        (partners_agree(access, 1) || partners_agree(access, 2)))
        lanes *= 2;
    return lanes;
}

/* Passes of the lanes [from, from + lanes). */
static uint32_t passes(const acc_request *access, uint32_t from, uint32_t lanes, uint32_t *any)
{
    size_t words = (access->bytes + 3) / 4 + 1;
    set s = {malloc(lanes * words * sizeof(uint64_t)), 0};
    uint32_t banks[32] = {0}, most = 0;
    bool atomic = (access->op == ACC_ATOMIC || access->op == ACC_REDUCTION) &&
                  (access->flags & (ACC_POPC | ACC_SPIN)) == 0;
    for (uint32_t lane = from; lane < from + lanes; lane++) {
        uint64_t first = access->addr[lane] / 4,
                 last = (access->addr[lane] + access->bytes - 1) / 4;
        for (uint64_t w = first; active(access, lane) && w <= last; w++)
            s.items[s.count++] = w;
    }
    *any = s.count > 0;
    if (!atomic)
        unique(&s);
    for (size_t i = 0; i < s.count; i++)
        banks[s.items[i] % 32]++;
    for (uint32_t b = 0; b < 32; b++)
        most = banks[b] > most ? banks[b] : most;
    free(s.items);
    return most;
}

static void wavefronts(const acc_request *access, obs_cost *cost)
{
    uint32_t lanes = lanes_together(access);
    for (uint32_t from = 0; from < 32; from += lanes) {
        uint32_t any, words = (access->bytes + 3) / 4;
        cost->wavefronts += passes(access, from, lanes, &any);
        cost->wavefronts_min += !any ? 0 : access->bytes > 128 ? (words + 31) / 32 : 1;
    }
    if (access->flags & ACC_SPIN) { /* read and written, and not known where banks conflict */
        cost->unclear = cost->wavefronts != cost->wavefronts_min;
        cost->wavefronts = cost->wavefronts_min = cost->wavefronts_min + cost->wavefronts_min;
    }
}

/* ---- shapes ---- */

static bool by_lane(const acc_request *access, int64_t stride)
{
    for (uint32_t i = 0; i < 32; i++)
        for (uint32_t k = 0; k < i; k++)
            if (active(access, i) && active(access, k) &&
                (int64_t)(access->addr[i] - access->addr[k]) != stride * (int64_t)(i - k))
                return false;
    return true;
}

static bool by_rank(const acc_request *access, int64_t stride)
{
    uint32_t last = 32;
    for (uint32_t i = 0; i < 32; i++) {
        if (!active(access, i))
            continue;
        if (last < 32 && (int64_t)(access->addr[i] - access->addr[last]) != stride)
            return false;
        last = i;
    }
    return true;
}

/* The stride that the first two active lanes suggest; false where they suggest none. */
static bool suggestion(const acc_request *access, int64_t *stride)
{
    uint32_t i = 0, k;
    while (!active(access, i))
        i++;
    for (k = i + 1; k < 32 && !active(access, k);)
        k++;
    if (k == 32)
        return false;
    int64_t over = (int64_t)(access->addr[k] - access->addr[i]);
    *stride = over / (int64_t)(k - i);
    return over % (int64_t)(k - i) == 0;
}

static obs_shape neighbours(const acc_request *access)
{
    uint64_t low = UINT64_MAX, high = 0;
    for (uint32_t i = 0; i < 32; i++) {
        if (!active(access, i))
            continue;
        low = access->addr[i] < low ? access->addr[i] : low;
        high = access->addr[i] + access->bytes > high ? access->addr[i] + access->bytes : high;
    }
    uint64_t spanned = (high - 1) / 32 - low / 32 + 1, fewest = (high - low + 31) / 32;
    return spanned > fewest ? OBS_SHAPE_MISALIGNED : OBS_SHAPE_CONTIGUOUS;
}

static obs_shape shape(const acc_request *access, int64_t *stride)
{
    int64_t size = access->bytes, s = 0;
    bool local = access->space == ACC_LOCAL;
    if (by_rank(access, 0))
        return local ? OBS_SHAPE_CONTIGUOUS : OBS_SHAPE_UNIFORM;
    if (!local && (by_lane(access, size) || by_lane(access, -size) || by_rank(access, size) ||
                   by_rank(access, -size)))
        return neighbours(access);
    if (__builtin_popcount(access->mask) >= 3 && suggestion(access, &s) && by_lane(access, s)) {
        *stride = s;
        return OBS_SHAPE_STRIDED;
    }
    return OBS_SHAPE_IRREGULAR;
}

/* ---- turns ---- */

/* The lanes that begin in the sector at the address that has most. */
static uint32_t turns_of_sector(const acc_request *access, uint64_t sector)
{
    uint32_t most = 0;
    for (uint64_t a = sector * 32; a < sector * 32 + 32; a++) {
        uint32_t lanes = 0;
        for (uint32_t i = 0; i < 32; i++)
            lanes += active(access, i) && access->addr[i] == a;
        most = lanes > most ? lanes : most;
    }
    return most;
}

static set sectors_of_begins(const acc_request *access)
{
    set begun = {malloc(32 * sizeof(uint64_t)), 0};
    for (uint32_t i = 0; i < 32; i++)
        if (active(access, i))
            begun.items[begun.count++] = access->addr[i] / 32;
    unique(&begun);
    return begun;
}

/* One for each sector; where lanes begin in a sector at the same address, one more for each but the
 * first, at the address that has most. */
static uint32_t turns(const acc_request *access)
{
    set begun = sectors_of_begins(access);
    uint32_t all = (uint32_t)count_pieces(access, 32);
    for (size_t s = 0; s < begun.count; s++)
        all += turns_of_sector(access, begun.items[s]) - 1;
    free(begun.items);
    return all;
}

/* Whether the two lanes take the two halves of one sector. */
static bool take_halves(const acc_request *access, int lane)
{
    uint64_t a = access->addr[lane], b = access->addr[lane + 1];
    return a % 16 == 0 && b % 16 == 0 && a / 32 == b / 32 && a != b;
}

/* A cp.async.cg counts for each pair of lanes that shares a sector by halves, else for each lane. */
static uint32_t ref_sectors(const acc_request *access)
{
    uint32_t sectors = 0;
    if (access->bytes != 16 || access->op != ACC_LOAD || access->space != ACC_GLOBAL ||
        (access->flags & (ACC_ASYNC | ACC_BULK | ACC_CACHED)) != ACC_ASYNC)
        return (uint32_t)count_pieces(access, 32);
    for (int lane = 0; lane < 32; lane++) {
        acc_request one = *access;
        one.mask &= 1u << lane;
        sectors += one.mask ? (uint32_t)count_pieces(&one, 32) : 0;
        if (lane % 2 == 0 && access->mask >> lane % 32 & 1 && access->mask >> (lane + 1) & 1)
            sectors -= take_halves(access, lane);
    }
    return sectors;
}

obs_cost ref_cost(const acc_request *access)
{
    obs_cost cost = {.lanes = (uint32_t)__builtin_popcount(access->mask)};
    cost.shape = shape(access, &cost.stride);
    if (access->space == ACC_SHARED) {
        wavefronts(access, &cost);
        return cost;
    }
    cost.sectors = ref_sectors(access);
    cost.sectors_min = (uint32_t)((count_pieces(access, 1) + 31) / 32);
    if (access->space == ACC_GLOBAL && (access->op == ACC_ATOMIC || access->op == ACC_REDUCTION))
        cost.turns = turns(access);
    return cost;
}

static uint64_t slice_of(uint64_t address)
{
    uint64_t mixed = (address >> 9) * 11400714819323198485u; /* 2^64 by the golden ratio */
    return (mixed >> 32) & 63;
}

static void count_slices(ref_row *row, const acc_request *access)
{
    set begun = sectors_of_begins(access);
    for (size_t s = 0; s < begun.count; s++)
        row->slices[slice_of(begun.items[s] * 32)] += turns_of_sector(access, begun.items[s]);
    free(begun.items);
}

/* ---- sums ---- */

static void count_stride(ref_row *row, int64_t stride)
{
    uint32_t i = 0;
    while (i < row->nstrides && row->strides[i].stride != stride)
        i++;
    if (i == 512)
        abort();
    if (i == row->nstrides)
        row->strides[row->nstrides++].stride = stride;
    row->strides[i].count++;
}

void ref_row_add(ref_row *row, const acc_request *access)
{
    obs_cost cost = ref_cost(access);
    row->insn.bytes = access->bytes > row->insn.bytes ? (uint16_t)access->bytes : row->insn.bytes;
    row->insn.flags |= access->flags;
    row->insn.requests++;
    row->insn.active_lanes += cost.lanes;
    row->insn.sectors += cost.sectors;
    row->insn.sectors_min += cost.sectors_min;
    row->insn.wavefronts += cost.wavefronts;
    row->insn.wavefronts_min += cost.wavefronts_min;
    row->insn.turns += cost.turns;
    if (cost.turns)
        count_slices(row, access);
    row->insn.uniform += cost.shape == OBS_SHAPE_UNIFORM;
    row->insn.contiguous += cost.shape == OBS_SHAPE_CONTIGUOUS;
    row->insn.misaligned += cost.shape == OBS_SHAPE_MISALIGNED;
    row->insn.strided += cost.shape == OBS_SHAPE_STRIDED;
    row->insn.irregular += cost.shape == OBS_SHAPE_IRREGULAR;
    if (cost.shape == OBS_SHAPE_STRIDED)
        count_stride(row, cost.stride);
}

static bool commoner(int64_t a, uint64_t na, int64_t b, uint64_t nb)
{
    if (na != nb)
        return na > nb;
    return llabs(a) != llabs(b) ? llabs(a) < llabs(b) : a > b;
}

void ref_row_finish(ref_row *row)
{
    uint64_t best = 0;
    for (uint32_t i = 0; i < row->nstrides; i++) {
        if (best &&
            !commoner(row->strides[i].stride, row->strides[i].count, row->insn.stride, best))
            continue;
        row->insn.stride = row->strides[i].stride;
        best = row->strides[i].count;
    }
    for (uint32_t i = 0; i < OBS_SLICES; i++)
        if (row->slices[i] > row->insn.slice_turns)
            row->insn.slice_turns = row->slices[i];
}

/* ---- heat ---- */

void ref_heat_add(ref_heat *heat, const acc_request *access)
{
    set sectors = pieces(access, 32);
    uint32_t kind = access->op == ACC_LOAD ? 0 : access->op == ACC_STORE ? 1 : 2;
    for (size_t i = 0; i < sectors.count; i++) {
        uint64_t s = sectors.items[i] - heat->first;
        if (s >= REF_SECTORS)
            abort();
        heat->cells[s].counts[kind]++;
        heat->cells[s].history |= 1u << access->warp;
        heat->cells[s].pcs |= 1ull << access->pc;
    }
    free(sectors.items);
    for (uint32_t lane = 0; lane < 32; lane++) {
        for (uint32_t i = 0; active(access, lane) && i < access->bytes; i++) {
            uint64_t a = access->addr[lane] + i, s = a / 32 - heat->first, w = a / 4 % 8;
            heat->cells[s].word[w] |= 1u << access->warp;
            uint32_t thread = access->warp * 32 + lane;
            heat->cells[s].threads[w][thread / 64] |= 1ull << thread % 64;
        }
    }
}

obs_owner ref_owner(const ref_heat *heat, uint32_t sector, uint32_t word)
{
    uint32_t threads = 0, warps = (uint32_t)__builtin_popcount(heat->cells[sector].word[word]);
    for (int i = 0; i < 16; i++)
        threads += (uint32_t)__builtin_popcountll(heat->cells[sector].threads[word][i]);
    if (threads <= 1)
        return threads ? OBS_OWNER_THREAD : OBS_OWNER_NONE;
    return warps == 1 ? OBS_OWNER_WARP : OBS_OWNER_BLOCK;
}
