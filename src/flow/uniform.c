/* Which values are the same for all threads of a warp, a block, the grid. */
#include "flow/kernel.h"

typedef struct state {
    flow_kernel *k;
    flow_function *f;
    uint32_t *scratch, *joins;
    bool changed;
} state;

static void raise(state *s, uint8_t *level, uint8_t to)
{
    if (to > *level) {
        *level = to;
        s->changed = true;
    }
}

flow_level flow_level_at(const flow_function *f, uint32_t value, uint32_t block)
{
    uint8_t level = f->level[value];
    if (f->values[value].kind == FLOW_VALUE_ENTRY)
        return (flow_level)level;
    for (uint32_t l = f->loops.of[f->values[value].block]; l != FLOW_NONE;
         l = f->loops.loops[l].parent) {
        if (block < f->nblocks && flow_in_loop(&f->loops, l, block))
            break;
        if (f->loop_level[l] > level)
            level = f->loop_level[l];
    }
    return (flow_level)level;
}

/* ---- sources ---- */

static flow_level sreg_level(ir_sreg sreg)
{
    switch (ir_sreg_get(sreg)->level) {
    case IR_LEVEL_THREAD: return FLOW_VARYING;
    case IR_LEVEL_WARP: return FLOW_WARP;
    case IR_LEVEL_BLOCK:
    case IR_LEVEL_CLUSTER: return FLOW_BLOCK;
    case IR_LEVEL_GRID:
    case IR_LEVEL_DEVICE: return FLOW_GRID;
    }
    return FLOW_VARYING;
}

static flow_level operand_level(const ir_operand *o)
{
    flow_level level = o->kind == IR_OPD_SREG ? sreg_level(o->sreg) : FLOW_GRID;
    for (uint32_t i = 0; i < o->count; i++) {
        flow_level item = operand_level(&o->items[i]);
        level = item > level ? item : level;
    }
    return level;
}

static flow_level uses_level(const flow_function *f, const ir_insn *insn)
{
    flow_level level = FLOW_GRID;
    for (uint32_t u = f->use_first[insn->pc]; u < f->use_first[insn->pc + 1]; u++) {
        flow_level one = flow_level_at(f, f->uses[u].value, f->block_of[insn->pc]);
        level = one > level ? one : level;
    }
    for (uint32_t n = 0; n < insn->noperands; n++) {
        flow_level one = operand_level(&insn->operands[n]);
        level = one > level ? one : level;
    }
    return level;
}

static flow_level load_level(const state *s, const ir_insn *insn, flow_level address)
{
    const flow_function *f = s->f;
    flow_level level = address;
    for (uint32_t a = f->address_first[insn->pc]; a < f->address_first[insn->pc + 1]; a++) {
        const flow_address *at = &f->addresses[a];
        if (at->space == IR_SPACE_CONST || !(at->touch & FLOW_READ))
            continue;
        flow_reach r = flow_reach_of(s->k, f, at);
        flow_level one =
            FLOW_WARP; /* one request of one warp reads one value, warps read at different times */
        if (r.local)
            one = FLOW_VARYING;
        for (uint32_t o = flow_next_reached(s->k, &r, 0); o != FLOW_NONE;
             o = flow_next_reached(s->k, &r, o + 1)) {
            flow_level object = s->k->objects[o].space == IR_SPACE_PARAM   ? s->k->object_level[o]
                                : s->k->objects[o].space == IR_SPACE_LOCAL ? FLOW_VARYING
                                                                           : FLOW_WARP;
            bool only = r.object == o && s->k->objects[o].space == IR_SPACE_PARAM;
            one = only || object > one ? object : one;
        }
        level = one > level ? one : level;
    }
    return level;
}

/* What the lanes of a warp agree on. */
static flow_level exchange_level(const ir_insn *insn, flow_level operands)
{
    switch (insn->op) {
    case IR_vote:
    case IR_redux: return operands < FLOW_WARP ? operands : FLOW_WARP;
    case IR_match: return ir_has(insn, IR_S_all) ? FLOW_WARP : FLOW_VARYING;
    case IR_shfl: return operands;
    case IR_elect: return FLOW_VARYING;
    default: return FLOW_VARYING;
    }
}

/* A barrier is looked at once for the lanes that name the same one: it has completed the phase for all of them, or for none. */
static flow_level barrier_level(const ir_insn *insn, flow_level operands)
{
    bool asks = ir_has(insn, IR_S_try_wait) || ir_has(insn, IR_S_test_wait);
    return asks && operands <= FLOW_WARP ? FLOW_WARP : FLOW_VARYING;
}

