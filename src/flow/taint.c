/* What does not follow from the launch, and where it does all the same.
 *
 * Starts from "everything does" and raises until nothing changes; what is raised once keeps its
 * first reason. Explicit flows go through values and through cells of variables; implicit ones
 * through control: what is written where a branch that does not follow from the launch decides, and
 * what is merged behind such a branch.
 *
 * A tainted value has literals (predicates.h) under which it is clean: two launches that differ in
 * data only, in both of which the literal holds where the value is computed, compute the same. Why
 * that may be relied on where the value is used in a place that implies the literal: what decides
 * the literal is defined before the value, in every way to it, and the value before its use, so
 * that nothing has decided anew in between; and whether an instruction runs at all is judged by its
 * guard and by branches, which get no such help but by what holds in their own block. */
#include "flow/taint.h"

typedef struct state {
    flow_kernel *k;
    flow_function *f;
    const ir_insn *insn;
    flow_source exchanged[IR_OP_COUNT]; /* what goes into a warp operation where lanes may be at
                                           different ones */
    flow_source reduced;                /* what goes into barrier reductions */
    bool changed;
} state;

static void stain(state *s, flow_source *at, flow_source with)
{
    if (at->reason != FLOW_CLEAN || with.reason == FLOW_CLEAN)
        return;
    *at = with;
    s->changed = true;
}

static flow_source either(flow_source a, flow_source b)
{
    return a.reason != FLOW_CLEAN ? a : b;
}

static flow_source here(const state *s, flow_reason reason)
{
    return (flow_source){(uint8_t)reason, s->f->first_pc + s->insn->pc};
}

static const flow_source clean = {FLOW_CLEAN, IR_NONE};

/* ---- cells ---- */

flow_range flow_cells(const flow_kernel *k, const flow_reach *r, uint32_t object, uint32_t skip,
                      uint32_t bytes)
{
    const flow_object *o = &k->objects[object];
    flow_range all = {k->cell_first[object], o->cells};
    if (r->object != object || r->offset == FLOW_OFFSET_UNKNOWN || r->shared || r->local ||
        !bytes || !o->bytes)
        return all;
    int64_t from = r->offset + skip, to = from + bytes;
    if (from < 0 || (uint64_t)to > o->bytes)
        return all;
    uint32_t first = (uint32_t)(from / o->cell_bytes), last = (uint32_t)((to - 1) / o->cell_bytes);
    return (flow_range){all.first + first, last - first + 1};
}

/* What of a memory instruction's n-th element, of `count` that are read or written, lies where:
 * bytes before it and in it. Where the elements cannot be told apart: everything. */
static void element_of_access(const ir_insn *insn, const flow_address *a, uint32_t n,
                              uint32_t count, uint32_t *skip, uint32_t *bytes)
{
    *skip = 0;
    *bytes = a->bytes;
    if (insn->vector > 1 && count == insn->vector && a->bytes % count == 0) {
        *bytes = a->bytes / count;
        *skip = n * *bytes;
    }
}

static void stain_cells(state *s, flow_range range, flow_source with)
{
    for (uint32_t c = range.first; c < range.first + range.count; c++)
        stain(s, &s->k->cells[c], with);
}

static flow_source cells_source(const flow_kernel *k, flow_range range)
{
    for (uint32_t c = range.first; c < range.first + range.count; c++)
        if (k->cells[c].reason != FLOW_CLEAN)
            return k->cells[c];
    return clean;
}

/* ---- instructions ---- */

/* Loads and stores that other threads may see between others: their order decides about what is
 * read. */
static bool is_volatile(const ir_insn *insn)
{
    return ir_has(insn, IR_S_volatile) || ir_has(insn, IR_S_relaxed) ||
           ir_has(insn, IR_S_acquire) || ir_has(insn, IR_S_mmio);
}

bool flow_is_barrier(const ir_insn *insn)
{
    return (insn->op == IR_bar || insn->op == IR_barrier) && !ir_has(insn, IR_S_warp);
}

bool flow_is_warp_barrier(const ir_insn *insn)
{
    return insn->op == IR_bar && ir_has(insn, IR_S_warp);
}

