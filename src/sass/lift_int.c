/* Integers, bits and moves. */
#include "sass/lifter.h"

#include <inttypes.h>
#include <string.h>

/* ---- moves ---- */

void lift_mov(lifter *l)
{
    lift_set(l, 0, 0, lift_int(l, 1).at);
}

void lift_sel(lifter *l)
{
    lift_text a = lift_int(l, 1), b = lift_int(l, 2), p = lift_pred(l, 3);
    lift_do(l, "selp.b32 %s, %s, %s, %s", lift_to(l, 0, 0).at, a.at, b.at, p.at);
}

/* ---- sums ---- */

/* An operand's 32 bits in 64. What is negated is inverted and 1 more, as the machine has it, and so carries where it
 * is 0. */
static lift_text wide_of(lifter *l, const char *value, unsigned flags)
{
    lift_text d = lift_new(l, LIFT_B64), t = lift_new(l, LIFT_B32);
    if (flags & (SASS_NEGATED | SASS_INVERTED))
        lift_put(l, "not.b32 %s, %s", t.at, value);
    lift_put(l, "cvt.u64.u32 %s, %s", d.at, flags & (SASS_NEGATED | SASS_INVERTED) ? t.at : value);
    if (flags & SASS_NEGATED)
        lift_put(l, "add.u64 %s, %s, 1", d.at, d.at);
    return d;
}

static void add_wide(lifter *l, const char *sum, unsigned i)
{
    lift_text d = wide_of(l, lift_word(l, i, 0).at, lift_operand(l, i)->flags);
    lift_put(l, "add.u64 %s, %s, %s", sum, sum, d.at);
}

static void add_carry(lifter *l, const char *sum, unsigned i)
{
    lift_text p = lift_pred(l, i), d = lift_new(l, LIFT_B64);
    lift_put(l, "selp.b64 %s, 1, 0, %s", d.at, p.at);
    lift_put(l, "add.u64 %s, %s, %s", sum, sum, d.at);
}

/* The predicate holds where the sum has carried so often at least. */
static void set_carry(lifter *l, unsigned i, const char *sum, unsigned least)
{
    if (lift_is_none(lift_operand(l, i)))
        return;
    lift_text q = lift_new(l, LIFT_PRED);
    lift_put(l, "setp.ge.u64 %s, %s, %" PRIu64, q.at, sum, (uint64_t)least << 32);
    lift_set_pred(l, i, q.at);
}

static void set_low(lifter *l, unsigned i, const char *wide)
{
    lift_text t = lift_new(l, LIFT_B32);
    lift_put(l, "cvt.u32.u64 %s, %s", t.at, wide);
    lift_set(l, i, 0, t.at);
}

static bool has_carry(const lifter *l)
{
    return lift_has(l, "X") || !lift_is_none(lift_operand(l, 1)) ||
           !lift_is_none(lift_operand(l, 2));
}

/* d, two carries that are not known, a, b, c. Nor is it known how a negative number is widened. */
static void add_pairs(lifter *l)
{
    lift_text sum = lift_new(l, LIFT_B64);
    l->known &= lift_is_none(lift_operand(l, 1)) && lift_is_none(lift_operand(l, 2));
    for (unsigned i = 3; i < 6; i++)
        l->known &= lift_operand(l, i)->kind == SASS_UNIFORM || lift_operand(l, i)->value >= 0;
    if (!l->known)
        return;
    lift_put(l, "add.u64 %s, %s, %s", sum.at, lift_pair(l, 3).at, lift_pair(l, 4).at);
    lift_put(l, "add.u64 %s, %s, %s", sum.at, sum.at, lift_pair(l, 5).at);
    lift_set_pair(l, 0, sum.at);
}

