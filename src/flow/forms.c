/* Linear forms of values. */
#include "flow/affine.h"

typedef struct state {
    flow_kernel *k;
    flow_function *f;
    const ir_insn *insn;
    const flow_affine **step; /* [nvalues] of phis that count a loop's iterations */
} state;

static const flow_affine *opaque(state *s, uint32_t value)
{
    return flow_affine_symbol(&s->k->mem, (flow_symbol){FLOW_SYM_VALUE, value, 0});
}

/* ---- operands ---- */

/* The form of operand n. Registers are found by number among the uses: each use of one register in
 * an instruction reads the same value. */
static const flow_affine *operand_form(state *s, uint32_t n)
{
    const ir_operand *o = &s->insn->operands[n];
    switch (o->kind) {
    case IR_OPD_INT: return flow_affine_constant(&s->k->mem, (int64_t)o->imm);
    case IR_OPD_SREG:
        return flow_affine_symbol(&s->k->mem, (flow_symbol){FLOW_SYM_SREG, o->sreg, o->component});
    case IR_OPD_SYM:
        if (o->sym.kind != IR_SYM_VAR)
            return NULL;
        return flow_affine_add(
            &s->k->mem,
            flow_affine_symbol(&s->k->mem,
                               (flow_symbol){FLOW_SYM_BASE, flow_object_of(s->k, o->sym.var), 0}),
            flow_affine_constant(&s->k->mem, (int64_t)o->imm), 1);
    case IR_OPD_REG: break;
    default: return NULL;
    }
    for (uint32_t u = s->f->use_first[s->insn->pc];
         u < s->f->use_first[s->insn->pc + 1] && !o->component; u++)
        if (s->f->values[s->f->uses[u].value].reg == o->reg)
            return s->f->affine[s->f->uses[u].value];
    return NULL;
}

static bool is_scalar_integer(ir_type type)
{
    ir_kind kind = ir_type_get(type)->kind;
    return (kind == IR_KIND_U || kind == IR_KIND_S || kind == IR_KIND_B) &&
           ir_type_get(type)->lanes == 1 && ir_type_get(type)->bits >= 16;
}

/* ---- values in two registers ---- */

/* The instruction that defines the register that `insn` reads; NULL: several ways lead there. */
static const ir_insn *definition(const flow_function *f, const ir_insn *insn, const ir_operand *o)
{
    for (uint32_t u = f->use_first[insn->pc]; u < f->use_first[insn->pc + 1]; u++) {
        const flow_value *v = &f->values[f->uses[u].value];
        if (o->kind == IR_OPD_REG && v->reg == o->reg && v->kind == FLOW_VALUE_INSN &&
            v->old == FLOW_NONE)
            return &f->func->insns[v->insn];
    }
    return NULL;
}

/* Likewise, or what the value was moved from there. */
static const ir_insn *first_definition(const flow_function *f, const ir_insn *insn,
                                       const ir_operand *o)
{
    const ir_insn *found = definition(f, insn, o);
    bool moves = found && found->op == IR_mov && found->operands[0].kind == IR_OPD_REG &&
                 found->operands[1].kind == IR_OPD_REG;
    const ir_insn *before = moves ? definition(f, found, &found->operands[1]) : NULL;
    return before ? before : found;
}

/* "mov.b64 {low, high}, d": its d. */
static const ir_operand *unpacked(const ir_insn *insn, const ir_operand *low,
                                  const ir_operand *high)
{
    const ir_operand *to = &insn->operands[0];
    bool both = insn->op == IR_mov && to->kind == IR_OPD_VEC && to->count == 2 &&
                to->items[0].kind == IR_OPD_REG && to->items[0].reg == low->reg &&
                to->items[1].kind == IR_OPD_REG && to->items[1].reg == high->reg;
    return both && insn->operands[1].kind == IR_OPD_REG ? &insn->operands[1] : NULL;
}

/* Two words of a parameter, the higher one next to the lower. */
static bool are_halves(const ir_insn *low, const ir_insn *high)
{
    const ir_operand *a = &low->operands[1], *b = &high->operands[1];
    return low->op == IR_ld && high->op == IR_ld && ir_type_get(low->types[0])->bits == 32 &&
           ir_type_get(high->types[0])->bits == 32 && a->has_sym && b->has_sym &&
           a->sym.var == b->sym.var && b->imm == a->imm + 4;
}

static const flow_affine *parameter(state *s);

static const flow_affine *joined_parameter(state *s, const ir_insn *low, const ir_insn *high)
{
    s->insn = low;
    return low && high && are_halves(low, high) ? parameter(s) : NULL;
}

/* Of "mov.b64 d, {low, high}", as machine code has addresses: what was taken apart, or a parameter of 64 bits that
 * was loaded in halves. */
