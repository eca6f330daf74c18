/* Inputs of the instruction forms: edge cases and random numbers, drawn from named pools.
 *
 * The recorded results belong to exactly these inputs; the recording holds their hash. A change
 * here asks for a new recording. No expression may draw twice: C leaves open which draw comes
 * first. */
#include "ops_form.h"
#include "support/random.h"

#include <math.h>
#include <string.h>

static double unit(uint64_t *state) /* -1 .. 1 */
{
    return (double)(int64_t)random_next(state) * 0x1p-63;
}

/* Of either sign and any magnitude up to 2 ** (octaves / 2). */
static double scaled(uint64_t *state, uint64_t octaves)
{
    double factor = unit(state);
    return factor * exp2((double)random_below(state, octaves) - (double)(octaves / 2));
}

#define PICK(state, table) ((table)[random_below((state), sizeof(table) / sizeof(table)[0])])

static uint64_t mask(uint32_t bits)
{
    return bits == 64 ? UINT64_MAX : (UINT64_C(1) << bits) - 1;
}

static uint64_t draw_int(uint64_t *s, uint32_t bits)
{
    uint64_t top = UINT64_C(1) << (bits - 1);
    const uint64_t edges[] = {
        0,        1,    2,    3,    7,      top - 1, top,    top + 1, mask(bits), mask(bits) - 1,
        top >> 1, 0x7f, 0x80, 0xff, 0x7fff, 0x8000,  0xffff, 0x10000};
    if (random_below(s, 5) < 2)
        return PICK(s, edges) & mask(bits);
    uint64_t value = random_next(s);
    value >>= random_below(s, 64); /* all magnitudes */
    return (random_below(s, 2) ? value : 0 - value) & mask(bits);
}

static uint64_t bits_of_float(float f)
{
    uint32_t b;
    memcpy(&b, &f, 4);
    return b;
}

static uint64_t bits_of_double(double d)
{
    uint64_t b;
    memcpy(&b, &d, 8);
    return b;
}

static uint64_t draw_f32(uint64_t *s)
{
    static const uint32_t edges[] = {
        0x00000000, 0x80000000, 0x3f800000, 0xbf800000, 0x00000001, 0x80000001, 0x007fffff,
        0x807fffff, 0x00800000, 0x80800000, 0x7f7fffff, 0xff7fffff, 0x7f800000, 0xff800000,
        0x7fc00000, 0xffc00001, 0x7f800001, 0xffbfffff, 0x3f000000, 0xbf000000, 0x3fc00000,
        0x40200000, 0xc0200000, 0x40490fdb, 0x4effffff, 0x4f000000, 0xcf000000, 0x4f7fffff,
        0x4f800000, 0x5f000000, 0xdf000000, 0x5f800000, 0x477fe000, 0x477ff000, 0x33800000,
        0x38800000, 0x387fc000, 0x3f7fffff, 0x34000000, 0x437f0000, 0x42fe8000};
    switch (random_below(s, 5)) {
    case 0:
    case 1: return PICK(s, edges);
    case 2: return random_next(s) & 0xffffffff;
    case 3: return bits_of_float((float)(scaled(s, 60)));
    default:
        return bits_of_float((float)((double)(int64_t)random_below(s, 4001) * 0.25 -
                                     500)); /* ties of integer rounding */
    }
}

static uint64_t draw_f64(uint64_t *s)
{
    static const uint64_t edges[] = {
        0x0000000000000000, 0x8000000000000000, 0x3ff0000000000000, 0xbff0000000000000,
        0x0000000000000001, 0x8000000000000001, 0x000fffffffffffff, 0x0010000000000000,
        0x8010000000000000, 0x7fefffffffffffff, 0xffefffffffffffff, 0x7ff0000000000000,
        0xfff0000000000000, 0x7ff8000000000000, 0xfff8000000000001, 0x7ff0000000000001,
        0x3fe0000000000000, 0x3ff8000000000000, 0x4004000000000000, 0xc004000000000000,
        0x400921fb54442d18, 0x41dfffffffc00000, 0x41e0000000000000, 0xc1e0000000000000,
        0x41f0000000000000, 0x43e0000000000000, 0xc3e0000000000000, 0x43f0000000000000,
        0x36a0000000000000, 0x3690000000000000, 0x3810000000000000, 0x380fffffe0000000,
        0x47efffffe0000000, 0x47effffff0000000, 0x3cb0000000000000, 0x40effc0000000000,
        0x3f10000000000000, 0x3e70000000000000};
    switch (random_below(s, 5)) {
    case 0:
    case 1: return PICK(s, edges);
    case 2: return random_next(s);
    case 3: return bits_of_double(scaled(s, 100));
    default: return bits_of_double((double)(int64_t)random_below(s, 4001) * 0.25 - 500);
    }
}

