#include "texture_cases.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { U8 = 1, U16 = 2, U32 = 3, S8 = 8, S16 = 9, S32 = 10, F16 = 16, F32 = 32 };
enum { WRAP, CLAMP, MIRROR, BORDER };

static const char *const geometries[] = {"1d", "2d", "3d", "a1d", "a2d", "cube", "acube"};
static const char *const layouts[] = {"array", "linear", "pitch", "mipmap"};
static const char *const ops[] = {"tex", "tex.level", "tex.grad", "tld4", "suld", "txq", "sured"};
static const char *const modes[] = {"wrap", "clamp", "mirror", "border"};

/* ---- the table ---- */

typedef struct cases { /* counts cases until the one wanted */
    unsigned wanted, at;
    texture_case *out;
    bool found;
} cases;

static void add(cases *l, texture_case c)
{
    if (l->at++ != l->wanted)
        return;
    *l->out = c;
    l->found = true;
}

#define EACH(name, from, to) for (unsigned name = (from); name <= (to); name++)

static texture_case plain(texture_geometry g, unsigned w, unsigned h, unsigned d)
{
    return (texture_case){.op = TO_TEX,
                          .geometry = g,
                          .format = F32,
                          .channels = 1,
                          .width = w,
                          .height = h,
                          .depth = d,
                          .levels = 1,
                          .mode = {CLAMP, CLAMP, CLAMP},
                          .coordinates = 'f',
                          .result = 'f',
                          .border = {-7, 3.25f, 1000, 0.1f}};
}

static texture_case all_modes(texture_case c, unsigned x, unsigned y, unsigned z)
{
    c.mode[0] = x;
    c.mode[1] = y;
    c.mode[2] = z;
    return c;
}

static void by_dimension(cases *l)
{
    static const unsigned widths[] = {1, 7, 16, 100, 1000};
    EACH(norm, 0, 1) EACH(linear, 0, 1) EACH(mode, 0, 3)
    {
        EACH(k, 0, 4)
        {
            texture_case c = all_modes(plain(TG_1D, widths[k], 0, 0), mode, mode, mode);
            c.normalized = norm;
            c.linear = linear;
            add(l, c);
            c.fraction = true;
            if (linear)
                add(l, c);
        }
        EACH(k, 0, 3)
        {
            texture_case c = all_modes(plain(TG_2D, k & 1 ? 16 : 7, k & 1 ? 32 : 5, 0), mode,
                                       k & 2 ? (mode + 1) % 4 : mode, 0);
            c.normalized = norm;
            c.linear = linear;
            add(l, c);
            c.fraction = true;
            if (linear)
                add(l, c);
        }
        EACH(k, 0, 1)
        {
            texture_case c = all_modes(plain(TG_3D, k ? 8 : 5, k ? 4 : 3, k ? 16 : 6), mode,
                                       k ? (mode + 1) % 4 : mode, k ? (mode + 2) % 4 : mode);
            c.normalized = norm;
            c.linear = linear;
            add(l, c);
            c.fraction = true;
            if (linear)
                add(l, c);
        }
        texture_case c = all_modes(plain(TG_A1D, 9, 0, 3), mode, mode, mode);
        c.normalized = norm;
        c.linear = linear;
        add(l, c);
        c = all_modes(plain(TG_A2D, 9, 6, 4), mode, mode, mode);
        c.normalized = norm;
        c.linear = linear;
        add(l, c);
    }
}

static void integer_coordinates(cases *l)
{
    EACH(mode, 0, 3) EACH(g, TG_1D, TG_A2D)
    {
        texture_case c = all_modes(plain((texture_geometry)g, 9, g == TG_1D || g == TG_A1D ? 0 : 5,
                                         g >= TG_3D ? 4 : 0),
                                   mode, mode, mode);
        c.coordinates = 's';
        add(l, c);
    }
    static const int formats[] = {U8, S8, U16, S16, U32, S32, F16, F32};
    EACH(f, 0, 7) EACH(k, 0, 2)
    {
        texture_case c = plain(TG_1D, 37, 0, 0);
        c.layout = TL_LINEAR;
        c.coordinates = 's';
        c.format = formats[f];
        c.channels = 1u << k;
        c.element = f < 6;
        c.result = f >= 6 ? 'f' : f & 1 ? 's' : 'u';
        add(l, c);
        c.element = false;
        c.result = 'f';
        if (f < 4)
            add(l, c);
    }
}