flow_literal flow_clean_where(const flow_function *f, uint32_t value, const flow_place *at)
{
    const flow_literals *l = &f->clean[value];
    for (unsigned i = 0; i < l->count; i++)
        if (flow_holds(f, at, l->item[i]))
            return l->item[i];
    return FLOW_NONE;
}

flow_source flow_value_source(const flow_function *f, uint32_t value, const flow_place *at)
{
    if (f->taint[value].reason == FLOW_CLEAN || flow_clean_where(f, value, at) != FLOW_NONE)
        return clean;
    return f->taint[value];
}

static flow_source roles_source(const flow_function *f, const ir_insn *insn, unsigned roles,
                                const flow_place *at)
{
    for (uint32_t u = f->use_first[insn->pc]; u < f->use_first[insn->pc + 1]; u++) {
        flow_source source = roles >> f->uses[u].role & 1
                                 ? flow_value_source(f, f->uses[u].value, at)
                                 : clean;
        if (source.reason != FLOW_CLEAN)
            return source;
    }
    return clean;
}

flow_source flow_guard_source(const flow_function *f, const ir_insn *insn)
{
    flow_place at = flow_in_block(f->block_of[insn->pc]);
    return roles_source(f, insn, 1 << FLOW_USE_GUARD, &at);
}

enum { ALL_ROLES = ~0u, BUT_GUARD = ~(1u << FLOW_USE_GUARD) };

/* What is read where the instruction runs: its guard lets it. */
static flow_source uses_source(const flow_function *f, const ir_insn *insn, unsigned roles)
{
    flow_place at = flow_in_block(f->block_of[insn->pc]);
    flow_place runs = flow_where(at, flow_guard_literal(f, insn));
    flow_source guard = roles_source(f, insn, roles & 1 << FLOW_USE_GUARD, &at);
    return either(guard, roles_source(f, insn, roles & BUT_GUARD, &runs));
}

static bool exchanges(const ir_insn *insn)
{
    switch (insn->op) {
    case IR_shfl:
    case IR_vote:
    case IR_match:
    case IR_redux:
    case IR_elect: return true;
    default: return false;
    }
}

bool flow_is_pure(const flow_function *f, const ir_insn *insn)
{
    switch (insn->op) {
    case IR_call:
    case IR_alloca:
    case IR_stacksave:
    case IR_stackrestore:
    case IR_bget:
    case IR_activemask: return false;
    default: break;
    }
    return f->effects[insn->pc] == IR_EFFECT_NONE && !f->unknown[insn->pc] && !exchanges(insn) &&
           !ir_has(insn, IR_S_sync) && !ir_has(insn, IR_S_aligned);
}

static bool never_runs(const flow_function *f, const ir_insn *insn)
{
    flow_place at = flow_in_block(f->block_of[insn->pc]);
    return flow_runs_where(f, insn, &at) == FLOW_RUNS_NEVER;
}

flow_source flow_branch_source(const flow_kernel *k, const flow_function *f, uint32_t block)
{
    if (block >= f->nblocks || flow_nsucc(&f->graph, block) < 2)
        return clean;
    const ir_insn *last = &f->func->insns[f->blocks[block].first + f->blocks[block].count - 1];
    switch (last->op) {
    case IR_bra:
    case IR_brx: return uses_source(f, last, ALL_ROLES);
    case IR_ret:
    case IR_exit: return flow_guard_source(f, last);
    case IR_call: {
        uint32_t callee = flow_callee(k, last);
        flow_source exits = callee != FLOW_NONE
                                ? k->funcs[callee].exits.source
                                : (flow_source){FLOW_INDIRECT, f->first_pc + last->pc};
        return either(flow_guard_source(f, last), exits);
    }
    default: return clean;
    }
}

/* ---- sources ---- */

static flow_source sreg_source(const state *s, const ir_operand *o)
{
    for (uint32_t i = 0; i < o->count; i++) {
        flow_source item = sreg_source(s, &o->items[i]);
        if (item.reason != FLOW_CLEAN)
            return item;
    }
    if (o->kind != IR_OPD_SREG)
        return clean;
    switch (ir_sreg_get(o->sreg)->source) {
    case IR_SOURCE_LAUNCH: return clean;
    case IR_SOURCE_PLACEMENT:
    case IR_SOURCE_ENVIRONMENT: return here(s, FLOW_VOLATILE);
    case IR_SOURCE_CLOCK: return here(s, FLOW_CLOCK);
    case IR_SOURCE_NOBODY: return here(s, FLOW_UNKNOWN_OP);
    }
    return here(s, FLOW_VOLATILE);
}

