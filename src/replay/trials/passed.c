#include "replay/trials/passed.h"

enum { DEEPEST = 8 /* moves and joins between a load and a store */ };

typedef struct tracing {
    const flow_function *f;
    trial_fill *fill;
    uint32_t store; /* instruction of f */
    bool good;
} tracing;

static const flow_function *function_of(const flow_kernel *flow, uint32_t pc, uint32_t *insn)
{
    const flow_function *f = &flow->funcs[ir_kernel_at(flow->code, pc).index];
    *insn = pc - f->first_pc;
    return f;
}

/* ---- from a store back to loads ---- */

static bool is_plain_load(const flow_function *f, uint32_t insn)
{
    uint32_t first = f->address_first[insn], count = f->address_first[insn + 1] - first;
    return f->effects[insn] == IR_EFFECT_LOAD && count == 1 &&
           f->addresses[first].space == IR_SPACE_GLOBAL;
}

static void add_load(tracing *t, uint32_t insn)
{
    uint32_t pc = t->f->first_pc + insn;
    for (uint32_t i = 0; i < t->fill->nloads; i++)
        if (t->fill->loads[i] == pc)
            return;
    if (t->fill->nloads == TRIAL_MOST_LOADS)
        t->good = false;
    else
        t->fill->loads[t->fill->nloads++] = pc;
}

static bool is_header(const flow_function *f, uint32_t block)
{
    uint32_t loop = f->loops.of[block];
    return loop != FLOW_NONE && f->loops.loops[loop].header == block;
}

static void trace_value(tracing *t, uint32_t value, uint32_t depth);

/* What a join at the begin of a loop brings may be of an earlier iteration than its load's last. */
static void trace_join(tracing *t, const flow_value *v, uint32_t depth)
{
    const flow_graph *g = &t->f->graph;
    uint32_t count = g->pred_first[v->block + 1] - g->pred_first[v->block];
    t->good &= !is_header(t->f, v->block);
    for (uint32_t i = 0; i < count && t->good; i++)
        trace_value(t, t->f->args[v->first_arg + i], depth);
}

static bool is_number(const ir_operand *o)
{
    return o->kind == IR_OPD_INT || o->kind == IR_OPD_F32 || o->kind == IR_OPD_F64;
}

static void trace_insn(tracing *t, const flow_value *v, uint32_t depth)
{
    const flow_function *f = t->f;
    const ir_insn *insn = &f->func->insns[v->insn];
    bool moves = insn->op == IR_mov && insn->noperands == 2;
    if (is_plain_load(f, v->insn))
        add_load(t, v->insn);
    else if (moves && is_number(&insn->operands[1]))
        t->fill->constant = true;
    else if (moves && insn->operands[1].kind == IR_OPD_REG)
        trace_value(t, f->uses[f->use_first[v->insn]].value, depth);
    else
        t->good = false;
    if (t->good && v->old != FLOW_NONE)
        trace_value(t, v->old, depth);
}

static void trace_value(tracing *t, uint32_t value, uint32_t depth)
{
    const flow_value *v = &t->f->values[value];
    if (depth == DEEPEST || v->kind == FLOW_VALUE_ENTRY)
        t->good = false;
    else if (v->kind == FLOW_VALUE_PHI)
        trace_join(t, v, depth + 1);
    else
        trace_insn(t, v, depth + 1);
}

/* Where constants are stored, too, the last load must be the one before the store. */
static bool are_near(const tracing *t)
{
    const flow_function *f = t->f;
    uint32_t loop = f->loops.of[f->block_of[t->store]];
    for (uint32_t i = 0; i < t->fill->nloads; i++)
        if (f->loops.of[f->block_of[t->fill->loads[i] - f->first_pc]] != loop)
            return false;
    return true;
}

static const ir_operand *stored_operand(const ir_insn *store)
{
    return &store->operands[store->noperands - 1];
}

bool trial_fill_of(const flow_kernel *flow, uint32_t pc, bool asynchronous, trial_fill *out)
{
    tracing t = {.fill = out, .good = true};
    bool any = asynchronous;
    *out = (trial_fill){.pc = pc};
    t.f = function_of(flow, pc, &t.store);
    if (asynchronous)
        out->loads[out->nloads++] = pc;
    for (uint32_t u = t.f->use_first[t.store]; u < t.f->use_first[t.store + 1] && !asynchronous;
         u++)
        if (t.f->uses[u].role == FLOW_USE_STORED) {
            any = true;
            trace_value(&t, t.f->uses[u].value, 0);
        }
    t.good &= any || is_number(stored_operand(ir_kernel_at(flow->code, pc).insn));
    out->constant |= !any;
    return t.good && (!out->constant || are_near(&t));
}

/* ---- from a load on to stores ---- */

static bool is_fill(const flow_function *f, uint32_t insn, const trial_fill *fills, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++)
        if (fills[i].pc == f->first_pc + insn)
            return true;
    return false;
}

static bool feeds_fills(const flow_function *f, uint32_t value, const trial_fill *fills,
                        uint32_t count, uint32_t depth);

static bool user_feeds(const flow_function *f, uint32_t user, const trial_fill *fills,
                       uint32_t count, uint32_t depth)
{
    uint32_t ninsns = f->func->ninsns;
    if (user >= ninsns)
        return feeds_fills(f, user - ninsns, fills, count, depth);
    if (is_fill(f, user, fills, count))
        return true;
    return f->func->insns[user].op == IR_mov && f->def_first[user + 1] > f->def_first[user] &&
           feeds_fills(f, f->defs[f->def_first[user]], fills, count, depth);
}

static bool feeds_fills(const flow_function *f, uint32_t value, const trial_fill *fills,
                        uint32_t count, uint32_t depth)
{
    bool only = depth < DEEPEST;
    for (uint32_t u = f->user_first[value]; u < f->user_first[value + 1] && only; u++)
        only = user_feeds(f, f->users[u], fills, count, depth + 1);
    return only;
}

bool trial_feeds_only(const flow_kernel *flow, uint32_t pc, const trial_fill *fills, uint32_t count)
{
    uint32_t insn;
    const flow_function *f = function_of(flow, pc, &insn);
    bool only = true;
    for (uint32_t d = f->def_first[insn]; d < f->def_first[insn + 1] && only; d++)
        only = feeds_fills(f, f->defs[d], fills, count, 0);
    return only;
}
