/* Bits, bytes and the least of numbers. */
#include "sass/lifter.h"

#include <inttypes.h>

/* ---- bytes ---- */

/* d, a, which bytes, c. */
void lift_prmt(lifter *l)
{
    static const char *const names[] = {"F4E", "B4E", "RC8", "ECL", "ECR", "RC16", NULL};
    static const char *const modes[] = {".f4e", ".b4e", ".rc8", ".ecl", ".ecr", ".rc16"};
    int mode = lift_which(l, names);
    lift_text a = lift_word(l, 1, 0), which = lift_word(l, 2, 0), c = lift_word(l, 3, 0);
    lift_do(l, "prmt.b32%s %s, %s, %s, %s", mode < 0 ? "" : modes[mode], lift_to(l, 0, 0).at, a.at,
            c.at, which.at);
}

enum { PREDICATES = 7 };

static unsigned byte_of(const lifter *l)
{
    static const char *const names[] = {"B1", "B2", "B3", NULL};
    return 8 * (unsigned)(lift_which(l, names) + 1);
}

/* d, PR, a, which: a with the predicates in the place of some bits of a byte. */
void lift_p2r(lifter *l)
{
    uint32_t which = (uint32_t)lift_operand(l, 3)->value;
    unsigned shift = byte_of(l);
    const char *prefix = lift_operand(l, 0)->kind == SASS_UNIFORM ? "u" : "";
    lift_text t = lift_new(l, LIFT_B32), bit = lift_new(l, LIFT_B32);
    if (which >> PREDICATES) {
        l->known = false;
        return;
    }
    if (lift_is_none(lift_operand(l, 2)) && which && !(which & (which - 1))) {
        lift_put(l, "selp.b32 %s, 0x%" PRIx32 ", 0, %%%sp%d", t.at, which << shift, prefix,
                 __builtin_ctz(which));
        lift_set(l, 0, 0, t.at); /* kept for later, which flow/predicates.c follows */
        return;
    }
    lift_put(l, "and.b32 %s, %s, 0x%" PRIx32, t.at, lift_word(l, 2, 0).at, ~(which << shift));
    for (unsigned p = 0; p < PREDICATES; p++)
        if (which >> p & 1) {
            lift_put(l, "selp.b32 %s, 0x%" PRIx32 ", 0, %%%sp%u", bit.at,
                     UINT32_C(1) << (p + shift), prefix, p);
            lift_put(l, "or.b32 %s, %s, %s", t.at, t.at, bit.at);
        }
    lift_set(l, 0, 0, t.at);
}

/* PR, a, which: predicates from bits of a byte of a. */
void lift_r2p(lifter *l)
{
    uint32_t which = (uint32_t)lift_operand(l, 2)->value;
    const sass_text suffix = lift_operand(l, 1)->suffix;
    unsigned shift = suffix.length ? 8 * (unsigned)(suffix.at[suffix.length - 1] - '0') : 0;
    lift_text a = lift_word(l, 1, 0), t = lift_new(l, LIFT_B32);
    if (l->guarded) { /* it may be among them */
        lift_text guard = lift_new(l, LIFT_PRED);
        lift_put(l, "mov.pred %s, %s", guard.at, l->guard_pred.at);
        l->guard_pred = guard;
    }
    for (unsigned p = 0; p < PREDICATES; p++)
        if (which >> p & 1) {
            lift_put(l, "and.b32 %s, %s, 0x%" PRIx32, t.at, a.at, UINT32_C(1) << (p + shift));
            lift_do(l, "setp.ne.u32 %%p%u, %s, 0", p, t.at);
        }
}

/* ---- counting and masks ---- */

static const char *int_type(const lifter *l)
{
    return lift_has(l, "U32") ? "u32" : "s32";
}

void lift_popc(lifter *l)
{
    lift_text a = lift_int(l, 1);
    lift_do(l, "popc.b32 %s, %s", lift_to(l, 0, 0).at, a.at);
}

void lift_brev(lifter *l)
{
    lift_text a = lift_int(l, 1);
    lift_do(l, "brev.b32 %s, %s", lift_to(l, 0, 0).at, a.at);
}

/* d, P, a: the first bit that is set, or of negative numbers clear. P is not known. */
void lift_flo(lifter *l)
{
    lift_text a = lift_int(l, 2);
    l->known &= lift_is_none(lift_operand(l, 1));
    if (l->known)
        lift_do(l, "bfind%s.%s %s, %s", lift_has(l, "SH") ? ".shiftamt" : "", int_type(l),
                lift_to(l, 0, 0).at, a.at);
}