static flow_source object_source(const state *s, const flow_reach *r, uint32_t object,
                                 uint32_t skip, uint32_t bytes)
{
    const flow_object *o = &s->k->objects[object];
    flow_source source = cells_source(s->k, flow_cells(s->k, r, object, skip, bytes));
    switch (o->space) {
    case IR_SPACE_GLOBAL: return here(s, FLOW_LOADED);
    case IR_SPACE_SHARED:
        source = either(source, s->k->any_shared);
        source = either(source, s->k->unordered);
        return is_volatile(s->insn) ? either(source, here(s, FLOW_VOLATILE)) : source;
    case IR_SPACE_LOCAL: return either(source, s->k->any_local);
    default: return source;
    }
}

static flow_source load_source(const state *s, uint32_t n, uint32_t count)
{
    const flow_function *f = s->f;
    for (uint32_t i = f->address_first[s->insn->pc]; i < f->address_first[s->insn->pc + 1]; i++) {
        const flow_address *a = &f->addresses[i];
        if (!(a->touch & FLOW_READ) || a->space == IR_SPACE_CONST)
            continue;
        flow_reach r = flow_reach_of(s->k, f, a);
        uint32_t skip, bytes, found = 0;
        element_of_access(s->insn, a, n, count, &skip, &bytes);
        if (r.global)
            return here(s, FLOW_LOADED);
        flow_source source = either(r.shared ? s->k->any_shared : clean,
                                    r.local ? s->k->any_local : clean);
        for (uint32_t o = flow_next_reached(s->k, &r, 0);
             o != FLOW_NONE && source.reason == FLOW_CLEAN;
             o = flow_next_reached(s->k, &r, o + 1), found++)
            source = object_source(s, &r, o, skip, bytes);
        if (source.reason != FLOW_CLEAN)
            return source;
        if (!found) /* nothing that we know of */
            return here(s, FLOW_ALIAS);
    }
    return clean;
}

static flow_source effect_source(const state *s, uint32_t n, uint32_t count)
{
    switch (s->f->effects[s->insn->pc]) {
    case IR_EFFECT_LOAD: return load_source(s, n, count);
    case IR_EFFECT_ATOMIC: return here(s, FLOW_ATOMIC);
    case IR_EFFECT_TEXTURE:
    case IR_EFFECT_SURFACE: return here(s, FLOW_TEXTURE);
    case IR_EFFECT_BARRIER: return flow_is_barrier(s->insn) ? s->reduced : here(s, FLOW_TIMING);
    case IR_EFFECT_NONE: return clean;
    default: return here(s, FLOW_UNKNOWN_OP);
    }
}

/* Lanes of a warp may be at different instructions of the kind at once, and still exchange values.
 */
static bool lanes_may_diverge(const state *s)
{
    uint32_t u = s->f->use_first[s->insn->pc];
    bool guard = u < s->f->use_first[s->insn->pc + 1] && s->f->uses[u].role == FLOW_USE_GUARD;
    return s->f->control_level[s->f->block_of[s->insn->pc]] == FLOW_VARYING ||
           (guard && s->f->level[s->f->uses[u].value] == FLOW_VARYING);
}

/* Of the n-th of `count` values that the instruction defines, beside control and operands. */
static flow_source own_source(state *s, uint32_t n, uint32_t count)
{
    const ir_insn *insn = s->insn;
    if (s->f->unknown[insn->pc])
        return here(s, FLOW_UNKNOWN_OP);
    if (insn->op == IR_call) {
        flow_call call = flow_call_of(s->f->func, insn);
        bool known = flow_callee(s->k, insn) != FLOW_NONE;
        return here(s, known                             ? FLOW_UNKNOWN_OP
                       : call.target->kind == IR_OPD_REG ? FLOW_INDIRECT
                                                         : FLOW_EXTERN);
    }
    if (insn->op == IR_activemask)
        return here(s, FLOW_VOLATILE);
    if (insn->op ==
        IR_wgmma) /* reads shared memory that its operands only describe, some time later */
        return here(s, FLOW_TIMING);
    for (uint32_t i = 0; i < insn->noperands; i++) {
        flow_source sreg = sreg_source(s, &insn->operands[i]);
        if (sreg.reason != FLOW_CLEAN)
            return sreg;
    }
    if (exchanges(insn) && lanes_may_diverge(s))
        return s->exchanged[insn->op];
    return effect_source(s, n, count);
}

