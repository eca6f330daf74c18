/* Atoms of predicates, what follows from what, and what holds in each block. */
#include "flow/predicates.h"

#include "flow/launch.h"

#include <string.h>

enum { MAX_STEPS = 24 }; /* literals that are looked at on the way from one to another */

typedef struct side {
    bool is_value;
    uint64_t what; /* a value, or the bits of a number */
} side;

/* A comparison, turned so that all ways to write it are one. */
typedef struct comparison {
    bool equal; /* else: below */
    bool is_signed;
    uint8_t bits;
    side a, b;
} comparison;

typedef struct builder {
    flow_kernel *k;
    flow_function *f;
    const ir_insn *insn;
    flow_list(flow_atom) atoms;
    flow_list(comparison) compared; /* of each atom; all zero for one that is a predicate's value */
    uint32_t *first;                /* [nvalues] the last atom that the value decides, or NONE */
    flow_list(uint32_t) next;       /* [atoms] */
    flow_list(flow_edge) implied;
} builder;

/* ---- atoms ---- */

static flow_literal new_atom(builder *b, const comparison *c, uint32_t x, uint32_t y)
{
    static const comparison none;
    uint32_t atom = b->atoms.count;
    flow_push(&b->k->mem, &b->atoms, (flow_atom){{x, y}});
    flow_push(&b->k->mem, &b->compared, c ? *c : none);
    flow_push(&b->k->mem, &b->next, b->first[x]);
    b->first[x] = atom;
    return 2 * atom;
}

static bool same_side(const side *x, const side *y)
{
    return x->is_value == y->is_value && x->what == y->what;
}

static bool same_comparison(const comparison *x, const comparison *y)
{
    return x->bits == y->bits && x->equal == y->equal && x->is_signed == y->is_signed &&
           same_side(&x->a, &y->a) && same_side(&x->b, &y->b);
}

static flow_literal atom_of_comparison(builder *b, const comparison *c)
{
    uint32_t x = c->a.is_value ? (uint32_t)c->a.what : (uint32_t)c->b.what;
    uint32_t y = c->a.is_value && c->b.is_value ? (uint32_t)c->b.what : FLOW_NONE;
    for (uint32_t atom = b->first[x]; atom != FLOW_NONE; atom = b->next.data[atom])
        if (same_comparison(&b->compared.data[atom], c))
            return 2 * atom;
    return new_atom(b, c, x, y);
}

/* ---- what instructions compute ---- */

static uint32_t value_used_by(const flow_function *f, const ir_insn *insn, uint32_t reg)
{
    for (uint32_t u = f->use_first[insn->pc]; u < f->use_first[insn->pc + 1]; u++)
        if (f->values[f->uses[u].value].reg == reg)
            return f->uses[u].value;
    return FLOW_NONE;
}

static uint32_t used_value(const builder *b, uint32_t reg)
{
    return value_used_by(b->f, b->insn, reg);
}

/* Of a predicate that the instruction reads; FLOW_NONE for anything else. */
static flow_literal literal_of_operand(const builder *b, const ir_operand *o)
{
    if (o->kind != IR_OPD_REG)
        return FLOW_NONE;
    uint32_t value = used_value(b, o->reg);
    flow_literal literal = value == FLOW_NONE ? FLOW_NONE : b->f->literal[value];
    return o->neg ? flow_not(literal) : literal;
}

static bool read_side(const builder *b, const ir_operand *o, unsigned bits, side *out)
{
    if (o->kind == IR_OPD_INT) {
        uint64_t mask = bits < 64 ? (UINT64_C(1) << bits) - 1 : UINT64_MAX;
        *out = (side){false, o->imm & mask};
        return true;
    }
    uint32_t value = o->kind == IR_OPD_REG && !o->neg && !o->component && !o->selector
                         ? used_value(b, o->reg)
                         : FLOW_NONE;
    *out = (side){true, value};
    return value != FLOW_NONE;
}

