/* What a texture fetch gives (CUDA C++ Programming Guide, "Texture Fetching"; PTX ISA, "tex").
 *
 * Where the documents leave room: weights of linear filtering are rounded to the nearest 1/256 and texels combined in double
 * precision; a level is rounded to the nearest, halves up; of the components of a direction into a cube that are equally
 * large z counts first, then y; a coordinate that is no number is 0; channels that a texel lacks are 0, the fourth 1. */
#include "emu/ops_fp.h"
#include "emu/texture.h"

typedef struct colour {
    double v[4];
    uint32_t word[4]; /* of integers that are read as such */
} colour;

bool emu_reads_integers(const emu_texture *t)
{
    return t->image.kind != EMU_TEXEL_FLOAT && (t->element || t->image.bits == 32);
}

/* ---- texels ---- */

static double linear_of_srgb(double v)
{
    return v <= 0.04045 ? v / 12.92 : pow((v + 0.055) / 1.055, 2.4);
}

static double number(const emu_texture *t, uint32_t word, int32_t sign, uint32_t channel)
{
    const emu_image *image = &t->image;
    double most = (double)((UINT64_C(1) << (image->bits - (image->kind == EMU_TEXEL_SIGNED))) - 1);
    if (image->kind == EMU_TEXEL_FLOAT)
        return image->bits == 16 ? (double)emu_f_of_h((u16)word) : (double)f32_of(word);
    if (image->kind == EMU_TEXEL_SIGNED)
        return sign < -most ? -1 : sign / most;
    double v = word / most;
    return t->srgb && image->bits == 8 && channel < 3 ? linear_of_srgb(v) : v;
}

static void decode(const emu_texture *t, const void *texel, colour *c)
{
    const emu_image *image = &t->image;
    for (uint32_t k = 0; k < image->channels; k++) {
        uint32_t word = 0;
        memcpy(&word, (const char *)texel + k * image->bits / 8, image->bits / 8u);
        int32_t sign = image->bits == 32
                           ? (int32_t)word
                           : (int32_t)(word << (32 - image->bits)) >> (32 - image->bits);
        c->word[k] = image->kind == EMU_TEXEL_SIGNED ? (uint32_t)sign : word;
        if (!emu_reads_integers(t))
            c->v[k] = number(t, word, sign, k);
    }
}

static const colour nothing = {.v = {0, 0, 0, 1}, .word = {0, 0, 0, 1}};

static colour border_of(const emu_texture *t)
{
    colour c = nothing;
    for (uint32_t k = 0; k < t->image.channels; k++) {
        c.v[k] = (double)t->border[k];
        c.word[k] = t->image.kind == EMU_TEXEL_SIGNED ? (uint32_t)(int32_t)t->border[k]
                                                      : (uint32_t)(int64_t)t->border[k];
    }
    return c;
}

static colour texel(const emu_fetch *f, const emu_image_level *level, const int32_t at[3])
{
    uint32_t bytes = emu_texel_bytes(&f->texture->image);
    uint64_t address = level->address + (uint64_t)at[2] * level->slice +
                       (uint64_t)at[1] * level->pitch + (uint64_t)at[0] * bytes;
    colour c = nothing;
    decode(f->texture, f->read(f->ctx, address, bytes), &c);
    return c;
}

/* ---- coordinates ---- */

typedef struct taps { /* along one dimension: one texel, or two with their weights */
    int count;
    int32_t index[2];
    bool outside[2];
    double weight[2];
} taps;

static emu_address_mode mode_of(const emu_texture *t, int dim)
{
    emu_address_mode mode = t->mode[dim];
    return t->normalized || mode == EMU_BORDER ? mode : EMU_CLAMP;
}

/* A texel's index inside of the dimension. */
static int32_t fold(emu_address_mode mode, int64_t i, int32_t n, bool *outside)
{
    *outside = mode == EMU_BORDER && (i < 0 || i >= n);
    if (mode == EMU_WRAP)
        return (int32_t)((i % n + n) % n);
    return i < 0 ? 0 : i >= n ? n - 1 : (int32_t)i;
}

