/* Arithmetic on integers as PTX does it, on numbers and on spans of numbers.
 *
 * A span holds what a register may hold, as the register holds it: without a sign, cut to its
 * width. Where both ends are one number the result is exact; else it is a span around all results,
 * all numbers of that width where that cannot be told. */
#include "rewrite/plan/plan.h"

static unsigned bits_of_type(ir_type type)
{
    return ir_type_get(type)->kind == IR_KIND_P ? 1 : ir_type_get(type)->bits;
}

static bool is_integer_type(ir_type type)
{
    const ir_type_info *info = ir_type_get(type);
    bool integer = info->kind == IR_KIND_U || info->kind == IR_KIND_S || info->kind == IR_KIND_B;
    return info->kind == IR_KIND_P || (integer && info->lanes == 1 && info->bits >= 8);
}

static bool is_signed(ir_type type)
{
    return ir_type_get(type)->kind == IR_KIND_S;
}

static uint64_t greatest_of(unsigned bits)
{
    return bits >= 64 ? UINT64_MAX : (UINT64_C(1) << bits) - 1;
}

static uint64_t cut_to_bits(uint64_t x, unsigned bits)
{
    return x & greatest_of(bits);
}

/* The lowest bits of x as a number of that type, in 64 bits. */
static uint64_t as_type(ir_type type, uint64_t x)
{
    unsigned bits = bits_of_type(type);
    uint64_t sign = UINT64_C(1) << (bits - 1);
    x = cut_to_bits(x, bits);
    return is_signed(type) && bits < 64 ? (x ^ sign) - sign : x;
}

/* ---- numbers ---- */

static bool is_below(ir_type type, uint64_t a, uint64_t b)
{
    return is_signed(type) ? (int64_t)a < (int64_t)b : a < b;
}

static uint64_t shift_number(const ir_insn *i, uint64_t x, uint64_t by)
{
    unsigned bits = bits_of_type(i->types[0]);
    bool negative = is_signed(i->types[0]) && (int64_t)x < 0;
    by = cut_to_bits(by, 32);
    if (i->op == IR_shl)
        return by < bits ? x << by : 0;
    if (by >= bits)
        return negative ? UINT64_MAX : 0;
    return negative ? ~(~x >> by) : x >> by;
}

static bool compare_numbers(const ir_insn *i, uint64_t a, uint64_t b)
{
    bool below = is_below(i->types[0], a, b), above = is_below(i->types[0], b, a);
    switch (ir_first_of(i, IR_SC_CMP)) {
    case IR_S_eq: return a == b;
    case IR_S_ne: return a != b;
    case IR_S_lt: return below;
    case IR_S_lo: return a < b;
    case IR_S_le: return !above;
    case IR_S_ls: return a <= b;
    case IR_S_gt: return above;
    case IR_S_hi: return a > b;
    case IR_S_ge: return !below;
    default: return a >= b; /* hs */
    }
}

static uint64_t test_numbers(const ir_insn *i, const uint64_t *in)
{
    bool first = compare_numbers(i, in[1], in[2]);
    switch (ir_first_of(i, IR_SC_BOOL)) {
    case IR_S_and: return first && in[3];
    case IR_S_or: return first || in[3];
    case IR_S_xor: return first != (bool)in[3];
    default: return first;
    }
}

/* in[n]: operand n, as a number of its type. */
static uint64_t compute_number(const ir_insn *i, const uint64_t *in)
{
    switch (i->op) {
    case IR_add: return in[1] + in[2];
    case IR_sub: return in[1] - in[2];
    case IR_mul: return in[1] * in[2];
    case IR_mad: return in[1] * in[2] + in[3];
    case IR_and: return in[1] & in[2];
    case IR_or: return in[1] | in[2];
    case IR_xor: return in[1] ^ in[2];
    case IR_not: return i->types[0] == IR_T_pred ? !in[1] : ~in[1];
    case IR_neg: return -in[1];
    case IR_shl:
    case IR_shr: return shift_number(i, in[1], in[2]);
    case IR_min: return is_below(i->types[0], in[2], in[1]) ? in[2] : in[1];
    case IR_max: return is_below(i->types[0], in[1], in[2]) ? in[2] : in[1];
    case IR_setp: return test_numbers(i, in);
    case IR_selp: return in[3] ? in[1] : in[2];
    default: return in[1]; /* mov, cvt, ld.param */
    }
}

/* ---- spans of them ---- */

/* Numbers of a type. */
typedef struct numbers {
    __int128 low, high;
} numbers;

static numbers numbers_of(ir_type type, rw_interval s)
{
    unsigned bits = bits_of_type(type);
    uint64_t sign = UINT64_C(1) << (bits - 1);
    if (s.high > greatest_of(bits))
        s = (rw_interval){0, greatest_of(bits)};
    if (!is_signed(type) || s.high < sign)
        return (numbers){s.low, s.high};
    if (s.low >= sign)
        return (numbers){(__int128)s.low - greatest_of(bits) - 1,
                         (__int128)s.high - greatest_of(bits) - 1};
    return (numbers){-(__int128)sign, sign - 1};
}