static flow_level value_level(const state *s, const ir_insn *insn)
{
    flow_level operands = uses_level(s->f, insn);
    switch (insn->op) {
    case IR_vote:
    case IR_redux:
    case IR_match:
    case IR_shfl:
    case IR_elect:
    case IR_bget:
    case IR_activemask: return exchange_level(insn, operands);
    case IR_mbarrier: return barrier_level(insn, operands);
    case IR_call:
    case IR_alloca:
    case IR_stacksave: return FLOW_VARYING;
    case IR_bar:
    case IR_barrier: return FLOW_BLOCK;
    default: break;
    }
    switch (s->f->effects[insn->pc]) {
    case IR_EFFECT_LOAD: return load_level(s, insn, operands);
    case IR_EFFECT_TEXTURE: return operands > FLOW_WARP ? operands : FLOW_WARP;
    case IR_EFFECT_NONE: return s->f->unknown[insn->pc] ? FLOW_VARYING : operands;
    default: return FLOW_VARYING;
    }
}

/* ---- control ---- */

flow_level flow_branch_level(const flow_function *f, uint32_t block)
{
    if (block >= f->nblocks || flow_nsucc(&f->graph, block) < 2)
        return FLOW_GRID;
    const ir_insn *last = &f->func->insns[f->blocks[block].first + f->blocks[block].count - 1];
    return last->op == IR_call ? FLOW_VARYING : uses_level(f, last);
}

static void spread_control(state *s, uint32_t block)
{
    flow_function *f = s->f;
    raise(s, &f->control_level[block], f->entered_level);
    for (uint32_t i = f->control.first[block]; i < f->control.first[block + 1]; i++) {
        uint32_t c = f->control.item[i];
        raise(s, &f->control_level[block], flow_branch_level(f, c));
        raise(s, &f->control_level[block], f->control_level[c]);
    }
}

/* A branch that lanes take differently makes different what is merged behind it. */
static void spread_joins(state *s, uint32_t block)
{
    flow_function *f = s->f;
    flow_level level = flow_branch_level(f, block);
    if (level == FLOW_GRID)
        return;
    uint32_t count = flow_joins(&f->graph, f->number, f->order, block, f->post.parent[block],
                                s->scratch, s->joins);
    for (uint32_t j = 0; j < count; j++)
        for (uint32_t i = f->phi_first[s->joins[j]];
             s->joins[j] < f->nblocks && i < f->phi_first[s->joins[j] + 1]; i++)
            raise(s, &f->level[f->phis[i]], (uint8_t)level);
}

/* A loop's level is that of whatever decides about its exits. */
static void spread_loops(state *s)
{
    flow_function *f = s->f;
    for (uint32_t l = 0; l < f->loops.count; l++)
        for (uint32_t n = 0; n < f->loops.loops[l].count; n++) {
            uint32_t v = f->loops.nodes[f->loops.loops[l].first + n];
            for (uint32_t i = f->graph.succ_first[v]; i < f->graph.succ_first[v + 1]; i++) {
                uint32_t to = f->graph.succ[i];
                if (to < f->nblocks && flow_in_loop(&f->loops, l, to))
                    continue;
                raise(s, &f->loop_level[l], (uint8_t)flow_branch_level(f, v));
                raise(s, &f->loop_level[l], f->control_level[v]);
            }
        }
}

/* ---- functions ---- */

static void pass_levels(state *s, const ir_operand *list, ir_var **params, uint32_t count,
                        bool back)
{
    for (uint32_t i = 0; list && i < list->count && i < count; i++) {
        const ir_operand *o = &list->items[i];
        if (o->kind != IR_OPD_SYM || o->sym.kind != IR_SYM_VAR)
            continue;
        uint8_t *here = &s->k->object_level[flow_object_of(s->k, o->sym.var)];
        uint8_t *there = &s->k->object_level[flow_object_of(s->k, params[i])];
        raise(s, back ? here : there, back ? *there : *here);
    }
}

static void pass_levels_to_callee(state *s, const ir_insn *insn)
{
    flow_call call = flow_call_of(s->f->func, insn);
    uint32_t callee = flow_callee(s->k, insn);
    if (callee == FLOW_NONE) {
        for (uint32_t i = 0; call.rets && i < call.rets->count; i++)
            if (call.rets->items[i].kind == IR_OPD_SYM &&
                call.rets->items[i].sym.kind == IR_SYM_VAR)
                raise(s, &s->k->object_level[flow_object_of(s->k, call.rets->items[i].sym.var)],
                      FLOW_VARYING);
        return;
    }
    const ir_func *func = s->k->code->funcs[callee];
    uint8_t level = s->f->control_level[s->f->block_of[insn->pc]];
    for (uint32_t u = s->f->use_first[insn->pc]; u < s->f->use_first[insn->pc + 1]; u++)
        if (s->f->uses[u].role == FLOW_USE_GUARD && s->f->level[s->f->uses[u].value] > level)
            level = s->f->level[s->f->uses[u].value];
    raise(s, &s->k->funcs[callee].entered_level, level);
    pass_levels(s, call.args, func->params, func->nparams, false);
    pass_levels(s, call.rets, func->rets, func->nrets, true);
}