/* ---- values ---- */

/* What stains the n-th of `count` values that the instruction defines, where the literal holds;
 * FLOW_NONE: wherever it is computed. Lanes and memory that others share are not of this thread:
 * the literal says nothing about them; nor is it asked about addresses and guards, which the slice
 * must not get wrong where it does not hold. */
static flow_source result_source(state *s, uint32_t n, uint32_t count, flow_literal literal)
{
    const flow_function *f = s->f;
    const flow_value *v = &f->values[f->defs[f->def_first[s->insn->pc] + n]];
    flow_place block = flow_in_block(v->block), here = flow_where(block, literal);
    flow_literal guard = flow_guard_literal(f, s->insn);
    flow_place lets = flow_where(flow_is_pure(f, s->insn) ? here : block, guard),
               keeps = flow_where(here, flow_not(guard));
    flow_runs runs = flow_runs_where(f, s->insn, &here);
    flow_source source = f->guarded[v->block].source;
    source = either(source, flow_guard_source(f, s->insn));
    if (runs != FLOW_RUNS_NEVER)
        source = either(source, roles_source(f, s->insn, BUT_GUARD, &lets));
    if (flow_keeps_old(v, runs))
        source = either(source, flow_value_source(f, v->old, v->partial ? &here : &keeps));
    if (source.reason == FLOW_CLEAN && runs != FLOW_RUNS_NEVER)
        source = own_source(s, n, count);
    return source;
}

bool flow_edge_taken(const flow_function *f, uint32_t from, uint32_t to, flow_literal literal)
{
    flow_place edge = flow_on_edge(f, from, to);
    return !flow_holds(f, &edge, flow_not(literal));
}

/* What arrives over an edge depends on what decides about the edge; edges that are not taken where
 * the literal holds bring nothing. */
static flow_source phi_source(const state *s, uint32_t phi, flow_literal literal)
{
    const flow_function *f = s->f;
    uint32_t block = f->values[phi].block, first = f->graph.pred_first[block];
    flow_source source = clean, edges = clean;
    for (uint32_t p = first; p < f->graph.pred_first[block + 1]; p++) {
        uint32_t pred = f->graph.pred[p];
        if (!flow_edge_taken(f, pred, block, literal))
            continue;
        flow_place edge = flow_where(flow_on_edge(f, pred, block), literal);
        edges = either(edges, f->guarded[pred].source);
        edges = either(edges, flow_branch_source(s->k, f, pred));
        source = either(source,
                        flow_value_source(f, f->args[f->values[phi].first_arg + p - first], &edge));
    }
    return either(source, edges);
}

static flow_source source_where(state *s, uint32_t value, flow_literal literal)
{
    const flow_function *f = s->f;
    if (f->values[value].kind == FLOW_VALUE_PHI)
        return phi_source(s, value, literal);
    s->insn = &f->func->insns[f->values[value].insn];
    uint32_t first = f->def_first[s->insn->pc], count = f->def_first[s->insn->pc + 1] - first,
             n = 0;
    while (f->defs[first + n] != value)
        n++;
    return result_source(s, n, count, literal);
}

/* ---- where values are clean ---- */

enum { MAX_CANDIDATES = 24 };

typedef struct candidates {
    uint32_t count;
    flow_literal item[MAX_CANDIDATES];
} candidates;

static void propose(candidates *c, flow_literal literal)
{
    for (uint32_t i = 0; i < c->count; i++)
        if (c->item[i] == literal)
            return;
    if (literal != FLOW_NONE && c->count < MAX_CANDIDATES)
        c->item[c->count++] = literal;
}

static void propose_of(candidates *c, const flow_function *f, uint32_t value)
{
    for (unsigned i = 0; i < f->clean[value].count; i++)
        propose(c, f->clean[value].item[i]);
}