/* As a register of that width holds them: where the ends would not be the ends any more, it may
 * hold anything. */
static rw_interval as_register_holds(numbers n, unsigned bits)
{
    __int128 all = (__int128)greatest_of(bits) + 1;
    if (n.low >= 0 && n.high < all)
        return (rw_interval){(uint64_t)n.low, (uint64_t)n.high};
    if (n.high < 0 && n.low >= -all)
        return (rw_interval){(uint64_t)(n.low + all), (uint64_t)(n.high + all)};
    return (rw_interval){0, greatest_of(bits)};
}

static bool is_one(rw_interval s)
{
    return s.low == s.high;
}

static numbers sum_of_numbers(numbers a, numbers b)
{
    return (numbers){a.low + b.low, a.high + b.high};
}

static numbers negative_of(numbers a)
{
    return (numbers){-a.high, -a.low};
}

static numbers product_of(numbers a, numbers b)
{
    const __int128 ends[] = {a.low * b.low, a.low * b.high, a.high * b.low, a.high * b.high};
    numbers n = {ends[0], ends[0]};
    for (int i = 1; i < 4; i++) {
        n.low = ends[i] < n.low ? ends[i] : n.low;
        n.high = ends[i] > n.high ? ends[i] : n.high;
    }
    return n;
}

static numbers least_of(numbers a, numbers b)
{
    return (numbers){a.low < b.low ? a.low : b.low, a.high < b.high ? a.high : b.high};
}

/* `by` is one number. */
static rw_interval shift_interval(const ir_insn *i, numbers x, uint64_t by)
{
    unsigned bits = bits_of_type(i->types[0]);
    by = cut_to_bits(by, 32) < bits ? cut_to_bits(by, 32) : bits;
    if (i->op == IR_shr)
        return as_register_holds((numbers){x.low >> by, x.high >> by}, bits);
    return by == bits
               ? (rw_interval){0, 0}
               : as_register_holds(product_of(x, (numbers){(__int128)1 << by, (__int128)1 << by}),
                                   bits);
}

/* With one number: the bits above those in which the ends of the span differ are the same in all of
 * it. */
static rw_interval mask_interval(const ir_insn *i, rw_interval x, uint64_t mask)
{
    uint64_t varying = is_one(x) ? 0 : greatest_of(64 - (unsigned)__builtin_clzll(x.low ^ x.high)),
             fixed = x.low & ~varying;
    if (i->op == IR_and)
        return (rw_interval){fixed & mask, (fixed | varying) & mask};
    return (rw_interval){fixed | mask, fixed | varying | mask};
}

/* Of predicates; the ends of a span around both are 0 and 1. */
static rw_interval join_intervals(ir_op op, rw_interval a, rw_interval b)
{
    if (op == IR_and)
        return (rw_interval){a.low & b.low, a.high & b.high};
    if (op == IR_or)
        return (rw_interval){a.low | b.low, a.high | b.high};
    return is_one(a) && is_one(b) ? (rw_interval){a.low ^ b.low, a.low ^ b.low}
                                  : (rw_interval){0, 1};
}

static rw_interval bitwise_interval(const ir_insn *i, rw_interval a, rw_interval b)
{
    if (i->types[0] == IR_T_pred)
        return join_intervals(i->op, a, b);
    if (i->op != IR_xor && is_one(b))
        return mask_interval(i, a, b.low);
    if (i->op != IR_xor && is_one(a))
        return mask_interval(i, b, a.low);
    return (rw_interval){0, greatest_of(bits_of_type(i->types[0]))};
}

/* Whether it holds for some, whether for all. */
static rw_interval is_less_than(numbers a, numbers b)
{
    return (rw_interval){a.high < b.low, a.low < b.high};
}

static rw_interval is_not(rw_interval s)
{
    return (rw_interval){!s.high, !s.low};
}

static rw_interval is_equal(numbers a, numbers b)
{
    bool same = a.low == b.low && a.high == b.high && a.low == a.high;
    return (rw_interval){same, a.low <= b.high && b.low <= a.high};
}

static rw_interval compare_intervals(const ir_insn *i, numbers a, numbers b)
{
    switch (ir_first_of(i, IR_SC_CMP)) {
    case IR_S_eq: return is_equal(a, b);
    case IR_S_ne: return is_not(is_equal(a, b));
    case IR_S_lt:
    case IR_S_lo: return is_less_than(a, b);
    case IR_S_le:
    case IR_S_ls: return is_not(is_less_than(b, a));
    case IR_S_gt:
    case IR_S_hi: return is_less_than(b, a);
    default: return is_not(is_less_than(a, b)); /* ge, hs */
    }
}

