/* What feeds the addresses and guards of proven accesses and the branches that are followed: a walk
 * backwards over values, and over cells of variables to the stores that fill them.
 *
 * A tainted value is needed only where a literal holds under which it is clean, and the walk goes
 * on from there under that literal: by the same steps by which taint.c found it clean, so that all
 * that it meets is clean there, too. Where the literal does not hold, what the slice computes there
 * is undefined, and nothing that an address, a branch or memory depends on. */
#include "flow/slice.h"

typedef struct place {
    uint32_t func, value;
    flow_literal where; /* FLOW_NONE: wherever it is computed */
} place;

typedef struct state {
    flow_kernel *k;
    uint8_t *flags;
    uint8_t **needed; /* [function][value] bit 0: wherever it is computed; 1 + n: where clean[n] */
    bool *cells;      /* [cells] */
    flow_list(place) work;
    bool new_cells;
} state;

static void need(state *s, const flow_function *f, uint32_t value, flow_place at)
{
    flow_literal where = f->taint[value].reason == FLOW_CLEAN ? FLOW_NONE
                                                              : flow_clean_where(f, value, &at);
    unsigned bit = 0;
    while (where != FLOW_NONE && f->clean[value].item[bit++] != where)
        ;
    if (s->needed[f->index][value] >> bit & 1)
        return;
    s->needed[f->index][value] |= (uint8_t)(1u << bit);
    flow_push(&s->k->mem, &s->work, (place){f->index, value, where});
}

/* Of those roles; the guard in its block, all else where the guard lets the instruction run. */
static void need_uses(state *s, const flow_function *f, uint32_t insn, unsigned roles,
                      flow_place at)
{
    flow_place runs = flow_where(at, flow_guard_literal(f, &f->func->insns[insn]));
    for (uint32_t u = f->use_first[insn]; u < f->use_first[insn + 1]; u++)
        if (roles >> f->uses[u].role & 1)
            need(s, f, f->uses[u].value, f->uses[u].role == FLOW_USE_GUARD ? at : runs);
}

static flow_place block_of_insn(const flow_function *f, uint32_t insn)
{
    return flow_in_block(f->block_of[insn]);
}

static void need_cells(state *s, flow_range range)
{
    for (uint32_t c = range.first; c < range.first + range.count; c++) {
        s->new_cells |= !s->cells[c];
        s->cells[c] = true;
    }
}

static void need_memory(state *s, const flow_function *f, uint32_t insn)
{
    for (uint32_t i = f->address_first[insn]; i < f->address_first[insn + 1]; i++) {
        const flow_address *a = &f->addresses[i];
        if (!(a->touch & FLOW_READ) || a->space == IR_SPACE_CONST)
            continue;
        flow_reach r = flow_reach_of(s->k, f, a);
        for (uint32_t o = flow_next_reached(s->k, &r, 0); o != FLOW_NONE;
             o = flow_next_reached(s->k, &r, o + 1))
            need_cells(s, flow_cells(s->k, &r, o, 0, a->bytes));
    }
}

static void follow_phi(state *s, const flow_function *f, place at)
{
    const flow_value *v = &f->values[at.value];
    uint32_t first = f->graph.pred_first[v->block];
    for (uint32_t p = first; p < f->graph.pred_first[v->block + 1]; p++) {
        uint32_t pred = f->graph.pred[p];
        if (flow_edge_taken(f, pred, v->block, at.where))
            need(s, f, f->args[v->first_arg + p - first],
                 flow_where(flow_on_edge(f, pred, v->block), at.where));
    }
}

static void follow_insn(state *s, const flow_function *f, place at)
{
    const flow_value *v = &f->values[at.value];
    const ir_insn *insn = &f->func->insns[v->insn];
    flow_place block = flow_in_block(v->block), here = flow_where(block, at.where);
    flow_runs runs = flow_runs_where(f, insn, &here);
    flow_place keeps = flow_where(here, flow_not(flow_guard_literal(f, insn)));
    if (flow_keeps_old(v, runs))
        need(s, f, v->old, v->partial ? here : keeps);
    if (runs == FLOW_RUNS_NEVER)
        return;
    s->flags[f->first_pc + v->insn] |= FLOW_PC_SLICE;
    need_uses(s, f, v->insn, 1 << FLOW_USE_GUARD, block);
    need_uses(s, f, v->insn, ~(1u << FLOW_USE_GUARD), flow_is_pure(f, insn) ? here : block);
    need_memory(s, f, v->insn);
}

static void follow(state *s, place at)
{
    const flow_function *f = &s->k->funcs[at.func];
    if (f->values[at.value].kind == FLOW_VALUE_PHI)
        follow_phi(s, f, at);
    else if (f->values[at.value].kind == FLOW_VALUE_INSN)
        follow_insn(s, f, at);
}

/* ---- stores that fill needed cells ---- */

static bool fills(const state *s, const flow_function *f, const flow_address *a)
{
    if (!(a->touch & FLOW_WRITE))
        return false;
    flow_reach r = flow_reach_of(s->k, f, a);
    for (uint32_t o = flow_next_reached(s->k, &r, 0); o != FLOW_NONE;
         o = flow_next_reached(s->k, &r, o + 1)) {
        flow_range range = flow_cells(s->k, &r, o, 0, a->bytes);
        for (uint32_t c = range.first; c < range.first + range.count; c++)
            if (s->cells[c])
                return true;
    }
    return false;
}

static void copy_needs(state *s, uint32_t to, uint32_t from)
{
    uint32_t a = s->k->cell_first[to], na = s->k->objects[to].cells;
    uint32_t b = s->k->cell_first[from], nb = s->k->objects[from].cells;
    for (uint32_t c = 0; c < na; c++)
        if (s->cells[a + c])
            need_cells(s, na == nb ? (flow_range){b + c, 1} : (flow_range){b, nb});
}

