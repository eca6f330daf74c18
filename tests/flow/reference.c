#include "reference.h"

bool ref_reaches(const flow_graph *g, uint32_t from, uint32_t to, uint32_t without)
{
    if (from == without)
        return false;
    bool *seen = calloc(g->n, sizeof *seen);
    uint32_t *stack = calloc(g->n, sizeof *stack), depth = 0;
    stack[depth++] = from;
    seen[from] = true;
    while (depth && !seen[to]) {
        uint32_t v = stack[--depth];
        for (uint32_t i = g->succ_first[v]; i < g->succ_first[v + 1]; i++)
            if (g->succ[i] != without && !seen[g->succ[i]])
                seen[g->succ[i]] = true, stack[depth++] = g->succ[i];
    }
    bool found = seen[to];
    free(seen);
    free(stack);
    return found;
}

bool ref_dominates(const flow_graph *g, uint32_t root, uint32_t a, uint32_t b)
{
    return ref_reaches(g, root, b, FLOW_NONE) && (a == b || !ref_reaches(g, root, b, a));
}

bool ref_depends(const flow_graph *g, uint32_t exit, uint32_t v, uint32_t c)
{
    flow_graph back = flow_graph_reverse(g);
    bool some = false;
    if (g->succ_first[c + 1] - g->succ_first[c] < 2 || !ref_reaches(&back, exit, c, FLOW_NONE))
        return false;
    for (uint32_t i = g->succ_first[c]; i < g->succ_first[c + 1]; i++)
        some |= ref_dominates(&back, exit, v, g->succ[i]);
    return some && (v == c || !ref_dominates(&back, exit, v, c));
}

/* Tries all simple paths of the first side; exponential, for small graphs. */
static bool disjoint(const flow_graph *g, uint32_t at, uint32_t other, uint32_t v, uint32_t branch,
                     bool *used)
{
    if (at == v) {
        /* the second path avoids what the first one used */
        uint32_t *stack = calloc(g->n, sizeof *stack), depth = 0;
        bool *seen = calloc(g->n, sizeof *seen), found = other == v;
        if (!found && !used[other] && other != branch)
            seen[other] = true, stack[depth++] = other;
        while (depth && !found) {
            uint32_t n = stack[--depth];
            for (uint32_t i = g->succ_first[n]; i < g->succ_first[n + 1]; i++) {
                uint32_t s = g->succ[i];
                found |= s == v;
                if (!used[s] && !seen[s] && s != branch && s != v)
                    seen[s] = true, stack[depth++] = s;
            }
        }
        free(stack);
        free(seen);
        return found;
    }
    if (used[at] || at == branch)
        return false;
    used[at] = true;
    bool found = false;
    for (uint32_t i = g->succ_first[at]; i < g->succ_first[at + 1] && !found; i++)
        found = disjoint(g, g->succ[i], other, v, branch, used);
    used[at] = false;
    return found;
}

bool ref_joins(const flow_graph *g, uint32_t branch, uint32_t stop, uint32_t v)
{
    bool *used = calloc(g->n, sizeof *used), found = false;
    if (stop != FLOW_NONE && stop != v)
        used[stop] = true;
    for (uint32_t i = g->succ_first[branch]; i < g->succ_first[branch + 1]; i++)
        for (uint32_t j = g->succ_first[branch]; j < g->succ_first[branch + 1]; j++)
            if (i != j && !found)
                found = disjoint(g, g->succ[i], g->succ[j], v, branch, used);
    free(used);
    return found;
}

/* ---- taint ---- */

typedef struct crude {
    const subject *s;
    bool *regs, *blocks;
    bool shared, local, changed;
} crude;

static void mark(crude *c, bool *at, bool value)
{
    c->changed |= value && !*at;
    *at |= value;
}

static bool any_reg(const crude *c, const ir_operand *o)
{
    bool any = (o->kind == IR_OPD_REG || o->kind == IR_OPD_ADDR) && o->reg != IR_NONE &&
               c->regs[o->reg];
    for (uint32_t i = 0; i < o->count; i++)
        any |= any_reg(c, &o->items[i]);
    return any;
}