static rw_interval test_intervals(const ir_insn *i, const numbers *n, rw_interval with)
{
    rw_interval first = compare_intervals(i, n[1], n[2]);
    switch (ir_first_of(i, IR_SC_BOOL)) {
    case IR_S_and: return join_intervals(IR_and, first, with);
    case IR_S_or: return join_intervals(IR_or, first, with);
    case IR_S_xor: return join_intervals(IR_xor, first, with);
    default: return first;
    }
}

static numbers choose_interval(const numbers *n)
{
    if (n[3].low == n[3].high)
        return n[3].low ? n[1] : n[2];
    numbers most_of = negative_of(least_of(negative_of(n[1]), negative_of(n[2])));
    return (numbers){least_of(n[1], n[2]).low, most_of.high};
}

static rw_interval compute_interval(const ir_insn *i, const rw_interval *in)
{
    numbers n[RW_MAX_OPERANDS] = {0};
    unsigned bits = rw_result_bits(i);
    for (uint32_t o = 1; o < i->noperands && o < RW_MAX_OPERANDS; o++)
        n[o] = numbers_of(rw_operand_type(i, o), in[o]);
    switch (i->op) {
    case IR_add: return as_register_holds(sum_of_numbers(n[1], n[2]), bits);
    case IR_sub: return as_register_holds(sum_of_numbers(n[1], negative_of(n[2])), bits);
    case IR_mul: return as_register_holds(product_of(n[1], n[2]), bits);
    case IR_mad: return as_register_holds(sum_of_numbers(product_of(n[1], n[2]), n[3]), bits);
    case IR_neg: return as_register_holds(negative_of(n[1]), bits);
    case IR_min: return as_register_holds(least_of(n[1], n[2]), bits);
    case IR_max:
        return as_register_holds(negative_of(least_of(negative_of(n[1]), negative_of(n[2]))), bits);
    case IR_not:
        return (rw_interval){cut_to_bits(~in[1].high, bits), cut_to_bits(~in[1].low, bits)};
    case IR_and:
    case IR_or:
    case IR_xor: return bitwise_interval(i, in[1], in[2]);
    case IR_shl:
    case IR_shr:
        return is_one(in[2]) ? shift_interval(i, n[1], in[2].low)
                             : (rw_interval){0, greatest_of(bits)};
    case IR_setp: return test_intervals(i, n, in[3]);
    case IR_selp: return as_register_holds(choose_interval(n), bits);
    default: return as_register_holds(n[1], bits); /* mov, cvt */
    }
}

/* ---- what is known ---- */

bool rw_op_is_known(const ir_insn *i)
{
    switch (i->op) {
    case IR_mov:
    case IR_cvt:
    case IR_add:
    case IR_sub:
    case IR_mul:
    case IR_mad:
    case IR_and:
    case IR_or:
    case IR_xor:
    case IR_not:
    case IR_neg:
    case IR_shl:
    case IR_shr:
    case IR_min:
    case IR_max:
    case IR_setp:
    case IR_selp: break;
    default: return false;
    }
    bool types = is_integer_type(i->types[0]) && (i->op != IR_cvt || is_integer_type(i->types[1]));
    bool high = ir_has(i, IR_S_hi) && i->op != IR_setp, two = i->op == IR_min || i->op == IR_max;
    return types && !high && !ir_has(i, IR_S_sat) && !ir_has(i, IR_S_cc) && !ir_has(i, IR_S_relu) &&
           !ir_has(i, IR_S_pack) && i->noperands <= (two ? 3 : RW_MAX_OPERANDS);
}

unsigned rw_result_bits(const ir_insn *i)
{
    bool wide = (i->op == IR_mul || i->op == IR_mad) && ir_has(i, IR_S_wide);
    return i->op == IR_setp ? 1 : bits_of_type(i->types[0]) << wide;
}

/* The last operands of setp and selp are predicates. */
ir_type rw_operand_type(const ir_insn *i, uint32_t n)
{
    if (n == 3 && (i->op == IR_setp || i->op == IR_selp))
        return IR_T_pred;
    if (n == 2 && (i->op == IR_shl || i->op == IR_shr))
        return IR_T_u32;
    if (n == 3 && i->op == IR_mad && ir_has(i, IR_S_wide))
        return IR_T_u64;
    return i->op == IR_cvt ? i->types[1] : i->types[0];
}

rw_interval rw_interval_of(const ir_insn *i, const rw_interval *in)
{
    uint64_t exactly[RW_MAX_OPERANDS] = {0};
    bool exact = true;
    for (uint32_t n = 1; n < i->noperands; n++) {
        exact &= is_one(in[n]);
        exactly[n] = as_type(rw_operand_type(i, n), in[n].low);
    }
    if (!exact)
        return compute_interval(i, in);
    uint64_t result = cut_to_bits(compute_number(i, exactly), rw_result_bits(i));
    return (rw_interval){result, result};
}

bool rw_is_integer(ir_type type)
{
    return is_integer_type(type);
}

unsigned rw_bits_of(ir_type type)
{
    return bits_of_type(type);
}

uint64_t rw_extended(ir_type type, uint64_t x, unsigned bits)
{
    return cut_to_bits(as_type(type, x), bits);
}
