/* Values that follow from a thread's place in its block: from %tid, %ntid, the lane, constants and
 * the addresses of shared variables; and those that follow from the launch: from its place in the
 * grid and the parameters, too. What is counted by such a value need not be measured where it is
 * computed: the host computes it for each thread (GMProf's static determination, for any arithmetic
 * on integers). For all threads of a part of the grid at once it computes spans (span.c). */
#include "rewrite/plan/plan.h"

#include <stdlib.h>
#include <string.h>

enum { MAX_DEPTH = 64 /* of operations within one another */ };

/* ---- which values ---- */

static uint32_t value_read(const flow_function *f, const ir_insn *i, const ir_operand *o)
{
    for (uint32_t u = f->use_first[i->pc]; u < f->use_first[i->pc + 1]; u++)
        if (f->values[f->uses[u].value].reg == o->reg)
            return f->uses[u].value;
    return FLOW_NONE;
}

/* How far threads have to be known for a value. */
enum { OF_PLACE = 1, OF_LAUNCH, UNKNOWN }; /* 0 in plan->control->follows: nobody has looked */

static uint8_t level_of_sreg(const ir_operand *o)
{
    if (o->sreg == IR_SR_laneid && !o->component)
        return OF_PLACE;
    if (o->component < 1 || o->component > 3)
        return UNKNOWN;
    if (o->sreg == IR_SR_tid || o->sreg == IR_SR_ntid)
        return OF_PLACE;
    return o->sreg == IR_SR_ctaid || o->sreg == IR_SR_nctaid ? OF_LAUNCH : UNKNOWN;
}

/* Where the integer that the instruction loads lies among the kernel's parameters, or IR_NONE. */
static uint32_t param_at(const rw_plan *p, const ir_insn *i)
{
    const ir_func *kernel = p->code.funcs[0];
    if (i->op != IR_ld || i->space != IR_SPACE_PARAM)
        return IR_NONE;
    const ir_operand *from = &i->operands[1];
    if (i->vector > 1 || !rw_is_integer(i->types[0]) || from->kind != IR_OPD_ADDR ||
        from->reg != IR_NONE || !from->has_sym || from->sym.kind != IR_SYM_VAR ||
        from->imm > UINT16_MAX)
        return IR_NONE;
    for (uint32_t n = 0; n < kernel->nparams; n++)
        if (kernel->params[n] == from->sym.var)
            return rw_param_at(kernel, n) + (uint32_t)from->imm;
    return IR_NONE;
}

static uint8_t level_of_value(rw_plan *p, const flow_function *f, uint32_t value, unsigned depth);

static uint8_t level_of_operand(rw_plan *p, const flow_function *f, const ir_insn *i,
                                const ir_operand *o, unsigned depth)
{
    switch (o->kind) {
    case IR_OPD_INT: return OF_PLACE;
    case IR_OPD_SREG: return level_of_sreg(o);
    case IR_OPD_SYM: return o->has_sym && rw_var_listed(p, &o->sym) != IR_NONE ? OF_PLACE : UNKNOWN;
    case IR_OPD_REG: break;
    default: return UNKNOWN;
    }
    bool negated = o->neg && ir_type_get(f->func->regs[o->reg].type)->kind != IR_KIND_P;
    uint32_t value = o->component || negated ? FLOW_NONE : value_read(f, i, o);
    return value != FLOW_NONE ? level_of_value(p, f, value, depth + 1) : UNKNOWN;
}

static uint8_t level_of_insn(rw_plan *p, const flow_function *f, const flow_value *v,
                             unsigned depth)
{
    const ir_insn *i = &f->func->insns[v->insn];
    unsigned bits = rw_bits_of(f->func->regs[v->reg].type);
    uint8_t level = OF_PLACE;
    if (v->old != FLOW_NONE || f->def_first[v->insn + 1] - f->def_first[v->insn] != 1 ||
        f->unknown[v->insn] || i->operands[0].kind != IR_OPD_REG || i->operands[0].component)
        return UNKNOWN;
    if (param_at(p, i) != IR_NONE)
        return rw_bits_of(i->types[0]) <= bits ? OF_LAUNCH : UNKNOWN;
    if (!rw_op_is_known(i) || rw_result_bits(i) != bits)
        return UNKNOWN;
    for (uint32_t n = 1; n < i->noperands && level != UNKNOWN; n++) {
        uint8_t one = level_of_operand(p, f, i, &i->operands[n], depth);
        level = one > level ? one : level;
    }
    return level;
}