/* Where none of what holds at the end of an edge's way does, the edge is not taken. */
static void propose_against(candidates *c, const flow_function *f, uint32_t from, uint32_t to)
{
    propose(c, flow_not(flow_edge_literal(f, from, to)));
    for (uint32_t b = from; b != FLOW_NONE && !flow_dominates(&f->dom, b, to); b = f->holds_next[b])
        propose(c, flow_not(f->holds[b]));
}

static void propose_all(const state *s, uint32_t value, candidates *c)
{
    const flow_function *f = s->f;
    const flow_value *v = &f->values[value];
    propose_of(c, f, value);
    if (v->kind == FLOW_VALUE_PHI) {
        uint32_t first = f->graph.pred_first[v->block];
        for (uint32_t p = first; p < f->graph.pred_first[v->block + 1]; p++) {
            propose_of(c, f, f->args[v->first_arg + p - first]);
            propose_against(c, f, f->graph.pred[p], v->block);
        }
        return;
    }
    flow_literal guard = flow_guard_literal(f, s->insn);
    propose(c, guard);
    propose(c, flow_not(guard));
    for (uint32_t u = f->use_first[s->insn->pc]; u < f->use_first[s->insn->pc + 1]; u++)
        propose_of(c, f, f->uses[u].value);
    if (v->old != FLOW_NONE)
        propose_of(c, f, v->old);
}

static bool is_clean_atom(const flow_function *f, flow_literal literal)
{
    for (unsigned i = 0; i < 2; i++) {
        uint32_t value = f->atoms[literal / 2].decided_by[i];
        if (value != FLOW_NONE && f->taint[value].reason != FLOW_CLEAN)
            return false;
    }
    return true;
}

/* Literals that something tainted decides would come to nothing: whatever ran where they hold would
 * have a tainted guard, or stand behind a tainted branch. They are not kept. */
static bool is_clean_under(state *s, uint32_t value, flow_literal literal)
{
    const flow_value *v = &s->f->values[value];
    return is_clean_atom(s->f, literal) &&
           (v->kind != FLOW_VALUE_PHI || flow_literal_before(s->f, literal, v->block)) &&
           source_where(s, value, literal).reason == FLOW_CLEAN;
}

static bool keeps_all(state *s, uint32_t value)
{
    const flow_literals *l = &s->f->clean[value];
    for (unsigned i = 0; i < l->count; i++)
        if (!is_clean_under(s, value, l->item[i]))
            return false;
    return true;
}

/* Only what was clean so far may stay so, or the walk would not end. */
static void find_clean(state *s, uint32_t value, bool first)
{
    const flow_function *f = s->f;
    candidates c = {0};
    flow_literals found = {0};
    propose_all(s, value, &c);
    for (uint32_t i = 0; i < c.count && found.count < FLOW_MAX_LITERALS; i++) {
        flow_place at = flow_where(flow_in_block(FLOW_NONE), c.item[i]);
        bool known = false, was = first;
        for (unsigned n = 0; n < found.count; n++)
            known |= flow_holds(f, &at, found.item[n]);
        for (unsigned n = 0; n < f->clean[value].count; n++)
            was |= flow_holds(f, &at, f->clean[value].item[n]);
        if (was && !known && is_clean_under(s, value, c.item[i]))
            found.item[found.count++] = c.item[i];
    }
    f->clean[value] = found;
    s->changed = true;
}

static void taint_value(state *s, uint32_t value)
{
    flow_function *f = s->f;
    bool first = f->taint[value].reason == FLOW_CLEAN;
    if (first)
        stain(s, &f->taint[value], source_where(s, value, FLOW_NONE));
    if (f->taint[value].reason != FLOW_CLEAN && (first || !keeps_all(s, value)))
        find_clean(s, value, first);
}

static void taint_results(state *s)
{
    for (uint32_t d = s->f->def_first[s->insn->pc]; d < s->f->def_first[s->insn->pc + 1]; d++)
        taint_value(s, s->f->defs[d]);
}

static void taint_phis(state *s, uint32_t block)
{
    for (uint32_t i = s->f->phi_first[block]; i < s->f->phi_first[block + 1]; i++)
        taint_value(s, s->f->phis[i]);
}