/* d, two carries, a, b, c; with .X two carries of before. */
void lift_iadd3(lifter *l)
{
    if (lift_has(l, "64")) {
        add_pairs(l);
        return;
    }
    if (!has_carry(l)) {
        lift_text a = lift_int(l, 3), b = lift_int(l, 4), c = lift_int(l, 5),
                  t = lift_new(l, LIFT_B32);
        lift_put(l, "add.u32 %s, %s, %s", t.at, a.at, b.at);
        lift_do(l, "add.u32 %s, %s, %s", lift_to(l, 0, 0).at, t.at, c.at);
        return;
    }
    lift_text sum = wide_of(l, lift_word(l, 3, 0).at, lift_operand(l, 3)->flags);
    add_wide(l, sum.at, 4);
    add_wide(l, sum.at, 5);
    if (lift_has(l, "X")) {
        add_carry(l, sum.at, 6);
        add_carry(l, sum.at, 7);
    }
    set_carry(l, 1, sum.at, 1);
    set_carry(l, 2, sum.at, 2);
    set_low(l, 0, sum.at);
}

void lift_viadd(lifter *l)
{
    lift_text a = lift_int(l, 1), b = lift_int(l, 2);
    bool halves = lift_has(l, "16x2");
    l->known &= !halves || !(lift_operand(l, 2)->flags & SASS_NEGATED);
    lift_do(l, "add.%s %s, %s, %s", halves ? "u16x2" : "u32", lift_to(l, 0, 0).at, a.at, b.at);
}

/* ---- shifted sums ---- */

/* The upper half of a, or of c and a, shifted to the left. `more`: the operand that c is, 0 where there is none. */
static lift_text shifted_high(lifter *l, unsigned more, unsigned bits)
{
    lift_text d = lift_new(l, LIFT_B64), t = lift_new(l, LIFT_B32), a = lift_word(l, 2, 0);
    if (lift_operand(l, 2)->flags & (SASS_NEGATED | SASS_INVERTED))
        l->known = false;
    if (more)
        lift_put(l, "mov.b64 %s, {%s, %s}", d.at, a.at, lift_int(l, more).at);
    else
        lift_put(l, "cvt.s64.s32 %s, %s", d.at, a.at);
    lift_put(l, "shl.b64 %s, %s, %u", d.at, d.at, bits);
    lift_put(l, "shr.u64 %s, %s, 32", d.at, d.at);
    lift_put(l, "cvt.u32.u64 %s, %s", t.at, d.at);
    return t;
}

enum { BLOCK_WINDOW_BITS = 24 }; /* of an address of shared memory in a cluster, below the rank */

/* d, carry, a, b, (c,) bits, with .X a carry of before: b + (a << bits), .HI the upper half of that shift. */
void lift_lea(lifter *l)
{
    bool high = lift_has(l, "HI"), extended = high && lift_has(l, "SX32");
    unsigned bits_at = high && !extended ? 5 : 4;
    unsigned bits = (unsigned)lift_operand(l, bits_at)->value;
    unsigned flags = high ? 0 : lift_operand(l, 2)->flags;
    lift_text a;
    if (high) {
        a = shifted_high(l, extended ? 0 : 4, bits);
    } else if (bits == BLOCK_WINDOW_BITS && lift_is_rank(l, 2)) {
        a = lift_number(0);
    } else {
        a = lift_new(l, LIFT_B32);
        lift_put(l, "shl.b32 %s, %s, %u", a.at, lift_word(l, 2, 0).at, bits);
    }
    if (!lift_has(l, "X") && lift_is_none(lift_operand(l, 1)) && !flags) {
        lift_text b = lift_int(l, 3);
        lift_do(l, "add.u32 %s, %s, %s", lift_to(l, 0, 0).at, a.at, b.at);
        return;
    }
    lift_text sum = wide_of(l, a.at, flags);
    add_wide(l, sum.at, 3);
    if (lift_has(l, "X"))
        add_carry(l, sum.at, bits_at + 1);
    set_carry(l, 1, sum.at, 1);
    set_low(l, 0, sum.at);
}

/* ---- products ---- */

static const char *product_type(const lifter *l)
{
    return lift_has(l, "U32") ? "u32" : "s32";
}

