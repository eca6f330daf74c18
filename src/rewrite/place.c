/* Values that follow from a thread's place in its block: from %tid, %ntid, the lane, constants and the addresses of shared
 * variables. What is counted by such a value need not be measured where it is computed: the host computes it for each thread
 * (GMProf's static determination, for any arithmetic on integers). */
#include "rewrite/internal.h"

#include <stdlib.h>
#include <string.h>

enum { MAX_DEPTH = 64 /* of operations within one another */ };

/* ---- operations ---- */

static unsigned bits_of(ptx_type type)
{
    return ptx_type_get(type)->kind == PTX_KIND_P ? 1 : ptx_type_get(type)->bits;
}

static bool is_integer(ptx_type type)
{
    const ptx_type_info *info = ptx_type_get(type);
    bool integer = info->kind == PTX_KIND_U || info->kind == PTX_KIND_S || info->kind == PTX_KIND_B;
    return info->kind == PTX_KIND_P || (integer && info->lanes == 1 && info->bits >= 8);
}

static uint64_t cut(uint64_t x, unsigned bits)
{
    return bits >= 64 ? x : x & ((UINT64_C(1) << bits) - 1);
}

/* The lowest bits of x as a number of that type, in 64 bits. */
static uint64_t as(ptx_type type, uint64_t x)
{
    unsigned bits = bits_of(type);
    uint64_t sign = UINT64_C(1) << (bits - 1);
    x = cut(x, bits);
    return ptx_type_get(type)->kind == PTX_KIND_S && bits < 64 ? (x ^ sign) - sign : x;
}

static bool less(ptx_type type, uint64_t a, uint64_t b)
{
    return ptx_type_get(type)->kind == PTX_KIND_S ? (int64_t)a < (int64_t)b : a < b;
}

static uint64_t shift(const ptx_insn *i, uint64_t x, uint64_t by)
{
    unsigned bits = bits_of(i->types[0]);
    bool negative = ptx_type_get(i->types[0])->kind == PTX_KIND_S && (int64_t)x < 0;
    by = cut(by, 32);
    if (i->op == PTX_shl)
        return by < bits ? x << by : 0;
    if (by >= bits)
        return negative ? UINT64_MAX : 0;
    return negative ? ~(~x >> by) : x >> by;
}

static bool compare(const ptx_insn *i, uint64_t a, uint64_t b)
{
    bool below = less(i->types[0], a, b), above = less(i->types[0], b, a);
    switch (ptx_first_of(i, PTX_SC_CMP)) {
    case PTX_S_eq: return a == b;
    case PTX_S_ne: return a != b;
    case PTX_S_lt: return below;
    case PTX_S_lo: return a < b;
    case PTX_S_le: return !above;
    case PTX_S_ls: return a <= b;
    case PTX_S_gt: return above;
    case PTX_S_hi: return a > b;
    case PTX_S_ge: return !below;
    default: return a >= b; /* hs */
    }
}

static uint64_t test(const ptx_insn *i, const uint64_t *in)
{
    bool first = compare(i, in[1], in[2]);
    switch (ptx_first_of(i, PTX_SC_BOOL)) {
    case PTX_S_and: return first && in[3];
    case PTX_S_or: return first || in[3];
    case PTX_S_xor: return first != (bool)in[3];
    default: return first;
    }
}

/* in[n]: operand n, as a number of its type. */
static uint64_t compute(const ptx_insn *i, const uint64_t *in)
{
    switch (i->op) {
    case PTX_add: return in[1] + in[2];
    case PTX_sub: return in[1] - in[2];
    case PTX_mul: return in[1] * in[2];
    case PTX_mad: return in[1] * in[2] + in[3];
    case PTX_and: return in[1] & in[2];
    case PTX_or: return in[1] | in[2];
    case PTX_xor: return in[1] ^ in[2];
    case PTX_not: return i->types[0] == PTX_T_pred ? !in[1] : ~in[1];
    case PTX_neg: return -in[1];
    case PTX_shl:
    case PTX_shr: return shift(i, in[1], in[2]);
    case PTX_min: return less(i->types[0], in[2], in[1]) ? in[2] : in[1];
    case PTX_max: return less(i->types[0], in[1], in[2]) ? in[2] : in[1];
    case PTX_setp: return test(i, in);
    case PTX_selp: return in[3] ? in[1] : in[2];
    default: return in[1]; /* mov, cvt */
    }
}