static const flow_affine *packed(state *s)
{
    const ir_insn *insn = s->insn;
    const ir_operand *from = &insn->operands[1];
    const ir_insn *low = from->count == 2 ? definition(s->f, insn, &from->items[0]) : NULL,
                  *high = from->count == 2 ? definition(s->f, insn, &from->items[1]) : NULL;
    const ir_operand *whole = low && low == high ? unpacked(low, &from->items[0], &from->items[1])
                                                 : NULL;
    const flow_affine *form = NULL;
    s->insn = low;
    if (whole)
        form = operand_form(s, 1);
    else if (from->count == 2)
        form = joined_parameter(s, first_definition(s->f, insn, &from->items[0]),
                                first_definition(s->f, insn, &from->items[1]));
    s->insn = insn;
    return form;
}

/* ---- instructions ---- */

static const flow_affine *product(state *s, uint32_t a, uint32_t b)
{
    return flow_affine_mul(&s->k->mem, operand_form(s, a), operand_form(s, b));
}

static const flow_affine *shifted(state *s)
{
    const ir_operand *by = &s->insn->operands[2];
    if (by->kind != IR_OPD_INT || by->imm > 62)
        return NULL;
    return flow_affine_mul(&s->k->mem, operand_form(s, 1),
                           flow_affine_constant(&s->k->mem, INT64_C(1) << by->imm));
}

static const flow_affine *parameter(state *s)
{
    const ir_operand *from = &s->insn->operands[1];
    const ir_func *kernel = s->k->code->funcs[0];
    if (s->insn->op != IR_ld || s->insn->space != IR_SPACE_PARAM || s->f->index != 0 ||
        s->insn->vector > 1 || from->reg != IR_NONE || !from->has_sym ||
        from->sym.kind != IR_SYM_VAR)
        return NULL;
    for (uint32_t p = 0; p < kernel->nparams; p++)
        if (kernel->params[p] == from->sym.var)
            return flow_affine_symbol(&s->k->mem,
                                      (flow_symbol){FLOW_SYM_PARAM, p, (uint32_t)from->imm});
    return NULL;
}

static const flow_affine *arithmetic(state *s)
{
    const ir_insn *insn = s->insn;
    flow_mem *mem = &s->k->mem;
    switch (insn->op) {
    case IR_mov:
    case IR_cvta: return insn->operands[1].kind == IR_OPD_VEC ? packed(s) : operand_form(s, 1);
    case IR_cvt:
        return is_scalar_integer(insn->types[1]) && !ir_has(insn, IR_S_sat) ? operand_form(s, 1)
                                                                            : NULL;
    case IR_add:
        return ir_has(insn, IR_S_sat)
                   ? NULL
                   : flow_affine_add(mem, operand_form(s, 1), operand_form(s, 2), 1);
    case IR_sub:
        return ir_has(insn, IR_S_sat)
                   ? NULL
                   : flow_affine_add(mem, operand_form(s, 1), operand_form(s, 2), -1);
    case IR_neg: return flow_affine_add(mem, flow_affine_constant(mem, 0), operand_form(s, 1), -1);
    case IR_mul: return ir_has(insn, IR_S_hi) ? NULL : product(s, 1, 2);
    case IR_mad:
        return ir_has(insn, IR_S_hi) || ir_has(insn, IR_S_sat)
                   ? NULL
                   : flow_affine_add(mem, product(s, 1, 2), operand_form(s, 3), 1);
    case IR_shl: return shifted(s);
    default: return NULL;
    }
}

/* Results of 32 bits, and those that are widened from them, hold as long as nothing overflows. */
static bool may_overflow(const ir_insn *insn)
{
    return insn->op != IR_mov && insn->op != IR_cvta &&
           (ir_type_get(insn->types[0])->bits < 64 || insn->op == IR_cvt);
}

static const flow_affine *form_of_insn(state *s, uint32_t value)
{
    const flow_value *v = &s->f->values[value];
    const flow_affine *form = NULL;
    s->insn = &s->f->func->insns[v->insn];
    bool single = s->f->def_first[v->insn + 1] - s->f->def_first[v->insn] == 1;
    if (v->old == FLOW_NONE && single && is_scalar_integer(s->insn->types[0])) {
        form = s->f->effects[v->insn] == IR_EFFECT_LOAD ? parameter(s) : arithmetic(s);
        if (form && s->f->effects[v->insn] != IR_EFFECT_LOAD && may_overflow(s->insn))
            form = flow_affine_narrow(&s->k->mem, form);
    }
    return form ? form : opaque(s, value);
}

/* ---- phis ---- */

