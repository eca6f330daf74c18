/* Compute capability 1.x: half a warp at a time. Accesses wider than a lane's widest word are taken
 * piece by piece, each as a request of its own. */
#include "analysis/explore/transactions.h"

enum { HALF = 16, SECTOR = 32, WIDEST = 16, WORD = 4, BANKS = 16 };

/* A piece of what the lanes of one half take. */
typedef struct half_request {
    uint32_t mask;  /* of the warp's lanes, all in this half */
    uint32_t first; /* lane of the half */
    uint32_t bytes;
    uint64_t addr[ACC_LANES];
} half_request;

/* Bytes of a piece: of local memory words lie apart, and shared memory gives words only. */
static uint32_t piece_width(const acc_request *r)
{
    uint32_t most = r->space == ACC_GLOBAL || r->space == ACC_CONST ? WIDEST : WORD;
    return r->bytes < most ? r->bytes : most;
}

static half_request half_piece(const acc_request *r, uint32_t first, uint32_t offset)
{
    half_request half = {.first = first, .bytes = piece_width(r)};
    half.mask = r->mask & 0xffffu << first;
    for (uint32_t m = half.mask; m; m &= m - 1) {
        uint32_t lane = (uint32_t)__builtin_ctz(m);
        uint64_t at = r->addr[lane] + offset;
        half.addr[lane] = r->space == ACC_LOCAL ? ana_local_place(lane, at) : at;
    }
    return half;
}

typedef bool serve_half(const half_request *half, const acc_request *r, ana_served *served);

/* Every piece of both halves that has a lane. */
static bool serve_halves(const acc_request *r, serve_half *serve, ana_served *served)
{
    for (uint32_t offset = 0; offset < r->bytes; offset += piece_width(r))
        for (uint32_t first = 0; first < ACC_LANES; first += HALF) {
            half_request half = half_piece(r, first, offset);
            if (half.mask && !serve(&half, r, served))
                return false;
        }
    return true;
}

/* Do lanes take word after word of a segment in their order? `*begin`: where that begins. */
static bool takes_in_order(const half_request *half, uint64_t *begin)
{
    uint32_t bytes = half->bytes, segment = bytes * HALF < 128 ? bytes * HALF : 128;
    if (bytes != 4 && bytes != 8 && bytes != 16)
        return false;
    uint32_t lane = (uint32_t)__builtin_ctz(half->mask);
    *begin = half->addr[lane] - (uint64_t)(lane - half->first) * bytes;
    for (uint32_t m = half->mask; m; m &= m - 1) {
        lane = (uint32_t)__builtin_ctz(m);
        if (half->addr[lane] - (uint64_t)(lane - half->first) * bytes != *begin)
            return false;
    }
    return *begin % segment == 0;
}

/* The segments of the whole half, whether or not all of its lanes are active. */
static bool add_segments(const half_request *half, uint64_t begin, ana_served *served)
{
    size_t from = served->transactions.count;
    uint32_t all = half->bytes * HALF, size = all < 128 ? all : 128;
    for (uint32_t at = 0; at < all; at += size)
        if (!wl_push(&served->transactions, (ana_transaction){.address = begin + at, .size = size}))
            return false;
    for (uint32_t m = half->mask; m; m &= m - 1) {
        uint32_t lane = (uint32_t)__builtin_ctz(m);
        if (!ana_take(served, from, size, lane, half->addr[lane], half->bytes))
            return false;
    }
    return true;
}

static bool merge_half_in_order(const half_request *half, const acc_request *r, ana_served *served)
{
    (void)r;
    uint64_t begin = 0;
    if (takes_in_order(half, &begin))
        return add_segments(half, begin, served);
    for (uint32_t m = half->mask; m; m &= m - 1) {
        uint32_t lane = (uint32_t)__builtin_ctz(m);
        size_t own = served->transactions.count;
        if (!ana_take(served, own, SECTOR, lane, half->addr[lane], half->bytes))
            return false;
    }
    return true;
}

bool ana_merge_in_order(const acc_request *r, ana_served *served)
{
    return serve_halves(r, merge_half_in_order, served);
}

static uint32_t segment_bytes(uint32_t bytes)
{
    return bytes == 1 ? 32 : bytes == 2 ? 64 : 128;
}

/* Halves the transaction while only one half of it is used. */
static void shrink_transaction(ana_transaction *t)
{
    while (t->size > SECTOR) {
        uint32_t half = t->size / 2;
        uint64_t low = half == 64 ? t->taken[0] : t->taken[0] & ((UINT64_C(1) << half) - 1);
        uint64_t high = half == 64 ? t->taken[1] : t->taken[0] >> half;
        if (low && high)
            return;
        t->address += high ? half : 0;
        t->taken[0] = high ? high : low;
        t->taken[1] = 0;
        t->size = half;
    }
}

static bool merge_half_in_segments(const half_request *half, const acc_request *r,
                                   ana_served *served)
{
    (void)r;
    uint32_t size = segment_bytes(half->bytes), left = half->mask;
    while (left) {
        uint64_t segment = half->addr[__builtin_ctz(left)] / size;
        size_t own = served->transactions.count;
        for (uint32_t m = left; m; m &= m - 1) {
            uint32_t lane = (uint32_t)__builtin_ctz(m);
            if (half->addr[lane] / size != segment)
                continue;
            left &= ~(1u << lane);
            if (!ana_take(served, own, size, lane, half->addr[lane], half->bytes))
                return false;
        }
        for (size_t i = own; i < served->transactions.count; i++)
            shrink_transaction(&served->transactions.data[i]);
    }
    return true;
}

bool ana_merge_segments(const acc_request *r, ana_served *served)
{
    return serve_halves(r, merge_half_in_segments, served);
}

/* May the lane be served in this pass, in which lane `first` is served before all others? Loads:
 * the first lane's word goes to all who want it. Stores to one address are one store. */
static bool joins_pass(const half_request *half, const ana_pass *pass, acc_op op, uint32_t first,
                       uint32_t lane)
{
    uint64_t word = half->addr[lane] / WORD;
    uint32_t holders = pass->banks[word % BANKS];
    if (!holders)
        return true;
    if (op == ACC_LOAD)
        return half->addr[first] / WORD == word;
    return op == ACC_STORE && half->addr[__builtin_ctz(holders)] == half->addr[lane];
}

/* Which word is broadcast is not published: here that of the lowest lane that is left. */
static bool serve_half_by_banks(const half_request *half, const acc_request *r, ana_served *served)
{
    for (uint32_t left = half->mask; left;) {
        uint32_t first = (uint32_t)__builtin_ctz(left);
        ana_pass *pass = ana_new_pass(served, half->first / HALF);
        if (!pass)
            return false;
        for (uint32_t m = left; m; m &= m - 1) {
            uint32_t lane = (uint32_t)__builtin_ctz(m);
            uint64_t word = half->addr[lane] / WORD;
            if (!joins_pass(half, pass, r->op, first, lane))
                continue;
            left &= ~(1u << lane);
            pass->lanes |= 1u << lane;
            pass->banks[word % BANKS] |= 1u << lane;
            pass->units[word % BANKS] = word;
        }
    }
    served->passes_min++;
    return true;
}

bool ana_serve_one_broadcast(const ana_arch *arch, const acc_request *r, ana_served *served)
{
    (void)arch;
    return serve_halves(r, serve_half_by_banks, served);
}
