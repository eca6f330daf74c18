/* Pages of steps and warps: writing them, and reading them, whoever wrote them. */
#include "base/steps.h"

#include "base/varint.h"

#include <stdlib.h>
#include <string.h>

enum { BARRIER, ENTRY, FIRST_SLOT }; /* how a page has what a step is */

/* ---- writing ---- */

enum {
    MOST_STEP = (5 + WL_STEP_LANES) * WL_VARINT_BYTES,
    MOST_WARP = (2 + WL_MOST_SLOTS) * WL_VARINT_BYTES
};

static bool reserve_in_page(wl_page_writer *p, size_t bytes)
{
    size_t capacity = p->capacity ? p->capacity : 1024;
    while (capacity - p->size < bytes)
        capacity *= 2;
    uint8_t *data = capacity > p->capacity ? realloc(p->data, capacity) : p->data;
    if (!data)
        return false;
    p->data = data;
    p->capacity = capacity;
    return true;
}

static void put_page_varint(wl_page_writer *p, uint64_t number)
{
    p->size = (size_t)(wl_varint_put(p->data + p->size, number) - p->data);
}

static uint64_t less(int64_t number, int64_t by)
{
    return (uint64_t)number - (uint64_t)by;
}

bool wl_step_stride(const wl_step *s, int64_t *stride)
{
    uint32_t first = (uint32_t)__builtin_ctz(s->mask), rest = s->mask & (s->mask - 1);
    uint32_t second = rest ? (uint32_t)__builtin_ctz(rest) : first;
    int64_t lanes = (int64_t)second - first;
    int64_t distance = (int64_t)less(s->offset[second], s->offset[first]);
    *stride = lanes ? distance / lanes : 0;
    bool constant = true;
    for (uint32_t m = rest; m && constant; m &= m - 1) {
        uint32_t lane = (uint32_t)__builtin_ctz(m);
        constant = less(s->offset[lane], s->offset[first]) == (uint64_t)*stride * (lane - first);
    }
    return constant && *stride != INT64_MIN; /* one more than its number would be none */
}

static uint64_t number_of_slot(uint32_t slot)
{
    if (slot == WL_STEP_BARRIER)
        return BARRIER;
    return slot == WL_STEP_ENTRY ? ENTRY : (uint64_t)slot + FIRST_SLOT;
}

static void put_step_head(wl_page_writer *p, uint32_t pc, uint32_t mask, uint32_t slot)
{
    put_page_varint(p, wl_zigzag_apart(pc, p->pc));
    put_page_varint(p, mask ^ p->mask);
    put_page_varint(p, number_of_slot(slot));
    p->pc = pc;
    p->mask = mask;
    p->count++;
}

static void put_offset(wl_page_writer *p, int64_t offset)
{
    put_page_varint(p, wl_zigzag_apart(offset, p->offset));
    p->offset = offset;
}

static void put_each_lane(wl_page_writer *p, const wl_step *s)
{
    int64_t last = s->offset[__builtin_ctz(s->mask)];
    put_page_varint(p, 0);
    for (uint32_t m = s->mask & (s->mask - 1); m; m &= m - 1) {
        int64_t offset = s->offset[__builtin_ctz(m)];
        put_page_varint(p, wl_zigzag_apart(offset, last));
        last = offset;
    }
}

bool wl_page_put_run(wl_page_writer *p, uint32_t pc, uint32_t mask, uint32_t slot, int64_t offset,
                     int64_t stride)
{
    if (!reserve_in_page(p, MOST_STEP))
        return false;
    put_step_head(p, pc, mask, slot);
    if (slot < WL_STEP_ENTRY) {
        put_offset(p, offset);
        put_page_varint(p, 1 + wl_zigzag(stride));
    }
    return true;
}

bool wl_page_put_step(wl_page_writer *p, const wl_step *s)
{
    int64_t stride = 0, first = s->offset[__builtin_ctz(s->mask)];
    if (!wl_step_accesses(s) || wl_step_stride(s, &stride))
        return wl_page_put_run(p, s->pc, s->mask, s->slot, first, stride);
    if (!reserve_in_page(p, MOST_STEP))
        return false;
    put_step_head(p, s->pc, s->mask, s->slot);
    put_offset(p, first);
    put_each_lane(p, s);
    return true;
}

bool wl_page_put_lanes(wl_page_writer *p, const wl_step *s, wl_lanes *lanes)
{
    size_t before = p->size;
    lanes->size = 0;
    if (!wl_page_put_step(p, s))
        return false;
    const uint8_t *at = p->data + before, *end = p->data + p->size;
    uint64_t number;
    for (int i = 0; i < 4; i++) /* pc, lanes, slot, offset */
        wl_varint_get(&at, end, &number);
    size_t size = (size_t)(end - at);
    if (size <= sizeof lanes->bytes) {
        lanes->size = (uint8_t)size;
        memcpy(lanes->bytes, at, size);
    }
    return true;
}