static bool is_known_op(const ptx_insn *i)
{
    switch (i->op) {
    case PTX_mov:
    case PTX_cvt:
    case PTX_add:
    case PTX_sub:
    case PTX_mul:
    case PTX_mad:
    case PTX_and:
    case PTX_or:
    case PTX_xor:
    case PTX_not:
    case PTX_neg:
    case PTX_shl:
    case PTX_shr:
    case PTX_min:
    case PTX_max:
    case PTX_setp:
    case PTX_selp: break;
    default: return false;
    }
    bool types = is_integer(i->types[0]) && (i->op != PTX_cvt || is_integer(i->types[1]));
    bool high = ptx_has(i, PTX_S_hi) && i->op != PTX_setp,
         two = i->op == PTX_min || i->op == PTX_max;
    return types && !high && !ptx_has(i, PTX_S_sat) && !ptx_has(i, PTX_S_cc) &&
           !ptx_has(i, PTX_S_relu) && !ptx_has(i, PTX_S_pack) &&
           i->noperands <= (two ? 3 : RW_PLACE_OPERANDS);
}

static unsigned result_bits(const ptx_insn *i)
{
    bool wide = (i->op == PTX_mul || i->op == PTX_mad) && ptx_has(i, PTX_S_wide);
    return i->op == PTX_setp ? 1 : bits_of(i->types[0]) << wide;
}

/* What operand n is a number of. The last ones of setp and selp are predicates. */
static ptx_type type_of(const ptx_insn *i, uint32_t n)
{
    if (n == 3 && (i->op == PTX_setp || i->op == PTX_selp))
        return PTX_T_pred;
    if (n == 2 && (i->op == PTX_shl || i->op == PTX_shr))
        return PTX_T_u32;
    if (n == 3 && i->op == PTX_mad && ptx_has(i, PTX_S_wide))
        return PTX_T_u64;
    return i->op == PTX_cvt ? i->types[1] : i->types[0];
}

/* ---- which values ---- */

static uint32_t value_read(const flow_function *f, const ptx_insn *i, const ptx_operand *o)
{
    for (uint32_t u = f->use_first[i->pc]; u < f->use_first[i->pc + 1]; u++)
        if (f->values[f->uses[u].value].reg == o->reg)
            return f->uses[u].value;
    return FLOW_NONE;
}

static bool is_place(const ptx_operand *o)
{
    return (o->sreg == PTX_SR_laneid && !o->component) ||
           ((o->sreg == PTX_SR_tid || o->sreg == PTX_SR_ntid) && o->component >= 1 &&
            o->component <= 3);
}

static bool follows(rw_plan *p, const flow_function *f, uint32_t value, unsigned depth);

static bool operand_follows(rw_plan *p, const flow_function *f, const ptx_insn *i,
                            const ptx_operand *o, unsigned depth)
{
    switch (o->kind) {
    case PTX_OPD_INT: return true;
    case PTX_OPD_SREG: return is_place(o);
    case PTX_OPD_SYM: return o->has_sym && rw_var_listed(p, &o->sym) != PTX_NONE;
    case PTX_OPD_REG: break;
    default: return false;
    }
    bool negated = o->neg && ptx_type_get(f->func->regs[o->reg].type)->kind != PTX_KIND_P;
    uint32_t value = o->component || negated ? FLOW_NONE : value_read(f, i, o);
    return value != FLOW_NONE && follows(p, f, value, depth + 1);
}

