/* Constant expressions (PTX ISA, "Constant Expressions"): C's operators over 64-bit integers and
 * doubles. */
#include "ptx/internal.h"

#include <stdio.h>

static ptx_value parse_ternary(ptx_parser *p);

static ptx_value int_value(uint64_t bits, bool is_unsigned)
{
    return (ptx_value){.kind = PTX_VALUE_INT, .bits = bits, .is_unsigned = is_unsigned};
}

static double as_double(ptx_value v)
{
    if (v.kind == PTX_VALUE_INT)
        return v.is_unsigned ? (double)v.bits : (double)(int64_t)v.bits;
    if (v.kind == PTX_VALUE_F32) {
        uint32_t bits = (uint32_t)v.bits;
        float f;
        memcpy(&f, &bits, sizeof f);
        return f;
    }
    double d;
    memcpy(&d, &v.bits, sizeof d);
    return d;
}

static ptx_value double_value(double d)
{
    ptx_value v = {.kind = PTX_VALUE_F64};
    memcpy(&v.bits, &d, sizeof d);
    return v;
}

static ptx_value literal(ptx_parser *p)
{
    ptx_value v = {.bits = p->lex.tok.value};
    if (p->lex.tok.kind == TOK_INT)
        v = (ptx_value){PTX_VALUE_INT, p->lex.tok.value, p->lex.tok.is_unsigned, p->lex.tok.hex};
    else
        v.kind = p->lex.tok.kind == TOK_F32 ? PTX_VALUE_F32 : PTX_VALUE_F64;
    ptx_next(&p->lex);
    return v;
}

static ptx_value fail_constant(ptx_parser *p)
{
    char found[64];
    ptx_describe(&p->lex, found, sizeof found);
    ptx_fail(p, "expected a constant, found %s", found);
    return int_value(0, false);
}

/* (.s64) x, (.u64) x or a parenthesised expression. */
static ptx_value parse_paren(ptx_parser *p, ptx_value (*unary)(ptx_parser *))
{
    ptx_next(&p->lex);
    bool to_signed = ptx_is_dot(&p->lex, "s64");
    if (to_signed || ptx_is_dot(&p->lex, "u64")) {
        ptx_next(&p->lex);
        ptx_expect(&p->lex, ')', "after the type of a cast");
        ptx_value v = unary(p);
        return int_value(v.kind == PTX_VALUE_INT ? v.bits : (uint64_t)0, !to_signed);
    }
    ptx_value v = parse_ternary(p);
    ptx_expect(&p->lex, ')', "at the end of the expression");
    v.hex = false;
    return v;
}

static ptx_value parse_primary(ptx_parser *p, ptx_value (*unary)(ptx_parser *))
{
    if (p->lex.tok.kind == TOK_INT || p->lex.tok.kind == TOK_F32 || p->lex.tok.kind == TOK_F64)
        return literal(p);
    if (p->lex.tok.kind == TOK_DOT && p->lex.tok.text[0] >= '0' &&
        p->lex.tok.text[0] <= '9') /* .5 */
        return ptx_lex_number(&p->lex, p->lex.tok.text - 1) ? literal(p) : int_value(0, false);
    if (ptx_is_word(&p->lex, "WARP_SZ")) {
        ptx_next(&p->lex);
        return int_value(32, false);
    }
    if (ptx_is(&p->lex, '('))
        return parse_paren(p, unary);
    return fail_constant(p);
}

static ptx_value negate(ptx_value v)
{
    if (v.kind == PTX_VALUE_INT)
        return int_value(0 - v.bits, v.is_unsigned && v.bits != 0);
    v.bits ^= v.kind == PTX_VALUE_F32 ? 1ull << 31 : 1ull << 63;
    return v;
}

static bool enter_nesting(ptx_parser *p)
{
    if (p->nesting++ < PTX_MAX_NESTING)
        return true;
    ptx_fail_at(&p->lex, ptx_tok_pos(&p->lex), WL_LIMIT, NULL, "this is nested more than %d deep",
                PTX_MAX_NESTING);
    return false;
}