static void formats(cases *l)
{
    static const int all[] = {U8, S8, U16, S16, U32, S32, F16, F32};
    EACH(f, 0, 7) EACH(k, 0, 2) EACH(kind, 0, 2)
    {
        texture_case c = plain(TG_2D, 8, 8, 0);
        c.format = all[f];
        c.channels = 1u << k;
        c.mode[1] = BORDER;
        c.linear = kind == 1;
        c.element = kind == 2 && f < 6;
        c.result = kind != 2 || f >= 6 ? 'f' : f & 1 ? 's' : 'u';
        c.fraction = true;
        c.normalized = kind == 1;
        if (kind == 2 ? f < 6 : f < 4 || f >= 6)
            add(l, c);
        c.result = 'h';
        if (kind < 2 && (f < 4 || f >= 6))
            add(l, c);
    }
    EACH(linear, 0, 1) EACH(k, 0, 2)
    {
        texture_case c = plain(TG_2D, 8, 8, 0);
        c.format = U8;
        c.channels = 1u << k;
        c.srgb = true;
        c.linear = linear;
        add(l, c);
    }
    EACH(norm, 0, 1) EACH(linear, 0, 1) EACH(k, 0, 1)
    {
        texture_case c = plain(TG_2D, 9, 7, 0);
        c.layout = TL_PITCH;
        c.normalized = norm;
        c.linear = linear;
        c.format = k ? U8 : F32;
        c.channels = k ? 4 : 2;
        c.mode[0] = k ? WRAP : CLAMP;
        c.mode[1] = k ? BORDER : CLAMP;
        add(l, c);
    }
}

static void cubes(cases *l)
{
    EACH(linear, 0, 1) EACH(seamless, 0, 1) EACH(layers, 0, 1) EACH(k, 0, 1)
    {
        unsigned side = k ? 16 : 5;
        texture_case c = plain(layers ? TG_ACUBE : TG_CUBE, side, side, layers ? 18 : 6);
        c.linear = linear;
        c.seamless = seamless;
        c.normalized = true;
        c.fraction = k;
        add(l, c);
        c.mode[0] = c.mode[1] = WRAP;
        add(l, c);
    }
}

static void mipmaps(cases *l)
{
    static const texture_geometry shapes[] = {TG_1D, TG_2D, TG_3D, TG_A1D, TG_A2D, TG_CUBE};
    EACH(g, 0, 5) EACH(linear, 0, 1) EACH(mip, 0, 1) EACH(op, TO_TEX, TO_GRAD) EACH(k, 0, 2)
    {
        texture_geometry s = shapes[g];
        texture_case c = plain(s, 32,
                               s == TG_1D || s == TG_A1D ? 0
                               : s == TG_CUBE            ? 32
                                                         : 16,
                               s == TG_3D     ? 8
                               : s == TG_CUBE ? 6
                               : s > TG_3D    ? 3
                                              : 0);
        c.layout = TL_MIPMAP;
        c.levels = 5;
        c.normalized = true;
        c.linear = linear;
        c.mip_linear = mip;
        c.op = (texture_op)op;
        c.max_level = k == 2 ? 2.3f : 20;
        c.min_level = k == 2 ? 0.7f : 0;
        c.bias = k ? 0.6f : 0;
        if (!k || (op != TO_GRAD && s == TG_2D))
            add(l, c);
    }
}

static void gathers(cases *l)
{
    EACH(norm, 0, 1) EACH(mode, 0, 3) EACH(component, 0, 3)
    {
        texture_case c = all_modes(plain(TG_2D, 7, 8, 0), mode, mode, mode);
        c.op = TO_GATHER;
        c.component = component;
        c.normalized = norm;
        c.channels = component & 1 ? 4 : 2;
        c.format = component & 2 ? U8 : F32;
        c.linear = component & 2;
        add(l, c);
    }
    EACH(sign, 0, 1)
    {
        texture_case c = plain(TG_2D, 7, 8, 0);
        c.op = TO_GATHER;
        c.channels = 4;
        c.format = sign ? S16 : U32;
        c.element = true;
        c.result = sign ? 's' : 'u';
        add(l, c);
    }
}