static uint8_t level_of_value(rw_plan *p, const flow_function *f, uint32_t value, unsigned depth)
{
    uint8_t *known = &p->control->follows[value];
    const flow_value *v = &f->values[value];
    if (!*known && depth < MAX_DEPTH)
        *known = v->kind == FLOW_VALUE_INSN ? level_of_insn(p, f, v, depth) : UNKNOWN;
    return *known ? *known : UNKNOWN;
}

bool rw_follows_thread(rw_plan *p, const flow_function *f, uint32_t value)
{
    return f->index == 0 && level_of_value(p, f, value, 0) == OF_PLACE;
}

bool rw_follows_launch(rw_plan *p, const flow_function *f, uint32_t value)
{
    return f->index == 0 && level_of_value(p, f, value, 0) <= OF_LAUNCH;
}

/* ---- of one thread, or of several ---- */

static rw_interval one(uint64_t x)
{
    return (rw_interval){x, x};
}

/* Of %tid and %ctaid: those of the threads at hand. */
static rw_interval on_axis(rw_eval *eval, unsigned axis)
{
    eval->asked |= (eval->axes[axis].low != eval->axes[axis].high) << axis;
    return eval->axes[axis];
}

static rw_interval lane_of(rw_eval *eval)
{
    uint64_t at = 0;
    uint32_t before = eval->asked;
    eval->asked = 0;
    for (unsigned axis = 3; axis-- > 0;)
        at = at * eval->ntid[axis] + on_axis(eval, axis).low;
    bool exact = !eval->asked;
    eval->asked |= before;
    return exact ? one(at % REWRITE_LANES) : (rw_interval){0, REWRITE_LANES - 1};
}

static rw_interval span_of_sreg(rw_eval *eval, const ir_operand *o)
{
    unsigned axis = o->component - 1u;
    bool of_grid = o->sreg == IR_SR_ctaid || o->sreg == IR_SR_nctaid;
    if (of_grid && !eval->nctaid[axis])
        return (rw_interval){0, UINT32_MAX};
    switch (o->sreg) {
    case IR_SR_laneid: return lane_of(eval);
    case IR_SR_tid: return on_axis(eval, axis);
    case IR_SR_ctaid: return on_axis(eval, REWRITE_AXES + axis);
    case IR_SR_ntid: return one(eval->ntid[axis]);
    default: return one(eval->nctaid[axis]);
    }
}

static rw_interval parameter(const rw_eval *eval, const ir_insn *i, unsigned bits)
{
    uint64_t x = 0;
    uint32_t at = param_at(eval->plan, i), bytes = rw_bits_of(i->types[0]) / 8;
    if (at + (uint64_t)bytes > eval->nparams)
        return (rw_interval){0, rw_extended(IR_T_u64, UINT64_MAX, bits)};
    memcpy(&x, (const char *)eval->params + at, bytes);
    return one(rw_extended(i->types[0], x, bits));
}

static rw_interval operand_span(rw_eval *eval, const flow_function *f, const ir_insn *i, uint32_t n)
{
    const ir_operand *o = &i->operands[n];
    ir_type type = rw_operand_type(i, n);
    switch (o->kind) {
    case IR_OPD_INT: return one(rw_extended(type, o->imm, rw_bits_of(type)));
    case IR_OPD_SREG: return span_of_sreg(eval, o);
    case IR_OPD_SYM: return one(eval->vars[rw_var_listed(eval->plan, &o->sym)] + o->imm);
    default: break;
    }
    rw_interval s = rw_eval_interval(eval, f, value_read(f, i, o));
    return o->neg ? (rw_interval){!s.high, !s.low} : s;
}