/* d, carry, a, b, c (and a carry of before): a * b + c in 64 bits, of which .HI gives the upper half. */
static void lift_wide_product(lifter *l, bool high)
{
    lift_text a = lift_int(l, 2), b = lift_int(l, 3), c = lift_pair(l, 4),
              product = lift_new(l, LIFT_B64), sum = lift_new(l, LIFT_B64);
    bool carries = !lift_is_none(lift_operand(l, 1));
    lift_put(l, "mul.wide.%s %s, %s, %s", product_type(l), product.at, a.at, b.at);
    lift_put(l, "add.u64 %s, %s, %s", sum.at, product.at, c.at);
    if (lift_has(l, "X"))
        add_carry(l, sum.at, 5);
    if (carries && (lift_has(l, "X") || lift_operand(l, 4)->flags & SASS_NEGATED))
        l->known = false;
    if (carries) {
        lift_text q = lift_new(l, LIFT_PRED);
        lift_put(l, "setp.lt.u64 %s, %s, %s", q.at, sum.at, product.at);
        lift_set_pred(l, 1, q.at);
    }
    if (high) {
        lift_put(l, "shr.u64 %s, %s, 32", sum.at, sum.at);
        set_low(l, 0, sum.at);
    } else {
        lift_set_pair(l, 0, sum.at);
    }
}

void lift_imad(lifter *l)
{
    if (lift_has(l, "WIDE") || lift_has(l, "HI")) {
        lift_wide_product(l, lift_has(l, "HI"));
        return;
    }
    bool moves = lift_is_none(lift_operand(l, 1)) || lift_is_none(lift_operand(l, 2));
    lift_text a = lift_int(l, 1), b = lift_int(l, 2), c = lift_int(l, 3), t = c;
    if (moves && !lift_has(l, "X")) {
        lift_set(l, 0, 0, c.at);
        return;
    }
    if (lift_has(l, "X")) {
        lift_text one = lift_new(l, LIFT_B32), p = lift_pred(l, 4);
        t = lift_new(l, LIFT_B32);
        lift_put(l, "selp.b32 %s, 1, 0, %s", one.at, p.at);
        lift_put(l, "add.u32 %s, %s, %s", t.at, c.at, one.at);
    }
    lift_do(l, "mad.lo.s32 %s, %s, %s, %s", lift_to(l, 0, 0).at, a.at, b.at, t.at);
}

/* ---- comparisons ---- */

static const char *const comparisons[] = {"LT", "EQ", "LE", "GT", "NE", "GE", NULL};
static const char *const compared[] = {"lt", "eq", "le", "gt", "ne", "ge"};
static const char *const logic[] = {"AND", "OR", "XOR", NULL};
static const char *const combined[] = {"and", "or", "xor"};

/* Of upper halves: what the lower ones said counts where these are equal. */
static lift_text compare_extended(lifter *l, int which, const char *type, const char *a,
                                  const char *b)
{
    static const char *const strict[] = {"lt", NULL, "lt", "gt", NULL, "gt"};
    lift_text low = lift_pred(l, 5), q = lift_new(l, LIFT_PRED), same = lift_new(l, LIFT_PRED);
    if (compared[which][0] == 'n') {
        lift_put(l, "setp.ne.or.%s %s, %s, %s, %s", type, q.at, a, b, low.at);
        return q;
    }
    lift_put(l, "setp.eq.and.%s %s, %s, %s, %s", type, same.at, a, b, low.at);
    if (!strict[which])
        return same;
    lift_put(l, "setp.%s.or.%s %s, %s, %s, %s", strict[which], type, q.at, a, b, same.at);
    return q;
}

