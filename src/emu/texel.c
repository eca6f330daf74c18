/* Formats of texels and the sums of filtering, as an H200 makes them: read off recorded fetches of
 * every value of 8 and 16 bits, and of texels and weights swept (tests/emu/texture_cases.c,
 * docs/textures.md). */
#include "emu/texel.h"

#include <math.h>
#include <string.h>

#include "emu/ops_fp.h"

bool emu_reads_integers(const emu_texture *t)
{
    return t->image.kind != EMU_TEXEL_FLOAT && (t->element || t->image.bits == 32);
}

/* Linear light of a byte of sRGB, in 1/16384: the hardware's table, whose entries have eight
 * significant bits. */
static const uint16_t srgb_light[256] = {
    0,     5,     10,    15,    20,    25,    30,    35,    40,    45,    50,    55,    60,
    66,    72,    78,    85,    92,    99,    107,   115,   123,   131,   140,   150,   159,
    169,   180,   190,   201,   213,   224,   236,   250,   262,   276,   290,   304,   318,
    332,   348,   364,   380,   396,   412,   430,   448,   466,   484,   504,   524,   544,
    564,   584,   604,   624,   648,   672,   692,   716,   740,   764,   788,   816,   840,
    864,   896,   920,   944,   976,   1000,  1032,  1064,  1088,  1120,  1152,  1184,  1216,
    1248,  1280,  1312,  1352,  1384,  1416,  1456,  1488,  1528,  1560,  1600,  1640,  1672,
    1712,  1752,  1792,  1832,  1872,  1920,  1952,  2000,  2048,  2080,  2128,  2176,  2224,
    2272,  2320,  2368,  2416,  2464,  2512,  2560,  2608,  2656,  2704,  2752,  2816,  2864,
    2912,  2976,  3024,  3072,  3136,  3184,  3248,  3296,  3360,  3424,  3472,  3536,  3600,
    3664,  3712,  3776,  3840,  3904,  3968,  4032,  4096,  4160,  4224,  4288,  4352,  4416,
    4512,  4576,  4640,  4704,  4768,  4864,  4928,  4992,  5056,  5152,  5216,  5280,  5376,
    5440,  5536,  5600,  5696,  5760,  5824,  5920,  6016,  6080,  6176,  6240,  6336,  6400,
    6496,  6592,  6688,  6752,  6848,  6944,  7008,  7104,  7200,  7296,  7392,  7488,  7584,
    7680,  7744,  7872,  7936,  8064,  8128,  8256,  8320,  8448,  8512,  8640,  8768,  8832,
    8960,  9024,  9152,  9280,  9344,  9472,  9600,  9664,  9792,  9920,  9984,  10112, 10240,
    10304, 10432, 10560, 10688, 10816, 10880, 11008, 11136, 11264, 11392, 11456, 11584, 11712,
    11840, 11968, 12096, 12224, 12352, 12480, 12608, 12736, 12864, 12992, 13120, 13248, 13376,
    13504, 13632, 13760, 13888, 14016, 14144, 14272, 14400, 14528, 14656, 14848, 14976, 15104,
    15232, 15360, 15488, 15616, 15744, 16000, 16128, 16256, 16384};

/* The second of two channels, like the fourth, is alpha, which is linear. */
static bool is_srgb(const emu_texture *t, uint32_t channel)
{
    const emu_image *image = &t->image;
    return t->srgb && image->bits == 8 && image->kind == EMU_TEXEL_UNSIGNED &&
           (channel == 0 || (channel < 3 && image->channels == 4));
}

static int32_t largest_channel_value(const emu_image *image)
{
    return (1 << (image->bits - (image->kind == EMU_TEXEL_SIGNED))) - 1;
}

static uint32_t low_bits(const emu_image *image, uint32_t word)
{
    uint32_t above = 32u - image->bits;
    return image->kind == EMU_TEXEL_SIGNED ? (uint32_t)((int32_t)(word << above) >> above)
                                           : word << above >> above;
}

emu_texel emu_texel_read(const emu_image *image, const void *memory)
{
    emu_texel t = {{0}};
    uint32_t bytes = image->bits / 8u;
    for (uint32_t k = 0; k < image->channels; k++) {
        uint32_t word = 0;
        memcpy(&word, (const char *)memory + k * bytes, bytes);
        t.word[k] = low_bits(image, word);
    }
    return t;
}

/* ---- border ---- */

/* Towards zero, and never infinite. */
static uint16_t half_towards_zero(float x)
{
    float held = fmaxf(fminf(x, 65504), -65504);
    uint16_t h = emu_h_of_f(held);
    return fabsf(emu_f_of_h(h)) > fabsf(held) ? (uint16_t)(h - 1) : h;
}