static void loads(cases *l)
{
    EACH(clamp, 0, 1) EACH(g, TG_1D, TG_A2D) EACH(size, 0, 3) EACH(k, 0, 2)
    {
        unsigned bytes = 1u << size, vector = 1u << k;
        texture_case c = plain((texture_geometry)g, 9, g == TG_1D || g == TG_A1D ? 0 : 5,
                               g >= TG_3D ? 3 : 0);
        c.op = TO_LOAD;
        c.clamp = clamp;
        c.bytes = bytes;
        c.vector = vector;
        c.coordinates = 's';
        c.format = size == 0 ? U8 : size == 1 ? U16 : U32;
        c.channels = size == 3 ? vector * 2 : vector;
        if (bytes * vector <= 16 && (g == TG_2D || k != 1))
            add(l, c);
    }
}

static void queries(cases *l)
{
    EACH(g, TG_1D, TG_ACUBE)
    {
        bool cube = g >= TG_CUBE;
        texture_case c = plain((texture_geometry)g, 12,
                               g == TG_1D || g == TG_A1D ? 0
                               : cube                    ? 12
                                                         : 5,
                               g == TG_CUBE    ? 6
                               : g == TG_ACUBE ? 18
                               : g >= TG_3D    ? 3
                                               : 0);
        c.op = TO_QUERY;
        c.normalized = cube;
        add(l, c);
    }
    texture_case c = plain(TG_1D, 37, 0, 0);
    c.op = TO_QUERY;
    c.layout = TL_LINEAR;
    add(l, c);
    c = plain(TG_2D, 9, 7, 0);
    c.op = TO_QUERY;
    c.layout = TL_PITCH;
    add(l, c);
}

/* Sizes at which normalised coordinates get another bit. */
static void sizes(cases *l)
{
    static const unsigned widths[] = {5000,  20000, 32767,  32769, 40000,
                                      60000, 65537, 100000, 131071};
    EACH(k, 0, 8) EACH(linear, 0, 1) EACH(mode, WRAP, CLAMP)
    {
        texture_case c = all_modes(plain(TG_1D, widths[k], 0, 0), mode, CLAMP, CLAMP);
        c.normalized = true;
        c.linear = linear;
        add(l, c);
    }
}

static void sums(cases *l)
{
    EACH(g, TG_1D, TG_2D) EACH(linear, 0, 1) EACH(k, 0, 2)
    {
        texture_case c = plain((texture_geometry)g, 61 + k, g == TG_2D ? 59 : 0, 0);
        c.linear = linear;
        c.wide = true;
        add(l, c);
    }
    EACH(k, 0, 3) EACH(fraction, 0, 1)
    {
        static const unsigned size[][3] = {{16, 16, 16}, {24, 12, 20}, {20, 40, 10}, {31, 33, 30}};
        texture_case c = plain(TG_3D, size[k][0], size[k][1], size[k][2]);
        c.op = TO_LEVEL;
        c.layout = TL_MIPMAP;
        c.levels = 4;
        c.max_level = 20;
        c.normalized = c.linear = c.mip_linear = true;
        c.fraction = fraction;
        add(l, c);
    }
    EACH(channels, 1, 4) EACH(linear, 0, 1)
    {
        texture_case c = plain(TG_2D, 60 + channels, 64, 0);
        c.format = U8;
        c.channels = channels;
        c.srgb = true;
        c.linear = linear;
        if (channels != 3)
            add(l, c);
    }
}