rw_interval rw_eval_interval(rw_eval *eval, const flow_function *f, uint32_t value)
{
    const flow_value *v = &f->values[value];
    const ir_insn *i = &f->func->insns[v->insn];
    rw_interval in[RW_MAX_OPERANDS] = {0};
    if (eval->stamp[value] == eval->now)
        return eval->values[value];
    eval->stamp[value] = eval->now;
    if (param_at(eval->plan, i) != IR_NONE)
        return eval->values[value] = parameter(eval, i, rw_bits_of(f->func->regs[v->reg].type));
    for (uint32_t n = 1; n < i->noperands; n++)
        in[n] = operand_span(eval, f, i, n);
    return eval->values[value] = rw_interval_of(i, in);
}

uint64_t rw_eval_value(rw_eval *eval, const flow_function *f, uint32_t value)
{
    return rw_eval_interval(eval, f, value).low;
}

rw_eval *rw_eval_new(const rewrite_copy *c)
{
    const rewrite_kernel *k = c->kernel;
    size_t values = k->plan->flow->funcs[0].nvalues + 1;
    rw_eval *eval = calloc(1, sizeof *eval);
    rw_interval *spans = calloc(values, sizeof *spans);
    uint64_t *vars = calloc(k->nvars + 1, sizeof *vars);
    uint32_t *stamp = calloc(values, sizeof *stamp);
    if (!eval || !spans || !vars || !stamp) {
        free(eval), free(spans), free(vars), free(stamp);
        return NULL;
    }
    for (uint32_t i = 0; i < k->nvars; i++)
        vars[i] = rewrite_var_address(c, i);
    *eval = (rw_eval){.plan = k->plan,
                      .vars = vars,
                      .values = spans,
                      .stamp = stamp,
                      .params = c->params,
                      .nparams = c->nparams};
    for (unsigned i = 0; i < REWRITE_AXES; i++) {
        eval->ntid[i] = c->layout->threads[i];
        eval->nctaid[i] = c->grid[i];
        eval->axes[i].high = eval->ntid[i] ? eval->ntid[i] - 1 : 0;
        eval->axes[REWRITE_AXES + i].high = eval->nctaid[i] ? eval->nctaid[i] - 1 : 0;
    }
    return eval;
}

void rw_eval_thread(rw_eval *eval, uint32_t thread)
{
    eval->axes[0] = one(thread % eval->ntid[0]);
    eval->axes[1] = one(thread / eval->ntid[0] % eval->ntid[1]);
    eval->axes[2] = one(thread / eval->ntid[0] / eval->ntid[1]);
    eval->now++;
}

void rw_eval_free(rw_eval *eval)
{
    if (!eval)
        return;
    free(eval->values), free(eval->vars), free(eval->stamp);
    free(eval);
}

/* ---- whether any thread does something ---- */

enum { MOST_PARTS = 1 << 17 /* that the grid is taken apart into */ };

/* The axis that decided and is the longest, or -1. */
static int longest(const rw_eval *eval)
{
    int found = -1;
    uint64_t most = 0;
    for (int axis = 0; axis < 2 * REWRITE_AXES; axis++) {
        uint64_t length = eval->axes[axis].high - eval->axes[axis].low;
        if (eval->asked >> axis & 1 && length > most)
            most = length, found = axis;
    }
    return found;
}

/* Takes a part of the grid in two halves where its threads differ. */
static rw_answer search(rw_eval *eval, rw_question *ask, const void *about, uint32_t *left)
{
    if (!*left)
        return RW_PERHAPS;
    --*left;
    eval->now++;
    eval->asked = 0;
    rw_answer answer = ask(eval, about);
    int axis = longest(eval);
    if (answer != RW_PERHAPS || axis < 0)
        return answer;
    rw_interval all = eval->axes[axis];
    uint64_t middle = all.low + (all.high - all.low) / 2;
    eval->axes[axis].high = middle;
    answer = search(eval, ask, about, left);
    if (answer != RW_YES) {
        eval->axes[axis] = (rw_interval){middle + 1, all.high};
        rw_answer other = search(eval, ask, about, left);
        answer = other == RW_NO ? answer : other;
    }
    eval->axes[axis] = all;
    return answer;
}

rw_answer rw_any_thread(const rewrite_copy *c, rw_question *ask, const void *about)
{
    uint32_t left = MOST_PARTS;
    rw_eval *eval = rw_eval_new(c);
    rw_answer answer = eval ? search(eval, ask, about, &left) : RW_PERHAPS;
    rw_eval_free(eval);
    return answer;
}