/* The coordinate in texels. */
static double position(const emu_texture *t, emu_address_mode mode, float x, int32_t n)
{
    float u = t->normalized ? x * (float)n : x;
    if (mode == EMU_WRAP)
        u = (x - floorf(x)) * (float)n;
    if (mode == EMU_MIRROR) {
        float two = x - 2 * floorf(x / 2);
        u = (two > 1 ? 2 - two : two) * (float)n;
    }
    if (!(u == u))
        return 0;
    return u < -1e9f ? -1e9 : u > 1e9f ? 1e9 : (double)u;
}

static taps along(const emu_texture *t, emu_address_mode mode, float x, int32_t n, bool two)
{
    taps s = {.count = two ? 2 : 1, .weight = {1}};
    double u = position(t, mode, x, n);
    if (!two) {
        s.index[0] = fold(mode, (int64_t)floor(u), n, &s.outside[0]);
        return s;
    }
    int64_t i = (int64_t)floor(u - 0.5);
    s.weight[1] = floor((u - 0.5 - (double)i) * 256 + 0.5) / 256;
    s.weight[0] = 1 - s.weight[1];
    for (int k = 0; k < 2; k++)
        s.index[k] = fold(mode, i + k, n, &s.outside[k]);
    return s;
}

static taps at_index(const emu_texture *t, int dim, int32_t i, int32_t n)
{
    taps s = {.count = 1, .weight = {1}};
    emu_address_mode mode = t->mode[dim] == EMU_BORDER ? EMU_BORDER : EMU_CLAMP;
    s.index[0] = fold(mode, i, n, &s.outside[0]);
    return s;
}

static int32_t layer_of(const emu_fetch *f)
{
    const emu_image *image = &f->texture->image;
    bool outside;
    return fold(EMU_CLAMP, f->layer, (int32_t)(image->cube ? image->slices / 6 : image->slices),
                &outside);
}

/* ---- one level ---- */

static void add(colour *sum, const colour *c, double weight)
{
    for (int k = 0; k < 4; k++) {
        if (weight != 0)
            sum->v[k] += weight * c->v[k];
        sum->word[k] = c->word[k];
    }
}

/* The texels that the taps of the three dimensions name, with the product of their weights. */
static colour combine(const emu_fetch *f, const emu_image_level *level, const taps s[3])
{
    colour sum = {{0}, {0}};
    for (int z = 0; z < s[2].count; z++)
        for (int y = 0; y < s[1].count; y++)
            for (int x = 0; x < s[0].count; x++) {
                double weight = s[0].weight[x] * s[1].weight[y] * s[2].weight[z];
                if (weight == 0)
                    continue;
                bool outside = s[0].outside[x] || s[1].outside[y] || s[2].outside[z];
                const int32_t at[3] = {s[0].index[x], s[1].index[y], s[2].index[z]};
                colour c = outside ? border_of(f->texture) : texel(f, level, at);
                add(&sum, &c, weight);
            }
    return sum;
}

static colour sample_plain(const emu_fetch *f, const emu_image_level *level, bool filter)
{
    const emu_texture *t = f->texture;
    taps s[3];
    for (int k = 0; k < 3; k++) {
        int32_t n = (int32_t)level->size[k];
        if (k >= t->image.dims)
            s[k] = (taps){.count = 1, .weight = {1}};
        else if (f->integer)
            s[k] = at_index(t, k, f->index[k], n);
        else
            s[k] = along(t, mode_of(t, k), f->at[k], n, filter);
    }
    if (t->image.dims < 3)
        s[2].index[0] = layer_of(f);
    return combine(f, level, s);
}

/* ---- cubes ---- */

typedef struct face_point {
    int face;
    double s, t; /* from 0 to 1 over the face */
} face_point;

/* Axis of the face's normal, of s and of t, and the directions of s and t: PTX ISA and the programming guide, "Cubemap
 * Textures". */
static const struct {
    int8_t normal, s_axis, t_axis, sign, s_sign, t_sign;
} sides[6] = {{0, 2, 1, 1, -1, -1}, {0, 2, 1, -1, 1, -1}, {1, 0, 2, 1, 1, 1},
              {1, 0, 2, -1, 1, -1}, {2, 0, 1, 1, 1, -1},  {2, 0, 1, -1, -1, -1}};