static void borders(cases *l)
{
    static const int all[] = {U8, S8, U16, S16, U32, S32, F16, F32};
    static const float colours[][4] = {
        {0.3f, -0.3f, 0.1f, 0.77f}, {200.7f, 3.25f, 300, -5}, {-70000, 70000, 5e9f, -5e9f}};
    EACH(f, 0, 7) EACH(k, 0, 2) EACH(linear, 0, 1) EACH(element, 0, 1)
    {
        texture_case c = all_modes(plain(TG_2D, 9, 11, 0), BORDER, BORDER, BORDER);
        c.format = all[f];
        c.channels = 4;
        c.linear = linear;
        c.element = element;
        c.result = element ? f & 1 ? 's' : 'u' : 'f';
        memcpy(c.border, colours[k], sizeof c.border);
        if (element ? f < 6 && !linear : f < 4 || f >= 6)
            add(l, c);
    }
}

static void levels_by_number(cases *l)
{
    EACH(g, TG_1D, TG_A2D)
    {
        texture_case c = plain((texture_geometry)g, 32, g == TG_1D || g == TG_A1D ? 0 : 16,
                               g == TG_3D  ? 8
                               : g > TG_3D ? 3
                                           : 0);
        c.op = TO_LEVEL;
        c.layout = TL_MIPMAP;
        c.levels = 4;
        c.max_level = 20;
        c.normalized = true;
        c.coordinates = 's';
        add(l, c);
        c.min_level = 1;
        c.bias = 1;
        add(l, c);
    }
}

static void additions(cases *l)
{
    EACH(clamp, 0, 1) EACH(g, TG_1D, TG_3D)
    {
        texture_case c = plain((texture_geometry)g, 9, g == TG_1D ? 0 : 5, g == TG_3D ? 3 : 0);
        c.op = TO_ADD;
        c.clamp = clamp;
        c.bytes = 4;
        c.vector = 1;
        c.coordinates = 's';
        c.format = U32;
        add(l, c);
    }
}

bool texture_case_get(unsigned index, texture_case *out)
{
    cases l = {.wanted = index, .out = out};
    by_dimension(&l);
    integer_coordinates(&l);
    formats(&l);
    cubes(&l);
    mipmaps(&l);
    gathers(&l);
    loads(&l);
    queries(&l);
    sizes(&l);
    sums(&l);
    borders(&l);
    levels_by_number(&l);
    additions(&l);
    return l.found;
}

void texture_case_text(const texture_case *c, char *text, size_t size)
{
    snprintf(text, size,
             "%s.%s.%c.%c %s %ux%ux%u levels %u format %d x %u %s,%s,%s%s%s%s%s%s%s%s%s bias %g "
             "clamp %g..%g %u %u %u %d",
             ops[c->op], geometries[c->geometry], c->result, c->coordinates, layouts[c->layout],
             c->width, c->height, c->depth, c->levels, c->format, c->channels, modes[c->mode[0]],
             modes[c->mode[1]], modes[c->mode[2]], c->linear ? " linear" : "",
             c->mip_linear ? " mip-linear" : "", c->normalized ? " normalized" : "",
             c->element ? " element" : "", c->srgb ? " srgb" : "", c->fraction ? " fraction" : "",
             c->wide ? " wide" : "", c->seamless ? " seamless" : "", (double)c->bias,
             (double)c->min_level, (double)c->max_level, c->component, c->bytes, c->vector,
             c->clamp);
}

unsigned texture_format_bytes(int format)
{
    return format == U8 || format == S8                      ? 1
           : format == U16 || format == S16 || format == F16 ? 2
                                                             : 4;
}

void texture_level_size(const texture_case *c, unsigned level, unsigned size[3])
{
    const unsigned full[3] = {c->width, c->height ? c->height : 1, c->depth ? c->depth : 1};
    for (unsigned k = 0; k < 3; k++) {
        bool layers = k == 2 && c->geometry != TG_3D;
        size[k] = layers || full[k] >> level ? full[k] >> (layers ? 0 : level) : 1;
    }
}

/* ---- content ---- */

static uint32_t mix(uint32_t x)
{
    x ^= x >> 16;
    x *= 0x7feb352du;
    x ^= x >> 15;
    x *= 0x846ca68bu;
    return x ^ x >> 16;
}

static uint32_t float_bits(float f)
{
    uint32_t bits;
    memcpy(&bits, &f, 4);
    return bits;
}

