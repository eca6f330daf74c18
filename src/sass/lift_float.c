/* Floating point of 32 and 64 bits. */
#include "sass/lift_float.h"

#include <string.h>

/* ---- operands ---- */

/* Takes the absolute value, then the negative one, as the operand says. `type`: of `value`. */
static lift_text with_sign(lifter *l, unsigned i, lift_text value, const char *type, lift_kind kind)
{
    unsigned flags = lift_operand(l, i)->flags;
    lift_text t = flags & (SASS_ABSOLUTE | SASS_NEGATED) ? lift_new(l, kind) : value;
    if (flags & SASS_ABSOLUTE)
        lift_put(l, "abs.%s %s, %s", type, t.at, value.at);
    if (flags & SASS_NEGATED)
        lift_put(l, "neg.%s %s, %s", type, t.at, flags & SASS_ABSOLUTE ? t.at : value.at);
    return t;
}

lift_text lift_f32(lifter *l, unsigned i)
{
    lift_text value = lift_word(l, i, 0);
    if (lift_is_none(lift_operand(l, i)))
        value = lift_text_of("0f00000000");
    return with_sign(l, i, value, "f32", LIFT_B32);
}

lift_text lift_f64(lifter *l, unsigned i)
{
    const sass_operand *op = lift_operand(l, i);
    lift_text value = lift_new(l, LIFT_B64);
    if (op->kind == SASS_DOUBLE) {
        char number[24];
        snprintf(number, sizeof number, "0d%08X00000000", (unsigned)op->value);
        lift_put(l, "mov.f64 %s, %s", value.at, number);
    } else {
        lift_put(l, "mov.b64 %s, {%s, %s}", value.at, lift_word(l, i, 0).at, lift_word(l, i, 1).at);
    }
    return with_sign(l, i, value, "f64", LIFT_B64);
}

/* ---- modifiers ---- */

const char *lift_rounding(const lifter *l)
{
    return lift_has(l, "RM")   ? ".rm"
           : lift_has(l, "RP") ? ".rp"
           : lift_has(l, "RZ") ? ".rz"
                               : ".rn";
}

const char *lift_flush(const lifter *l)
{
    return lift_has(l, "FTZ") ? ".ftz" : "";
}

static const char *saturation(const lifter *l)
{
    return lift_has(l, "SAT") ? ".sat" : "";
}

/* ---- arithmetic ---- */

static void of_singles(lifter *l, const char *op, unsigned operands)
{
    lift_text a = lift_f32(l, 1), b = lift_f32(l, 2), c = {""};
    if (operands > 2)
        c = lift_f32(l, 3);
    lift_do(l, "%s%s%s%s.f32 %s, %s, %s%s%s", op, lift_rounding(l), lift_flush(l), saturation(l),
            lift_to(l, 0, 0).at, a.at, b.at, operands > 2 ? ", " : "", c.at);
}

void lift_fadd(lifter *l)
{
    of_singles(l, "add", 2);
}

void lift_fmul(lifter *l)
{
    static const char *const scales[] = {"D8", "D4", "D2", "M2", "M4", "M8", NULL};
    l->known &= lift_which(l, scales) < 0;
    of_singles(l, "mul", 2);
}

void lift_ffma(lifter *l)
{
    of_singles(l, "fma", 3);
}

/* Two singles: in the order of the registers, in the other one, or one twice. Nothing is known of their signs. */
static lift_text two_of(lifter *l, unsigned i)
{
    const sass_operand *op = lift_operand(l, i);
    bool twice = sass_text_is(op->suffix, "F32"), swapped = sass_text_is(op->suffix, "F32x2.LO_HI");
    lift_text d = lift_new(l, LIFT_B64), low = lift_word(l, i, swapped),
              high = lift_word(l, i, !swapped && !twice);
    bool known = twice || swapped || sass_text_is(op->suffix, "F32x2.HI_LO");
    l->known &= known && !(op->flags & (SASS_NEGATED | SASS_ABSOLUTE));
    lift_put(l, "mov.b64 %s, {%s, %s}", d.at, low.at, high.at);
    return d;
}

static void of_twos(lifter *l, const char *op, unsigned operands)
{
    lift_text in[3], d = lift_new(l, LIFT_B64);
    for (unsigned i = 1; i <= operands; i++)
        in[i - 1] = two_of(l, i);
    if (!l->known)
        return;
    lift_put(l, "%s%s%s.f32x2 %s, %s, %s%s%s", op, lift_rounding(l), lift_flush(l), d.at, in[0].at,
             in[1].at, operands > 2 ? ", " : "", operands > 2 ? in[2].at : "");
    lift_set_pair(l, 0, d.at);
}

void lift_fadd2(lifter *l)
{
    of_twos(l, "add", 2);
}

void lift_fmul2(lifter *l)
{
    of_twos(l, "mul", 2);
}