/* ---- memory ---- */

static void store_to(state *s, const flow_address *a, flow_source with, uint32_t skip,
                     uint32_t bytes)
{
    flow_reach r = flow_reach_of(s->k, s->f, a);
    if (with.reason == FLOW_CLEAN)
        return;
    if (r.shared)
        stain(s, &s->k->any_shared, here(s, FLOW_ALIAS));
    if (r.local)
        stain(s, &s->k->any_local, here(s, FLOW_ALIAS));
    for (uint32_t o = flow_next_reached(s->k, &r, 0); !r.shared && !r.local && o != FLOW_NONE;
         o = flow_next_reached(s->k, &r, o + 1))
        stain_cells(s, flow_cells(s->k, &r, o, skip, bytes), with);
}

/* What a write leaves in memory beside what control, guard and address bring in. */
static flow_source written_source(const state *s)
{
    if (s->f->unknown[s->insn->pc])
        return here(s, FLOW_UNKNOWN_OP);
    switch (s->f->effects[s->insn->pc]) {
    case IR_EFFECT_ATOMIC: return here(s, FLOW_ATOMIC);
    case IR_EFFECT_COPY:
        return here(s, s->insn->op == IR_clusterlaunchcontrol ? FLOW_TIMING : FLOW_LOADED);
    case IR_EFFECT_BARRIER: return here(s, FLOW_TIMING);
    case IR_EFFECT_STORE: return clean;
    default: return here(s, FLOW_UNKNOWN_OP);
    }
}

static void taint_stored(state *s, const flow_address *a, flow_source control)
{
    const flow_function *f = s->f;
    uint32_t stored = 0, n = 0;
    flow_place runs = flow_where(flow_in_block(f->block_of[s->insn->pc]),
                                 flow_guard_literal(f, s->insn));
    for (uint32_t u = f->use_first[s->insn->pc]; u < f->use_first[s->insn->pc + 1]; u++)
        stored += f->uses[u].role == FLOW_USE_STORED;
    flow_source common = either(control, uses_source(f, s->insn,
                                                     1 << FLOW_USE_GUARD | 1 << FLOW_USE_ADDRESS));
    common = either(common, written_source(s));
    store_to(s, a, common, 0, a->bytes);
    for (uint32_t u = f->use_first[s->insn->pc]; u < f->use_first[s->insn->pc + 1]; u++) {
        uint32_t skip, bytes;
        if (f->uses[u].role != FLOW_USE_STORED)
            continue;
        element_of_access(s->insn, a, n++, stored, &skip, &bytes);
        store_to(s, a, flow_value_source(f, f->uses[u].value, &runs), skip, bytes);
    }
}

/* ---- barriers and exchanges ---- */

/* Where not all threads are known to meet, shared memory may be read before or after it is written. A warp's barrier
 * orders nothing between warps; where only some data leads to it, what it orders within the warp is what the
 * same data leads to, and not proven, else lanes would race with other data. */
static void synchronise(state *s, flow_source control)
{
    if (flow_is_warp_barrier(s->insn))
        return;
    if (!flow_is_barrier(s->insn)) {
        stain(s, &s->k->unordered, here(s, FLOW_UNORDERED));
        return;
    }
    flow_source operands = uses_source(s->f, s->insn, ALL_ROLES);
    bool reduces = s->f->def_first[s->insn->pc] != s->f->def_first[s->insn->pc + 1];
    if (reduces)
        stain(s, &s->reduced, either(control, operands));
    flow_source who = either(control, reduces ? flow_guard_source(s->f, s->insn) : operands);
    if (who.reason != FLOW_CLEAN)
        stain(s, &s->k->unordered, here(s, FLOW_UNORDERED));
}

/* ---- calls ---- */

static void copy_cells(state *s, uint32_t to, uint32_t from)
{
    const flow_object *a = &s->k->objects[to], *b = &s->k->objects[from];
    uint32_t first_to = s->k->cell_first[to], first_from = s->k->cell_first[from];
    if (a->cells != b->cells)
        stain_cells(s, (flow_range){first_to, a->cells},
                    cells_source(s->k, (flow_range){first_from, b->cells}));
    for (uint32_t c = 0; a->cells == b->cells && c < a->cells; c++)
        stain(s, &s->k->cells[first_to + c], s->k->cells[first_from + c]);
}

