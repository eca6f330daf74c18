#include "analysis/explore/transactions.h"

#include <string.h>

enum {
    WORD = 4,         /* bytes that a bank holds side by side */
    PART_BYTES = 128, /* that lanes served together ask for at most */
    TWO_WORDS = 256   /* the same, where a bank gives two words */
};

static const ana_arch archs[] = {
#define X(id, name, text, capability, merging, load, store, serving, banks, note)        \
    {name,  text, capability, ANA_MERGING_##merging, load, store, ANA_SERVING_##serving, \
     banks, note},
#include "analysis/explore/archs.def"
};

enum { ARCHS = sizeof archs / sizeof *archs };

const ana_arch *ana_arch_at(uint32_t index)
{
    return index < ARCHS ? &archs[index] : NULL;
}

const ana_arch *ana_arch_of_device(uint32_t major, uint32_t minor)
{
    for (uint32_t i = 0; i < ARCHS; i++)
        if (archs[i].capability <= major * 10 + minor)
            return &archs[i];
    return &archs[ARCHS - 1];
}

/* ---- global and local memory ---- */

/* Where in the sorted transactions from `from` on one of that address is, or would be. */
static size_t transaction_place(const ana_served *served, size_t from, uint64_t address)
{
    size_t at = served->transactions.count;
    while (at > from && served->transactions.data[at - 1].address >= address)
        at--;
    return at;
}

/* The transaction at the address, a new one where there is none. */
static ana_transaction *transaction_at(ana_served *served, size_t from, uint32_t size,
                                       uint64_t address)
{
    size_t at = transaction_place(served, from, address), count = served->transactions.count;
    if (at < count && served->transactions.data[at].address == address)
        return &served->transactions.data[at];
    if (!wl_push(&served->transactions, (ana_transaction){0}))
        return NULL;
    ana_transaction *t = served->transactions.data + at;
    memmove(t + 1, t, (count - at) * sizeof *t);
    *t = (ana_transaction){.address = address, .size = size};
    return t;
}

/* Bits `first` to `end` - 1 of the bytes taken. */
static void mark_taken(ana_transaction *t, uint32_t first, uint32_t end)
{
    for (uint32_t i = first; i < end; i++)
        t->taken[i / 64] |= UINT64_C(1) << i % 64;
}

bool ana_take(ana_served *served, size_t from, uint32_t size, uint32_t lane, uint64_t address,
              uint64_t bytes)
{
    for (uint64_t end = address + bytes; address < end;) {
        uint64_t begin = address / size * size;
        uint64_t stop = end < begin + size ? end : begin + size;
        ana_transaction *t = transaction_at(served, from, size, begin);
        if (!t)
            return false;
        t->lanes |= 1u << lane;
        mark_taken(t, (uint32_t)(address - begin), (uint32_t)(stop - begin));
        address = stop;
    }
    return true;
}

/* What the lane takes, word by word where these lie apart. */
static bool take_of_lane(ana_served *served, size_t from, uint32_t size, const acc_request *r,
                         uint32_t lane)
{
    if (r->space != ACC_LOCAL)
        return ana_take(served, from, size, lane, r->addr[lane], r->bytes);
    for (uint64_t at = r->addr[lane], end = at + r->bytes, next; at < end; at = next) {
        next = at / WORD * WORD + WORD < end ? at / WORD * WORD + WORD : end;
        if (!ana_take(served, from, size, lane, ana_local_place(lane, at), next - at))
            return false;
    }
    return true;
}

/* Lanes that are served together, a power of two: as many as ask for `most` bytes. */
static uint32_t lanes_together(uint32_t bytes, uint32_t most)
{
    uint32_t lanes = ACC_LANES;
    while (lanes > 1 && (uint64_t)lanes * bytes > most)
        lanes /= 2;
    return lanes;
}