bool wl_page_put_same(wl_page_writer *p, uint32_t pc, uint32_t mask, uint32_t slot, int64_t offset,
                      const wl_lanes *lanes)
{
    if (!reserve_in_page(p, MOST_STEP))
        return false;
    put_step_head(p, pc, mask, slot);
    put_offset(p, offset);
    memcpy(p->data + p->size, lanes->bytes, lanes->size);
    p->size += lanes->size;
    return true;
}

bool wl_page_put_warp(wl_page_writer *p, const wl_warp *w, uint32_t nslots)
{
    if (!reserve_in_page(p, MOST_WARP))
        return false;
    put_page_varint(p, w->block - p->warp.block);
    put_page_varint(p, w->number);
    for (uint32_t slot = 0; slot < nslots; slot++)
        put_page_varint(p, wl_zigzag_apart(w->begin[slot], p->warp.begin[slot]));
    p->warp.block = w->block;
    memcpy(p->warp.begin, w->begin, nslots * sizeof *w->begin);
    p->nslots = nslots;
    p->count++;
    return true;
}

void wl_page_clear(wl_page_writer *p)
{
    p->size = p->count = p->pc = p->mask = 0;
    p->offset = 0;
    p->warp.block = 0;
    memset(p->warp.begin, 0, p->nslots * sizeof *p->warp.begin);
    p->nslots = 0;
}

/* ---- reading ---- */

wl_page_reader wl_page_read(const void *data, size_t size, uint32_t nslots)
{
    const uint8_t *at = size ? data : (const uint8_t *)"";
    wl_page_reader r = {.at = at, .end = at + size, .nslots = nslots};
    r.damaged = nslots > WL_MOST_SLOTS;
    return r;
}

static uint64_t read_page_varint(wl_page_reader *r)
{
    uint64_t number;
    r->damaged |= !wl_varint_get(&r->at, r->end, &number);
    return r->damaged ? 0 : number;
}

static void take_lanes(wl_page_reader *r)
{
    wl_step *s = &r->step;
    uint32_t first = (uint32_t)__builtin_ctz(s->mask);
    r->offset = wl_zigzag_add(r->offset, read_page_varint(r));
    uint64_t shape = read_page_varint(r);
    int64_t last = r->offset, stride = shape ? wl_zigzag_add(0, shape - 1) : 0;
    for (uint32_t lane = 0; lane < WL_STEP_LANES; lane++) {
        bool active = s->mask >> lane & 1;
        if (shape)
            last = (int64_t)((uint64_t)r->offset + (uint64_t)stride * (lane - (uint64_t)first));
        else if (active && lane != first)
            last = wl_zigzag_add(last, read_page_varint(r));
        s->offset[lane] = active ? last : 0;
    }
}

static uint32_t slot_of_number(uint64_t number)
{
    if (number == BARRIER)
        return WL_STEP_BARRIER;
    return number == ENTRY ? WL_STEP_ENTRY : (uint32_t)(number - FIRST_SLOT);
}

bool wl_page_step(wl_page_reader *r, wl_step *out)
{
    if (r->damaged || r->at == r->end)
        return false;
    wl_step *s = &r->step;
    int64_t pc = wl_zigzag_add(s->pc, read_page_varint(r));
    uint64_t lanes = s->mask ^ read_page_varint(r), slot = read_page_varint(r);
    if (pc < 0 || pc > UINT32_MAX || lanes == 0 || lanes > UINT32_MAX ||
        slot >= (uint64_t)r->nslots + FIRST_SLOT)
        r->damaged = true;
    if (r->damaged)
        return false;
    s->pc = (uint32_t)pc;
    s->mask = (uint32_t)lanes;
    s->slot = slot_of_number(slot);
    if (wl_step_accesses(s))
        take_lanes(r);
    *out = *s;
    return !r->damaged;
}

bool wl_page_warp(wl_page_reader *r, wl_warp *out)
{
    if (r->damaged || r->at == r->end)
        return false;
    wl_warp *w = &r->warp;
    uint64_t block = w->block + read_page_varint(r), number = read_page_varint(r);
    r->damaged |= block < w->block || number >= WL_STEP_LANES;
    w->block = block;
    w->number = (uint32_t)number;
    for (uint32_t slot = 0; slot < r->nslots && !r->damaged; slot++)
        w->begin[slot] = wl_zigzag_add(w->begin[slot], read_page_varint(r));
    *out = *w;
    return !r->damaged;
}