static bool insn_follows(rw_plan *p, const flow_function *f, const flow_value *v, unsigned depth)
{
    const ptx_insn *i = &f->func->insns[v->insn];
    if (v->old != FLOW_NONE || f->def_first[v->insn + 1] - f->def_first[v->insn] != 1 ||
        f->unknown[v->insn] || i->operands[0].kind != PTX_OPD_REG || i->operands[0].component ||
        !is_known_op(i) || result_bits(i) != bits_of(f->func->regs[v->reg].type))
        return false;
    for (uint32_t n = 1; n < i->noperands; n++)
        if (!operand_follows(p, f, i, &i->operands[n], depth))
            return false;
    return true;
}

static bool follows(rw_plan *p, const flow_function *f, uint32_t value, unsigned depth)
{
    uint8_t *known = &p->placed[value];
    const flow_value *v = &f->values[value];
    if (!*known && depth < MAX_DEPTH)
        *known = v->kind == FLOW_VALUE_INSN && insn_follows(p, f, v, depth) ? 1 : 2;
    return *known == 1;
}

bool rw_placed(rw_plan *p, const flow_function *f, uint32_t value)
{
    return f->index == 0 && follows(p, f, value, 0);
}

/* ---- for one thread ---- */

static uint64_t special(const rw_place *place, const ptx_operand *o)
{
    uint32_t axis = o->component - 1u;
    if (o->sreg == PTX_SR_laneid)
        return ((place->tid[2] * place->ntid[1] + place->tid[1]) * place->ntid[0] + place->tid[0]) %
               REWRITE_LANES;
    return o->sreg == PTX_SR_tid ? place->tid[axis] : place->ntid[axis];
}

static uint64_t operand_value(rw_place *place, const flow_function *f, const ptx_insn *i,
                              const ptx_operand *o)
{
    switch (o->kind) {
    case PTX_OPD_INT: return o->imm;
    case PTX_OPD_SREG: return special(place, o);
    case PTX_OPD_SYM: return place->vars[rw_var_listed(place->plan, &o->sym)] + o->imm;
    default: break;
    }
    uint64_t value = rw_place_value(place, f, value_read(f, i, o));
    return o->neg ? !value : value;
}

uint64_t rw_place_value(rw_place *place, const flow_function *f, uint32_t value)
{
    const ptx_insn *i = &f->func->insns[f->values[value].insn];
    uint64_t in[RW_PLACE_OPERANDS] = {0};
    if (place->stamp[value] == place->now)
        return place->values[value];
    for (uint32_t n = 1; n < i->noperands; n++)
        in[n] = as(type_of(i, n), operand_value(place, f, i, &i->operands[n]));
    place->values[value] = cut(compute(i, in), result_bits(i));
    place->stamp[value] = place->now;
    return place->values[value];
}

rw_place *rw_place_new(const rewrite_copy *c)
{
    const rewrite_kernel *k = c->kernel;
    size_t values = k->plan->flow->funcs[0].nvalues + 1;
    rw_place *place = calloc(1, sizeof *place);
    uint64_t *numbers = calloc(values + k->nvars, sizeof *numbers);
    uint32_t *stamp = calloc(values, sizeof *stamp);
    if (!place || !numbers || !stamp) {
        free(place), free(numbers), free(stamp);
        return NULL;
    }
    for (uint32_t i = 0; i < k->nvars; i++)
        numbers[values + i] = rewrite_var_address(c, i);
    *place = (rw_place){
        .plan = k->plan, .values = numbers, .vars = numbers + values, .stamp = stamp};
    memcpy(place->ntid, c->layout->threads, sizeof place->ntid);
    return place;
}

void rw_place_thread(rw_place *place, uint32_t thread)
{
    place->tid[0] = thread % place->ntid[0];
    place->tid[1] = thread / place->ntid[0] % place->ntid[1];
    place->tid[2] = thread / place->ntid[0] / place->ntid[1];
    place->now = thread + 1;
}

void rw_place_free(rw_place *place)
{
    if (!place)
        return;
    free(place->values), free(place->stamp);
    free(place);
}