void lift_bmsk(lifter *l)
{
    lift_text a = lift_int(l, 1), b = lift_int(l, 2);
    lift_do(l, "bmsk.%s.b32 %s, %s, %s", lift_has(l, "W") ? "wrap" : "clamp", lift_to(l, 0, 0).at,
            a.at, b.at);
}

void lift_sgxt(lifter *l)
{
    lift_text a = lift_int(l, 1), b = lift_int(l, 2);
    lift_do(l, "szext.%s.%s %s, %s, %s", lift_has(l, "W") ? "wrap" : "clamp", int_type(l),
            lift_to(l, 0, 0).at, a.at, b.at);
}

/* ---- the least and the most ---- */

static const char *least_type(const lifter *l)
{
    static const char *const names[] = {"U32", "U16x2", "S16x2", NULL};
    static const char *const types[] = {"s32", "u32", "u16x2", "s16x2"};
    return types[lift_which(l, names) + 1];
}

/* The least of a and b where operand `p` holds, else the most. */
static lift_text least_or_most(lifter *l, const char *a, const char *b, unsigned p)
{
    const char *type = least_type(l), *relu = lift_has(l, "RELU") ? ".relu" : "";
    const sass_operand *op = lift_operand(l, p);
    lift_text least = lift_new(l, LIFT_B32), most = lift_new(l, LIFT_B32);
    if (lift_is_none(op)) {
        lift_put(l, "%s%s.%s %s, %s, %s", op->flags & SASS_NEGATED ? "max" : "min", relu, type,
                 least.at, a, b);
        return least;
    }
    lift_put(l, "min%s.%s %s, %s, %s", relu, type, least.at, a, b);
    lift_put(l, "max%s.%s %s, %s, %s", relu, type, most.at, a, b);
    lift_put(l, "selp.b32 %s, %s, %s, %s", least.at, least.at, most.at, lift_pred(l, p).at);
    return least;
}

/* d, (two predicates that are not known,) a, b, P. */
void lift_vimnmx(lifter *l)
{
    unsigned a = l->in.operands == 6 ? 3 : 1;
    if (a == 3 && !(lift_is_none(lift_operand(l, 1)) && lift_is_none(lift_operand(l, 2)))) {
        l->known = false;
        return;
    }
    lift_text first = lift_int(l, a), second = lift_int(l, a + 1);
    lift_set(l, 0, 0, least_or_most(l, first.at, second.at, a + 2).at);
}

/* d, a, b, c, P. */
void lift_vimnmx3(lifter *l)
{
    lift_text a = lift_int(l, 1), b = lift_int(l, 2), c = lift_int(l, 3),
              t = least_or_most(l, a.at, b.at, 4);
    lift_set(l, 0, 0, least_or_most(l, t.at, c.at, 4).at);
}

/* d, a, b, c, P: of a + b and c. */
void lift_viaddmnmx(lifter *l)
{
    lift_text a = lift_int(l, 1), b = lift_int(l, 2), c = lift_int(l, 3), t = lift_new(l, LIFT_B32);
    lift_put(l, "add.u32 %s, %s, %s", t.at, a.at, b.at);
    lift_set(l, 0, 0, least_or_most(l, t.at, c.at, 4).at);
}

/* ---- sums of products and of differences ---- */

/* d, a, b, c: c and the products of bytes of a and b, or of halves of a and bytes of b. */
void lift_idp(lifter *l)
{
    bool halves = lift_has(l, "2A");
    lift_text a = lift_int(l, 1), b = lift_int(l, 2), c = lift_int(l, 3);
    bool first = lift_has(l, "S16") || (!halves && l->in.modifier[1].at[0] == 'S'),
         second = l->in.modifier[l->in.modifiers - 1u].at[0] == 'S';
    lift_do(l, "%s.%s.%s %s, %s, %s, %s",
            !halves             ? "dp4a"
            : lift_has(l, "LO") ? "dp2a.lo"
                                : "dp2a.hi",
            first ? "s32" : "u32", second ? "s32" : "u32", lift_to(l, 0, 0).at, a.at, b.at, c.at);
}

void lift_vabsdiff(lifter *l)
{
    lift_text a = lift_int(l, 1), b = lift_int(l, 2), c = lift_int(l, 3);
    lift_do(l, "sad.%s %s, %s, %s, %s", int_type(l), lift_to(l, 0, 0).at, a.at, b.at, c.at);
}

void lift_vabsdiff4(lifter *l)
{
    const char *type = lift_has(l, "U8") ? "u32" : "s32";
    lift_text a = lift_int(l, 1), b = lift_int(l, 2), c = lift_int(l, 3);
    l->known &= lift_has(l, "ACC");
    if (l->known)
        lift_do(l, "vabsdiff4.%s.%s.%s.add %s, %s, %s, %s", type, type, type, lift_to(l, 0, 0).at,
                a.at, b.at, c.at);
}
