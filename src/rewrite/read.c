/* Preparing states, and reading what kernels left in them. */
#include "rewrite/layout.h"

#include <stdlib.h>
#include <string.h>

/* ---- before a launch ---- */

static bool has(const rewrite_kernel *k, rewrite_probe probe)
{
    return k->probes >> probe & 1;
}

uint64_t rewrite_state_bytes(const rewrite_kernel *k, uint32_t chunks)
{
    return k->pool_at + (has(k, REWRITE_TRACE) ? (uint64_t)chunks * REWRITE_CHUNK : 0);
}

void rewrite_state_init(const rewrite_kernel *k, uint32_t chunks, rewrite_state *out)
{
    *out = (rewrite_state){.chunks = has(k, REWRITE_TRACE) ? chunks : 0};
}

void rewrite_param_init(uint64_t state, const uint64_t *blocks, uint32_t nblocks,
                        rewrite_param *out)
{
    out->state = state;
    for (uint32_t i = 0; i < REWRITE_MAX_BLOCKS; i++)
        out->block[i] = i < nblocks ? blocks[i] : UINT64_MAX;
}

/* ---- numbers in a state ---- */

static uint64_t number(const void *state, uint64_t size, uint64_t at)
{
    uint64_t value = 0;
    if (at <= size && size - at >= sizeof value)
        memcpy(&value, (const char *)state + at, sizeof value);
    return value;
}

uint64_t rewrite_dropped(const rewrite_kernel *k, const void *state, uint64_t size)
{
    (void)k;
    return number(state, size, offsetof(rewrite_state, dropped));
}

uint64_t rewrite_var_address(const rewrite_kernel *k, const void *state, uint64_t size,
                             uint32_t index)
{
    return k->vars_at ? number(state, size, k->vars_at + 8 * (uint64_t)index) : 0;
}

bool rewrite_read_block(const rewrite_kernel *k, const void *state, uint64_t size, uint32_t index,
                        uint64_t *executions, uint64_t *lanes)
{
    uint32_t counter = k->blocks[index].counter;
    *executions = *lanes = 0;
    if (counter == PTX_NONE)
        return false;
    for (uint64_t copy = 0; copy < REWRITE_COPIES; copy++) {
        uint64_t at = k->counters_at + 16 * (copy * k->ncounters + counter);
        *executions += number(state, size, at);
        *lanes += number(state, size, at + 8);
    }
    return true;
}

/* ---- trace ---- */

/* Where a record is, and what it is sorted by. */
typedef struct entry {
    uint64_t block, clock, at;
    uint32_t warp, lane;
} entry;

typedef struct entries {
    entry *data;
    size_t count, room;
} entries;

static bool push(entries *e, entry one)
{
    if (e->count == e->room) {
        size_t room = e->room * 2 + 256;
        entry *data = realloc(e->data, room * sizeof *data);
        if (!data)
            return false;
        e->data = data, e->room = room;
    }
    e->data[e->count++] = one;
    return true;
}

static uint64_t record_bytes(const rewrite_record *r)
{
    return sizeof *r + (r->site & REWRITE_RAW ? 8 * REWRITE_LANES : 0);
}

/* The records of the chunk at `at`. Their clocks are the low halves of clocks that never go back. */
static bool list_chunk(const char *state, uint64_t at, entries *out)
{
    rewrite_chunk head;
    rewrite_record r;
    memcpy(&head, state + at, sizeof head);
    uint64_t end = at + REWRITE_CHUNK, clock = head.clock;
    for (at += sizeof head; at + sizeof r <= end; at += record_bytes(&r)) {
        memcpy(&r, state + at, sizeof r);
        if (!r.mask || at + record_bytes(&r) > end)
            break;
        clock += r.clock - (uint32_t)clock;
        if (!push(out, (entry){head.block, clock, at, head.warp, head.lane}))
            return false;
    }
    return true;
}