/* P, Q, a, b, R (and what the lower halves said): P = (a ? b) and R, Q = not (a ? b) and R. */
void lift_isetp(lifter *l)
{
    int which = lift_which(l, comparisons), by = lift_which(l, logic);
    lift_text a = lift_int(l, 2), b = lift_int(l, 3);
    if (which < 0 || by < 0) {
        l->known = false;
        return;
    }
    const sass_operand *more = lift_operand(l, 4);
    bool alone = lift_is_none(more) && !(more->flags & SASS_NEGATED) && lift_has(l, "AND");
    lift_text r = lift_pred(l, 4), p = lift_to_pred(l, 0), q = lift_to_pred(l, 1);
    if (!lift_has(l, "EX") && alone) { /* what equals what is followed, and would not be with %pt */
        lift_do(l, "setp.%s.%s %s|%s, %s, %s", compared[which], product_type(l), p.at, q.at, a.at,
                b.at);
        return;
    }
    if (!lift_has(l, "EX")) {
        lift_do(l, "setp.%s.%s.%s %s|%s, %s, %s, %s", compared[which], combined[by],
                product_type(l), p.at, q.at, a.at, b.at, r.at);
        return;
    }
    lift_text is = compare_extended(l, which, product_type(l), a.at, b.at),
              both = lift_new(l, LIFT_PRED), other = lift_new(l, LIFT_PRED);
    lift_put(l, "%s.pred %s, %s, %s", combined[by], both.at, is.at, r.at);
    lift_put(l, "%s.pred %s, !%s, %s", combined[by], other.at, is.at, r.at);
    lift_set_pred(l, 0, both.at);
    lift_set_pred(l, 1, other.at);
}

void lift_imnmx(lifter *l)
{
    lift_text a = lift_int(l, 1), b = lift_int(l, 2), p = lift_pred(l, 3),
              least = lift_new(l, LIFT_B32), most = lift_new(l, LIFT_B32);
    lift_put(l, "min.%s %s, %s, %s", product_type(l), least.at, a.at, b.at);
    lift_put(l, "max.%s %s, %s, %s", product_type(l), most.at, a.at, b.at);
    lift_do(l, "selp.b32 %s, %s, %s, %s", lift_to(l, 0, 0).at, least.at, most.at, p.at);
}

void lift_iabs(lifter *l)
{
    lift_text value = lift_int(l, 1);
    lift_do(l, "abs.s32 %s, %s", lift_to(l, 0, 0).at, value.at);
}

/* ---- bits ---- */

/* What a shift by b comes to: at most all bits, or modulo them. */
static lift_text shift_amount(lifter *l, bool wide)
{
    const sass_operand *op = lift_operand(l, 2);
    bool number = op->kind == SASS_NUMBER || op->kind == SASS_SIGNED;
    if (number && op->value >= 0 && op->value < (wide ? 64 : 32))
        return lift_number(op->value);
    lift_text value = lift_int(l, 2), t = lift_new(l, LIFT_B32);
    if (lift_has(l, "W"))
        lift_put(l, "and.b32 %s, %s, %d", t.at, value.at, wide ? 63 : 31);
    else
        lift_put(l, "min.u32 %s, %s, %d", t.at, value.at, wide ? 64 : 32);
    return t;
}

/* d, a, b, c: c and a as 64 bits, shifted by b; .HI gives the upper half. */
void lift_shf(lifter *l)
{
    bool is_signed = lift_has(l, "S32") || lift_has(l, "S64");
    lift_text bits = shift_amount(l, lift_has(l, "U64") || lift_has(l, "S64")), a = lift_int(l, 1),
              c = lift_int(l, 3), d = lift_new(l, LIFT_B64), low = lift_new(l, LIFT_B32),
              high = lift_new(l, LIFT_B32);
    lift_put(l, "mov.b64 %s, {%s, %s}", d.at, a.at, c.at);
    lift_put(l, "%s %s, %s, %s",
             lift_has(l, "L") ? "shl.b64"
             : is_signed      ? "shr.s64"
                              : "shr.u64",
             d.at, d.at, bits.at);
    lift_put(l, "mov.b64 {%s, %s}, %s", low.at, high.at, d.at);
    lift_set(l, 0, 0, lift_has(l, "HI") ? high.at : low.at);
}

/* P, d, a, b, c, table, Q: P = (d != 0) or Q. */
void lift_lop3(lifter *l)
{
    lift_text a = lift_int(l, 2), b = lift_int(l, 3), c = lift_int(l, 4), t = lift_new(l, LIFT_B32);
    lift_put(l, "lop3.b32 %s, %s, %s, %s, %d", t.at, a.at, b.at, c.at,
             (int)lift_operand(l, 5)->value & 255);
    if (!lift_is_none(lift_operand(l, 0))) {
        lift_text p = lift_pred(l, 6);
        lift_do(l, "setp.ne.%s.b32 %s, %s, 0, %s", lift_has(l, "PAND") ? "and" : "or",
                lift_to_pred(l, 0).at, t.at, p.at);
    }
    lift_set(l, 1, 0, t.at);
}