static uint16_t half_bits(uint32_t random) /* a normal number between -16 and 16 */
{
    uint32_t exponent = 8 + (random >> 16) % 11;
    return (uint16_t)((random & 0x83ff) | exponent << 10);
}

/* Between 2^-10 and 2^10; of 64 one is infinite, one no number, one subnormal, one zero. */
static uint32_t wide_bits(uint32_t random)
{
    static const uint32_t odd[] = {0x7f800000, 0x7fc00001, 0x00345678, 0};
    uint32_t sign = random & 0x80000000;
    if ((random & 63) < 4)
        return sign | odd[random & 3];
    return sign | (117 + (random >> 8) % 20) << 23 | (random * 2654435761u) >> 9;
}

void texture_case_texel(const texture_case *c, unsigned level, unsigned x, unsigned y, unsigned z,
                        void *texel)
{
    unsigned bytes = texture_format_bytes(c->format);
    for (unsigned k = 0; k < c->channels; k++) {
        uint32_t index = ((level * 64 + z) * 64 + y) * 1024 + x, word = mix(index * 4 + k + 12345);
        if (c->wide)
            word = wide_bits(word);
        else if (c->format == F32 && c->fraction)
            word = float_bits(((float)(word >> 8) / 8388608.f - 1) * 4);
        else if (c->format == F32 && c->linear)
            word = float_bits((float)(word % 1024));
        else if (c->format == F32)
            word = float_bits((float)(index * 4 + k)); /* says which texel it is */
        else if (c->format == F16)
            word = half_bits(word);
        memcpy((char *)texel + k * bytes, &word, bytes);
    }
}

/* ---- coordinates ---- */

typedef struct dice {
    uint32_t state;
} dice;

static uint32_t roll(dice *d)
{
    d->state += 0x9e3779b9u;
    return mix(d->state);
}

static float special(dice *d)
{
    static const float values[] = {NAN,     INFINITY, -INFINITY,    1e10f,
                                   -1e10f,  3e38f,    -0.0f,        1e-40f,
                                   -1e-40f, 16777216, 2147483648.f, -4294967296.f};
    return values[roll(d) % (sizeof values / sizeof *values)];
}

/* A coordinate in texels of a dimension of n. */
static float coordinate(dice *d, unsigned n)
{
    int texel = (int)(roll(d) % (3 * n + 4)) - (int)n - 2;
    float at = (float)texel;
    switch (roll(d) % 9) {
    case 0: return at;
    case 1: return at + 0.5f;
    case 2: return at + (float)(roll(d) % 256) / 256;
    case 3: return at + (float)(roll(d) % 512) / 512;
    case 4: return at + (float)(roll(d) % 1024) / 1024;
    case 5: return nextafterf(at, roll(d) & 1 ? 1e9f : -1e9f);
    case 6: return nextafterf(at + 0.5f, roll(d) & 1 ? 1e9f : -1e9f);
    case 7: return at + (float)(roll(d) >> 8) / 16777216;
    default: return roll(d) % 4 ? (float)(roll(d) >> 8) / 16777216 * (float)n : special(d);
    }
}

static uint32_t seed_of(const texture_case *c)
{
    char text[256];
    texture_case_text(c, text, sizeof text);
    uint32_t hash = 2166136261u;
    for (const char *t = text; *t; t++)
        hash = (hash ^ (uint8_t)*t) * 16777619u;
    return hash;
}

static void direction(dice *d, float *v)
{
    static const float steps[] = {-1, -0.5f, 0, 0.5f, 1, 0.25f};
    bool simple = roll(d) % 4 == 0;
    for (int k = 0; k < 3; k++)
        v[k] = simple ? steps[roll(d) % 6] : (float)(roll(d) >> 8) / 8388608 - 1;
    if (!simple && roll(d) % 2)
        v[roll(d) % 3] *= 8;
}

static void gradients(const texture_case *c, dice *d, float *words)
{
    float scale = exp2f((float)(roll(d) % 80) / 10 - 2);
    bool one = roll(d) % 2;
    for (int k = 0; k < 6; k++) {
        unsigned n[3];
        texture_level_size(c, 0, n);
        words[k] = ((float)(roll(d) >> 8) / 8388608 - 1) * scale / (float)n[k % 3];
        if (one && k)
            words[k] = 0;
    }
}

