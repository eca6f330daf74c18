/* Pairs of floating point of 16 bits. */
#include "sass/lift_float.h"

#include <string.h>

typedef struct half_reader {
    lifter *l;
    unsigned at; /* the next operand in the layout; two numbers in one operand take two places */
} half_reader;

static const char *pair_type(const lifter *l)
{
    return lift_has(l, "BF16_V2") ? "bf16x2" : "f16x2";
}

/* Two numbers that stand in the instruction: the upper one comes first. */
static lift_text numbers(half_reader *r)
{
    const sass_operand *high = lift_operand(r->l, r->at), *low = lift_operand(r->l, r->at + 1);
    r->at += 2;
    return lift_number((int32_t)((uint32_t)(high->value & 0xffff) << 16 | (low->value & 0xffff)));
}

/* The operand's parts, both from one half where its suffix says so. */
static lift_text next_pair(half_reader *r)
{
    lifter *l = r->l;
    const sass_operand *op = lift_operand(l, r->at);
    if (op->kind == SASS_HALF || op->kind == SASS_BFLOAT)
        return numbers(r);
    lift_text value = lift_word(l, r->at++, 0);
    bool upper = op->suffix.length && op->suffix.at[1] == '1'; /* H1_H1 */
    if (!op->suffix.length && !(op->flags & (SASS_ABSOLUTE | SASS_NEGATED)))
        return value;
    lift_text t = lift_new(l, LIFT_B32);
    lift_put(l, "prmt.b32 %s, %s, 0, 0x%x", t.at, value.at,
             !op->suffix.length ? 0x3210u
             : upper            ? 0x3232u
                                : 0x1010u);
    if (op->flags & SASS_ABSOLUTE)
        lift_put(l, "and.b32 %s, %s, 0x7fff7fff", t.at, t.at);
    if (op->flags & SASS_NEGATED)
        lift_put(l, "xor.b32 %s, %s, 0x80008000", t.at, t.at);
    return t;
}

/* What PTX has of it, and nothing else. */
static bool is_plain_pair(const lifter *l)
{
    return !lift_has(l, "FMZ") && !lift_has(l, "OOB") && !lift_has(l, "F32") &&
           !(lift_has(l, "BF16_V2") && (lift_has(l, "FTZ") || lift_has(l, "SAT")));
}

static const char *half_modifiers(const lifter *l)
{
    return lift_has(l, "FTZ")   ? lift_has(l, "SAT") ? ".ftz.sat" : ".ftz"
           : lift_has(l, "SAT") ? ".sat"
                                : "";
}

static void of_pairs(lifter *l, const char *op, unsigned operands)
{
    half_reader r = {l, 1};
    lift_text a = next_pair(&r), b = next_pair(&r), c = {""};
    if (operands > 2)
        c = next_pair(&r);
    l->known &= is_plain_pair(l);
    if (l->known)
        lift_do(l, "%s.rn%s.%s %s, %s, %s%s%s", op, half_modifiers(l), pair_type(l),
                lift_to(l, 0, 0).at, a.at, b.at, operands > 2 ? ", " : "", c.at);
}

/* One half, and the other operand's, as floats. */
static void add_as_floats(lifter *l)
{
    half_reader r = {l, 1};
    lift_text pair[2], h[2], rest = lift_new(l, LIFT_B16), f[2];
    for (int i = 0; i < 2; i++) {
        pair[i] = next_pair(&r);
        h[i] = lift_new(l, LIFT_B16);
        f[i] = lift_new(l, LIFT_B32);
        lift_put(l, "mov.b32 {%s, %s}, %s", h[i].at, rest.at, pair[i].at);
        lift_put(l, "cvt.f32.f16 %s, %s", f[i].at, h[i].at);
    }
    lift_do(l, "add.rn%s.f32 %s, %s, %s", half_modifiers(l), lift_to(l, 0, 0).at, f[0].at, f[1].at);
}

void lift_hadd2(lifter *l)
{
    if (lift_has(l, "F32"))
        add_as_floats(l);
    else
        of_pairs(l, "add", 2);
}

void lift_hmul2(lifter *l)
{
    of_pairs(l, "mul", 2);
}