/* ---- predicates ---- */

enum { INPUTS = 3, ROWS = 8 };

/* Which rows of the table can come: the inputs a, b, c are the bits 4, 2, 1 of a row's number. */
static unsigned rows_that_come(lifter *l)
{
    unsigned rows = 0;
    for (unsigned row = 0; row < ROWS; row++) {
        bool comes = true;
        for (unsigned n = 0; n < INPUTS; n++) {
            const sass_operand *op = lift_operand(l, 2 + n);
            bool holds = row >> (INPUTS - 1 - n) & 1;
            comes &= !lift_is_none(op) || holds == !(op->flags & SASS_NEGATED);
        }
        rows |= (unsigned)comes << row;
    }
    return rows;
}

/* The table of a conjunction; each input belongs to it (1), negated (2), or does not (0). */
static unsigned conjunction_table(const uint8_t use[INPUTS])
{
    unsigned table = 0;
    for (unsigned row = 0; row < ROWS; row++) {
        bool holds = true;
        for (unsigned n = 0; n < INPUTS; n++)
            holds &= !use[n] || (row >> (INPUTS - 1 - n) & 1) == (use[n] == 1);
        table |= (unsigned)holds << row;
    }
    return table;
}

/* A conjunction of inputs, or a disjunction, that gives the same in the rows that come. A reader of the PTX sees then
 * what follows from what. */
static bool find_terms(unsigned table, unsigned rows, uint8_t use[INPUTS], bool *any)
{
    for (unsigned n = 0; n < 27; n++) {
        use[0] = n % 3, use[1] = n / 3 % 3, use[2] = n / 9;
        *any = (table & rows) == (~conjunction_table(use) & rows & 255);
        if ((table & rows) == (conjunction_table(use) & rows) || *any)
            return true;
    }
    return false;
}

/* A disjunction is found as what it is not: the negated conjunction of the negated inputs. */
static lift_text join_terms(lifter *l, const uint8_t use[INPUTS], bool any)
{
    lift_text q = lift_new(l, LIFT_PRED);
    lift_put(l, any ? "not.pred %s, %%pt" : "mov.pred %s, %%pt", q.at);
    for (unsigned n = 0; n < INPUTS; n++)
        if (use[n]) {
            lift_text p = lift_pred(l, 2 + n);
            lift_put(l, "%s.pred %s, %s, %s%s", any ? "or" : "and", q.at, q.at,
                     (use[n] == 2) != any ? "!" : "", p.at);
        }
    return q;
}

static lift_text look_up_rows(lifter *l, unsigned table)
{
    lift_text t[INPUTS], q = lift_new(l, LIFT_PRED), result = lift_new(l, LIFT_B32);
    for (unsigned n = 0; n < INPUTS; n++) {
        lift_text p = lift_pred(l, 2 + n);
        t[n] = lift_new(l, LIFT_B32);
        lift_put(l, "selp.b32 %s, -1, 0, %s", t[n].at, p.at);
    }
    lift_put(l, "lop3.b32 %s, %s, %s, %s, %u", result.at, t[0].at, t[1].at, t[2].at, table);
    lift_put(l, "setp.ne.b32 %s, %s, 0", q.at, result.at);
    return q;
}

static lift_text predicate_by_table(lifter *l, unsigned table)
{
    uint8_t use[INPUTS];
    bool any;
    return find_terms(table, rows_that_come(l), use, &any) ? join_terms(l, use, any)
                                                           : look_up_rows(l, table);
}

/* P, Q, a, b, c, and a table for each of P and Q. */
void lift_plop3(lifter *l)
{
    lift_text p = predicate_by_table(l, (unsigned)lift_operand(l, 5)->value & 255),
              q = predicate_by_table(l, (unsigned)lift_operand(l, 6)->value & 255);
    lift_set_pred(l, 0, p.at);
    lift_set_pred(l, 1, q.at);
}
