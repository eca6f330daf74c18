/* A walk backwards from each value that is written to shared memory to the loads that it may depend
 * on: over values, over variables in local and parameter memory to the stores that fill them, over
 * calls, and over the branches that decide. It ends at loads from shared and from device memory. */
#include "flow/fills.h"

#include "flow/taint.h"

#include <stdlib.h>
#include <string.h>

#define LOOP_ANY (FLOW_NONE - 1)

enum { DEPTH_ANY, DEPTH_NONE = UINT16_MAX - 1, MAX_HOPS = 8, SCOPES = 3 };

/* Of all walks of a kernel together: where each of thousands of values is computed from all before
 * it, what they depend on grows with the square of their number. */
enum { MAX_STEPS = 4000000 };

/* Where the walk is, and how it came there. */
typedef struct step {
    uint32_t func;
    uint32_t node; /* value; nvalues + b: what decides whether block b runs */
    uint32_t
        loop; /* the outermost loop around the node that the value has gone round since, LOOP_ANY
                       where that is not told apart, else FLOW_NONE */
    uint8_t scope; /* flow_scope */
    bool decides;  /* no value, but what decides about one */
    bool operand;  /* a value that goes into the written one, not into an address on the way */
} step;

/* Ways in which a walk has come to a node: of each scope and kind the least depth of `loop`, which
 * stands for all greater ones. */
typedef struct seen {
    uint32_t walk;
    uint16_t depth[SCOPES][2][2];
} seen;

typedef struct place {
    uint32_t func, address; /* in addresses */
} place;

typedef flow_list(flow_read) read_list;

typedef struct state {
    flow_kernel *k;
    flow_rows writers; /* of each local or parameter object: places that may write it */
    place *places;
    flow_rows feeds; /* of each parameter object: objects that a call copies to it, or nobjects:
                           something unknown */
    bool foreign;    /* code is called that is not known */
    seen **seen;     /* [function][node] */
    uint32_t walk;   /* number of the walk, from 1 */
    uint32_t steps;
    flow_list(step) work;
    uint32_t *found, *found_at; /* [npcs] the walk that found a load, and where in reads */
    flow_fill *fill;
    read_list reads;
} state;

/* ---- steps ---- */

static const flow_function *function_of(const state *s, step at)
{
    return &s->k->funcs[at.func];
}

static uint32_t block_of_node(const flow_function *f, uint32_t node)
{
    return node < f->nvalues ? f->values[node].block : node - f->nvalues;
}

static uint16_t depth_of(const flow_function *f, uint32_t loop)
{
    if (loop == LOOP_ANY)
        return DEPTH_ANY;
    return loop == FLOW_NONE ? DEPTH_NONE : (uint16_t)f->loops.loops[loop].depth;
}

/* Has this walk come there in a way that finds at least as much? */
static bool is_covered(const seen *at, step to, uint16_t depth)
{
    for (int scope = to.scope; scope < SCOPES; scope++)
        for (int decides = 0; decides <= to.decides; decides++)
            for (int operand = to.operand; operand < 2; operand++)
                if (at->depth[scope][decides][operand] <= depth)
                    return true;
    return false;
}

static void start_anew(seen *at, uint32_t walk)
{
    at->walk = walk;
    memset(at->depth, 0xff, sizeof at->depth);
}

static void go(state *s, step to)
{
    const flow_function *f = function_of(s, to);
    if (to.loop < LOOP_ANY && !flow_in_loop(&f->loops, to.loop, block_of_node(f, to.node)))
        to.loop = FLOW_NONE;
    seen *at = &s->seen[to.func][to.node];
    uint16_t depth = depth_of(f, to.loop);
    if (at->walk != s->walk)
        start_anew(at, s->walk);
    else if (is_covered(at, to, depth))
        return;
    at->depth[to.scope][to.decides][to.operand] = depth;
    flow_push(&s->k->mem, &s->work, to);
}

static step to_value(step from, uint32_t value)
{
    from.node = value;
    return from;
}

static step to_address(step from, uint32_t value)
{
    from.node = value;
    from.operand = false;
    return from;
}

static step to_decision(step from, uint32_t value)
{
    from.node = value;
    from.operand = false;
    from.decides = true;
    return from;
}