/* What a callee's parameters need, the arguments must bring; what its results are needed for, it
 * must store. */
static void through_call(state *s, const flow_function *f, const ir_insn *insn)
{
    uint32_t callee = flow_callee(s->k, insn);
    if (callee == FLOW_NONE)
        return;
    flow_call call = flow_call_of(f->func, insn);
    const ir_func *to = s->k->code->funcs[callee];
    for (uint32_t i = 0; call.args && i < call.args->count && i < to->nparams; i++)
        if (flow_named_object(s->k, &call.args->items[i]) != FLOW_NONE)
            copy_needs(s, flow_object_of(s->k, to->params[i]),
                       flow_named_object(s->k, &call.args->items[i]));
    for (uint32_t i = 0; call.rets && i < call.rets->count && i < to->nrets; i++)
        if (flow_named_object(s->k, &call.rets->items[i]) != FLOW_NONE)
            copy_needs(s, flow_named_object(s->k, &call.rets->items[i]),
                       flow_object_of(s->k, to->rets[i]));
}

/* One that never runs fills nothing. */
static void add_store(state *s, const flow_function *f, uint32_t insn)
{
    flow_place at = block_of_insn(f, insn);
    if (s->flags[f->first_pc + insn] & FLOW_PC_SLICE ||
        flow_runs_where(f, &f->func->insns[insn], &at) == FLOW_RUNS_NEVER)
        return;
    s->flags[f->first_pc + insn] |= FLOW_PC_SLICE;
    need_uses(s, f, insn, ~0u, at);
}

/* A store that brings in anything unproven fills no cell that is needed, for all that is needed is
 * clean. */
static void find_stores(state *s)
{
    for (uint32_t n = 0; n < s->k->code->count; n++) {
        const flow_function *f = &s->k->funcs[n];
        for (uint32_t i = 0; i < f->func->ninsns; i++) {
            const ir_insn *insn = &f->func->insns[i];
            if (!f->blocks[f->block_of[i]].reached)
                continue;
            if (insn->op == IR_call)
                through_call(s, f, insn);
            for (uint32_t a = f->address_first[i]; a < f->address_first[i + 1]; a++)
                if (f->effects[i] == IR_EFFECT_STORE && fills(s, f, &f->addresses[a]))
                    add_store(s, f, i);
        }
    }
}

/* ---- roots ---- */

static bool is_control_insn(const flow_kernel *k, const ir_insn *insn)
{
    switch (insn->op) {
    case IR_bra:
    case IR_brx:
    case IR_ret:
    case IR_exit:
    case IR_diverge:
    case IR_bssy:
    case IR_bsync:
    case IR_bbreak:
    case IR_bget:
    case IR_bput: return true;
    case IR_call: return flow_callee(k, insn) != FLOW_NONE;
    default: return flow_is_barrier(insn) || flow_is_warp_barrier(insn);
    }
}

static void add_control(state *s, const flow_function *f, const ir_insn *insn)
{
    bool last = insn->pc + 1 ==
                f->blocks[f->block_of[insn->pc]].first + f->blocks[f->block_of[insn->pc]].count;
    bool branch = insn->op == IR_bra || insn->op == IR_brx;
    if (flow_guard_source(f, insn).reason != FLOW_CLEAN ||
        (last && branch && flow_branch_source(s->k, f, f->block_of[insn->pc]).reason != FLOW_CLEAN))
        return;
    flow_place at = block_of_insn(f, insn->pc);
    flow_place runs = flow_where(at, flow_guard_literal(f, insn));
    s->flags[f->first_pc + insn->pc] |= FLOW_PC_SLICE;
    need_uses(s, f, insn->pc, 1 << FLOW_USE_GUARD, at);
    for (uint32_t u = f->use_first[insn->pc]; u < f->use_first[insn->pc + 1]; u++)
        if (insn->op != IR_call && f->uses[u].role != FLOW_USE_GUARD &&
            flow_value_source(f, f->uses[u].value, &runs).reason == FLOW_CLEAN)
            need(s, f, f->uses[u].value, runs);
}

static void add_roots(state *s, const flow_function *f)
{
    for (uint32_t i = 0; i < f->func->ninsns; i++) {
        const ir_insn *insn = &f->func->insns[i];
        const flow_block *block = &f->blocks[f->block_of[i]];
        if (!block->reached || f->guarded[f->block_of[i]].source.reason != FLOW_CLEAN)
            continue;
        if (is_control_insn(s->k, insn))
            add_control(s, f, insn);
        flow_place at = block_of_insn(f, i);
        bool never = flow_runs_where(f, insn, &at) == FLOW_RUNS_NEVER;
        if (s->flags[f->first_pc + i] & FLOW_PC_PROVEN)
            need_uses(s, f, i, 1 << FLOW_USE_GUARD | (never ? 0 : 1 << FLOW_USE_ADDRESS), at);
    }
}

void flow_slice(flow_kernel *k, uint8_t *flags)
{
    state *s = flow_new(&k->mem, state, 1);
    *s = (state){.k = k, .flags = flags};
    s->needed = flow_new(&k->mem, uint8_t *, k->code->count);
    s->cells = flow_new(&k->mem, bool, k->cell_first[k->nobjects]);
    for (uint32_t i = 0; i < k->code->count; i++)
        s->needed[i] = flow_new(&k->mem, uint8_t, k->funcs[i].nvalues);
    for (uint32_t i = 0; i < k->code->count; i++)
        add_roots(s, &k->funcs[i]);
    do {
        while (s->work.count)
            follow(s, s->work.data[--s->work.count]);
        s->new_cells = false;
        find_stores(s);
    } while (s->work.count || s->new_cells);
}
