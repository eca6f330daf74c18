/* What a texture fetch gives: the formulas of the CUDA C++ Programming Guide, "Texture Fetching",
 * with the number formats between their steps as an H200 has them, read off recordings in which
 * coordinates were swept over the edges of texels and of weights (docs/textures.md names what was
 * compared). */
#include <float.h>

#include "emu/ops_fp.h"
#include "emu/texel.h"
#include "emu/texture.h"

/* ---- along one dimension ---- */

typedef struct place { /* one texel, or two where the second has a weight */
    int32_t index[2];
    bool outside[2];
    uint32_t weight; /* of the second, of EMU_WEIGHTS */
} place;

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
    if (mode == EMU_MIRROR) {
        int64_t in_two = (i % (2 * n) + 2 * n) % (2 * n);
        return (int32_t)(in_two < n ? in_two : 2 * n - 1 - in_two);
    }
    return i < 0 ? 0 : i >= n ? n - 1 : (int32_t)i;
}

static double limited(double u)
{
    return fmax(fmin(u, 1e9), -1e9);
}

/* Normalised coordinates become fixed-point numbers, cut downwards, before they are multiplied by
 * the size. Their steps follow from the largest dimension of the level, and whether the image is of
 * a kind that has at most 32,768 texels in one. */
static double steps_of(const emu_image *image, const emu_image_level *level)
{
    uint32_t n = 0;
    for (int k = 0; k < 3; k++)
        n = level->size[k] > n ? level->size[k] : n;
    bool large = n > (image->layered || image->cube || image->nlevels > 1 ? 1 << 14 : 1 << 16);
    return large ? 1 << 23 : n > 1 << 13 ? 1 << 22 : 1 << 21;
}

static double fixed_position(double u, double steps, int32_t n)
{
    return limited(floor(u * steps) / steps * n);
}

/* The coordinate in texels. Subnormal numbers and NaN count as 0; of periodic coordinates only the
 * place in two periods matters, and infinity has none. */
static double position(bool normalized, emu_address_mode mode, float x, double steps, int32_t n)
{
    double u = fabsf(x) >= FLT_MIN ? (double)x : 0;
    if (!normalized)
        return limited(u);
    if (mode == EMU_WRAP || mode == EMU_MIRROR)
        u = isinf(u) ? 0 : fabs(u) < 1 ? u : u - 2 * floor(u / 2);
    return fixed_position(u, steps, n);
}

static place nearest(emu_address_mode mode, double u, int32_t n)
{
    place p = {.weight = 0};
    p.index[0] = fold(mode, (int64_t)floor(u), n, &p.outside[0]);
    return p;
}

/* The distance from the first texel's middle, rounded to 1/256, halves up. */
static int64_t from_middle(double u)
{
    return (int64_t)floor((u - 0.5) * EMU_WEIGHTS + 0.5);
}

/* A coordinate beyond the outermost middles is held there by CLAMP, so that one texel has all the
 * weight. */
static place between(emu_address_mode mode, double u, int32_t n)
{
    place p;
    int64_t along = from_middle(u), last = (int64_t)(n - 1) * EMU_WEIGHTS;
    if (mode == EMU_CLAMP)
        along = along < 0 ? 0 : along > last ? last : along;
    p.weight = (uint32_t)(along & (EMU_WEIGHTS - 1));
    for (int k = 0; k < 2; k++)
        p.index[k] = fold(mode, (along >> 8) + k, n, &p.outside[k]);
    return p;
}

/* ---- four texels, or one ---- */

typedef struct spot { /* where in a level */
    place at[2];
    int32_t slice;
    bool outside; /* the slice */
} spot;

static emu_texel texel(const emu_fetch *f, const emu_image_level *level, int32_t x, int32_t y,
                       int32_t slice)
{
    uint32_t bytes = emu_texel_bytes(&f->texture->image);
    uint64_t address = level->address + (uint64_t)slice * level->slice +
                       (uint64_t)y * level->pitch + (uint64_t)x * bytes;
    return emu_texel_read(&f->texture->image, f->read(f->ctx, address, bytes));
}

static emu_texel texel_of(const emu_fetch *f, const emu_image_level *level, const spot *s, int x,
                          int y)
{
    if (s->outside || s->at[0].outside[x] || s->at[1].outside[y])
        return emu_texel_border(f->texture);
    return texel(f, level, s->at[0].index[x], s->at[1].index[y], s->slice);
}