/* The uses of an instruction in these roles. */
static void go_to_uses(state *s, step from, uint32_t insn, unsigned roles)
{
    const flow_function *f = function_of(s, from);
    for (uint32_t u = f->use_first[insn]; u < f->use_first[insn + 1]; u++)
        if (roles >> f->uses[u].role & 1)
            go(s, f->uses[u].role == FLOW_USE_GUARD     ? to_decision(from, f->uses[u].value)
                  : f->uses[u].role == FLOW_USE_ADDRESS ? to_address(from, f->uses[u].value)
                                                        : to_value(from, f->uses[u].value));
}

enum {
    GUARD = 1 << FLOW_USE_GUARD,
    ADDRESS = 1 << FLOW_USE_ADDRESS,
    DATA = 1 << FLOW_USE_DATA,
    STORED = 1 << FLOW_USE_STORED
};

/* ---- what decides ---- */

/* A test that ends a loop says how often it runs, and decides about nothing here. */
static bool ends_loop(const flow_function *f, uint32_t block)
{
    uint32_t loop = f->loops.of[block];
    for (uint32_t i = f->graph.succ_first[block];
         loop != FLOW_NONE && i < f->graph.succ_first[block + 1]; i++)
        if (f->graph.succ[i] == f->nblocks || !flow_in_loop(&f->loops, loop, f->graph.succ[i]))
            return true;
    return false;
}

static void go_to_branch(state *s, step from, uint32_t block)
{
    const flow_function *f = function_of(s, from);
    const ir_insn *last = &f->func->insns[f->blocks[block].first + f->blocks[block].count - 1];
    step to = from;
    to.operand = false;
    to.decides = true;
    if (last->op != IR_call && !ends_loop(f, block))
        go_to_uses(s, to, last->pc, ~0u);
}

/* All branches that decide whether the block runs. */
static void visit_block_node(state *s, step at)
{
    const flow_function *f = function_of(s, at);
    uint32_t block = at.node - f->nvalues;
    for (uint32_t i = f->control.first[block]; i < f->control.first[block + 1]; i++) {
        go_to_branch(s, at, f->control.item[i]);
        go(s, to_decision(at, f->nvalues + f->control.item[i]));
    }
}

/* The guard of an instruction, and what decides about its block. */
static void go_to_decisions(state *s, step from, uint32_t insn)
{
    const flow_function *f = function_of(s, from);
    go_to_uses(s, from, insn, GUARD);
    go(s, to_decision(from, f->nvalues + f->block_of[insn]));
}

/* ---- merged values ---- */

static bool closes_loop(const flow_function *f, uint32_t from, uint32_t to)
{
    uint32_t loop = f->loops.of[to];
    return loop != FLOW_NONE && f->loops.loops[loop].header == to &&
           flow_in_loop(&f->loops, loop, from);
}

static uint32_t round_loop(const flow_function *f, uint32_t had, uint32_t loop)
{
    if (f->loops.irreducible || had == LOOP_ANY)
        return LOOP_ANY;
    return had == FLOW_NONE || f->loops.loops[had].depth > f->loops.loops[loop].depth ? loop : had;
}

/* The branches between the nearest block that all ways to the phi lead through and the phi. */
static void go_to_choices(state *s, step at, uint32_t block)
{
    const flow_function *f = function_of(s, at);
    uint32_t fork = f->dom.parent[block];
    go_to_branch(s, at, fork);
    for (uint32_t p = f->graph.pred_first[block]; p < f->graph.pred_first[block + 1]; p++) {
        uint32_t pred = f->graph.pred[p];
        for (uint32_t c = f->control.first[pred]; c < f->control.first[pred + 1]; c++)
            if (pred != fork && flow_dominates(&f->dom, fork, f->control.item[c]))
                go_to_branch(s, at, f->control.item[c]);
    }
}

static void visit_phi(state *s, step at)
{
    const flow_function *f = function_of(s, at);
    const flow_value *v = &f->values[at.node];
    uint32_t first = f->graph.pred_first[v->block], heads = 0;
    for (uint32_t p = first; p < f->graph.pred_first[v->block + 1]; p++) {
        step to = to_value(at, f->args[v->first_arg + p - first]);
        if (f->loops.irreducible)
            to.loop = LOOP_ANY;
        if (closes_loop(f, f->graph.pred[p], v->block)) {
            to.loop = round_loop(f, at.loop, f->loops.of[v->block]);
            heads++;
        }
        go(s, to);
    }
    if (!heads && f->dom.parent[v->block] != FLOW_NONE)
        go_to_choices(s, at, v->block);
}