static ptx_value apply_unary(uint32_t op, ptx_value v)
{
    switch (op) {
    case '-': return negate(v);
    case '!': return int_value(v.kind == PTX_VALUE_INT ? !v.bits : as_double(v) == 0.0, false);
    case '~': return int_value(~v.bits, v.is_unsigned);
    default: return v.kind == PTX_VALUE_INT ? int_value(v.bits, v.is_unsigned) : v;
    }
}

static ptx_value parse_unary(ptx_parser *p)
{
    if (!ptx_is(&p->lex, '-') && !ptx_is(&p->lex, '+') && !ptx_is(&p->lex, '!') &&
        !ptx_is(&p->lex, '~'))
        return parse_primary(p, parse_unary);
    uint32_t op = p->lex.tok.punct;
    ptx_next(&p->lex);
    ptx_value v = enter_nesting(p) ? parse_unary(p) : int_value(0, false);
    p->nesting--;
    return apply_unary(op, v);
}

static int precedence(const ptx_token *tok)
{
    if (tok->kind != TOK_PUNCT)
        return 0;
    switch (tok->punct) {
    case '*':
    case '/':
    case '%': return 10;
    case '+':
    case '-': return 9;
    case PUNCT2('<', '<'):
    case PUNCT2('>', '>'): return 8;
    case '<':
    case '>':
    case PUNCT2('<', '='):
    case PUNCT2('>', '='): return 7;
    case PUNCT2('=', '='):
    case PUNCT2('!', '='): return 6;
    case '&': return 5;
    case '^': return 4;
    case '|': return 3;
    case PUNCT2('&', '&'): return 2;
    case PUNCT2('|', '|'): return 1;
    default: return 0;
    }
}

static ptx_value float_binary(ptx_parser *p, uint32_t op, double a, double b)
{
    switch (op) {
    case '*': return double_value(a * b);
    case '/': return double_value(a / b);
    case '+': return double_value(a + b);
    case '-': return double_value(a - b);
    case '<': return int_value(a < b, false);
    case '>': return int_value(a > b, false);
    case PUNCT2('<', '='): return int_value(a <= b, false);
    case PUNCT2('>', '='): return int_value(a >= b, false);
    case PUNCT2('=', '='): return int_value(a == b, false);
    case PUNCT2('!', '='): return int_value(a != b, false);
    case PUNCT2('&', '&'): return int_value(a != 0.0 && b != 0.0, false);
    case PUNCT2('|', '|'): return int_value(a != 0.0 || b != 0.0, false);
    default:
        ptx_fail(p, "this operator takes no floating-point numbers");
        return int_value(0, false);
    }
}

static uint64_t divide(ptx_parser *p, uint32_t op, uint64_t a, uint64_t b, bool is_unsigned)
{
    if (b == 0) {
        ptx_fail(p, "division by zero in a constant expression");
        return 0;
    }
    if (is_unsigned)
        return op == '/' ? a / b : a % b;
    if (b == UINT64_MAX) /* -1; the smallest number has no negative */
        return op == '/' ? 0 - a : 0;
    return (uint64_t)(op == '/' ? (int64_t)a / (int64_t)b : (int64_t)a % (int64_t)b);
}

static uint64_t shift_constant(uint32_t op, uint64_t a, uint64_t by, bool is_unsigned)
{
    if (op == PUNCT2('<', '<'))
        return by < 64 ? a << by : 0;
    if (is_unsigned)
        return by < 64 ? a >> by : 0;
    return (uint64_t)((int64_t)a >> (by < 64 ? by : 63));
}

static bool is_less_constant(uint64_t a, uint64_t b, bool is_unsigned)
{
    return is_unsigned ? a < b : (int64_t)a < (int64_t)b;
}