/* 0 * 0 + c is how a constant comes into a register. */
void lift_hfma2(lifter *l)
{
    half_reader r = {l, 3};
    bool moves = lift_is_none(lift_operand(l, 1)) && lift_is_none(lift_operand(l, 2)) &&
                 lift_operand(l, 3)->kind != SASS_REGISTER && !lift_has(l, "FTZ") &&
                 !lift_has(l, "SAT");
    if (moves)
        lift_set(l, 0, 0, next_pair(&r).at);
    else
        of_pairs(l, "fma", 3);
}

/* ---- comparisons ---- */

/* The comparison of both halves, in two predicates: of the lower half and the upper one. */
static void compare_pairs(lifter *l, half_reader *r, lift_text is[2])
{
    lift_text a = next_pair(r), b = next_pair(r), h[2][2];
    const char *comparison = lift_float_comparison(l),
               *type = lift_has(l, "BF16_V2") ? "bf16" : "f16";
    l->known &= comparison != NULL && is_plain_pair(l);
    for (int half = 0; half < 2; half++)
        for (int i = 0; i < 2; i++)
            h[half][i] = lift_new(l, LIFT_B16);
    lift_put(l, "mov.b32 {%s, %s}, %s", h[0][0].at, h[1][0].at, a.at);
    lift_put(l, "mov.b32 {%s, %s}, %s", h[0][1].at, h[1][1].at, b.at);
    for (int half = 0; half < 2 && comparison; half++) {
        is[half] = lift_new(l, LIFT_PRED);
        lift_put(l, "setp.%s%s.%s %s, %s, %s", comparison, lift_flush(l), type, is[half].at,
                 h[half][0].at, h[half][1].at);
    }
}

/* P, Q, a, b, R: what the lower and the upper half say, each with R; H_AND: whether both do, and whether not. */
void lift_hsetp2(lifter *l)
{
    half_reader r = {l, 2};
    lift_text is[2], one = lift_new(l, LIFT_PRED), two = lift_new(l, LIFT_PRED);
    bool both = lift_has(l, "H_AND");
    compare_pairs(l, &r, is);
    lift_text rest = lift_pred(l, r.at);
    if (!l->known)
        return;
    if (both) {
        lift_put(l, "and.pred %s, %s, %s", is[0].at, is[0].at, is[1].at);
        lift_put(l, "not.pred %s, %s", is[1].at, is[0].at);
    }
    lift_put(l, "%s.pred %s, %s, %s", lift_combination(l), one.at, is[0].at, rest.at);
    lift_put(l, "%s.pred %s, %s, %s", lift_combination(l), two.at, is[1].at, rest.at);
    lift_set_pred(l, 0, one.at);
    lift_set_pred(l, 1, two.at);
}

/* d, a, b, R: of each half 1.0 with .BF, else all ones, where (a ? b) and R hold; else 0. */
void lift_hset2(lifter *l)
{
    half_reader r = {l, 1};
    lift_text is[2], part[2];
    unsigned one = !lift_has(l, "BF") ? 0xffff : lift_has(l, "BF16_V2") ? 0x3f80 : 0x3c00;
    compare_pairs(l, &r, is);
    lift_text rest = lift_pred(l, r.at);
    if (!l->known)
        return;
    for (unsigned half = 0; half < 2; half++) {
        part[half] = lift_new(l, LIFT_B32);
        lift_put(l, "%s.pred %s, %s, %s", lift_combination(l), is[half].at, is[half].at, rest.at);
        lift_put(l, "selp.b32 %s, 0x%x, 0, %s", part[half].at, one << 16 * half, is[half].at);
    }
    lift_do(l, "or.b32 %s, %s, %s", lift_to(l, 0, 0).at, part[0].at, part[1].at);
}

/* d, a, b, P: the lesser of each half where P holds. */
void lift_hmnmx2(lifter *l)
{
    half_reader r = {l, 1};
    lift_text a = next_pair(&r), b = next_pair(&r), p = lift_pred(l, r.at),
              least = lift_new(l, LIFT_B32), most = lift_new(l, LIFT_B32);
    const char *nan = lift_has(l, "NAN") ? ".NaN" : "";
    l->known &= is_plain_pair(l) && !lift_has(l, "XORSIGN");
    if (!l->known)
        return;
    lift_put(l, "min%s%s.%s %s, %s, %s", lift_flush(l), nan, pair_type(l), least.at, a.at, b.at);
    lift_put(l, "max%s%s.%s %s, %s, %s", lift_flush(l), nan, pair_type(l), most.at, a.at, b.at);
    lift_do(l, "selp.b32 %s, %s, %s, %s", lift_to(l, 0, 0).at, least.at, most.at, p.at);
}
