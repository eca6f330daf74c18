/* How often blocks run, as far as control flow tells without counting.
 *
 * Needs: flow. Fills: runs, edges. Blocks of which one dominates the other and is post-dominated by it, in the same loop, are
 * run equally often by every thread, and by the same warps: lanes that part at a branch meet again where its ways do. The
 * first of such blocks, the root, either is the function's first; or it is reached from one block only, whose branch decides:
 * then it suffices to know how often that one ran, and which lanes went the other way. So of the two ways of a branch one is
 * counted, the one that is less likely taken, and in most kernels next to never: that past an `if` without `else` (the usual
 * test for the edge of the data), else the one that is not in line (cf. Ball and Larus, "Branch prediction for free"). */
#include "rewrite/internal.h"

/* ---- classes ---- */

static bool runs_as(const flow_function *f, uint32_t a, uint32_t b)
{
    return f->loops.of[a] == f->loops.of[b] && flow_dominates(&f->dom, a, b) &&
           flow_dominates(&f->post, b, a);
}

static uint32_t root_of(const flow_function *f, uint32_t block)
{
    uint32_t root = block;
    for (uint32_t a = f->dom.parent[block];
         !f->loops.irreducible && a != FLOW_NONE && a < f->nblocks; a = f->dom.parent[a])
        if (runs_as(f, a, block))
            root = a;
    return root;
}

/* ---- branches ---- */

static const ir_insn *last_of(const flow_function *f, uint32_t block)
{
    return &f->func->insns[f->blocks[block].first + f->blocks[block].count - 1];
}

/* Where the branch with a guard at the end of the block goes when it is taken; FLOW_NONE: there is no such branch. */
static uint32_t target_of(const flow_function *f, uint32_t block)
{
    const ir_insn *last = last_of(f, block);
    if (last->op != IR_bra || last->guard == IR_NONE || flow_nsucc(&f->graph, block) != 2)
        return FLOW_NONE;
    return f->block_of[f->func->labels[last->operands[0].label].pc];
}

static uint32_t guard_value(const flow_function *f, const ir_insn *insn)
{
    for (uint32_t u = f->use_first[insn->pc]; u < f->use_first[insn->pc + 1]; u++)
        if (f->uses[u].role == FLOW_USE_GUARD)
            return f->uses[u].value;
    return FLOW_NONE;
}

bool rw_guard_placed(rw_plan *p, const flow_function *f, const ir_insn *insn)
{
    uint32_t value = guard_value(f, insn);
    return value != FLOW_NONE && rw_placed(p, f, value);
}

bool rw_guard_launched(rw_plan *p, const flow_function *f, const ir_insn *insn)
{
    uint32_t value = guard_value(f, insn);
    return value != FLOW_NONE && rw_launched(p, f, value);
}

bool rw_same_test(const rw_plan *p, const flow_function *f, uint32_t a, uint32_t b)
{
    const rw_run *runs = p->runs[f->index], *ra = &runs[a], *rb = &runs[b];
    if (ra->from == FLOW_NONE || rb->from == FLOW_NONE || ra->root != a || rb->root != b ||
        runs[ra->from].root != runs[rb->from].root)
        return false;
    const ir_insn *la = last_of(f, ra->from), *lb = last_of(f, rb->from);
    return guard_value(f, la) == guard_value(f, lb) &&
           (ra->taken != la->guard_neg) == (rb->taken != lb->guard_neg);
}

bool rw_guard_holds(rw_place *place, const flow_function *f, const ir_insn *insn)
{
    return insn->guard == IR_NONE ||
           (bool)rw_place_value(place, f, guard_value(f, insn)) != insn->guard_neg;
}

bool rw_goes(rw_place *place, const flow_function *f, const rw_run *run)
{
    return rw_guard_holds(place, f, last_of(f, run->from)) == run->taken;
}

rw_answer rw_may_go(rw_place *place, const flow_function *f, const rw_run *run)
{
    const ir_insn *last = last_of(f, run->from);
    rw_span taken = rw_place_span(place, f, guard_value(f, last));
    if (taken.low != taken.high)
        return RW_PERHAPS;
    return (taken.low != last->guard_neg) == run->taken ? RW_YES : RW_NO;
}