static uint32_t weight_share(uint32_t weight, uint32_t of)
{
    return (weight * of + EMU_WEIGHTS / 2) / EMU_WEIGHTS;
}

/* Weights stay eight bits: `weight` is shared out along x, then each part along y, rounding the
 * outer texels' shares and giving their neighbours the rest. Order: x counts fastest. */
static void share_out(const place at[2], uint32_t weight, uint32_t out[4])
{
    uint32_t right = weight_share(weight, at[0].weight), left = weight - right;
    out[3] = weight_share(right, at[1].weight);
    out[1] = right - out[3];
    out[0] = weight_share(left, EMU_WEIGHTS - at[1].weight);
    out[2] = left - out[0];
}

static void add_four(const emu_fetch *f, const emu_image_level *level, const spot *s,
                     uint32_t weight, emu_taps *taps)
{
    uint32_t *out = taps->weight + taps->count;
    share_out(s->at, weight, out);
    for (int k = 0; k < 4; k++)
        if (out[k])
            taps->texel[taps->count + (unsigned)k] = texel_of(f, level, s, k & 1, k >> 1);
    taps->count += 4;
}

/* ---- one level ---- */

static bool filters(const emu_texture *t)
{
    return t->filter && !emu_reads_integers(t);
}

static place place_along(const emu_fetch *f, const emu_image_level *level, int dim)
{
    const emu_texture *t = f->texture;
    int32_t n = (int32_t)level->size[dim];
    emu_address_mode mode = mode_of(t, dim);
    double u = position(t->normalized, mode, dim < t->image.dims ? f->at[dim] : 0,
                        steps_of(&t->image, level), n);
    return filters(t) ? between(mode, u, n) : nearest(mode, u, n);
}

static int32_t layer_of(const emu_fetch *f)
{
    const emu_image *image = &f->texture->image;
    uint32_t layers = image->cube ? image->slices / 6 : image->slices;
    return (int32_t)((uint32_t)f->layer < layers ? (uint32_t)f->layer : layers - 1);
}

static void add_level(const emu_fetch *f, const emu_image_level *level, uint32_t weight,
                      emu_taps *taps)
{
    const emu_texture *t = f->texture;
    bool row = t->image.dims == 1 && t->image.layered;
    spot s = {.at = {place_along(f, level, 0)}, .slice = layer_of(f)};
    place depth = {.weight = 0};
    if (!row)
        s.at[1] = place_along(f, level, 1);
    if (t->image.dims == 3)
        depth = place_along(f, level, 2);
    uint32_t front = weight_share(weight, EMU_WEIGHTS - depth.weight);
    for (int k = 0; k < 2; k++) {
        uint32_t part = k ? weight - front : front;
        if (!part)
            continue;
        if (t->image.dims == 3)
            s.slice = depth.index[k];
        s.outside = depth.outside[k];
        add_four(f, level, &s, part, taps);
    }
}

/* ---- cubes ---- */

typedef struct face_point {
    int face;
    double s, t; /* from 0 to 1 over the face */
} face_point;

/* Axis of the face's normal, of s and of t, and the directions of s and t: PTX ISA and the
 * programming guide, "Cubemap Textures". */
static const struct {
    int8_t normal, s_axis, t_axis, sign, s_sign, t_sign;
} sides[6] = {{0, 2, 1, 1, -1, -1}, {0, 2, 1, -1, 1, -1}, {1, 0, 2, 1, 1, 1},
              {1, 0, 2, -1, 1, -1}, {2, 0, 1, 1, 1, -1},  {2, 0, 1, -1, -1, -1}};

/* z counts before y before x where components are equal; NaN is less than all. */
static int side_of(const float v[3])
{
    float m[3];
    for (int k = 0; k < 3; k++)
        m[k] = v[k] == v[k] ? fabsf(v[k]) : -1;
    int axis = m[2] >= m[0] && m[2] >= m[1] ? 2 : m[1] >= m[0] ? 1 : 0;
    return 2 * axis + (v[axis] < 0);
}

/* Cut downwards to a fixed-point number before it is shifted, so that the least negative number is
 * left of the middle. NaN and subnormal numbers are in the middle, infinity on the edge. */
static double over_face(float v, int sign)
{
    double along = fabsf(v) >= FLT_MIN ? fmax(fmin(sign * (double)v, 1), -1) : 0, steps = 1 << 20;
    return (floor(along * steps) / steps + 1) / 2;
}