/* ---- memory ---- */

static bool overlaps(const flow_reach *a, uint32_t abytes, const flow_reach *b, uint32_t bbytes)
{
    if (a->offset == FLOW_OFFSET_UNKNOWN || b->offset == FLOW_OFFSET_UNKNOWN || !abytes || !bbytes)
        return true;
    return a->offset < b->offset + bbytes && b->offset < a->offset + abytes;
}

static void go_to_writers(state *s, step at, uint32_t object, const flow_reach *r, uint32_t bytes,
                          unsigned hops)
{
    bool param = s->k->objects[object].space == IR_SPACE_PARAM;
    if (hops == MAX_HOPS || (!param && s->foreign && s->k->objects[object].element != FLOW_NONE))
        s->fill->unknown = true;
    for (uint32_t w = s->writers.first[object]; w < s->writers.first[object + 1]; w++) {
        place p = s->places[s->writers.item[w]];
        const flow_function *f = &s->k->funcs[p.func];
        const flow_address *a = &f->addresses[p.address];
        flow_reach to = flow_reach_of(s->k, f, a);
        step next = at;
        if (!overlaps(r, bytes, &to, a->bytes))
            continue;
        next.loop = param && at.loop == FLOW_NONE ? FLOW_NONE : LOOP_ANY;
        next.func = p.func;
        go_to_uses(s, next, a->insn, STORED | GUARD);
    }
    for (uint32_t i = s->feeds.first[object]; hops < MAX_HOPS && i < s->feeds.first[object + 1];
         i++)
        if (s->feeds.item[i] == s->k->nobjects)
            s->fill->unknown = true;
        else
            go_to_writers(s, at, s->feeds.item[i], r, bytes, hops + 1);
}

static void add_read(state *s, step at, uint32_t insn)
{
    uint32_t pc = function_of(s, at)->first_pc + insn;
    flow_read read = {pc, at.scope, at.decides, at.loop != FLOW_NONE};
    if (s->found[pc] != s->walk) {
        s->found[pc] = s->walk;
        s->found_at[pc] = s->reads.count;
        flow_push(&s->k->mem, &s->reads, read);
        return;
    }
    flow_read *had = &s->reads.data[s->found_at[pc]];
    had->scope = had->scope > read.scope ? had->scope : read.scope;
    had->decides &= read.decides;
    had->earlier |= read.earlier;
}

static void note_device(state *s, step at)
{
    if (at.operand && !at.decides)
        s->fill->origin = FLOW_DEVICE;
}

/* What a load or an atomic returns. */
static void visit_address(state *s, step at, const flow_address *a)
{
    const flow_function *f = function_of(s, at);
    flow_reach r = flow_reach_of(s->k, f, a);
    bool shared = r.shared;
    if (!(a->touch & FLOW_READ) || a->space == IR_SPACE_CONST)
        return;
    if (r.global)
        note_device(s, at);
    s->fill->unknown |= r.local;
    for (uint32_t o = flow_next_reached(s->k, &r, 0); o != FLOW_NONE;
         o = flow_next_reached(s->k, &r, o + 1)) {
        ir_space space = s->k->objects[o].space;
        shared |= space == IR_SPACE_SHARED;
        if (space == IR_SPACE_LOCAL || space == IR_SPACE_PARAM)
            go_to_writers(s, at, o, &r, a->bytes, 0);
    }
    if (!shared)
        return;
    add_read(s, at, a->insn);
    if (at.operand && !at.decides)
        s->fill->copied = false;
}

/* ---- instructions ---- */

static bool moves(const ir_insn *insn)
{
    for (uint32_t i = 1; i < insn->noperands; i++)
        if (insn->operands[i].kind == IR_OPD_SREG)
            return false;
    switch (insn->op) {
    case IR_mov:
    case IR_cvt:
    case IR_cvta:
    case IR_selp:
    case IR_slct:
    case IR_prmt:
    case IR_movmatrix:
    case IR_shfl: return true;
    default: return false;
    }
}

static uint8_t scope_of(const ir_insn *insn)
{
    switch (insn->op) {
    case IR_shfl:
    case IR_vote:
    case IR_match:
    case IR_redux:
    case IR_elect:
    case IR_movmatrix:
    case IR_mma:
    case IR_wmma:
    case IR_wgmma:
    case IR_ldmatrix:
    case IR_stmatrix: return FLOW_BY_WARP;
    case IR_bar:
    case IR_barrier: return FLOW_BY_BLOCK;
    default: return FLOW_BY_THREAD;
    }
}