bool rw_gets_to(rw_place *place, uint32_t root, uint32_t from)
{
    const flow_function *f = &place->plan->flow->funcs[0];
    while (root != from) {
        const rw_run *run = &place->plan->runs[0][root];
        if (!rw_goes(place, f, run))
            return false;
        root = place->plan->runs[0][run->from].root;
    }
    return true;
}

/* The edge of the block's branch: one, with one number, for both ways. */
static uint32_t edge_of(rw_plan *p, const flow_function *f, uint32_t block)
{
    uint32_t n = p->edge_at[f->first_pc + f->blocks[block].first], target = target_of(f, block);
    if (n == FLOW_NONE) {
        n = p->edge_at[f->first_pc + f->blocks[block].first] = p->nedges++;
        p->edges[n] = (rw_edge){
            .func = f->index, .block = block, .taken = target == f->post.parent[block]};
        bool falls = false;
        for (uint32_t s = f->graph.succ_first[block]; s < f->graph.succ_first[block + 1]; s++)
            falls |= f->graph.succ[s] != target && f->graph.succ[s] == f->post.parent[block];
        p->edges[n].taken |= !falls;
    }
    return n;
}

static rw_run run_of(rw_plan *p, const flow_function *f, uint32_t block)
{
    rw_run run = {.root = root_of(f, block), .from = FLOW_NONE, .edge = FLOW_NONE};
    uint32_t first = f->graph.pred_first[run.root];
    if (run.root == f->dom.root || f->graph.pred_first[run.root + 1] - first != 1)
        return run;
    uint32_t from = f->graph.pred[first], target = target_of(f, from);
    if (target == FLOW_NONE || f->loops.irreducible || f->loops.of[from] != f->loops.of[run.root])
        return run;
    run.from = from;
    run.taken = target == run.root;
    run.placed = rw_guard_placed(p, f, last_of(f, from));
    run.launched = rw_guard_launched(p, f, last_of(f, from));
    /* Code that stands behind the function cannot go to labels within inner scopes. */
    if (f->loops.of[from] == FLOW_NONE &&
        f->func->labels[last_of(f, from)->operands[0].label].scope == 0)
        run.edge = edge_of(p, f, from);
    return run;
}

wl_status rw_plan_runs(rw_plan *p)
{
    p->runs = wl_new_array(p->arena, rw_run *, p->order.count);
    p->edges = wl_new_array(p->arena, rw_edge, (size_t)p->proof.npcs + 1);
    p->edge_at = wl_new_array(p->arena, uint32_t, (size_t)p->proof.npcs + 1);
    p->placed = wl_new_array(p->arena, uint8_t, (size_t)p->flow->funcs[0].nvalues + 1);
    if (!p->runs || !p->edges || !p->edge_at || !p->placed)
        return WL_NOMEM;
    for (uint32_t pc = 0; pc < p->proof.npcs; pc++)
        p->edge_at[pc] = FLOW_NONE;
    for (uint32_t k = 0; k < p->order.count; k++) {
        const flow_function *f = &p->flow->funcs[k];
        p->runs[k] = wl_new_array(p->arena, rw_run, (size_t)f->nblocks + 1);
        if (!p->runs[k])
            return WL_NOMEM;
        for (uint32_t b = 0; b < f->nblocks; b++)
            if (f->blocks[b].reached)
                p->runs[k][b] = run_of(p, f, b);
    }
    return WL_OK;
}

bool rw_runs_once(const flow_function *f, uint32_t root)
{
    return root == f->dom.root && f->loops.of[root] == FLOW_NONE;
}

static bool has_preds(const flow_function *f, uint32_t block, uint32_t count)
{
    return f->graph.pred_first[block + 1] - f->graph.pred_first[block] == count;
}