static float srgb_of_linear(float v)
{
    return v <= 0.0031308f ? v * 12.92f : 1.055f * powf(v, 1 / 2.4f) - 0.055f;
}

/* To the nearest step, halves towards zero. */
static uint32_t normalised(const emu_texture *t, float x, uint32_t channel)
{
    bool sign = t->image.kind == EMU_TEXEL_SIGNED;
    float held = x > (sign ? -1.0f : 0.0f) ? fminf(x, 1) : sign ? -1.0f : 0.0f;
    if (is_srgb(t, channel))
        held = srgb_of_linear(held);
    float steps = held * (float)largest_channel_value(&t->image);
    return (uint32_t)(int32_t)(steps < 0 ? floorf(steps + 0.5f) : ceilf(steps - 0.5f));
}

/* Integers that are read as such take the low bits of the colour's words, which the interface
 * declares as floats. */
emu_texel emu_texel_border(const emu_texture *t)
{
    const emu_image *image = &t->image;
    emu_texel c = {{0}};
    for (uint32_t k = 0; k < image->channels; k++) {
        uint32_t bits = f32_bits(t->border[k]);
        c.word[k] = emu_reads_integers(t) || image->bits == 32 ? low_bits(image, bits)
                    : image->kind == EMU_TEXEL_FLOAT           ? half_towards_zero(t->border[k])
                                                               : normalised(t, t->border[k], k);
    }
    return c;
}

/* ---- one texel ---- */

static uint32_t channel_value(const emu_texture *t, uint32_t word, uint32_t channel)
{
    const emu_image *image = &t->image;
    if (image->kind == EMU_TEXEL_FLOAT)
        return image->bits == 32 ? word : f32_bits(emu_f_of_h((u16)word));
    if (is_srgb(t, channel))
        return f32_bits((float)srgb_light[word] / 16384);
    double v = image->kind == EMU_TEXEL_SIGNED ? (int32_t)word : (double)word;
    return f32_bits((float)fmax(v / largest_channel_value(image), -1));
}

void emu_texel_deliver(const emu_texture *t, const emu_texel *texel, uint32_t result[4])
{
    bool integers = emu_reads_integers(t);
    for (uint32_t k = 0; k < 4; k++)
        result[k] = integers || k >= t->image.channels ? texel->word[k]
                                                       : channel_value(t, texel->word[k], k);
}

/* ---- sums of integers ---- */

/* Results have 16 bits, 15 and a sign. Steps of 8 bits become such of 16: 255 * 257 = 65535; 127 *
 * 258 + 1 = 32767, where the hardware multiplies by 258 + 1/128 + 1/32768 and cuts the sum to four
 * fraction bits for the small factors. */
static float sum_of_integers(const emu_image *image, const emu_taps *taps, uint32_t channel)
{
    int32_t s = 0, largest = image->kind == EMU_TEXEL_SIGNED ? 32767 : 65535;
    for (uint32_t k = 0; k < taps->count; k++)
        s += (int32_t)taps->weight[k] * (int32_t)taps->texel[k].word[channel];
    if (image->bits == 16)
        s = (s + EMU_WEIGHTS / 2) >> 8;
    else if (image->kind == EMU_TEXEL_SIGNED)
        s += ((s >> 4) * 257 + 1024) >> 11;
    else
        s = (s * 257 + EMU_WEIGHTS / 2) >> 8;
    return (float)((double)(s < -largest ? -largest : s) / largest);
}

/* ---- sums of floats ---- */

typedef struct precision {
    int bits;  /* of a result's significand */
    int kept;  /* bits of a texel below the leading one of the largest, and that one */
    int least; /* biased exponent of the smallest normal number */
} precision;

static const precision single = {24, 28, 1}, half = {11, 15, 113};

static int exponent(uint32_t bits)
{
    return (int)(bits >> 23 & 255);
}

/* Four taps: texels are shifted to the exponent of the largest and cut, and their products summed
 * without loss. */
static double sum_of_four(const uint32_t bits[4], const uint32_t weight[4], const precision *p)
{
    int top = p->least;
    int64_t sum = 0;
    for (int k = 0; k < 4; k++)
        if (weight[k] && exponent(bits[k]) > top)
            top = exponent(bits[k]);
    for (int k = 0; k < 4; k++) {
        int e = exponent(bits[k]), away = top - e + 28 - p->kept;
        int64_t significand = e && away < 28 ? (int64_t)(bits[k] << 9 >> 9 | 1u << 23) << 4 >> away
                                             : 0;
        sum += (int64_t)weight[k] * (bits[k] >> 31 ? -significand : significand);
    }
    return ldexp((double)sum, top - 127 - (p->kept - 1) - 8);
}

