#include "patterns.h"

uint32_t pattern_below(pattern_rng *rng, uint32_t bound)
{
    rng->state ^= rng->state << 13;
    rng->state ^= rng->state >> 7;
    rng->state ^= rng->state << 17;
    return (uint32_t)((rng->state >> 20) % bound);
}

static uint32_t draw_mask(pattern_rng *rng)
{
    uint32_t random = (uint32_t)(pattern_below(rng, 1u << 30) * 4 + pattern_below(rng, 4));
    switch (pattern_below(rng, 8)) {
    case 0: return random ? random : 1;
    case 1: return (random & (uint32_t)(rng->state >> 3)) | 1u << pattern_below(rng, 32);
    case 2: /* the tail of a block */ return UINT32_MAX >> pattern_below(rng, 32);
    case 3: /* all but the first */ return UINT32_MAX << pattern_below(rng, 32);
    case 4: return 1u << pattern_below(rng, 32);
    case 5: return pattern_below(rng, 2) ? 0x55555555 : 0x0f0f0f0f;
    default: return UINT32_MAX;
    }
}

static int64_t draw_stride(pattern_rng *rng, uint32_t bytes)
{
    static const int32_t units[] = {0, 1, 1, 1, 2, 3, 4, 5, 8, 16, 17, 31, 32, 33, 63, 64};
    int64_t stride = (int64_t)units[pattern_below(rng, 16)] * bytes;
    return pattern_below(rng, 4) ? stride : -stride;
}

static void draw_run(pattern_rng *rng, uint32_t bytes, uint32_t room, uint64_t *addr)
{
    int64_t stride = draw_stride(rng, bytes);
    int64_t span = (stride < 0 ? -stride : stride) * 31 + bytes;
    if (span > room)
        stride = bytes, span = 32 * (int64_t)bytes;
    int64_t first = (int64_t)pattern_below(rng, (uint32_t)((room - span) / bytes + 1)) * bytes;
    if (stride < 0)
        first += -stride * 31;
    for (int i = 0; i < 32; i++)
        addr[i] = (uint64_t)(first + stride * i);
}

static void draw_lanes(pattern_rng *rng, uint32_t bytes, uint32_t room, uint64_t *addr)
{
    uint32_t elements = room / bytes, spans[] = {4, 16, 32, 64, 300, elements};
    uint32_t span = spans[pattern_below(rng, 6)], form = pattern_below(rng, 6),
             group = 1u << pattern_below(rng, 5);
    uint32_t from = pattern_below(rng, (span < elements ? elements - span : 0) + 1);
    uint64_t random[32];
    span = span < elements ? span : elements;
    for (int i = 0; i < 32; i++)
        random[i] = (uint64_t)(from + pattern_below(rng, span)) * bytes;
    for (uint32_t i = 0; i < 32; i++) {
        uint32_t pair = i & ~(form == 1 ? 1u : 2u);
        if (form == 0)
            addr[i] = random[i];
        else if (form <= 2) /* partners agree */
            addr[i] = random[pair];
        else if (form == 3) /* groups of lanes share an address */
            addr[i] = random[i / group];
        else if (form == 4) /* rows of a tile */
            addr[i] = (random[i / group] + (uint64_t)(i % group) * bytes) %
                      ((uint64_t)elements * bytes);
        else /* the same few again and again */
            addr[i] = random[i % group];
    }
}

/* Active lanes take neighbouring elements, whatever lies between them. */
static void draw_compacted(pattern_rng *rng, uint32_t bytes, uint32_t room, uint32_t mask,
                           uint64_t *addr)
{
    uint64_t next = (uint64_t)pattern_below(rng, room / bytes - 32) * bytes;
    for (int i = 0; i < 32; i++) {
        addr[i] = next;
        next += mask >> i & 1 ? bytes : 0;
    }
}

acc_request pattern_draw(pattern_rng *rng, uint64_t base, uint32_t room, bool regular,
                         uint64_t *addr)
{
    static const uint32_t common[] = {1, 2, 4, 4, 4, 8, 8, 16},
                          odd[] = {3, 6, 12, 24, 32, 48, 64, 96, 160, 500};
    acc_request access = {.space = (acc_space)pattern_below(rng, ACC_SPACE_COUNT),
                          .op = (acc_op)pattern_below(rng, 4),
                          .addr = addr,
                          .stride = ACC_IRREGULAR};
    bool any = !regular && pattern_below(rng, 6) == 0;
    access.bytes = any ? odd[pattern_below(rng, 10)] : common[pattern_below(rng, 8)];
    access.mask = draw_mask(rng);
    uint32_t form = pattern_below(rng, 10),
             shift = !regular && pattern_below(rng, 8) == 0 ? pattern_below(rng, 16) : 0;
    if (form < 5)
        draw_run(rng, access.bytes, room - 16, addr);
    else if (form < 9)
        draw_lanes(rng, access.bytes, room - 16, addr);
    else
        draw_compacted(rng, access.bytes, room - 16, access.mask, addr);
    for (int i = 0; i < 32; i++)
        addr[i] += base + shift;
    bool constant = access.mask == UINT32_MAX;
    for (int i = 2; i < 32; i++)
        constant = constant && addr[i] - addr[i - 1] == addr[1] - addr[0];
    if (constant && pattern_below(rng, 4))
        access.stride = (int64_t)(addr[1] - addr[0]);
    return access;
}