static void exchange_sides(comparison *c)
{
    side a = c->a;
    c->a = c->b;
    c->b = a;
}

/* Every comparison of integers is "is" or "is below", or the negation of one. */
static bool turn(ir_suffix suffix, comparison *c, bool *negated)
{
    *negated = false;
    switch (suffix) {
    case IR_S_ne: *negated = true; /* fallthrough */
    case IR_S_eq:
        c->equal = true;
        c->is_signed = false;
        if (c->a.is_value != c->b.is_value ? !c->a.is_value : c->a.what > c->b.what)
            exchange_sides(c);
        return true;
    case IR_S_ge:
    case IR_S_hs: *negated = true; /* fallthrough */
    case IR_S_lt:
    case IR_S_lo: return true;
    case IR_S_le:
    case IR_S_ls: *negated = true; /* fallthrough */
    case IR_S_gt:
    case IR_S_hi: exchange_sides(c); return true;
    default: return false;
    }
}

static bool is_plain_register(const ir_operand *o)
{
    return o->kind == IR_OPD_REG && !o->neg && !o->component && !o->selector;
}

/* The instruction that alone gives the value, behind moves; NULL. */
static const ir_insn *origin_of(const flow_function *f, uint32_t value)
{
    enum { MOVES = 4 };
    for (unsigned i = 0; i < MOVES && value != FLOW_NONE; i++) {
        const flow_value *v = &f->values[value];
        const ir_insn *insn = v->kind == FLOW_VALUE_INSN ? &f->func->insns[v->insn] : NULL;
        if (!insn || v->old != FLOW_NONE || f->unknown[v->insn])
            return NULL;
        if (insn->op != IR_mov)
            return insn;
        value = insn->noperands == 2 && is_plain_register(&insn->operands[0]) &&
                        is_plain_register(&insn->operands[1])
                    ? value_used_by(f, insn, insn->operands[1].reg)
                    : FLOW_NONE;
    }
    return NULL;
}

/* Of a predicate that was kept as a number: where the value is not 0 it holds. FLOW_NONE: the value is nothing of the
 * kind. */
static flow_literal kept_literal(const flow_function *f, uint32_t value)
{
    const ir_insn *insn = origin_of(f, value);
    if (!insn || insn->op != IR_selp || insn->noperands != 4 ||
        insn->operands[1].kind != IR_OPD_INT || insn->operands[2].kind != IR_OPD_INT ||
        (uint32_t)insn->operands[1].imm == 0 || insn->operands[2].imm != 0 ||
        ir_type_get(insn->types[0])->bits != 32 || !is_plain_register(&insn->operands[3]))
        return FLOW_NONE;
    uint32_t predicate = value_used_by(f, insn, insn->operands[3].reg);
    return predicate == FLOW_NONE ? FLOW_NONE : f->literal[predicate];
}

/* Of the comparison alone, without what is combined with it; FLOW_NONE where it has no atom. */
static flow_literal comparison_literal(builder *b)
{
    const ir_insn *insn = b->insn;
    const ir_type_info *type = ir_type_get(insn->types[0]);
    comparison c = {.bits = type->bits, .is_signed = type->kind == IR_KIND_S};
    bool integer = type->kind == IR_KIND_S || type->kind == IR_KIND_U || type->kind == IR_KIND_B;
    bool negated;
    if (!integer || type->lanes != 1 || insn->noperands < 3 ||
        !read_side(b, &insn->operands[1], c.bits, &c.a) ||
        !read_side(b, &insn->operands[2], c.bits, &c.b) || (!c.a.is_value && !c.b.is_value) ||
        !turn(ir_first_of(insn, IR_SC_CMP), &c, &negated))
        return FLOW_NONE;
    bool with_zero = c.equal && c.bits == 32 && c.a.is_value && !c.b.is_value && c.b.what == 0;
    flow_literal kept = with_zero ? kept_literal(b->f, (uint32_t)c.a.what) : FLOW_NONE;
    return kept != FLOW_NONE ? flow_not(kept) ^ negated : atom_of_comparison(b, &c) ^ negated;
}