static ptx_value int_binary(ptx_parser *p, uint32_t op, ptx_value x, ptx_value y)
{
    uint64_t a = x.bits, b = y.bits;
    bool u = x.is_unsigned || y.is_unsigned;
    switch (op) {
    case '*': return int_value(a * b, u);
    case '/':
    case '%': return int_value(divide(p, op, a, b, u), u);
    case '+': return int_value(a + b, u);
    case '-': return int_value(a - b, u);
    case PUNCT2('<', '<'):
    case PUNCT2('>', '>'): return int_value(shift_constant(op, a, b, x.is_unsigned), x.is_unsigned);
    case '<': return int_value(is_less_constant(a, b, u), false);
    case '>': return int_value(is_less_constant(b, a, u), false);
    case PUNCT2('<', '='): return int_value(!is_less_constant(b, a, u), false);
    case PUNCT2('>', '='): return int_value(!is_less_constant(a, b, u), false);
    case PUNCT2('=', '='): return int_value(a == b, false);
    case PUNCT2('!', '='): return int_value(a != b, false);
    case '&': return int_value(a & b, u);
    case '^': return int_value(a ^ b, u);
    case '|': return int_value(a | b, u);
    case PUNCT2('&', '&'): return int_value(a && b, false);
    default: return int_value(a || b, false);
    }
}

static ptx_value parse_binary(ptx_parser *p, int least)
{
    ptx_value left = parse_unary(p);
    for (int rank; (rank = precedence(&p->lex.tok)) >= least && rank > 0;) {
        uint32_t op = p->lex.tok.punct;
        ptx_next(&p->lex);
        ptx_value right = parse_binary(p, rank + 1);
        left = left.kind == PTX_VALUE_INT && right.kind == PTX_VALUE_INT
                   ? int_binary(p, op, left, right)
                   : float_binary(p, op, as_double(left), as_double(right));
    }
    return left;
}

static ptx_value parse_ternary(ptx_parser *p)
{
    ptx_value v = enter_nesting(p) ? parse_binary(p, 1) : int_value(0, false);
    if (ptx_accept(&p->lex, '?')) {
        ptx_value yes = parse_ternary(p);
        ptx_expect(&p->lex, ':', "between the values of '?'");
        ptx_value no = parse_ternary(p);
        v = (v.kind == PTX_VALUE_INT ? v.bits != 0 : as_double(v) != 0.0) ? yes : no;
        v.hex = false;
    }
    p->nesting--;
    return v;
}

/* The smallest number is written like nvcc does, with a sign, whichever way it was computed. */
static ptx_value normal(ptx_value v)
{
    if (v.kind == PTX_VALUE_INT && v.bits == 1ull << 63)
        v.is_unsigned = false;
    if (v.kind == PTX_VALUE_F32)
        v.bits = (uint32_t)v.bits;
    return v;
}

ptx_value ptx_parse_const(ptx_parser *p)
{
    return normal(parse_ternary(p));
}

static uint64_t checked_count(ptx_parser *p, ir_pos pos, ptx_value v, const char *what,
                              uint64_t limit)
{
    if (p->lex.failed)
        return 0;
    if (v.kind != PTX_VALUE_INT || (!v.is_unsigned && (int64_t)v.bits < 0)) {
        ptx_fail_pos(p, pos, "%s is a non-negative integer", what);
        return 0;
    }
    if (v.bits > limit) {
        ptx_fail_at(&p->lex, pos, WL_LIMIT, NULL, "%s is at most %llu", what,
                    (unsigned long long)limit);
        return 0;
    }
    return v.bits;
}

uint64_t ptx_parse_count(ptx_parser *p, const char *what, uint64_t limit)
{
    ir_pos pos = ptx_tok_pos(&p->lex);
    return checked_count(p, pos, ptx_parse_const(p), what, limit);
}

uint64_t ptx_parse_angle_count(ptx_parser *p, const char *what, uint64_t limit)
{
    ir_pos pos = ptx_tok_pos(&p->lex);
    uint64_t count = checked_count(p, pos, parse_unary(p), what, limit);
    ptx_expect(&p->lex, '>', "after the count");
    return count;
}