static void stain_object(state *s, uint32_t object, flow_source with)
{
    if (object != FLOW_NONE)
        stain_cells(s, (flow_range){s->k->cell_first[object], s->k->objects[object].cells}, with);
}

static void taint_entry(state *s, flow_function *callee, flow_source source, uint32_t branch)
{
    if (callee->entered.source.reason == FLOW_CLEAN && source.reason != FLOW_CLEAN) {
        callee->entered = (flow_control){source, branch};
        s->changed = true;
    }
}

/* Everything that the pointers may lead to. */
static void stain_pointed(state *s, const uint64_t *set, flow_source with)
{
    for (uint32_t o = 0; o < s->k->nobjects; o++)
        if (s->k->objects[o].element != FLOW_NONE && flow_bit(set, s->k->objects[o].element))
            stain_object(s, o, with);
}

static void taint_unknown_call(state *s, const flow_call *call, bool writes, flow_source with)
{
    for (uint32_t i = 0; call->rets && i < call->rets->count; i++)
        stain_object(s, flow_named_object(s->k, &call->rets->items[i]), with);
    if (!writes)
        return;
    for (uint32_t i = 0; call->args && i < call->args->count; i++) {
        uint32_t object = flow_named_object(s->k, &call->args->items[i]);
        if (object != FLOW_NONE)
            stain_pointed(s, s->k->contents[object].set, with);
    }
    stain_pointed(s, s->k->escaped, with);
}

static void call_pointer(state *s, const flow_call *call)
{
    flow_source with = here(s, FLOW_INDIRECT);
    taint_unknown_call(s, call, true, with);
    for (uint32_t i = 0; i < s->k->code->count; i++) {
        if (!s->k->funcs[i].pointed)
            continue;
        taint_entry(s, &s->k->funcs[i], with, with.pc);
        for (uint32_t p = 0; p < s->k->code->funcs[i]->nparams; p++)
            stain_object(s, flow_object_of(s->k, s->k->code->funcs[i]->params[p]), with);
    }
}

static void taint_callee(state *s, flow_source control)
{
    flow_call call = flow_call_of(s->f->func, s->insn);
    uint32_t callee = flow_callee(s->k, s->insn), pc = s->f->first_pc + s->insn->pc;
    if (callee == FLOW_NONE && call.target->kind == IR_OPD_REG)
        call_pointer(s, &call);
    else if (callee == FLOW_NONE)
        taint_unknown_call(s, &call, flow_extern_of(call.target->sym.func) == FLOW_EXTERN_ANY,
                           here(s, FLOW_EXTERN));
    if (callee == FLOW_NONE)
        return;
    flow_function *to = &s->k->funcs[callee];
    flow_source guard = flow_guard_source(s->f, s->insn);
    const flow_control *block = &s->f->guarded[s->f->block_of[s->insn->pc]];
    taint_entry(s, to, either(control, guard), control.reason != FLOW_CLEAN ? block->branch : pc);
    for (uint32_t i = 0; call.args && i < call.args->count && i < to->func->nparams; i++)
        if (flow_named_object(s->k, &call.args->items[i]) != FLOW_NONE)
            copy_cells(s, flow_object_of(s->k, to->func->params[i]),
                       flow_named_object(s->k, &call.args->items[i]));
    for (uint32_t i = 0; call.rets && i < call.rets->count && i < to->func->nrets; i++) {
        uint32_t ret = flow_named_object(s->k, &call.rets->items[i]);
        if (ret == FLOW_NONE)
            continue;
        copy_cells(s, ret, flow_object_of(s->k, to->func->rets[i]));
        stain_object(s, ret, either(control, guard));
    }
}

/* ---- control ---- */

static void leave(state *s, flow_source source)
{
    flow_control *exits = &s->f->exits;
    if (exits->source.reason == FLOW_CLEAN && source.reason != FLOW_CLEAN) {
        *exits = (flow_control){source, s->f->first_pc + s->insn->pc};
        s->changed = true;
    }
}