static step with_scope_of(step at, const ir_insn *insn)
{
    uint8_t scope = scope_of(insn);
    at.scope = at.scope > scope ? at.scope : scope;
    return at;
}

static void visit_arithmetic(state *s, step at, const ir_insn *insn)
{
    const flow_function *f = function_of(s, at);
    uint32_t last = f->use_first[insn->pc + 1];
    bool selects = insn->op == IR_selp || insn->op == IR_slct;
    if (at.operand && !at.decides && !moves(insn))
        s->fill->copied = false;
    for (uint32_t u = f->use_first[insn->pc]; u < last; u++) {
        if (f->uses[u].role == FLOW_USE_GUARD)
            continue;
        bool chooses = selects && u + 1 == last && insn->operands[3].kind == IR_OPD_REG;
        go(s, chooses ? to_decision(at, f->uses[u].value) : to_value(at, f->uses[u].value));
    }
}

static void visit_result(state *s, step at, const ir_insn *insn)
{
    const flow_function *f = function_of(s, at);
    at = with_scope_of(at, insn);
    if (f->unknown[insn->pc] || insn->op == IR_call || insn->op == IR_wgmma)
        s->fill->unknown = true;
    switch (f->effects[insn->pc]) {
    case IR_EFFECT_LOAD:
    case IR_EFFECT_ATOMIC:
    case IR_EFFECT_TEXTURE:
    case IR_EFFECT_SURFACE:
        for (uint32_t a = f->address_first[insn->pc]; a < f->address_first[insn->pc + 1]; a++)
            visit_address(s, at, &f->addresses[a]);
        go_to_uses(s, at, insn->pc, ADDRESS);
        break;
    case IR_EFFECT_BARRIER:
        if (flow_is_barrier(insn))
            visit_arithmetic(s, at, insn);
        break;
    case IR_EFFECT_NONE: visit_arithmetic(s, at, insn); break;
    default: s->fill->unknown = true;
    }
}

static void visit_node(state *s, step at)
{
    const flow_function *f = function_of(s, at);
    if (at.node >= f->nvalues) {
        visit_block_node(s, at);
        return;
    }
    const flow_value *v = &f->values[at.node];
    if (v->kind == FLOW_VALUE_ENTRY)
        s->fill->unknown |= at.func != 0; /* a .reg parameter */
    if (v->kind == FLOW_VALUE_PHI)
        visit_phi(s, at);
    if (v->kind != FLOW_VALUE_INSN)
        return;
    if (v->old != FLOW_NONE) {
        go(s, to_value(at, v->old));
        go_to_uses(s, at, v->insn, GUARD);
    }
    visit_result(s, at, &f->func->insns[v->insn]);
}

/* ---- writes ---- */

static bool writes_shared(const flow_kernel *k, const flow_function *f, uint32_t insn)
{
    for (uint32_t i = f->address_first[insn]; i < f->address_first[insn + 1]; i++) {
        const flow_address *a = &f->addresses[i];
        flow_reach r = flow_reach_of(k, f, a);
        bool shared = r.shared;
        for (uint32_t o = flow_next_reached(k, &r, 0); o != FLOW_NONE;
             o = flow_next_reached(k, &r, o + 1))
            shared |= k->objects[o].space == IR_SPACE_SHARED;
        if (a->touch & FLOW_WRITE && shared)
            return f->effects[insn] != IR_EFFECT_BARRIER;
    }
    return false;
}

static bool updates(const flow_function *f, const ir_insn *insn)
{
    if (f->effects[insn->pc] == IR_EFFECT_COPY)
        return ir_has(insn, IR_S_reduce);
    return f->effects[insn->pc] == IR_EFFECT_ATOMIC && !ir_has(insn, IR_S_exch);
}

static int reads_by_pc(const void *a, const void *b)
{
    const flow_read *x = a, *y = b;
    return (x->pc > y->pc) - (x->pc < y->pc);
}

/* Of a copy, what its source's address depends on. */
static void go_to_source(state *s, step from, uint32_t insn)
{
    const flow_function *f = function_of(s, from);
    for (uint32_t a = f->address_first[insn]; a < f->address_first[insn + 1]; a++)
        if (f->addresses[a].touch == FLOW_READ && f->addresses[a].value != FLOW_NONE)
            go(s, to_address(from, f->addresses[a].value));
}