static bool reads_any(const crude *c, const ir_insn *insn, uint32_t from)
{
    bool any = insn->guard != IR_NONE && c->regs[insn->guard];
    for (uint32_t i = from; i < insn->noperands; i++)
        any |= any_reg(c, &insn->operands[i]);
    return any;
}

static void write_all(crude *c, const ir_operand *o, bool value)
{
    if (o->kind == IR_OPD_REG)
        mark(c, &c->regs[o->reg], value);
    for (uint32_t i = 0; i < o->count; i++)
        write_all(c, &o->items[i], value);
}

static bool source(const crude *c, const ir_insn *insn)
{
    for (uint32_t i = 0; i < insn->noperands; i++)
        if (insn->operands[i].kind == IR_OPD_SREG &&
            (insn->operands[i].sreg == IR_SR_clock64 || insn->operands[i].sreg == IR_SR_clock))
            return true;
    switch (insn->op) {
    case IR_atom:
    case IR_activemask: return true;
    case IR_ld:
        switch (insn->space) {
        case IR_SPACE_GLOBAL:
        case IR_SPACE_GENERIC: return true;
        case IR_SPACE_SHARED: return c->shared;
        case IR_SPACE_LOCAL: return c->local;
        default: return false;
        }
    default: return false;
    }
}

static void step(crude *c, const ir_insn *insn, bool control)
{
    bool taken = control || reads_any(c, insn, 0);
    switch (insn->op) {
    case IR_st:
    case IR_atom:
    case IR_red:
        if (insn->space != IR_SPACE_GLOBAL && insn->space != IR_SPACE_LOCAL)
            mark(c, &c->shared, taken || insn->op != IR_st);
        if (insn->space != IR_SPACE_GLOBAL && insn->space != IR_SPACE_SHARED)
            mark(c, &c->local, taken || insn->op != IR_st);
        if (insn->op != IR_atom)
            return;
        break;
    case IR_bra:
    case IR_ret:
    case IR_exit:
    case IR_bar: return;
    default: break;
    }
    if (insn->noperands)
        write_all(c, &insn->operands[0], taken || source(c, insn));
}

static void spread(crude *c)
{
    const flow_function *f = c->s->f;
    for (uint32_t v = 0; v < f->nblocks; v++)
        for (uint32_t b = 0; b < f->nblocks; b++) {
            const flow_block *block = &f->blocks[b];
            const ir_insn *last = &f->func->insns[block->first + block->count - 1];
            bool decided = c->blocks[b] || reads_any(c, last, 0);
            if (decided && !c->blocks[v] && ref_depends(&f->graph, f->nblocks, v, b))
                mark(c, &c->blocks[v], true);
        }
    for (uint32_t i = 0; i < f->func->ninsns; i++)
        step(c, &f->func->insns[i], c->blocks[f->block_of[i]]);
}

bool *ref_taint(const subject *s)
{
    crude c = {.s = s, .changed = true};
    c.regs = calloc(s->f->func->nregs + 1, sizeof *c.regs);
    c.blocks = calloc(s->f->nblocks + 1, sizeof *c.blocks);
    while (c.changed) {
        c.changed = false;
        spread(&c);
    }
    bool *tainted = calloc(s->f->func->ninsns, sizeof *tainted);
    for (uint32_t i = 0; i < s->f->func->ninsns; i++) {
        const ir_insn *insn = &s->f->func->insns[i];
        tainted[i] = c.blocks[s->f->block_of[i]] || (insn->guard != IR_NONE && c.regs[insn->guard]);
        for (uint32_t o = 0; o < insn->noperands; o++)
            tainted[i] |= insn->operands[o].kind == IR_OPD_ADDR && any_reg(&c, &insn->operands[o]);
    }
    free(c.regs);
    free(c.blocks);
    return tainted;
}