static bool calls(const flow_function *f, uint32_t block)
{
    for (uint32_t i = f->blocks[block].first; i < f->blocks[block].first + f->blocks[block].count;
         i++)
        if (f->func->insns[i].op == IR_call)
            return true;
    return false;
}

uint32_t rw_body_of_if(const flow_function *f, uint32_t block)
{
    uint32_t behind = f->blocks[block].first + f->blocks[block].count;
    if (f->loops.irreducible || target_of(f, block) == FLOW_NONE || behind >= f->func->ninsns)
        return FLOW_NONE;
    uint32_t body = f->block_of[behind], meeting = target_of(f, block);
    if (meeting == body || meeting <= body || !has_preds(f, body, 1) || !has_preds(f, meeting, 2) ||
        flow_nsucc(&f->graph, body) != 1 || f->graph.succ[f->graph.succ_first[body]] != meeting ||
        calls(f, body) ||
        f->blocks[meeting].first != f->blocks[body].first + f->blocks[body].count ||
        f->loops.of[block] != f->loops.of[body] || f->loops.of[block] != f->loops.of[meeting])
        return FLOW_NONE;
    return body;
}

bool rw_by_blocks(const flow_function *f, uint32_t root)
{
    bool by_blocks = !f->loops.irreducible && f->control_level[root] <= FLOW_BLOCK;
    for (uint32_t l = f->loops.of[root]; l != FLOW_NONE; l = f->loops.loops[l].parent)
        by_blocks &= f->loop_level[l] <= FLOW_BLOCK;
    return by_blocks;
}

/* ---- loops ---- */

/* How far threads agree on where the branch at the end of the block leads. */
static flow_level level_of_branch(const flow_function *f, uint32_t block)
{
    flow_level level = FLOW_GRID;
    const ir_insn *last = last_of(f, block);
    if (flow_nsucc(&f->graph, block) < 2)
        return FLOW_GRID;
    if (last->op == IR_call)
        return FLOW_VARYING;
    for (uint32_t u = f->use_first[last->pc]; u < f->use_first[last->pc + 1]; u++) {
        flow_level one = flow_level_at(f, f->uses[u].value, block);
        level = one > level ? one : level;
    }
    return level;
}

/* Do the lanes that run an iteration of the loop together agree on whether they run the block in it? */
static bool agree(const flow_function *f, uint32_t block, uint32_t loop, bool *visited)
{
    for (uint32_t i = f->control.first[block]; i < f->control.first[block + 1]; i++) {
        uint32_t c = f->control.item[i];
        if (c >= f->nblocks || !flow_in_loop(&f->loops, loop, c) || visited[c])
            continue;
        visited[c] = true;
        if (level_of_branch(f, c) > FLOW_WARP || !agree(f, c, loop, visited))
            return false;
    }
    return true;
}

static bool agrees(const rw_plan *p, const flow_function *f, uint32_t block, uint32_t loop)
{
    bool *visited = wl_new_array(p->arena, bool, (size_t)f->nblocks + 1);
    return visited && agree(f, block, loop, visited);
}

/* Do the lanes that enter the loop together leave it together? */
static bool left_together(const rw_plan *p, const flow_function *f, uint32_t loop)
{
    const flow_loop *l = &f->loops.loops[loop];
    for (uint32_t n = 0; n < l->count; n++) {
        uint32_t v = f->loops.nodes[l->first + n];
        bool leaves = false;
        for (uint32_t s = f->graph.succ_first[v]; s < f->graph.succ_first[v + 1]; s++)
            leaves |= f->graph.succ[s] >= f->nblocks ||
                      !flow_in_loop(&f->loops, loop, f->graph.succ[s]);
        if (leaves && (level_of_branch(f, v) > FLOW_WARP || !agrees(p, f, v, loop)))
            return false;
    }
    return true;
}

uint32_t rw_common_loop(const rw_plan *p, const flow_function *f, uint32_t block)
{
    uint32_t found = FLOW_NONE;
    for (uint32_t l = f->loops.irreducible ? FLOW_NONE : f->loops.of[block]; l != FLOW_NONE;
         l = f->loops.loops[l].parent) {
        if (!left_together(p, f, l) || !agrees(p, f, block, l))
            break;
        found = l;
    }
    return found;
}