static bool merge_pieces(const ana_arch *arch, const acc_request *r, ana_served *served)
{
    uint32_t size = r->op == ACC_LOAD ? arch->load_bytes : arch->store_bytes;
    uint32_t part = arch->merging == ANA_MERGING_IN_PARTS ? lanes_together(r->bytes, PART_BYTES)
                                                          : ACC_LANES;
    size_t from = 0;
    for (uint32_t lane = 0; lane < ACC_LANES; lane++) {
        if (lane % part == 0)
            from = served->transactions.count;
        if ((r->mask >> lane & 1) && !take_of_lane(served, from, size, r, lane))
            return false;
    }
    return true;
}

/* Lanes of the transaction that change the place which most of them change. */
static uint32_t busiest_place(const ana_transaction *t, const acc_request *r)
{
    uint32_t most = 1;
    for (uint32_t m = t->lanes; m; m &= m - 1) {
        uint64_t place = r->addr[__builtin_ctz(m)];
        uint32_t lanes = 0;
        for (uint32_t n = m; n; n &= n - 1)
            lanes += r->addr[__builtin_ctz(n)] == place;
        if (place / t->size * t->size == t->address && lanes > most)
            most = lanes;
    }
    return most;
}

static void sum_up_transactions(const acc_request *r, ana_served *served)
{
    bool atomic = r->op == ACC_ATOMIC || r->op == ACC_REDUCTION;
    for (size_t i = 0; i < served->transactions.count; i++) {
        ana_transaction *t = &served->transactions.data[i];
        t->used = (uint32_t)(__builtin_popcountll(t->taken[0]) + __builtin_popcountll(t->taken[1]));
        t->turns = atomic && r->space == ACC_GLOBAL ? busiest_place(t, r) : 0;
        served->moved += t->size;
        served->used += t->used;
    }
}

static bool serve_by_address(const ana_arch *arch, const acc_request *r, ana_served *served)
{
    bool good = false;
    switch (arch->merging) {
    case ANA_MERGING_WHOLE_WARP:
    case ANA_MERGING_IN_PARTS: good = merge_pieces(arch, r, served); break;
    case ANA_MERGING_SEGMENTS: good = ana_merge_segments(r, served); break;
    case ANA_MERGING_IN_ORDER: good = ana_merge_in_order(r, served); break;
    case ANA_MERGINGS: break;
    }
    sum_up_transactions(r, served);
    return good;
}

/* ---- shared memory ---- */

ana_pass *ana_new_pass(ana_served *served, uint32_t group)
{
    if (!wl_push(&served->passes, (ana_pass){.group = group}))
        return NULL;
    return &served->passes.data[served->passes.count - 1];
}

/* What a bank gives in one pass, and which bank that is. */
static uint64_t unit_of_word(ana_serving serving, uint64_t word, uint32_t *bank)
{
    uint64_t unit = word;
    if (serving == ANA_SERVING_PAIRS)
        unit = word / 2;
    else if (serving == ANA_SERVING_APART)
        unit = word / 64 * 32 + word % 32;
    *bank = (uint32_t)(unit % 32);
    return unit;
}

/* Every active lane has the address of lane n ^ distance, or that one is not active. */
static bool partners_agree(const acc_request *r, uint32_t distance)
{
    for (uint32_t m = r->mask; m; m &= m - 1) {
        uint32_t lane = (uint32_t)__builtin_ctz(m), partner = lane ^ distance;
        if ((r->mask >> partner & 1) && r->addr[lane] != r->addr[partner])
            return false;
    }
    return true;
}

/* As src/observe/banks.c says of capability 7.0 and later. */
static bool groups_join(const ana_arch *arch, const acc_request *r)
{
    return arch->serving == ANA_SERVING_JOINED && r->op == ACC_LOAD && !(r->flags & ACC_MATRIX) &&
           (r->bytes == 8 || r->bytes == 16) && (partners_agree(r, 1) || partners_agree(r, 2));
}

static uint32_t lanes_of_group(const ana_arch *arch, const acc_request *r)
{
    bool two = arch->serving == ANA_SERVING_APART || arch->serving == ANA_SERVING_PAIRS;
    uint32_t lanes = lanes_together(r->bytes, two ? TWO_WORDS : PART_BYTES);
    return groups_join(arch, r) ? lanes * 2 : lanes;
}

typedef struct pass_want {
    uint32_t lane, bank;
    uint64_t unit;
    bool alone; /* lanes do not share: atomics */
} pass_want;