/* The compiled code multiplies the direction by the reciprocal of its largest component, which may
 * make two equal. */
static void scale_direction(const float at[3], float out[3])
{
    float scale = 1 / fmaxf(fmaxf(fabsf(at[0]), fabsf(at[1])), fabsf(at[2]));
    for (int k = 0; k < 3; k++)
        out[k] = at[k] * scale;
}

static face_point project(const float at[3])
{
    float v[3];
    scale_direction(at, v);
    int face = side_of(v);
    return (face_point){.face = face,
                        .s = over_face(v[sides[face].s_axis], sides[face].s_sign),
                        .t = over_face(v[sides[face].t_axis], sides[face].t_sign)};
}

static bool is_texel_index(int32_t i, int32_t n)
{
    return i >= 0 && i < n;
}

/* A texel of a face, or one step over one of its edges: the neighbouring face's outermost row.
 * Directions are counted in half texels from the cube's middle. */
static emu_texel cube_texel(const emu_fetch *f, const emu_image_level *level, int face, int32_t x,
                            int32_t y)
{
    int32_t n = (int32_t)level->size[0], v[3];
    if (!is_texel_index(x, n) || !is_texel_index(y, n)) {
        int over = is_texel_index(y, n) ? sides[face].s_axis : sides[face].t_axis;
        v[sides[face].normal] = sides[face].sign * (n - 1);
        v[sides[face].s_axis] = sides[face].s_sign * (x < 0 ? -n : x < n ? 2 * x + 1 - n : n);
        v[sides[face].t_axis] = sides[face].t_sign * (y < 0 ? -n : y < n ? 2 * y + 1 - n : n);
        face = 2 * over + (v[over] < 0);
        x = (sides[face].s_sign * v[sides[face].s_axis] + n) / 2;
        y = (sides[face].t_sign * v[sides[face].t_axis] + n) / 2;
    }
    return texel(f, level, x, y, layer_of(f) * 6 + face);
}

/* Three faces meet where a fourth texel would be: its weight is divided among theirs, what thirds
 * leave to the texel of the face itself. */
static void divide_corner(uint32_t weight[4], int corner)
{
    uint32_t third = (weight[corner] + 1) / 3;
    weight[corner ^ 1] += third;
    weight[corner ^ 2] += third;
    weight[corner ^ 3] += weight[corner] - 2 * third;
    weight[corner] = 0;
}

/* Weights are divided before texels are read: what a corner gives may be all that a texel has. */
static void add_seamless(const emu_fetch *f, const emu_image_level *level, int face,
                         const double u[2], uint32_t weight, emu_taps *taps)
{
    int32_t n = (int32_t)level->size[0], x[4], y[4];
    uint32_t *out = taps->weight + taps->count;
    const int32_t s = (int32_t)from_middle(u[0]), t = (int32_t)from_middle(u[1]);
    const place at[2] = {{.weight = (uint32_t)s % EMU_WEIGHTS},
                         {.weight = (uint32_t)t % EMU_WEIGHTS}};
    share_out(at, weight, out);
    for (int k = 0; k < 4; k++) {
        x[k] = (s >> 8) + (k & 1);
        y[k] = (t >> 8) + (k >> 1);
        if (!is_texel_index(x[k], n) && !is_texel_index(y[k], n))
            divide_corner(out, k);
    }
    for (int k = 0; k < 4; k++)
        if (out[k])
            taps->texel[taps->count + (unsigned)k] = cube_texel(f, level, face, x[k], y[k]);
    taps->count += 4;
}

static void add_cube(const emu_fetch *f, const emu_image_level *level, uint32_t weight,
                     emu_taps *taps)
{
    const emu_texture *t = f->texture;
    face_point p = project(f->at);
    int32_t n = (int32_t)level->size[0];
    double steps = steps_of(&t->image, level),
           u[2] = {fixed_position(p.s, steps, n), fixed_position(p.t, steps, n)};
    spot s = {.slice = layer_of(f) * 6 + p.face};
    if (filters(t) && t->seamless) {
        add_seamless(f, level, p.face, u, weight, taps);
        return;
    }
    for (int k = 0; k < 2; k++) {
        emu_address_mode mode = t->seamless ? EMU_CLAMP : mode_of(t, k);
        s.at[k] = filters(t) ? between(mode, u[k], n) : nearest(mode, u[k], n);
    }
    add_four(f, level, &s, weight, taps);
}