static uint64_t draw_16(uint64_t *s, bool bf)
{
    static const uint16_t f16[] = {0x0000, 0x8000, 0x3c00, 0xbc00, 0x0001, 0x8001, 0x03ff,
                                   0x0400, 0x7bff, 0xfbff, 0x7c00, 0xfc00, 0x7e00, 0xfe01,
                                   0x7c01, 0x3800, 0x3e00, 0x4100, 0x3555, 0x4248};
    static const uint16_t bf16[] = {0x0000, 0x8000, 0x3f80, 0xbf80, 0x0001, 0x8001, 0x007f,
                                    0x0080, 0x7f7f, 0xff7f, 0x7f80, 0xff80, 0x7fc0, 0xffc1,
                                    0x7f81, 0x3f00, 0x3fc0, 0x4020, 0x3eab, 0x4049};
    switch (random_below(s, 3)) {
    case 0: return bf ? PICK(s, bf16) : PICK(s, f16);
    case 1: return random_next(s) & 0xffff;
    default: break;
    }
    uint64_t magnitude = bf ? 0x3c00 + random_below(s, 0x0600)
                            : 0x2c00 + random_below(s, 0x2400); /* around one */
    return magnitude | (random_below(s, 2) << 15);
}

static uint64_t pair(uint64_t low, uint64_t high)
{
    return low | high << 16;
}

static uint64_t draw_unit16(uint64_t *s,
                            bool bf) /* a multiple of 1/32 in -1 .. 1, exact in both formats */
{
    float f = (float)((int64_t)random_below(s, 65) - 32) / 32;
    if (bf)
        return bits_of_float(f) >> 16;
    uint32_t b = (uint32_t)bits_of_float(f), exponent = b >> 23 & 0xff;
    return f == 0 ? 0 : (b >> 16 & 0x8000) | (exponent - 112) << 10 | (b >> 13 & 0x3ff);
}

static uint64_t draw_vote(uint64_t *s, uint32_t thread, uint64_t form_seed, bool few)
{
    uint64_t warp = form_seed + thread / 32; /* the same for all lanes of a warp */
    uint64_t kind = random_next(&warp) % 5, chosen = random_next(&warp) % 32,
             value = random_next(&warp) % 3;
    if (few)
        return random_below(s, kind + 1);
    switch (kind) {
    case 0: return 0;
    case 1: return 1 + value;
    case 2: return thread % 32 == chosen;
    case 3: return thread % 32 != chosen;
    default: return random_below(s, 2);
    }
}

static uint64_t draw_range(uint64_t *s, uint32_t limit, uint32_t wild)
{
    switch (random_below(s, 6)) {
    case 0: return random_below(s, wild);
    case 1: return random_next(s) & 0xffffffff;
    default: return random_below(s, limit);
    }
}

static uint64_t draw(uint64_t *s, const char *pool, uint32_t thread, uint64_t form_seed)
{
#define IS(name) (strcmp(pool, name) == 0)
    if (IS("f32"))
        return draw_f32(s);
    if (IS("f64"))
        return draw_f64(s);
    if (IS("f16") || IS("bf16"))
        return draw_16(s, pool[0] == 'b');
    if (IS("f16x2") || IS("bf16x2")) {
        uint64_t low = draw_16(s, pool[0] == 'b');
        return pair(low, draw_16(s, pool[0] == 'b'));
    }
    if (IS("nice32"))
        return bits_of_float((float)(scaled(s, 30)));
    if (IS("angle"))
        return bits_of_float((float)(unit(s) * M_PI));
    if (IS("unit32"))
        return bits_of_float((float)unit(s));
    if (IS("unit64"))
        return bits_of_double(unit(s));
    if (IS("unittf32"))
        return bits_of_float((float)unit(s)) & 0xffffe000;
    if (IS("unit16x2") || IS("unitbf16x2")) {
        uint64_t low = draw_unit16(s, pool[4] == 'b');
        return pair(low, draw_unit16(s, pool[4] == 'b'));
    }
    if (IS("u16x2") || IS("s16x2")) {
        uint64_t low = draw_int(s, 16);
        return pair(low, draw_int(s, 16));
    }
    if (IS("shift16") || IS("shift32") || IS("shift64"))
        return draw_range(s, (pool[5] == '1' ? 16 : pool[5] == '3' ? 32 : 64) + 2, 300);
    if (IS("shiftcount"))
        return draw_range(s, 34, 300);
    if (IS("field"))
        return draw_range(s, 66, 256);
    if (IS("lane"))
        return random_below(s, 36);
    if (IS("small"))
        return (random_below(s, 16) - 4) & 0xffffffff;
    if (IS("bool"))
        return random_below(s, 2);
    if (IS("all"))
        return 1;
    if (IS("vote") || IS("few"))
        return draw_vote(s, thread, form_seed, pool[0] == 'f');
#undef IS
    uint32_t bits = 0;
    for (const char *c = pool + 1; *c; c++)
        bits = bits * 10 + (uint32_t)(*c - '0');
    return draw_int(s, bits);
}

void ops_form_inputs(const ops_form *form, uint64_t *in)
{
    uint64_t seed = 0;
    for (const char *c = form->text; *c; c++) {
        seed ^= (unsigned char)*c;
        random_next(&seed);
    }
    uint64_t state = seed;
    for (uint32_t slot = 0; slot < form->nsrc; slot++)
        for (uint32_t t = 0; t < OPS_THREADS; t++)
            in[slot * OPS_THREADS + t] = draw(&state, form->pool[slot], t, seed);
}