static int compare(const void *a, const void *b)
{
    const entry *x = a, *y = b;
#define BY(field)             \
    if (x->field != y->field) \
    return x->field < y->field ? -1 : 1
    BY(block);
    BY(warp);
    BY(clock);
    BY(lane);
    BY(at);
#undef BY
    return 0;
}

static void fill_addresses(const char *state, uint64_t at, const rewrite_record *r, uint64_t *addr)
{
    if (r->site & REWRITE_RAW) {
        memcpy(addr, state + at + sizeof *r, 8 * REWRITE_LANES);
        return;
    }
    uint32_t first = (uint32_t)__builtin_ctz(r->mask);
    for (uint32_t lane = first; lane < REWRITE_LANES; lane++) {
        uint32_t low = (uint32_t)r->base + r->stride * (lane - first);
        addr[lane] = (r->base & ~UINT64_C(0xffffffff)) | low;
    }
}

static uint8_t space_of(const rewrite_site *site, uint64_t address)
{
    if (!(site->flags & REWRITE_GENERIC))
        return site->space;
    return address & REWRITE_TAG_LOCAL    ? PTX_SPACE_LOCAL
           : address & REWRITE_TAG_SHARED ? PTX_SPACE_SHARED
                                          : PTX_SPACE_GLOBAL;
}

/* One access for each space that lanes are in. */
static void visit_record(const rewrite_site *site, const entry *e, const uint64_t *addr,
                         uint32_t mask, void (*visit)(void *ctx, const rewrite_access *access),
                         void *ctx)
{
    const uint64_t tags = site->flags & REWRITE_GENERIC ? REWRITE_TAG_SHARED | REWRITE_TAG_LOCAL
                                                        : 0;
    while (mask) {
        rewrite_access a = {.site = site, .block = e->block, .warp = e->warp, .clock = e->clock};
        a.space = space_of(site, addr[__builtin_ctz(mask)]);
        for (uint32_t m = mask; m; m &= m - 1) {
            uint32_t lane = (uint32_t)__builtin_ctz(m);
            if (space_of(site, addr[lane]) != a.space)
                continue;
            a.mask |= 1u << lane;
            a.addr[lane] = addr[lane] & ~tags;
        }
        mask &= ~a.mask;
        visit(ctx, &a);
    }
}

static wl_status list_all(const rewrite_kernel *k, const void *state, uint64_t size, entries *out)
{
    rewrite_state head;
    if (size < sizeof head)
        return WL_OK;
    memcpy(&head, state, sizeof head);
    uint32_t chunks = head.taken < head.chunks ? head.taken : head.chunks;
    for (uint32_t i = 0; i < chunks; i++) {
        uint64_t at = k->pool_at + (uint64_t)i * REWRITE_CHUNK;
        if (at + REWRITE_CHUNK > size)
            return WL_OK;
        if (!list_chunk(state, at, out))
            return WL_NOMEM;
    }
    return WL_OK;
}

wl_status rewrite_read_trace(const rewrite_kernel *k, const void *state, uint64_t size,
                             void (*visit)(void *ctx, const rewrite_access *access), void *ctx)
{
    entries all = {0};
    wl_status status = has(k, REWRITE_TRACE) ? list_all(k, state, size, &all) : WL_OK;
    if (all.count)
        qsort(all.data, all.count, sizeof *all.data, compare);
    for (size_t i = 0; status == WL_OK && i < all.count; i++) {
        rewrite_record r;
        uint64_t addr[REWRITE_LANES] = {0};
        memcpy(&r, (const char *)state + all.data[i].at, sizeof r);
        uint32_t site = r.site & ~REWRITE_RAW;
        if (site >= k->nsites)
            continue;
        fill_addresses(state, all.data[i].at, &r, addr);
        visit_record(&k->sites[site], &all.data[i], addr, r.mask, visit, ctx);
    }
    free(all.data);
    return status;
}