/* The loop that the value's block heads, or FLOW_NONE. */
static uint32_t headed(const flow_function *f, uint32_t block)
{
    uint32_t l = f->loops.of[block];
    return l != FLOW_NONE && f->loops.loops[l].header == block ? l : FLOW_NONE;
}

/* The form that all arguments from inside (or outside) of the loop have; all of them where there is
 * none. */
static const flow_affine *common(state *s, const flow_value *v, uint32_t loop, bool inside)
{
    const flow_function *f = s->f;
    uint32_t first = f->graph.pred_first[v->block];
    const flow_affine *form = NULL;
    for (uint32_t p = first; p < f->graph.pred_first[v->block + 1]; p++) {
        if (loop != FLOW_NONE && flow_in_loop(&f->loops, loop, f->graph.pred[p]) != inside)
            continue;
        const flow_affine *one = f->affine[f->args[v->first_arg + p - first]];
        if (!one || (form && !flow_affine_equal(form, one)))
            return NULL;
        form = one;
    }
    return form;
}

static const flow_affine *form_of_phi(state *s, uint32_t value)
{
    const flow_value *v = &s->f->values[value];
    uint32_t loop = headed(s->f, v->block);
    if (loop == FLOW_NONE) {
        const flow_affine *same = common(s, v, FLOW_NONE, false);
        return same ? same : opaque(s, value);
    }
    const flow_affine *start = s->step[value] ? common(s, v, loop, false) : NULL;
    if (!start)
        return opaque(s, value);
    const flow_affine *iterations = flow_affine_symbol(&s->k->mem,
                                                       (flow_symbol){FLOW_SYM_LOOP, loop, 0});
    const flow_affine *form = flow_affine_add(
        &s->k->mem, start, flow_affine_mul(&s->k->mem, s->step[value], iterations), 1);
    bool wide = ir_type_get(s->f->func->regs[v->reg].type)->bits >= 64;
    form = wide ? form : flow_affine_narrow(&s->k->mem, form);
    return form ? form : opaque(s, value);
}

static bool plain_symbols(const flow_affine *a)
{
    for (uint32_t i = 0; i < a->nterms; i++)
        for (int n = 0; n < a->terms[i].nfactors; n++)
            if (a->terms[i].factors[n].kind == FLOW_SYM_VALUE ||
                a->terms[i].factors[n].kind == FLOW_SYM_LOOP)
                return false;
    return true;
}

/* A phi that comes back from the loop as itself plus something that every iteration adds. */
static void find_induction_steps(state *s)
{
    for (uint32_t v = 0; v < s->f->nvalues; v++) {
        const flow_value *value = &s->f->values[v];
        if (value->kind != FLOW_VALUE_PHI || headed(s->f, value->block) == FLOW_NONE ||
            value->reg == s->f->func->nregs)
            continue;
        const flow_affine *back = common(s, value, headed(s->f, value->block), true);
        int64_t coefficient;
        flow_symbol self = {FLOW_SYM_VALUE, v, 0};
        if (!back || !flow_affine_coefficient(back, self, &coefficient) || coefficient != 1)
            continue;
        const flow_affine *step = flow_affine_without(&s->k->mem, back, self);
        if (step && plain_symbols(step))
            s->step[v] = step;
    }
}

static void visit(state *s)
{
    flow_function *f = s->f;
    for (uint32_t b = 0; b < f->norder; b++) {
        uint32_t block = f->order[b];
        if (block == f->nblocks)
            continue;
        for (uint32_t i = f->phi_first[block]; i < f->phi_first[block + 1]; i++)
            f->affine[f->phis[i]] = form_of_phi(s, f->phis[i]);
        for (uint32_t i = f->blocks[block].first;
             i < f->blocks[block].first + f->blocks[block].count; i++)
            for (uint32_t d = f->def_first[i]; d < f->def_first[i + 1]; d++)
                f->affine[f->defs[d]] = form_of_insn(s, f->defs[d]);
    }
}

/* Needs: cfg, values. Fills: affine, trips.
 * Two walks in reverse postorder: the first takes every phi of a loop header for a symbol and finds
 * those that count, the second writes these as start + step * iterations. What has no form is a
 * symbol of its own. */
void flow_pass_affine(flow_kernel *k)
{
    for (uint32_t i = 0; i < k->code->count; i++) {
        state s = {.k = k, .f = &k->funcs[i]};
        s.f->affine = flow_new(&k->mem, const flow_affine *, s.f->nvalues);
        s.step = flow_new(&k->mem, const flow_affine *, s.f->nvalues);
        for (uint32_t v = 0; v < s.f->nvalues; v++)
            if (s.f->values[v].kind == FLOW_VALUE_ENTRY)
                s.f->affine[v] = opaque(&s, v);
        visit(&s);
        find_induction_steps(&s);
        visit(&s);
        flow_find_trips(k, s.f);
    }
}