/* ---- levels ---- */

static void add_any(const emu_fetch *f, uint32_t level, uint32_t weight, emu_taps *taps)
{
    const emu_image_level *l = &f->texture->image.level[level];
    if (f->cube)
        add_cube(f, l, weight, taps);
    else
        add_level(f, l, weight, taps);
}

/* Levels, biases and limits are fixed-point numbers of eight fraction bits, cut towards zero. */
static int32_t fixed_level(float level)
{
    return level == level ? (int32_t)(fmaxf(fminf(level, 1000), -1000) * EMU_WEIGHTS) : 0;
}

static int32_t clamped(int32_t x, int32_t low, int32_t high)
{
    return x > high ? high : x < low ? low : x;
}

static int32_t mip_level_of(const emu_fetch *f)
{
    const emu_texture *t = f->texture;
    int32_t level = f->base ? 0 : fixed_level(f->level) + fixed_level(t->bias);
    level = clamped(level, fixed_level(t->min_level), fixed_level(t->max_level));
    return clamped(level, 0, ((int32_t)t->image.nlevels - 1) * EMU_WEIGHTS);
}

static void add_level_taps(const emu_fetch *f, emu_taps *taps)
{
    const emu_texture *t = f->texture;
    int32_t level = t->image.nlevels > 1 ? mip_level_of(f) : 0;
    if (!t->mip_filter || emu_reads_integers(t)) {
        add_any(f, (uint32_t)(level + EMU_WEIGHTS / 2) / EMU_WEIGHTS, EMU_WEIGHTS, taps);
        return;
    }
    uint32_t finer = (uint32_t)level / EMU_WEIGHTS, weight = (uint32_t)level % EMU_WEIGHTS;
    add_any(f, finer, EMU_WEIGHTS - weight, taps);
    if (weight)
        add_any(f, finer + 1, weight, taps);
}

/* ---- level of gradients ---- */

/* The driver's code for volumes and cubes adds the gradient to the coordinate and has the texture
 * unit take the difference. It finds no level between infinite coordinates, and the last one
 * serves; NaN is 0 at both ends. */
static float gradient_difference(float at, float d)
{
    if (at != at)
        return 0;
    return fabsf(at) < 0x1p64f ? (at + d) - at : INFINITY;
}

static void cube_derivative(const emu_fetch *f, const float d[3], double out[3])
{
    float middle[3], end[3];
    for (int k = 0; k < 3; k++)
        end[k] = f->at[k] + d[k];
    scale_direction(f->at, middle);
    scale_direction(end, end);
    int face = side_of(middle), normal = (unsigned char)sides[face].normal;
    double m = fabs((double)middle[normal]),
           dm = ((double)end[normal] - (double)middle[normal]) * sides[face].sign;
    for (int k = 0; k < 2; k++) { /* of the quotient of two components, where the direction is */
        int axis = k ? sides[face].t_axis : sides[face].s_axis;
        double da = (double)end[axis] - (double)middle[axis];
        out[k] = (da - (double)middle[axis] * dm / m) / m * f->texture->image.level[0].size[0] / 2;
    }
}

static void derivative(const emu_fetch *f, const float d[3], double out[3])
{
    const emu_texture *t = f->texture;
    out[0] = out[1] = out[2] = 0;
    if (f->cube) {
        cube_derivative(f, d, out);
        return;
    }
    for (int k = 0; k < t->image.dims; k++)
        out[k] = (double)(t->image.dims == 3 ? gradient_difference(f->at[k], d[k]) : d[k]) *
                 (t->normalized ? t->image.level[0].size[k] : 1);
}

/* To ten significant bits, towards zero. */
static double short_number(double v)
{
    int e;
    double m = frexp(v, &e);
    return ldexp(trunc(ldexp(m, 10)), e - 10);
}

/* 11/8 of a short number, to the nearest of three more bits, halves up. */
static double eleven_eighths(double v)
{
    int e;
    double m = frexp(fabs(v), &e);
    return copysign(ldexp(floor((ldexp(m, 10) * 11 + 4) / 8), e - 10), v);
}

