/* Conversions between numbers. */
#include "sass/lift_float.h"

#include <string.h>

typedef struct number_type {
    const char *name; /* as a modifier */
    const char *ptx;
    uint8_t bits;
    bool is_float;
} number_type;

static const number_type types[] = {
    {"U8", "u8", 8, false},     {"S8", "s8", 8, false},    {"U16", "u16", 16, false},
    {"S16", "s16", 16, false},  {"U32", "u32", 32, false}, {"S32", "s32", 32, false},
    {"U64", "u64", 64, false},  {"S64", "s64", 64, false}, {"F16", "f16", 16, true},
    {"BF16", "bf16", 16, true}, {"F32", "f32", 32, true},  {"F64", "f64", 64, true}};

static const number_type *type_named(const char *name)
{
    for (size_t i = 0; i < sizeof types / sizeof *types; i++)
        if (strcmp(types[i].name, name) == 0)
            return &types[i];
    return NULL;
}

static const number_type *type_of_modifier(sass_text text)
{
    for (size_t i = 0; i < sizeof types / sizeof *types; i++)
        if (sass_text_is(text, types[i].name))
            return &types[i];
    return NULL;
}

/* The n-th type among the modifiers that is (is not) one of floating point, or `otherwise`. */
static const number_type *nth_type(const lifter *l, unsigned n, bool of_floats,
                                   const char *otherwise)
{
    for (unsigned i = 0; i < l->in.modifiers; i++) {
        const number_type *t = type_of_modifier(l->in.modifier[i]);
        if (t && t->is_float == of_floats && n-- == 0)
            return t;
    }
    return type_named(otherwise);
}

/* ---- operands and results ---- */

/* The operand as a register of the type's width. */
static lift_text source(lifter *l, unsigned i, const number_type *t)
{
    const sass_operand *op = lift_operand(l, i);
    if (t->bits == 64)
        return t->is_float ? lift_f64(l, i) : lift_pair(l, i);
    if (t->bits == 32)
        return t->is_float ? lift_f32(l, i) : lift_int(l, i);
    unsigned part = op->suffix.length ? (unsigned)(op->suffix.at[1] - '0') : 0; /* B1, H1 */
    lift_text word = lift_word(l, i, 0), b = lift_new(l, LIFT_B32), h = lift_new(l, LIFT_B16);
    bool sign = op->flags & (SASS_NEGATED | SASS_ABSOLUTE);
    lift_put(l, "shr.u32 %s, %s, %u", b.at, word.at, part * t->bits);
    lift_put(l, "cvt.u16.u32 %s, %s", h.at, b.at);
    if (sign && op->flags & SASS_ABSOLUTE)
        lift_put(l, "abs.%s %s, %s", t->ptx, h.at, h.at);
    if (sign && op->flags & SASS_NEGATED)
        lift_put(l, "neg.%s %s, %s", t->ptx, h.at, h.at);
    return h;
}

/* Writes what has been converted; 16 bits of floating point alone. */
static void put_result(lifter *l, const char *cvt, const number_type *to, const number_type *from,
                       const char *value)
{
    lift_text wide = lift_new(l, LIFT_B64), half = lift_new(l, LIFT_B16),
              word = lift_new(l, LIFT_B32);
    const char *target = to->bits == 64                   ? wide.at
                         : to->is_float && to->bits == 16 ? half.at
                                                          : word.at;
    lift_put(l, "%s.%s.%s %s, %s", cvt, to->ptx, from->ptx, target, value);
    if (to->bits == 64)
        lift_set_pair(l, 0, wide.at);
    else if (target == half.at)
        lift_do(l, "mov.b32 %s, {%s, 0}", lift_to(l, 0, 0).at, half.at);
    else
        lift_set(l, 0, 0, word.at);
}

/* ---- instructions ---- */

static const char *integer_rounding(const lifter *l)
{
    return lift_has(l, "FLOOR")   ? ".rmi"
           : lift_has(l, "CEIL")  ? ".rpi"
           : lift_has(l, "TRUNC") ? ".rzi"
                                  : ".rni";
}

static void convert_number(lifter *l, const char *rounding, const number_type *to,
                           const number_type *from)
{
    char cvt[32];
    lift_text value = source(l, 1, from);
    bool flushes = from->bits == 32 && from->is_float;
    snprintf(cvt, sizeof cvt, "cvt%s%s", rounding, flushes ? lift_flush(l) : "");
    put_result(l, cvt, to, from, value.at);
}

void lift_f2i(lifter *l)
{
    convert_number(l, integer_rounding(l), nth_type(l, 0, false, "S32"),
                   nth_type(l, 0, true, "F32"));
}

void lift_i2f(lifter *l)
{
    convert_number(l, lift_rounding(l), nth_type(l, 0, true, "F32"), nth_type(l, 0, false, "S32"));
}

void lift_frnd(lifter *l)
{
    const number_type *type = nth_type(l, 0, true, "F32");
    convert_number(l, integer_rounding(l), type, type);
}

void lift_f2f(lifter *l)
{
    const number_type *to = nth_type(l, 0, true, "F32"), *from = nth_type(l, 1, true, "F32");
    bool narrows = to->bits < from->bits || to->bits == 16;
    if (to == from)
        l->known = false;
    else
        convert_number(l, narrows ? lift_rounding(l) : "", to, from);
}

/* d, a, b: a becomes the upper half, b the lower one; with TF32 d, b. */
void lift_f2fp(lifter *l)
{
    bool single = lift_has(l, "TF32");
    lift_text a = lift_f32(l, 1), b = single ? a : lift_f32(l, 2);
    const char *rounding = lift_rounding(l), *relu = lift_has(l, "RELU") ? ".relu" : "";
    if (single)
        lift_do(l, "cvt%s%s.tf32.f32 %s, %s", rounding, relu, lift_to(l, 0, 0).at, a.at);
    else
        lift_do(l, "cvt%s%s.%s.f32 %s, %s, %s", rounding, relu,
                lift_has(l, "BF16") ? "bf16x2" : "f16x2", lift_to(l, 0, 0).at, a.at, b.at);
}

/* d, a, b, c: of 8 bits a and b come below the lower half of c, of 16 bits there is no c. */
void lift_i2ip(lifter *l)
{
    static const char *const names[] = {"U8", "S8", "U16", "S16", NULL};
    static const char *const ptx[] = {"u8", "s8", "u16", "s16"};
    int which = lift_which(l, names);
    lift_text a = lift_int(l, 1), b = lift_int(l, 2), c = lift_int(l, 3);
    l->known &= which >= 0 && (which < 2 || lift_is_none(lift_operand(l, 3)));
    if (!l->known)
        return;
    lift_do(l, "cvt.pack.sat.%s.s32%s %s, %s, %s%s%s", ptx[which], which < 2 ? ".b32" : "",
            lift_to(l, 0, 0).at, a.at, b.at, which < 2 ? ", " : "", which < 2 ? c.at : "");
}