/* If the first holds, so does the second; and the other way round of their negations. */
static void note_implied(builder *b, flow_literal literal, flow_literal then)
{
    if (literal == FLOW_NONE || then == FLOW_NONE)
        return;
    flow_push(&b->k->mem, &b->implied, (flow_edge){literal, then});
    flow_push(&b->k->mem, &b->implied, (flow_edge){flow_not(then), flow_not(literal)});
}

static void both_follow(builder *b, flow_literal literal, flow_literal x, flow_literal y)
{
    note_implied(b, literal, x);
    note_implied(b, literal, y);
}

/* The literals of what the instruction defines: at most two. */
static void literals_of_setp(builder *b, flow_literal *p, flow_literal *q)
{
    const ir_insn *insn = b->insn;
    flow_literal t = comparison_literal(b), c;
    ir_suffix with = ir_first_of(insn, IR_SC_BOOL);
    if (with == IR_S_none) {
        *p = t != FLOW_NONE ? t : *p;
        *q = flow_not(*p);
        return;
    }
    c = insn->noperands > 3 ? literal_of_operand(b, &insn->operands[3]) : FLOW_NONE;
    if (with == IR_S_and) {
        both_follow(b, *p, t, c);
        both_follow(b, *q, flow_not(t), c);
        note_implied(b, *p, flow_not(*q));
    } else if (with == IR_S_or) {
        both_follow(b, flow_not(*p), flow_not(t), flow_not(c));
        both_follow(b, flow_not(*q), t, flow_not(c));
        note_implied(b, flow_not(*p), *q);
    }
}

static void literals_of_logic(builder *b, flow_literal *p)
{
    const ir_insn *insn = b->insn;
    flow_literal x = insn->noperands > 1 ? literal_of_operand(b, &insn->operands[1]) : FLOW_NONE;
    flow_literal y = insn->noperands > 2 ? literal_of_operand(b, &insn->operands[2]) : FLOW_NONE;
    switch (insn->op) {
    case IR_mov: *p = x != FLOW_NONE ? x : *p; break;
    case IR_not: *p = x != FLOW_NONE ? flow_not(x) : *p; break;
    case IR_and: both_follow(b, *p, x, y); break;
    case IR_or: both_follow(b, flow_not(*p), flow_not(x), flow_not(y)); break;
    default: break;
    }
}

static bool is_predicate(const flow_function *f, uint32_t value)
{
    uint32_t reg = f->values[value].reg;
    return reg < f->func->nregs && f->func->regs[reg].type == IR_T_pred;
}

/* What a guarded instruction leaves may be what was there before: an atom of its own. */
static void read_definitions(builder *b, const ir_insn *insn)
{
    flow_function *f = b->f;
    uint32_t first = f->def_first[insn->pc], count = f->def_first[insn->pc + 1] - first;
    flow_literal own[2] = {FLOW_NONE, FLOW_NONE};
    b->insn = insn;
    for (uint32_t d = 0; d < count && d < 2; d++)
        if (is_predicate(f, f->defs[first + d]))
            own[d] = new_atom(b, NULL, f->defs[first + d], FLOW_NONE);
    bool whole = count && f->values[f->defs[first]].old == FLOW_NONE && !f->unknown[insn->pc];
    /* with a sink in place of one of two, which of them is left is not looked for */
    if (whole && count == (insn->operands[0].kind == IR_OPD_PAIR ? 2u : 1u)) {
        if (insn->op == IR_setp)
            literals_of_setp(b, &own[0], &own[1]);
        else if (own[0] != FLOW_NONE)
            literals_of_logic(b, &own[0]);
    }
    for (uint32_t d = 0; d < count; d++)
        if (is_predicate(f, f->defs[first + d]))
            f->literal[f->defs[first + d]] = d < 2
                                                 ? own[d]
                                                 : new_atom(b, NULL, f->defs[first + d], FLOW_NONE);
}

