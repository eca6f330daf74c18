/* Video instructions, after the pseudocode of the PTX ISA; where GPUs do otherwise, as they do. */
#include "emu/video.h"

#include "emu/handlers.h"

static int64_t sign_extend(uint32_t x, uint32_t bits, bool is_signed)
{
    uint32_t ones = bits == 32 ? UINT32_MAX : (1u << bits) - 1;
    x &= ones;
    return is_signed && x >> (bits - 1) & 1 ? (int64_t)x - ((int64_t)ones + 1) : (int64_t)x;
}

static int64_t select_part(uint32_t x, uint8_t select, bool is_signed)
{
    if (select < 4)
        return sign_extend(x >> 8 * select, 8, is_signed);
    return select < 6 ? sign_extend(x >> 16 * (select - 4), 16, is_signed)
                      : sign_extend(x, 32, is_signed);
}

/* Of 32 bits without sign GPUs clamp the lower end alone. */
static int64_t clamp(int64_t x, uint32_t bits, bool is_signed)
{
    int64_t high = is_signed    ? ((int64_t)1 << (bits - 1)) - 1
                   : bits == 32 ? INT64_MAX
                                : ((int64_t)1 << bits) - 1;
    int64_t low = is_signed ? -high - 1 : 0;
    return x < low ? low : x > high ? high : x;
}

static bool compare_values(uint8_t cmp, int64_t a, int64_t b)
{
    switch (cmp) {
    case EMU_CMP_eq: return a == b;
    case EMU_CMP_ne: return a != b;
    case EMU_CMP_lt: return a < b;
    case EMU_CMP_le: return a <= b;
    case EMU_CMP_gt: return a > b;
    default: return a >= b;
    }
}

static int64_t shifted(const emu_video *v, int64_t a, int64_t b)
{
    uint32_t n = v->wrap ? (uint32_t)b & 31 : b > 32 || b < 0 ? 32 : (uint32_t)b;
    if (v->op == EMU_VIDEO_SHL)
        return (int64_t)((uint64_t)a << n);
    return a >> n;
}

static int64_t primary(const emu_video *v, int64_t a, int64_t b)
{
    switch (v->op) {
    case EMU_VIDEO_ADD: return a + b;
    case EMU_VIDEO_SUB: return a - b;
    case EMU_VIDEO_ABSDIFF: return a > b ? a - b : b - a;
    case EMU_VIDEO_MIN: return a < b ? a : b;
    case EMU_VIDEO_MAX: return a > b ? a : b;
    case EMU_VIDEO_SET: return compare_values(v->compare, a, b);
    case EMU_VIDEO_AVRG: return a + b >= 0 ? (a + b + 1) >> 1 : (a + b) >> 1;
    default: return shifted(v, a, b);
    }
}

/* Without sign, what is below zero compares as if it were above all numbers. */
static uint32_t secondary(const emu_video *v, int64_t t, uint32_t c)
{
    bool less = v->d_signed ? (int32_t)t < (int32_t)c : (uint64_t)t < c;
    switch (v->second) {
    case EMU_VIDEO_ACCUMULATE: return (uint32_t)t + c;
    case EMU_VIDEO_SECOND_MIN: return less ? (uint32_t)t : c;
    case EMU_VIDEO_SECOND_MAX: return less ? c : (uint32_t)t;
    default: return (uint32_t)t;
    }
}

/* Puts the value at the place that the destination names; the rest comes from c. */
static uint32_t merge_part(uint8_t select, uint32_t t, uint32_t c)
{
    if (select >= 6)
        return t;
    uint32_t bits = select < 4 ? 8 : 16, at = select < 4 ? 8u * select : 16u * (select - 4u);
    uint32_t ones = ((1u << bits) - 1) << at;
    return (t << at & ones) | (c & ~ones);
}

static uint32_t run_video_lane(const emu_video *v, uint32_t a, uint32_t b, uint32_t c)
{
    int64_t t = primary(v, select_part(a, v->a_select[0], v->a_signed),
                        select_part(b, v->b_select[0], v->b_signed));
    if (v->sat)
        t = clamp(t, v->d_select < 4 ? 8 : v->d_select < 6 ? 16 : 32, v->d_signed);
    if (v->d_select < 6)
        return merge_part(v->d_select, (uint32_t)t, c);
    return secondary(v, t, c);
}

static uint32_t run_mad(const emu_video *v, uint32_t a, uint32_t b, uint32_t c)
{
    bool is_signed = v->a_signed || v->b_signed || v->a_neg != v->b_neg || v->c_neg;
    __int128 t = (__int128)select_part(a, v->a_select[0], v->a_signed) *
                 select_part(b, v->b_select[0], v->b_signed);
    __int128 one = 0;
    if (v->plus_one) {
        one = 1;
    } else if (v->a_neg != v->b_neg) {
        t = ~t;
        one = 1;
    } else if (v->c_neg) {
        c = ~c;
        one = 1;
    }
    t += (__int128)(int32_t)c + one; /* with its sign, whatever the types are */
    t >>= v->shift;
    if (v->sat) {
        __int128 high = is_signed ? INT32_MAX : (__int128)UINT32_MAX,
                 low = is_signed ? INT32_MIN : 0;
        t = t < low ? low : t > high ? high : t;
    }
    return (uint32_t)t;
}

static uint32_t run_parts(const emu_video *v, uint32_t a, uint32_t b, uint32_t c)
{
    const uint32_t bits = 32u / v->parts, ones = (1u << bits) - 1;
    const uint64_t both = (uint64_t)b << 32 | a;
    uint32_t d = v->second == EMU_VIDEO_ACCUMULATE ? c : 0;
    for (uint32_t k = 0; k < v->parts; k++) {
        int64_t x = sign_extend((uint32_t)(both >> bits * v->a_select[k]), bits, v->a_signed);
        int64_t y = sign_extend((uint32_t)(both >> bits * v->b_select[k]), bits, v->b_signed);
        int64_t t = primary(v, x, y);
        bool on = v->d_mask >> k & 1;
        if (v->sat)
            t = clamp(t, bits, v->d_signed);
        if (v->second == EMU_VIDEO_ACCUMULATE)
            d += on ? (uint32_t)t : 0;
        else
            d |= ((on ? (uint32_t)t : c >> bits * k) & ones) << bits * k;
    }
    return d;
}

uint32_t emu_video_run(const emu_video *v, uint32_t a, uint32_t b, uint32_t c)
{
    if (v->op == EMU_VIDEO_MAD)
        return run_mad(v, a, b, c);
    return v->parts == 1 ? run_video_lane(v, a, b, c) : run_parts(v, a, b, c);
}