void lift_ffma2(lifter *l)
{
    of_twos(l, "fma", 3);
}

static void of_doubles(lifter *l, const char *op, unsigned operands)
{
    lift_text a = lift_f64(l, 1), b = lift_f64(l, 2), c = {""}, d = lift_new(l, LIFT_B64);
    if (operands > 2)
        c = lift_f64(l, 3);
    lift_put(l, "%s%s.f64 %s, %s, %s%s%s", op, lift_rounding(l), d.at, a.at, b.at,
             operands > 2 ? ", " : "", c.at);
    lift_set_pair(l, 0, d.at);
}

void lift_dadd(lifter *l)
{
    of_doubles(l, "add", 2);
}

void lift_dmul(lifter *l)
{
    of_doubles(l, "mul", 2);
}

void lift_dfma(lifter *l)
{
    of_doubles(l, "fma", 3);
}

/* d, numbers, p: the least where p holds, else the greatest. */
static void choose_single(lifter *l, unsigned numbers)
{
    lift_text p = lift_pred(l, numbers + 1), least = lift_f32(l, 1), most = least;
    const char *nan = lift_has(l, "NAN") ? ".NaN" : "";
    for (unsigned i = 2; i <= numbers; i++) {
        lift_text b = lift_f32(l, i), low = lift_new(l, LIFT_B32), high = lift_new(l, LIFT_B32);
        lift_put(l, "min%s%s.f32 %s, %s, %s", lift_flush(l), nan, low.at, least.at, b.at);
        lift_put(l, "max%s%s.f32 %s, %s, %s", lift_flush(l), nan, high.at, most.at, b.at);
        least = low;
        most = high;
    }
    lift_do(l, "selp.b32 %s, %s, %s, %s", lift_to(l, 0, 0).at, least.at, most.at, p.at);
}

void lift_fmnmx(lifter *l)
{
    choose_single(l, 2);
}

void lift_fmnmx3(lifter *l)
{
    choose_single(l, 3);
}

void lift_fsel(lifter *l)
{
    lift_text a = lift_f32(l, 1), b = lift_f32(l, 2), p = lift_pred(l, 3);
    l->known &= !lift_has(l, "FTZ");
    lift_do(l, "selp.f32 %s, %s, %s, %s", lift_to(l, 0, 0).at, a.at, b.at, p.at);
}

/* ---- comparisons ---- */

static const char *const comparisons[] = {"LT",  "EQ",  "LE",  "GT",  "NE",  "GE",  "NUM", "NAN",
                                          "LTU", "EQU", "LEU", "GTU", "NEU", "GEU", NULL};
static const char *const compared[] = {"lt",  "eq",  "le",  "gt",  "ne",  "ge",  "num",
                                       "nan", "ltu", "equ", "leu", "gtu", "neu", "geu"};

const char *lift_float_comparison(const lifter *l)
{
    int which = lift_which(l, comparisons);
    return which < 0 ? NULL : compared[which];
}

const char *lift_combination(const lifter *l)
{
    return lift_has(l, "OR") ? "or" : lift_has(l, "XOR") ? "xor" : "and";
}

/* P, Q, a, b, R: P = (a ? b) and R, Q = not (a ? b) and R. */
static void compare_floats(lifter *l, const char *type, const char *a, const char *b)
{
    const char *comparison = lift_float_comparison(l);
    lift_text r = lift_pred(l, 4), p = lift_to_pred(l, 0), q = lift_to_pred(l, 1);
    l->known &= comparison != NULL;
    if (comparison)
        lift_do(l, "setp.%s.%s%s.%s %s|%s, %s, %s, %s", comparison, lift_combination(l),
                lift_flush(l), type, p.at, q.at, a, b, r.at);
}

void lift_fsetp(lifter *l)
{
    lift_text a = lift_f32(l, 2), b = lift_f32(l, 3);
    compare_floats(l, "f32", a.at, b.at);
}

/* P: a is the lesser (greater) one, or the only number; -0 is less than 0. Q: neither is a number. */
static void choose_double(lifter *l, const char *a, const char *b, const char *comparison)
{
    const sass_operand *may = lift_operand(l, 4);
    lift_text p = lift_new(l, LIFT_PRED), q = lift_new(l, LIFT_PRED), t = lift_new(l, LIFT_PRED);
    l->known &= lift_is_none(may) && !(may->flags & SASS_NEGATED) &&
                strcmp(lift_combination(l), "and") == 0;
    if (!l->known)
        return;
    lift_put(l, "setp.eq.f64 %s, %s, %s", t.at, a, b);
    lift_put(l, "setp.%s.and.s64 %s, %s, %s, %s", comparison, p.at, a, b, t.at);
    lift_put(l, "setp.%s.or.f64 %s, %s, %s, %s", comparison, p.at, a, b, p.at);
    lift_put(l, "setp.nan.f64 %s, %s, %s", q.at, b, b);
    lift_put(l, "setp.num.and.f64 %s, %s, %s, %s", t.at, a, a, q.at);
    lift_put(l, "or.pred %s, %s, %s", p.at, p.at, t.at);
    lift_put(l, "setp.nan.and.f64 %s, %s, %s, %s", q.at, a, a, q.at);
    lift_set_pred(l, 0, p.at);
    lift_set_pred(l, 1, q.at);
}