/* Results are stored to parameters, by the branches that decide about the store too. */
static void store_params(state *s, const ir_insn *insn)
{
    for (uint32_t a = s->f->address_first[insn->pc]; a < s->f->address_first[insn->pc + 1]; a++) {
        if (!(s->f->addresses[a].touch & FLOW_WRITE) || s->f->addresses[a].space != IR_SPACE_PARAM)
            continue;
        flow_reach r = flow_reach_of(s->k, s->f, &s->f->addresses[a]);
        uint8_t level = (uint8_t)uses_level(s->f, insn),
                control = s->f->control_level[s->f->block_of[insn->pc]];
        uint8_t entered = s->f->entered_level;
        for (uint32_t o = flow_next_reached(s->k, &r, 0); o != FLOW_NONE;
             o = flow_next_reached(s->k, &r, o + 1)) {
            raise(s, &s->k->object_level[o], level);
            if (control > entered)
                raise(s, &s->k->object_level[o], control);
        }
    }
}

static void visit_block_levels(state *s, uint32_t block)
{
    flow_function *f = s->f;
    spread_control(s, block);
    if (block == f->nblocks)
        return;
    for (uint32_t i = f->phi_first[block]; i < f->phi_first[block + 1]; i++) {
        uint32_t phi = f->phis[i], first = f->graph.pred_first[block];
        for (uint32_t p = first; p < f->graph.pred_first[block + 1]; p++)
            raise(s, &f->level[phi],
                  (uint8_t)flow_level_at(f, f->args[f->values[phi].first_arg + p - first],
                                         f->graph.pred[p]));
    }
    for (uint32_t i = f->blocks[block].first; i < f->blocks[block].first + f->blocks[block].count;
         i++) {
        const ir_insn *insn = &f->func->insns[i];
        for (uint32_t d = f->def_first[i]; d < f->def_first[i + 1]; d++) {
            raise(s, &f->level[f->defs[d]], (uint8_t)value_level(s, insn));
            if (f->values[f->defs[d]].old != FLOW_NONE)
                raise(s, &f->level[f->defs[d]],
                      (uint8_t)flow_level_at(f, f->values[f->defs[d]].old, block));
        }
        if (insn->op == IR_call)
            pass_levels_to_callee(s, insn);
        else
            store_params(s, insn);
    }
    spread_joins(s, block);
}

static void prepare_levels(state *s)
{
    uint32_t most = 0;
    for (uint32_t i = 0; i < s->k->code->count; i++) {
        flow_function *f = &s->k->funcs[i];
        f->level = flow_new(&s->k->mem, uint8_t, f->nvalues);
        f->control_level = flow_new(&s->k->mem, uint8_t, (size_t)f->nblocks + 1);
        f->loop_level = flow_new(&s->k->mem, uint8_t, f->loops.count);
        if (f->pointed)
            f->entered_level = FLOW_VARYING;
        for (uint32_t p = 0; p < f->func->nparams && f->pointed; p++)
            s->k->object_level[flow_object_of(s->k, f->func->params[p])] = FLOW_VARYING;
        for (uint32_t v = 0; i > 0 && v < f->nvalues; v++)
            if (f->values[v].kind == FLOW_VALUE_ENTRY)
                f->level[v] = FLOW_VARYING; /* a .reg parameter */
        most = f->nblocks + 1 > most ? f->nblocks + 1 : most;
    }
    s->scratch = flow_words(&s->k->mem, most, FLOW_NONE);
    s->joins = flow_new(&s->k->mem, uint32_t, most);
}

/* Needs: cfg, values, origins. Fills: level, control_level, loop_level, entered_level,
 * object_level. Starts from "the same for the grid" and raises until nothing changes. Threads are
 * compared that execute an instruction together; where paths of different lengths through a loop
 * bring them there, flow_level_at() tells. */
void flow_pass_uniform(flow_kernel *k)
{
    state s = {.k = k, .changed = true};
    k->object_level = flow_new(&k->mem, uint8_t, k->nobjects);
    prepare_levels(&s);
    while (s.changed) {
        s.changed = false;
        for (uint32_t i = 0; i < k->code->count; i++) {
            s.f = &k->funcs[i];
            for (uint32_t b = 0; b < s.f->norder; b++)
                visit_block_levels(&s, s.f->order[b]);
            spread_loops(&s);
        }
    }
}