static void follow_value(state *s, const flow_function *f, const ir_insn *insn)
{
    step from = {.func = f->index, .loop = FLOW_NONE, .operand = true};
    bool copy = f->effects[insn->pc] == IR_EFFECT_COPY;
    s->walk++;
    s->fill->unknown |= f->unknown[insn->pc];
    from = with_scope_of(from, insn);
    if (copy)
        go_to_source(s, from, insn->pc);
    else
        go_to_uses(s, from, insn->pc, STORED);
    from.scope = FLOW_BY_THREAD;
    go_to_decisions(s, from, insn->pc);
    while (s->work.count && s->steps++ < MAX_STEPS)
        visit_node(s, s->work.data[--s->work.count]);
    s->fill->unknown |= s->work.count > 0;
    s->work.count = 0;
    if (copy)
        s->fill->origin = FLOW_ASYNC;
    s->fill->copied &= s->fill->origin == FLOW_DEVICE && !s->fill->updates && !s->fill->unknown;
}

static void describe_fill(state *s, const flow_function *f, const ir_insn *insn, flow_fill *out)
{
    s->fill = out;
    *out = (flow_fill){.pc = f->first_pc + insn->pc,
                       .copied = true,
                       .updates = updates(f, insn),
                       .first = s->reads.count};
    follow_value(s, f, insn);
    out->count = s->reads.count - out->first;
    if (out->count)
        qsort(s->reads.data + out->first, out->count, sizeof *s->reads.data, reads_by_pc);
    s->fill = NULL;
}

/* ---- tables ---- */

typedef flow_list(flow_edge) edge_list;

static flow_rows rows_of(state *s, const edge_list *pairs, uint32_t others)
{
    uint32_t n = s->k->nobjects + 1;
    flow_graph g;
    flow_graph_make(&s->k->mem, n > others ? n : others, pairs->data, pairs->count, &g);
    return (flow_rows){g.succ_first, g.succ};
}

/* Stores to variables in local and parameter memory. */
static void find_writers(state *s)
{
    flow_list(place) places = {0};
    edge_list pairs = {0};
    for (uint32_t n = 0; n < s->k->code->count; n++) {
        const flow_function *f = &s->k->funcs[n];
        for (uint32_t a = 0; a < f->address_first[f->func->ninsns]; a++) {
            const flow_address *address = &f->addresses[a];
            flow_reach r = flow_reach_of(s->k, f, address);
            bool written = address->touch & FLOW_WRITE &&
                           f->blocks[f->block_of[address->insn]].reached;
            for (uint32_t o = written ? flow_next_reached(s->k, &r, 0) : FLOW_NONE; o != FLOW_NONE;
                 o = flow_next_reached(s->k, &r, o + 1))
                if (s->k->objects[o].space == IR_SPACE_LOCAL ||
                    s->k->objects[o].space == IR_SPACE_PARAM)
                    flow_push(&s->k->mem, &pairs, (flow_edge){o, places.count});
            flow_push(&s->k->mem, &places, (place){n, a});
        }
    }
    s->places = places.data;
    s->writers = rows_of(s, &pairs, places.count);
}

static void add_feeds(state *s, edge_list *pairs, const ir_operand *list, ir_var **params,
                      uint32_t count, bool back)
{
    for (uint32_t i = 0; list && i < list->count; i++) {
        uint32_t here = flow_named_object(s->k, &list->items[i]);
        uint32_t there = i < count ? flow_object_of(s->k, params[i]) : FLOW_NONE;
        if (back && here != FLOW_NONE)
            flow_push(&s->k->mem, pairs,
                      (flow_edge){here, there == FLOW_NONE ? s->k->nobjects : there});
        else if (!back && there != FLOW_NONE)
            flow_push(&s->k->mem, pairs,
                      (flow_edge){there, here == FLOW_NONE ? s->k->nobjects : here});
    }
}