static void find_atoms(builder *b)
{
    flow_function *f = b->f;
    for (uint32_t v = 0; v < f->nvalues; v++)
        if (is_predicate(f, v) && f->values[v].kind != FLOW_VALUE_INSN)
            f->literal[v] = new_atom(b, NULL, v, FLOW_NONE);
    for (uint32_t n = 0; n < f->norder; n++) {
        if (f->order[n] == f->nblocks)
            continue;
        const flow_block *block = &f->blocks[f->order[n]];
        for (uint32_t i = block->first; i < block->first + block->count; i++)
            read_definitions(b, &f->func->insns[i]);
    }
}

/* ---- blocks ---- */

flow_literal flow_guard_literal(const flow_function *f, const ir_insn *insn)
{
    uint32_t u = f->use_first[insn->pc];
    if (u == f->use_first[insn->pc + 1] || f->uses[u].role != FLOW_USE_GUARD)
        return FLOW_NONE;
    flow_literal literal = f->literal[f->uses[u].value];
    return insn->guard_neg ? flow_not(literal) : literal;
}

static uint32_t block_of_target(const flow_function *f, const ir_insn *insn)
{
    if (insn->op != IR_bra || insn->noperands != 1 || insn->operands[0].kind != IR_OPD_LABEL)
        return FLOW_NONE;
    const ir_label *label = &f->func->labels[insn->operands[0].label];
    return label->kind == IR_LABEL_CODE && label->pc <= f->func->ninsns ? f->block_of[label->pc]
                                                                        : FLOW_NONE;
}

flow_taken flow_taken_where(const flow_function *f, uint32_t from, uint32_t to)
{
    uint32_t end = f->blocks[from].first + f->blocks[from].count;
    const ir_insn *last = &f->func->insns[end - 1];
    uint32_t next = f->block_of[end], target = block_of_target(f, last);
    if (flow_guard_literal(f, last) == FLOW_NONE || flow_nsucc(&f->graph, from) != 2)
        return FLOW_TAKEN_PERHAPS;
    if (last->op == IR_exit || last->op == IR_ret)
        return to == next && next != f->nblocks ? FLOW_TAKEN_ELSE : FLOW_TAKEN_PERHAPS;
    if (target == next || target == FLOW_NONE)
        return FLOW_TAKEN_PERHAPS;
    return to == target ? FLOW_TAKEN_WHERE : to == next ? FLOW_TAKEN_ELSE : FLOW_TAKEN_PERHAPS;
}

flow_literal flow_edge_literal(const flow_function *f, uint32_t from, uint32_t to)
{
    const flow_block *block = &f->blocks[from];
    flow_taken taken = flow_taken_where(f, from, to);
    flow_literal guard = taken == FLOW_TAKEN_PERHAPS
                             ? FLOW_NONE
                             : flow_guard_literal(f,
                                                  &f->func->insns[block->first + block->count - 1]);
    return taken == FLOW_TAKEN_ELSE ? flow_not(guard) : guard;
}

/* A block that one edge leads to runs only when that edge was taken. */
static void find_contexts(builder *b)
{
    flow_function *f = b->f;
    for (uint32_t n = 0; n < f->norder; n++) {
        uint32_t v = f->order[n], first = f->graph.pred_first[v], up = f->dom.parent[v];
        bool single = f->graph.pred_first[v + 1] - first == 1 && n > 0;
        f->holds[v] = single ? flow_edge_literal(f, f->graph.pred[first], v) : FLOW_NONE;
        f->holds_next[v] = up == FLOW_NONE             ? FLOW_NONE
                           : f->holds[up] != FLOW_NONE ? up
                                                       : f->holds_next[up];
    }
}

flow_place flow_in_block(uint32_t block)
{
    return (flow_place){block, {FLOW_NONE, FLOW_NONE, FLOW_NONE}};
}