/* The only block that edges out of the loop lead to, which all lanes come to; FLOW_NONE: there are several. */
static uint32_t meeting_behind(const flow_function *f, const flow_loop *l, uint32_t loop)
{
    uint32_t behind = FLOW_NONE;
    for (uint32_t n = 0; n < l->count; n++) {
        uint32_t v = f->loops.nodes[l->first + n];
        for (uint32_t s = f->graph.succ_first[v]; s < f->graph.succ_first[v + 1]; s++) {
            uint32_t to = f->graph.succ[s];
            if (to < f->nblocks && flow_in_loop(&f->loops, loop, to))
                continue;
            if (to >= f->nblocks || (behind != FLOW_NONE && behind != to))
                return FLOW_NONE;
            behind = to;
        }
    }
    return behind != FLOW_NONE && flow_dominates(&f->post, behind, l->header) ? behind : FLOW_NONE;
}

uint32_t rw_waiting_loop(const flow_function *f, uint32_t block)
{
    uint32_t loop = f->loops.irreducible ? FLOW_NONE : f->loops.of[block];
    if (loop == FLOW_NONE || f->loops.loops[loop].parent != FLOW_NONE ||
        meeting_behind(f, &f->loops.loops[loop], loop) == FLOW_NONE)
        return FLOW_NONE;
    uint32_t header = f->loops.loops[loop].header;
    for (uint32_t e = f->graph.pred_first[header]; e < f->graph.pred_first[header + 1]; e++)
        if (flow_in_loop(&f->loops, loop, f->graph.pred[e]) &&
            !flow_dominates(&f->dom, block, f->graph.pred[e]))
            return FLOW_NONE;
    return loop;
}

/* ---- remembering which way threads went ---- */

enum { MAX_BITS = 32 };

bool rw_leaves_together(const rw_plan *p)
{
    const flow_function *f = &p->flow->funcs[0];
    uint32_t places = 0;
    if (!f->func->ninsns)
        return false;
    for (uint32_t k = 1; k < p->order.count; k++)
        if (p->flow->funcs[k].may_exit)
            return false;
    for (uint32_t i = 0; i < f->func->ninsns; i++) {
        const ir_insn *insn = &f->func->insns[i];
        if (insn->op != IR_ret && insn->op != IR_exit)
            continue;
        places++;
        if (insn->guard != IR_NONE || !f->blocks[f->block_of[i]].reached ||
            !rw_runs_once(f, p->runs[0][f->block_of[i]].root))
            return false;
    }
    const ir_insn *last = &f->func->insns[f->func->ninsns - 1];
    return places == 1 && last->guard == IR_NONE &&
           (last->op == IR_ret || last->op == IR_exit || last->op == IR_bra);
}

/* Gives the edge a bit, and those that decide about its branch; false where something else does, or bits run out. */
static bool give_bit(rw_plan *p, uint32_t edge, uint32_t *used)
{
    rw_edge *e = &p->edges[edge];
    const flow_function *f = &p->flow->funcs[0];
    uint32_t root = p->runs[0][e->block].root;
    const rw_run *run = &p->runs[0][root];
    if (e->bit)
        return true;
    if (!rw_runs_once(f, root)) {
        if (run->from == FLOW_NONE || run->edge == FLOW_NONE || !give_bit(p, run->edge, used))
            return false;
        const rw_edge *from = &p->edges[run->edge];
        e->before = from->before | from->bit;
        e->gone_before = from->gone_before | (run->taken == from->taken ? from->bit : 0);
    }
    if (*used == MAX_BITS)
        return false;
    e->bit = 1u << (*used)++;
    return true;
}

void rw_plan_gathering(rw_plan *p)
{
    uint32_t used = 0;
    if (!rw_leaves_together(p))
        return;
    for (uint32_t n = 0; n < p->nedges; n++)
        if (p->edges[n].func == 0 && p->edges[n].probes)
            (void)give_bit(p, n, &used);
}