static void add_feeds_of_call(state *s, edge_list *pairs, const flow_function *f,
                              const ir_insn *insn)
{
    flow_call call = flow_call_of(f->func, insn);
    uint32_t callee = flow_callee(s->k, insn);
    const ir_func *to = callee == FLOW_NONE ? NULL : s->k->code->funcs[callee];
    bool known = to || (call.target->kind != IR_OPD_REG &&
                        flow_extern_of(call.target->sym.func) != FLOW_EXTERN_ANY);
    s->foreign |= !known;
    if (to)
        add_feeds(s, pairs, call.args, to->params, to->nparams, false);
    if (to || !known)
        add_feeds(s, pairs, call.rets, to ? to->rets : NULL, to ? to->nrets : 0, true);
}

static void find_feeds(state *s)
{
    edge_list pairs = {0};
    for (uint32_t n = 0; n < s->k->code->count; n++) {
        const flow_function *f = &s->k->funcs[n];
        for (uint32_t p = 0; f->pointed && p < f->func->nparams; p++)
            flow_push(&s->k->mem, &pairs,
                      (flow_edge){flow_object_of(s->k, f->func->params[p]), s->k->nobjects});
        for (uint32_t i = 0; i < f->func->ninsns; i++)
            if (f->func->insns[i].op == IR_call && f->blocks[f->block_of[i]].reached)
                add_feeds_of_call(s, &pairs, f, &f->func->insns[i]);
    }
    s->feeds = rows_of(s, &pairs, 0);
}

static void prepare_walks(state *s)
{
    s->seen = flow_new(&s->k->mem, seen *, s->k->code->count);
    for (uint32_t n = 0; n < s->k->code->count; n++)
        s->seen[n] = flow_new(&s->k->mem, seen,
                              (size_t)s->k->funcs[n].nvalues + s->k->funcs[n].nblocks + 1);
    s->found = flow_new(&s->k->mem, uint32_t, s->k->code->npcs);
    s->found_at = flow_new(&s->k->mem, uint32_t, s->k->code->npcs);
    find_writers(s);
    find_feeds(s);
}

typedef struct job {
    state s;
    flow_list(flow_fill) fills;
} job;

static void describe_fills(void *ctx)
{
    job *j = ctx;
    prepare_walks(&j->s);
    for (uint32_t n = 0; n < j->s.k->code->count; n++) {
        const flow_function *f = &j->s.k->funcs[n];
        for (uint32_t i = 0; i < f->func->ninsns; i++) {
            flow_fill fill;
            if (!f->blocks[f->block_of[i]].reached || !writes_shared(j->s.k, f, i))
                continue;
            describe_fill(&j->s, f, &f->func->insns[i], &fill);
            flow_push(&j->s.k->mem, &j->fills, fill);
        }
    }
}

/* ---- results ---- */

static wl_status copy_out(const job *j, wl_arena *arena, flow_fills *out)
{
    uint32_t npcs = j->s.k->code->npcs, count = j->fills.count, nreads = j->s.reads.count;
    *out = (flow_fills){.npcs = npcs,
                        .at = wl_new_array(arena, uint32_t, npcs ? npcs : 1),
                        .fills = wl_new_array(arena, flow_fill, count ? count : 1),
                        .count = count,
                        .reads = wl_new_array(arena, flow_read, nreads ? nreads : 1),
                        .nreads = nreads};
    if (!out->at || !out->fills || !out->reads)
        return WL_NOMEM;
    memset(out->at, 0xff, npcs * sizeof *out->at);
    if (nreads)
        memcpy(out->reads, j->s.reads.data, nreads * sizeof *out->reads);
    for (uint32_t i = 0; i < count; i++) {
        out->fills[i] = j->fills.data[i];
        out->at[out->fills[i].pc] = i;
    }
    return WL_OK;
}

wl_status flow_fills_of(flow_kernel *kernel, wl_arena *arena, flow_fills *out)
{
    wl_status status = flow_run(kernel, FLOW_PASS_origins);
    job j = {.s.k = kernel};
    if (status == WL_OK)
        status = flow_guard(&kernel->mem, describe_fills, &j);
    return status == WL_OK ? copy_out(&j, arena, out) : status;
}

wl_status flow_find_fills(const ir_kernel *code, wl_arena *arena, flow_fills *out)
{
    wl_arena *work = wl_arena_new();
    flow_kernel *kernel = work ? flow_kernel_new(code, work) : NULL;
    wl_status status = kernel ? flow_fills_of(kernel, arena, out) : WL_NOMEM;
    wl_arena_free(work);
    return status;
}

const char *flow_origin_name(flow_origin origin)
{
    static const char *const names[] = {"computed", "device", "async"};
    return names[origin];
}