static bool pass_fits(const ana_pass *pass, const pass_want *want)
{
    uint32_t lanes = pass->banks[want->bank];
    if (!lanes)
        return true;
    return pass->units[want->bank] == want->unit && (!want->alone || lanes == 1u << want->lane);
}

/* The first pass of the group, which begins at index `from`, whose bank is free or gives it. */
static bool put_in_pass(ana_served *served, size_t from, uint32_t group, const pass_want *want)
{
    ana_pass *pass = NULL;
    for (size_t i = from; i < served->passes.count && !pass; i++)
        if (pass_fits(&served->passes.data[i], want))
            pass = &served->passes.data[i];
    if (!pass)
        pass = ana_new_pass(served, group);
    if (!pass)
        return false;
    pass->lanes |= 1u << want->lane;
    pass->banks[want->bank] |= 1u << want->lane;
    pass->units[want->bank] = want->unit;
    return true;
}

/* Lanes that meet at an mbarrier wait for each other, not for a bank. */
static bool put_at_barrier(ana_served *served, size_t from, uint32_t group, const pass_want *want)
{
    ana_pass *pass = served->passes.count > from ? &served->passes.data[from]
                                                 : ana_new_pass(served, group);
    if (!pass)
        return false;
    pass->lanes |= 1u << want->lane;
    pass->banks[want->bank] |= 1u << want->lane;
    pass->units[want->bank] = want->unit;
    return true;
}

static bool put_lane(const ana_arch *arch, const acc_request *r, size_t from, uint32_t group,
                     uint32_t lane, ana_served *served)
{
    pass_want want = {.lane = lane, .alone = r->op == ACC_ATOMIC || r->op == ACC_REDUCTION};
    uint64_t first = r->addr[lane] / WORD, end = (r->addr[lane] + r->bytes - 1) / WORD + 1;
    for (uint64_t word = first; word < end; word++) {
        want.unit = unit_of_word(arch->serving, word, &want.bank);
        bool good = r->flags & ACC_BARRIER ? put_at_barrier(served, from, group, &want)
                                           : put_in_pass(served, from, group, &want);
        if (!good)
            return false;
    }
    return true;
}

/* The fewest passes of a group. */
static uint32_t fewest_passes(const acc_request *r)
{
    uint32_t words = (r->bytes + WORD - 1) / WORD;
    return r->bytes > PART_BYTES ? (words + ANA_MOST_BANKS - 1) / ANA_MOST_BANKS : 1;
}

static bool serve_group(const ana_arch *arch, const acc_request *r, uint32_t lanes, uint32_t group,
                        ana_served *served)
{
    size_t from = served->passes.count;
    for (uint32_t m = r->mask & lanes; m; m &= m - 1)
        if (!put_lane(arch, r, from, group, (uint32_t)__builtin_ctz(m), served))
            return false;
    served->passes_min += fewest_passes(r);
    bool lost = arch->serving == ANA_SERVING_WORDS_AND_ONE && r->bytes == 16;
    return !lost || ana_new_pass(served, group);
}

static bool serve_in_groups(const ana_arch *arch, const acc_request *r, ana_served *served)
{
    uint32_t size = lanes_of_group(arch, r), one = UINT32_MAX >> (ACC_LANES - size);
    for (uint32_t first = 0; first < ACC_LANES; first += size)
        if ((r->mask >> first & one) && !serve_group(arch, r, one << first, first / size, served))
            return false;
    return true;
}

bool ana_serve(const ana_arch *arch, const acc_request *r, ana_served *served)
{
    served->transactions.count = served->passes.count = 0;
    served->moved = served->used = served->passes_min = 0;
    if (r->space != ACC_SHARED)
        return serve_by_address(arch, r, served);
    if (arch->serving == ANA_SERVING_ONE_BROADCAST)
        return ana_serve_one_broadcast(arch, r, served);
    return serve_in_groups(arch, r, served);
}

void ana_served_free(ana_served *served)
{
    wl_vec_free(&served->transactions);
    wl_vec_free(&served->passes);
}