void texture_case_inputs(const texture_case *c, uint32_t *words)
{
    dice d = {seed_of(c)};
    unsigned size[3];
    texture_level_size(c, 0, size);
    bool cube = c->geometry == TG_CUBE || c->geometry == TG_ACUBE,
         layered = c->geometry >= TG_A1D && c->geometry != TG_CUBE;
    unsigned layers = cube ? c->depth / 6 : c->depth;
    for (unsigned i = 0; i < TEXTURE_LANES; i++, words += TEXTURE_INPUTS) {
        float v[TEXTURE_INPUTS] = {0};
        if (cube)
            direction(&d, v);
        for (unsigned k = 0; k < 3 && !cube; k++)
            v[k] = c->normalized ? coordinate(&d, size[k]) / (float)size[k]
                                 : coordinate(&d, size[k]);
        v[4] = (float)(roll(&d) % 900) / 100 - 2;
        if (roll(&d) % 4 == 0)
            v[4] = (float)(roll(&d) % 6 * 256 + roll(&d) % 256) / 256;
        gradients(c, &d, v + 5);
        memcpy(words, v, sizeof v);
        for (unsigned k = 0; k < 3 && c->coordinates == 's'; k++)
            words[k] = roll(&d) % 16 ? roll(&d) % (size[k] + 6) - 3 : roll(&d);
        if (c->coordinates == 's' && c->op == TO_LEVEL)
            words[4] = roll(&d) % 8 - 2;
        if (c->op == TO_LOAD || c->op == TO_ADD)
            words[0] *= c->bytes * c->vector;
        words[3] = layered ? roll(&d) % (layers + 4) - 2 : 0;
    }
}

/* ---- code ---- */

static void coordinate_list(const texture_case *c, char *text, size_t size)
{
    char t = c->coordinates == 'f' ? 'f' : 'r';
    switch (c->geometry) {
    case TG_1D: snprintf(text, size, "{%%%c0}", t); break;
    case TG_2D: snprintf(text, size, "{%%%c0, %%%c1}", t, t); break;
    case TG_3D:
    case TG_CUBE: snprintf(text, size, "{%%%c0, %%%c1, %%%c2, %%%c2}", t, t, t, t); break;
    case TG_A1D: snprintf(text, size, "{%%r3, %%%c0}", t); break;
    case TG_A2D: snprintf(text, size, "{%%r3, %%%c0, %%%c1, %%%c1}", t, t, t); break;
    default: snprintf(text, size, "{%%r3, %%f0, %%f1, %%f2}"); break;
    }
}

static void gradient_lists(const texture_case *c, char *text, size_t size)
{
    if (c->geometry == TG_1D || c->geometry == TG_A1D)
        snprintf(text, size, ", {%%f5}, {%%f8}");
    else if (c->geometry == TG_2D || c->geometry == TG_A2D)
        snprintf(text, size, ", {%%f5, %%f6}, {%%f8, %%f9}");
    else
        snprintf(text, size, ", {%%f5, %%f6, %%f7, %%f7}, {%%f8, %%f9, %%f10, %%f10}");
}

static void fetch(const texture_case *c, const char *at, char *text, size_t size)
{
    char extra[128] = "";
    if (c->op == TO_GRAD)
        gradient_lists(c, extra, sizeof extra);
    else if (c->op == TO_LEVEL)
        snprintf(extra, sizeof extra, c->coordinates == 'f' ? ", %%f4" : ", %%r4");
    const char *type = c->result == 'f'   ? "f32"
                       : c->result == 's' ? "s32"
                                          : "u32",
               *coordinates = c->coordinates == 'f' ? "f32" : "s32";
    if (c->op == TO_GATHER)
        snprintf(text, size, "tld4.%c.%s.v4.%s.f32 {%%r20, %%r21, %%r22, %%r23}, [%%rd1, %s];\n",
                 "rgba"[c->component], geometries[c->geometry], type, at);
    else if (c->result == 'h')
        snprintf(text, size, "%s.%s.v2.f16x2.%s {%%r20, %%r21}, [%%rd1, %s]%s;\n", ops[c->op],
                 geometries[c->geometry], coordinates, at, extra);
    else
        snprintf(text, size, "%s.%s.v4.%s.%s {%%r20, %%r21, %%r22, %%r23}, [%%rd1, %s]%s;\n",
                 ops[c->op], geometries[c->geometry], type, coordinates, at, extra);
}