/* About the length: the largest component, 11/32 of the middle one and 1/4 of the smallest. */
static double length(const double v[3])
{
    double x = fabs(v[0]), y = fabs(v[1]), z = fabs(v[2]);
    if (isinf(x) || isinf(y) || isinf(z))
        return INFINITY;
    double largest = fmax(x, fmax(y, z)), smallest = fmin(x, fmin(y, z)),
           middle = fmax(fmin(x, y), fmin(fmax(x, y), z));
    return largest + eleven_eighths(middle) / 4 + smallest / 4;
}

/* A half of the footprint's diagonal is about 11/16 of the sum or of the difference of its sides.
 */
static double half_diagonal(const double a[3], const double b[3], double sign)
{
    double v[3];
    for (int k = 0; k < 3; k++)
        v[k] = short_number(eleven_eighths(short_number(a[k] + sign * b[k])) / 2);
    return length(v);
}

/* Eight bits of the logarithm from eight of the significand; powers of two are exact. */
static double logarithm(double v)
{
    int e;
    double step = floor((2 * frexp(v, &e) - 1) * 256);
    double fraction = step ? fmin(floor(256 * log2(1 + (step + 0.47) / 256) + 0.5), 255) : 0;
    return e - 1 + fraction / 256;
}

/* The longest of the derivatives and of the half diagonals, which stand for an oblique footprint.
 */
float emu_gradient_level(const emu_fetch *f, const float dx[3], const float dy[3])
{
    double a[3], b[3];
    derivative(f, dx, a);
    derivative(f, dy, b);
    for (int k = 0; k < 3; k++) {
        a[k] = short_number(a[k]);
        b[k] = short_number(b[k]);
    }
    double size = fmax(fmax(length(a), length(b)),
                       fmax(half_diagonal(a, b, 1), half_diagonal(a, b, -1)));
    if (isinf(size))
        return INFINITY;
    return size > 0 ? (float)logarithm(size) : -INFINITY;
}

/* ---- fetches ---- */

/* Texels by their indices: without a level nothing outside, with one the outermost texel, but
 * nothing beyond the levels. Of one dimension only linear memory is read so; arrays give 0. */
static emu_texel by_index(const emu_fetch *f)
{
    const emu_image *image = &f->texture->image;
    float number = f->base ? 0 : f->level;
    bool there = (image->dims > 1 || image->layered || image->linear) && number >= 0 &&
                 number < (float)image->nlevels;
    const emu_image_level *level = &image->level[there ? (int)number : 0];
    int32_t at[3] = {0, 0, layer_of(f)};
    for (int k = 0; k < image->dims; k++) {
        bool outside;
        at[k] = fold(EMU_CLAMP, f->index[k], (int32_t)level->size[k], &outside);
        there &= !f->base || at[k] == f->index[k];
    }
    if (image->dims < 3)
        there &= !f->base || at[2] == f->layer;
    return there ? texel(f, level, at[0], at[1], at[2]) : (emu_texel){{0}};
}

void emu_sample(const emu_fetch *f, uint32_t result[4])
{
    const emu_texture *t = f->texture;
    if (f->integer) {
        emu_texel one = by_index(f);
        emu_texel_deliver(t, &one, result);
        return;
    }
    emu_taps taps = {.count = 0};
    add_level_taps(f, &taps);
    if (filters(t) || taps.count > 4)
        emu_texel_filter(t, &taps, result);
    else
        emu_texel_deliver(t, &taps.texel[0], result);
}

void emu_gather(const emu_fetch *f, uint32_t channel, uint32_t result[4])
{
    static const uint8_t order[4][2] = {{0, 1}, {1, 1}, {1, 0}, {0, 0}};
    const emu_texture *t = f->texture;
    const emu_image_level *level = &t->image.level[0];
    spot s = {.slice = layer_of(f)};
    for (int k = 0; k < 2; k++) {
        int32_t n = (int32_t)level->size[k];
        emu_address_mode mode = mode_of(t, k);
        double u = position(t->normalized, mode, f->at[k], steps_of(&t->image, level), n);
        int64_t low = from_middle(u) >> 8;
        for (int i = 0; i < 2; i++)
            s.at[k].index[i] = fold(mode, low + i, n, &s.at[k].outside[i]);
    }
    for (int k = 0; k < 4; k++) {
        emu_texel one = texel_of(f, level, &s, order[k][0], order[k][1]);
        uint32_t words[4];
        emu_texel_deliver(t, &one, words);
        result[k] = words[channel];
    }
}