flow_place flow_where(flow_place at, flow_literal literal)
{
    for (unsigned i = 0; literal != FLOW_NONE && i < FLOW_MAX_PLACE; i++)
        if (at.also[i] == FLOW_NONE) {
            at.also[i] = literal;
            break;
        }
    return at;
}

flow_place flow_on_edge(const flow_function *f, uint32_t from, uint32_t to)
{
    return flow_where(flow_in_block(from), flow_edge_literal(f, from, to));
}

/* ---- questions ---- */

static bool implies(const flow_function *f, flow_literal literal, flow_literal then)
{
    flow_literal seen[MAX_STEPS] = {literal};
    uint32_t count = 1;
    for (uint32_t at = 0; at < count; at++) {
        if (seen[at] == then)
            return true;
        for (uint32_t i = f->implied.first[seen[at]]; i < f->implied.first[seen[at] + 1]; i++) {
            bool known = false;
            for (uint32_t n = 0; n < count; n++)
                known |= seen[n] == f->implied.item[i];
            if (!known && count < MAX_STEPS)
                seen[count++] = f->implied.item[i];
        }
    }
    return false;
}

bool flow_holds(const flow_function *f, const flow_place *at, flow_literal literal)
{
    if (literal == FLOW_NONE)
        return false;
    for (unsigned i = 0; i < FLOW_MAX_PLACE; i++)
        if (at->also[i] != FLOW_NONE && implies(f, at->also[i], literal))
            return true;
    for (uint32_t b = at->block; b != FLOW_NONE; b = f->holds_next[b])
        if (f->holds[b] != FLOW_NONE && implies(f, f->holds[b], literal))
            return true;
    return false;
}

bool flow_literal_before(const flow_function *f, flow_literal literal, uint32_t block)
{
    for (unsigned i = 0; i < 2; i++) {
        uint32_t value = f->atoms[literal / 2].decided_by[i];
        if (value == FLOW_NONE || f->values[value].kind == FLOW_VALUE_ENTRY)
            continue;
        uint32_t defined = f->values[value].block;
        if (defined == block || !flow_dominates(&f->dom, defined, block))
            return false;
    }
    return true;
}

flow_runs flow_runs_where(const flow_function *f, const ir_insn *insn, const flow_place *at)
{
    flow_literal guard = flow_guard_literal(f, insn);
    if (f->decided && f->decided[insn->pc] != FLOW_DECIDED_OPEN)
        return f->decided[insn->pc] == FLOW_DECIDED_RUNS ? FLOW_RUNS_ALWAYS : FLOW_RUNS_NEVER;
    if (guard == FLOW_NONE || flow_holds(f, at, guard))
        return FLOW_RUNS_ALWAYS;
    return flow_holds(f, at, flow_not(guard)) ? FLOW_RUNS_NEVER : FLOW_RUNS_PERHAPS;
}

/* Needs: cfg, values. Fills: literal, atoms, implied, holds, holds_next. Says only what is so in
 * every execution. */
void flow_pass_predicates(flow_kernel *k)
{
    for (uint32_t i = 0; i < k->code->count; i++) {
        flow_function *f = &k->funcs[i];
        builder b = {.k = k, .f = f};
        flow_graph graph;
        b.first = flow_words(&k->mem, f->nvalues, FLOW_NONE);
        f->literal = flow_words(&k->mem, f->nvalues, FLOW_NONE);
        f->holds = flow_words(&k->mem, (size_t)f->nblocks + 1, FLOW_NONE);
        f->holds_next = flow_words(&k->mem, (size_t)f->nblocks + 1, FLOW_NONE);
        find_atoms(&b);
        f->atoms = b.atoms.data;
        flow_graph_make(&k->mem, 2 * b.atoms.count, b.implied.data, b.implied.count, &graph);
        f->implied = (flow_rows){graph.succ_first, graph.succ};
        find_contexts(&b);
    }
}