static face_point project(const double v[3])
{
    int axis = fabs(v[2]) >= fabs(v[0]) && fabs(v[2]) >= fabs(v[1]) ? 2
               : fabs(v[1]) >= fabs(v[0])                           ? 1
                                                                    : 0;
    face_point p = {.face = 2 * axis + (v[axis] < 0)};
    double m = fabs(v[axis]);
    p.s = (sides[p.face].s_sign * v[sides[p.face].s_axis] / m + 1) / 2;
    p.t = (sides[p.face].t_sign * v[sides[p.face].t_axis] / m + 1) / 2;
    return p;
}

static colour face_texel(const emu_fetch *f, const emu_image_level *level, int face, int32_t x,
                         int32_t y)
{
    const int32_t at[3] = {x, y, layer_of(f) * 6 + face};
    return texel(f, level, at);
}

/* The texel beside an edge of the face: the direction bent over the edge ends on the neighbour's outermost row. */
static colour beyond_edge(const emu_fetch *f, const emu_image_level *level, int face, int32_t x,
                          int32_t y)
{
    int32_t n = (int32_t)level->size[0];
    double v[3], s = (2 * x + 1.0) / n - 1, t = (2 * y + 1.0) / n - 1, inset = 1 - 1.0 / n;
    v[sides[face].normal] = sides[face].sign * inset;
    v[sides[face].s_axis] = sides[face].s_sign * (x < 0 ? -1 : x >= n ? 1 : s);
    v[sides[face].t_axis] = sides[face].t_sign * (y < 0 ? -1 : y >= n ? 1 : t);
    face_point p = project(v);
    int32_t i = (int32_t)floor(p.s * n), j = (int32_t)floor(p.t * n);
    return face_texel(f, level, p.face, i < n ? i : n - 1, j < n ? j : n - 1);
}

/* Without seams a corner has three texels: the fourth is their mean. */
static colour seamless_texel(const emu_fetch *f, const emu_image_level *level, int face, int32_t x,
                             int32_t y)
{
    int32_t n = (int32_t)level->size[0],
            cx = x < 0    ? 0
                 : x >= n ? n - 1
                          : x,
            cy = y < 0    ? 0
                 : y >= n ? n - 1
                          : y;
    if (x == cx && y == cy)
        return face_texel(f, level, face, x, y);
    if (x == cx || y == cy)
        return beyond_edge(f, level, face, x, y);
    colour a = face_texel(f, level, face, cx, cy), b = beyond_edge(f, level, face, x, cy),
           c = beyond_edge(f, level, face, cx, y);
    colour mean = {{0}, {0}};
    add(&mean, &a, 1 / 3.0);
    add(&mean, &b, 1 / 3.0);
    add(&mean, &c, 1 / 3.0);
    return mean;
}

static colour sample_cube(const emu_fetch *f, const emu_image_level *level, bool filter)
{
    const emu_texture *t = f->texture;
    const double v[3] = {(double)f->at[0], (double)f->at[1], (double)f->at[2]};
    face_point p = project(v);
    int32_t n = (int32_t)level->size[0];
    const double st[2] = {p.s == p.s ? p.s : 0.5, p.t == p.t ? p.t : 0.5};
    colour sum = {{0}, {0}};
    if (!filter || !t->seamless) {
        emu_texture clamped = {.image.dims = 2, .normalized = true};
        taps s[3] = {along(&clamped, EMU_CLAMP, (float)st[0], n, filter),
                     along(&clamped, EMU_CLAMP, (float)st[1], n, filter),
                     {.count = 1, .weight = {1}, .index = {layer_of(f) * 6 + p.face}}};
        return combine(f, level, s);
    }
    double u = st[0] * n - 0.5, w = st[1] * n - 0.5, a = floor((u - floor(u)) * 256 + 0.5) / 256,
           b = floor((w - floor(w)) * 256 + 0.5) / 256;
    for (int k = 0; k < 4; k++) {
        double weight = (k & 1 ? a : 1 - a) * (k & 2 ? b : 1 - b);
        if (weight == 0)
            continue;
        colour c = seamless_texel(f, level, p.face, (int32_t)floor(u) + (k & 1),
                                  (int32_t)floor(w) + (k >> 1));
        add(&sum, &c, weight);
    }
    return sum;
}

