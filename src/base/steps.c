/* Pages of steps and warps: reading them, whoever wrote them. */
#include "base/steps.h"

wl_page_reader wl_page_read(const void *data, size_t size, uint32_t nslots)
{
    const uint8_t *at = size ? data : (const uint8_t *)"";
    wl_page_reader r = {.at = at, .end = at + size, .nslots = nslots};
    r.damaged = nslots > WL_MOST_SLOTS;
    return r;
}

static uint64_t read_page_varint(wl_page_reader *r)
{
    uint64_t number = 0;
    for (int shift = 0; shift < 64 && r->at < r->end; shift += 7) {
        uint8_t byte = *r->at++;
        number |= (uint64_t)(byte & 127) << shift;
        if (byte < 128)
            return number;
    }
    r->damaged = true;
    return 0;
}

/* Sums wrap, as the differences did. */
static int64_t plus(int64_t number, uint64_t zigzag)
{
    return (int64_t)((uint64_t)number + (zigzag >> 1 ^ (0 - (zigzag & 1))));
}

static void take_lanes(wl_page_reader *r)
{
    wl_step *s = &r->step;
    uint32_t first = (uint32_t)__builtin_ctz(s->mask);
    r->offset = plus(r->offset, read_page_varint(r));
    uint64_t shape = read_page_varint(r);
    int64_t last = r->offset, stride = shape ? plus(0, shape - 1) : 0;
    for (uint32_t lane = 0; lane < WL_STEP_LANES; lane++) {
        bool active = s->mask >> lane & 1;
        if (shape)
            last = (int64_t)((uint64_t)r->offset + (uint64_t)stride * (lane - (uint64_t)first));
        else if (active && lane != first)
            last = plus(last, read_page_varint(r));
        s->offset[lane] = active ? last : 0;
    }
}

bool wl_page_step(wl_page_reader *r, wl_step *out)
{
    if (r->damaged || r->at == r->end)
        return false;
    wl_step *s = &r->step;
    int64_t pc = plus(s->pc, read_page_varint(r));
    uint64_t lanes = s->mask ^ read_page_varint(r), slot = read_page_varint(r);
    if (pc < 0 || pc > UINT32_MAX || lanes == 0 || lanes > UINT32_MAX || slot > r->nslots)
        r->damaged = true;
    if (r->damaged)
        return false;
    s->pc = (uint32_t)pc;
    s->mask = (uint32_t)lanes;
    s->slot = slot ? (uint32_t)slot - 1 : WL_NO_SLOT;
    if (slot)
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
        w->begin[slot] = plus(w->begin[slot], read_page_varint(r));
    *out = *w;
    return !r->damaged;
}