/* To the given bits, halves away from zero; of what is below the normal numbers half precision
 * keeps steps, single none. */
static float round_to_precision(double v, const precision *p)
{
    uint64_t bits = f64_bits(v), dropped = 53u - (unsigned)p->bits;
    int below = p->least - 127 + 1023 - (int)(bits >> 52 & 2047);
    if (p->bits == 24 && below > 0)
        return v < 0 ? -0.0f : 0.0f;
    if (below > 0) {
        double step = ldexp(1, p->least - 127 - (p->bits - 1));
        return (float)(copysign(floor(fabs(v) / step + 0.5), v) * step);
    }
    bits += UINT64_C(1) << (dropped - 1);
    return (float)f64_of(bits >> dropped << dropped);
}

/* What infinities and NaN make of the sum, or whether there is none. */
static bool special_sum(const uint32_t *bits, const emu_taps *taps, float *result)
{
    bool negative = false, positive = false, nan = false;
    for (uint32_t k = 0; k < taps->count; k++) {
        if (!taps->weight[k] || exponent(bits[k]) != 255)
            continue;
        nan |= bits[k] << 9 != 0;
        negative |= bits[k] == 0xff800000;
        positive |= bits[k] == 0x7f800000;
    }
    *result = nan || (negative && positive) ? f32_of(0x7fffffff) : negative ? -INFINITY : INFINITY;
    return nan || negative || positive;
}

/* Zero is negative where all that was summed is. */
static bool all_negative(const uint32_t *bits, const emu_taps *taps)
{
    for (uint32_t k = 0; k < taps->count; k++)
        if (taps->weight[k] && !(bits[k] >> 31))
            return false;
    return true;
}

static float sum_of_floats(const emu_texture *t, const emu_taps *taps, uint32_t channel)
{
    const precision *p = t->image.bits == 16 ? &half : &single;
    uint32_t bits[16] = {0};
    float result;
    double sum = 0;
    for (uint32_t k = 0; k < taps->count; k++)
        bits[k] = taps->weight[k] ? channel_value(t, taps->texel[k].word[channel], channel) : 0;
    if (special_sum(bits, taps, &result))
        return p->bits == 24 || result == result ? result : emu_f_of_h(0x7fff);
    for (uint32_t k = 0; k < taps->count; k += 4)
        sum += sum_of_four(bits + k, taps->weight + k, p);
    if (sum == 0)
        return all_negative(bits, taps) ? -0.0f : 0.0f;
    return round_to_precision(sum, p);
}

/* ---- sums of sRGB ---- */

/* The step of a byte's linear light, as a power of two over 1/16384: the table's entries are short
 * floats whose exponents change at round bytes, a little before the powers of two. */
static unsigned light_step_of(uint32_t byte)
{
    static const uint8_t first[] = {32, 48, 64, 96, 136, 184, 248};
    unsigned step = 0;
    while (step < sizeof first && byte >= first[step])
        step++;
    return step;
}

static uint32_t light_of_four(const uint32_t byte[4], const uint32_t weight[4])
{
    unsigned top = 0;
    uint32_t sum = 0;
    for (int k = 0; k < 4; k++)
        if (weight[k] && light_step_of(byte[k]) > top)
            top = light_step_of(byte[k]);
    for (int k = 0; k < 4; k++)
        if (weight[k])
            sum += weight[k] * ((uint32_t)srgb_light[byte[k]] >> top << top);
    return sum;
}

/* Light is summed in the steps of the brightest of four, and the result is a number of half
 * precision. */
static float sum_of_light(const emu_taps *taps, uint32_t channel)
{
    uint32_t byte[16] = {0}, sum = 0;
    for (uint32_t k = 0; k < taps->count; k++)
        byte[k] = taps->weight[k] ? taps->texel[k].word[channel] : 0;
    for (uint32_t k = 0; k < taps->count; k += 4)
        sum += light_of_four(byte + k, taps->weight + k);
    return sum ? round_to_precision(sum / (16384.0 * EMU_WEIGHTS), &half) : 0;
}

static float channel_sum(const emu_texture *t, const emu_taps *taps, uint32_t channel)
{
    if (channel >= t->image.channels)
        return 0;
    if (t->image.kind == EMU_TEXEL_FLOAT)
        return sum_of_floats(t, taps, channel);
    return is_srgb(t, channel) ? sum_of_light(taps, channel)
                               : sum_of_integers(&t->image, taps, channel);
}

void emu_texel_filter(const emu_texture *t, const emu_taps *taps, uint32_t result[4])
{
    for (uint32_t k = 0; k < 4; k++)
        result[k] = f32_bits(channel_sum(t, taps, k));
}