static void control(state *s, uint32_t block)
{
    flow_function *f = s->f;
    flow_control *at = &f->guarded[block];
    if (at->source.reason != FLOW_CLEAN)
        return;
    *at = f->entered;
    for (uint32_t i = f->control.first[block]; i < f->control.first[block + 1]; i++) {
        uint32_t c = f->control.item[i];
        flow_source branch = flow_branch_source(s->k, f, c);
        if (at->source.reason != FLOW_CLEAN)
            break;
        if (branch.reason != FLOW_CLEAN)
            *at = (flow_control){branch, f->first_pc + f->blocks[c].first + f->blocks[c].count - 1};
        else
            *at = f->guarded[c];
    }
    s->changed |= at->source.reason != FLOW_CLEAN;
}

static void visit_insn(state *s, flow_source why)
{
    flow_function *f = s->f;
    taint_results(s);
    if (never_runs(f, s->insn))
        return;
    if (exchanges(s->insn) && lanes_may_diverge(s))
        stain(s, &s->exchanged[s->insn->op], either(why, uses_source(f, s->insn, ALL_ROLES)));
    if (f->effects[s->insn->pc] == IR_EFFECT_BARRIER)
        synchronise(s, why);
    for (uint32_t a = f->address_first[s->insn->pc]; a < f->address_first[s->insn->pc + 1]; a++)
        if (f->addresses[a].touch & FLOW_WRITE)
            taint_stored(s, &f->addresses[a], why);
    if (s->insn->op == IR_call)
        taint_callee(s, why);
    if (s->insn->op == IR_exit)
        leave(s, either(why, flow_guard_source(f, s->insn)));
    if (s->insn->op == IR_call && flow_nsucc(&f->graph, f->block_of[s->insn->pc]) > 1)
        leave(s, either(why, flow_branch_source(s->k, f, f->block_of[s->insn->pc])));
}

static void visit_block_taint(state *s, uint32_t block)
{
    flow_function *f = s->f;
    control(s, block);
    if (block == f->nblocks)
        return;
    taint_phis(s, block);
    for (uint32_t i = f->blocks[block].first; i < f->blocks[block].first + f->blocks[block].count;
         i++) {
        s->insn = &f->func->insns[i];
        visit_insn(s, f->guarded[block].source);
    }
}

/* ---- start ---- */

/* Old functions take registers; what stands in them is not followed. */
static void stain_reg_params(flow_function *f)
{
    bool any = false;
    for (uint32_t i = 0; i < f->func->nparams; i++)
        any |= f->func->params[i]->space == IR_SPACE_REG;
    for (uint32_t v = 0; any && v < f->nvalues; v++)
        if (f->values[v].kind == FLOW_VALUE_ENTRY)
            f->taint[v] = (flow_source){FLOW_UNKNOWN_OP, f->first_pc};
}

static void prepare_taint(flow_kernel *k)
{
    k->cell_first = flow_new(&k->mem, uint32_t, (size_t)k->nobjects + 1);
    for (uint32_t o = 0; o < k->nobjects; o++)
        k->cell_first[o + 1] = k->cell_first[o] + k->objects[o].cells;
    k->cells = flow_new(&k->mem, flow_source, k->cell_first[k->nobjects]);
    for (uint32_t i = 0; i < k->code->count; i++) {
        flow_function *f = &k->funcs[i];
        f->taint = flow_new(&k->mem, flow_source, f->nvalues);
        f->clean = flow_new(&k->mem, flow_literals, f->nvalues);
        f->guarded = flow_new(&k->mem, flow_control, (size_t)f->nblocks + 1);
        stain_reg_params(f);
    }
}

/* Needs: cfg, values, predicates, origins, uniform. Fills: taint, clean, guarded, entered, exits,
 * cells, any_shared, any_local, unordered. Sound under what flow_prove() assumes: what may depend on anything but the
 * launch has a reason. */
void flow_pass_taint(flow_kernel *k)
{
    state *s = flow_new(&k->mem, state, 1);
    prepare_taint(k);
    *s = (state){.k = k, .changed = true};
    while (s->changed) {
        s->changed = false;
        for (uint32_t i = 0; i < k->code->count; i++) {
            s->f = &k->funcs[i];
            for (uint32_t b = 0; b < s->f->norder; b++)
                visit_block_taint(s, s->f->order[b]);
        }
    }
}