void lift_dsetp(lifter *l)
{
    lift_text a = lift_f64(l, 2), b = lift_f64(l, 3);
    if (lift_has(l, "MIN") || lift_has(l, "MAX"))
        choose_double(l, a.at, b.at, lift_has(l, "MIN") ? "lt" : "gt");
    else
        compare_floats(l, "f64", a.at, b.at);
}

/* d, a, b, R: 1.0 where (a ? b) and R hold, else 0. */
void lift_fset(lifter *l)
{
    lift_text a = lift_f32(l, 1), b = lift_f32(l, 2), r = lift_pred(l, 3),
              q = lift_new(l, LIFT_PRED);
    const char *comparison = lift_float_comparison(l);
    l->known &= comparison != NULL;
    if (comparison) {
        lift_put(l, "setp.%s.%s%s.f32 %s, %s, %s, %s", comparison, lift_combination(l),
                 lift_flush(l), q.at, a.at, b.at, r.at);
        lift_do(l, "selp.b32 %s, 0x3f800000, 0, %s", lift_to(l, 0, 0).at, q.at);
    }
}

/* The exponents between which a division surely goes its short way. */
enum { LEAST_EXPONENT = 66, EXPONENTS = 123 };

static void is_middling(lifter *l, unsigned i, const char *q)
{
    lift_text word = lift_word(l, i, 0), t = lift_new(l, LIFT_B32);
    lift_put(l, "bfe.u32 %s, %s, 23, 8", t.at, word.at);
    lift_put(l, "sub.u32 %s, %s, %d", t.at, t.at, LEAST_EXPONENT);
    lift_put(l, "setp.lt.u32 %s, %s, %d", q, t.at, EXPONENTS);
}

/* P, a, b: whether a / b needs more than its short way. Where exactly the machine thinks so is not known; the long way
 * gives the same quotient, so that it can be taken for all numbers that are very large or small. */
void lift_fchk(lifter *l)
{
    lift_text a = lift_new(l, LIFT_PRED), b = lift_new(l, LIFT_PRED);
    is_middling(l, 1, a.at);
    is_middling(l, 2, b.at);
    lift_put(l, "and.pred %s, %s, %s", a.at, a.at, b.at);
    lift_put(l, "not.pred %s, %s", a.at, a.at);
    lift_set_pred(l, 0, a.at);
}

/* ---- special functions ---- */

/* Upper half of the function of a double of which a is the upper half. */
static void upper_half(lifter *l, const char *op)
{
    lift_text a = with_sign(l, 1, lift_word(l, 1, 0), "f32", LIFT_B32), d = lift_new(l, LIFT_B64),
              low = lift_new(l, LIFT_B32), high = lift_new(l, LIFT_B32);
    lift_put(l, "mov.b64 %s, {0, %s}", d.at, a.at);
    lift_put(l, "%s.f64 %s, %s", op, d.at, d.at);
    lift_put(l, "mov.b64 {%s, %s}, %s", low.at, high.at, d.at);
    lift_set(l, 0, 0, high.at);
}

/* Sine and cosine take parts of a full turn. */
static void of_turns(lifter *l, const char *op)
{
    lift_text a = lift_f32(l, 1), t = lift_new(l, LIFT_B32);
    lift_put(l, "mul.rn.f32 %s, %s, 0f40C90FDB", t.at, a.at);
    lift_do(l, "%s.approx.f32 %s, %s", op, lift_to(l, 0, 0).at, t.at);
}

void lift_mufu(lifter *l)
{
    static const char *const names[] = {"EX2", "LG2", "RCP", "RSQ", "SQRT", "TANH", NULL};
    static const char *const ops[] = {"ex2.approx.ftz",   "lg2.approx.ftz",  "rcp.approx.ftz",
                                      "rsqrt.approx.ftz", "sqrt.approx.ftz", "tanh.approx"};
    int which = lift_which(l, names);
    if (lift_has(l, "RCP64H")) {
        upper_half(l, "rcp.rn");
    } else if (lift_has(l, "RSQ64H")) {
        upper_half(l, "rsqrt.approx");
    } else if (lift_has(l, "SIN") || lift_has(l, "COS")) {
        of_turns(l, lift_has(l, "SIN") ? "sin" : "cos");
    } else if (which >= 0) {
        lift_text a = lift_f32(l, 1);
        lift_do(l, "%s.f32 %s, %s", ops[which], lift_to(l, 0, 0).at, a.at);
    } else {
        l->known = false;
    }
}