static void load(const texture_case *c, const char *at, char *text, size_t size)
{
    static const char *const vectors[] = {"", "", ".v2", "", ".v4"};
    const char *reg = c->bytes == 8 ? "%rd1" : c->bytes == 4 ? "%r2" : "%h";
    char list[64] = "";
    for (unsigned k = 0; k < c->vector; k++)
        snprintf(list + strlen(list), sizeof list - strlen(list), "%s%s%u", k ? ", " : "", reg, k);
    int n = snprintf(text, size, "suld.b.%s%s.b%u.%s {%s}, [%%rd1, %s];\n", geometries[c->geometry],
                     vectors[c->vector], c->bytes * 8, c->clamp ? "clamp" : "zero", list, at);
    for (unsigned k = 0; k < c->vector && c->bytes <= 2; k++)
        n += snprintf(text + n, size - (size_t)n, "cvt.u32.u16 %%r2%u, %%h%u;\n", k, k);
    for (unsigned k = 0; k < c->vector && c->bytes == 8; k++)
        n += snprintf(text + n, size - (size_t)n, "mov.b64 {%%r2%u, %%r2%u}, %%rd1%u;\n", 2 * k,
                      2 * k + 1, k);
}

void texture_case_ptx(const texture_case *c, char *text, size_t size)
{
    char at[128], body[1024];
    coordinate_list(c, at, sizeof at);
    if (c->op == TO_LOAD)
        load(c, at, body, sizeof body);
    else if (c->op == TO_ADD)
        snprintf(body, sizeof body, "sured.b.add.%s.u32.%s [%%rd1, %s], %%i1;\n",
                 geometries[c->geometry], c->clamp ? "clamp" : "zero", at);
    else if (c->op == TO_QUERY)
        snprintf(body, sizeof body,
                 "txq.width.b32 %%r20, [%%rd1];\ntxq.height.b32 %%r21, [%%rd1];\ntxq.depth.b32 "
                 "%%r22, [%%rd1];\n");
    else
        fetch(c, at, body, sizeof body);
    int n = snprintf(
        text, size,
        ".version 8.0\n.target sm_90\n.address_size 64\n"
        ".visible .entry k(.param .u64 handle, .param .u64 inputs, .param .u64 results)\n{\n"
        ".reg .b16 %%h<4>; .reg .b32 %%r<24>, %%i<8>; .reg .f32 %%f<11>; .reg .b64 %%rd<12>;\n"
        "ld.param.u64 %%rd1, [handle];\nld.param.u64 %%rd2, [inputs];\nld.param.u64 %%rd3, "
        "[results];\n"
        "mov.u32 %%i1, %%tid.x;\nmad.wide.u32 %%rd4, %%i1, %d, %%rd2;\nmad.wide.u32 %%rd5, %%i1, "
        "%d, %%rd3;\n",
        TEXTURE_INPUTS * 4, TEXTURE_RESULTS * 4);
    for (unsigned k = 0; k < 11; k++)
        n += snprintf(text + n, size - (size_t)n,
                      "ld.global.b32 %%r%u, [%%rd4+%u];\nmov.b32 %%f%u, %%r%u;\n", k, 4 * k, k, k);
    for (unsigned k = 20; k < 24; k++)
        n += snprintf(text + n, size - (size_t)n, "mov.u32 %%r%u, 0;\n", k);
    n += snprintf(text + n, size - (size_t)n, "%s", body);
    for (unsigned k = 0; k < 4; k++)
        n += snprintf(text + n, size - (size_t)n, "st.global.b32 [%%rd5+%u], %%r2%u;\n", 4 * k, k);
    snprintf(text + n, size - (size_t)n, "ret;\n}\n");
}