/* ---- levels ---- */

static colour sample_level(const emu_fetch *f, uint32_t n)
{
    const emu_texture *t = f->texture;
    const emu_image_level *level = &t->image.level[n];
    bool filter = t->filter && !emu_reads_integers(t);
    return f->cube ? sample_cube(f, level, filter) : sample_plain(f, level, filter);
}

static double clamped(double x, double low, double high)
{
    return x > low ? (x < high ? x : high) : low;
}

static colour sample_levels(const emu_fetch *f)
{
    const emu_texture *t = f->texture;
    double last = t->image.nlevels - 1;
    if (f->base || last <= 0)
        return sample_level(f, 0);
    double lod = clamped((double)f->level + (double)t->bias, (double)t->min_level,
                         (double)t->max_level);
    lod = clamped(lod, 0, last);
    if (!t->mip_filter || emu_reads_integers(t))
        return sample_level(f, (uint32_t)clamped(floor(lod + 0.5), 0, last));
    double low = floor(lod), weight = floor((lod - low) * 256 + 0.5) / 256;
    colour sum = {{0}, {0}}, a = sample_level(f, (uint32_t)low);
    if (weight == 0)
        return a;
    colour b = sample_level(f, (uint32_t)low + 1);
    add(&sum, &a, 1 - weight);
    add(&sum, &b, weight);
    return sum;
}

static void derivative(const emu_fetch *f, const float d[3], double out[3])
{
    const emu_texture *t = f->texture;
    const emu_image_level *level = &t->image.level[0];
    for (int k = 0; k < 3; k++)
        out[k] = k < t->image.dims ? (double)d[k] * (t->normalized ? level->size[k] : 1) : 0;
    if (!f->cube)
        return;
    const double v[3] = {(double)f->at[0], (double)f->at[1], (double)f->at[2]};
    int face = project(v).face, normal = (unsigned char)sides[face].normal;
    double m = fabs(v[normal]), dm = (double)d[normal] * sides[face].sign;
    for (int k = 0; k < 2; k++) { /* of v[axis] / m */
        int axis = k ? sides[face].t_axis : sides[face].s_axis;
        out[k] = ((double)d[axis] - v[axis] * dm / m) / m * level->size[0] / 2;
    }
    out[2] = 0;
}

float emu_gradient_level(const emu_fetch *f, const float dx[3], const float dy[3])
{
    double a[3], b[3];
    derivative(f, dx, a);
    derivative(f, dy, b);
    double x = a[0] * a[0] + a[1] * a[1] + a[2] * a[2], y = b[0] * b[0] + b[1] * b[1] + b[2] * b[2];
    return (float)(0.5 * log2(x > y ? x : y));
}

/* ---- fetches ---- */

static void deliver(const emu_texture *t, const colour *c, uint32_t result[4])
{
    for (int k = 0; k < 4; k++)
        result[k] = emu_reads_integers(t) ? c->word[k] : f32_bits((float)c->v[k]);
}

void emu_sample(const emu_fetch *f, uint32_t result[4])
{
    const emu_texture *t = f->texture;
    bool beyond = t->image.linear && (uint32_t)f->index[0] >= t->image.level[0].size[0];
    colour c = beyond ? (colour){{0}, {0}} : sample_levels(f);
    deliver(t, &c, result);
}

void emu_gather(const emu_fetch *f, uint32_t channel, uint32_t result[4])
{
    static const uint8_t order[4][2] = {{0, 1}, {1, 1}, {1, 0}, {0, 0}};
    const emu_texture *t = f->texture;
    const emu_image_level *level = &t->image.level[0];
    taps s[2];
    for (int k = 0; k < 2; k++)
        s[k] = along(t, mode_of(t, k), f->at[k], (int32_t)level->size[k], true);
    for (int k = 0; k < 4; k++) {
        int x = order[k][0], y = order[k][1];
        const int32_t at[3] = {s[0].index[x], s[1].index[y], layer_of(f)};
        colour c = s[0].outside[x] || s[1].outside[y] ? border_of(t) : texel(f, level, at);
        uint32_t words[4];
        deliver(t, &c, words);
        result[k] = words[channel];
    }
}
