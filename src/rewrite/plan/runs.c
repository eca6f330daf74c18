/* How often blocks run, as far as control flow tells without counting.
 *
 * Needs: flow. Fills: runs, edges. Blocks of which one dominates the other and is post-dominated by
 * it, in the same loop, are run equally often by every thread, and by the same warps: lanes that
 * part at a branch meet again where its ways do. The first of such blocks, the root, either is the
 * function's first; or it is reached from one block only, whose branch decides: then it suffices to
 * know how often that one ran, and which lanes went the other way. So of the two ways of a branch
 * one is counted, the one that is less likely taken, and in most kernels next to never: that past
 * an `if` without `else` (the usual test for the edge of the data), else the one that is not in
 * line (cf. Ball and Larus, "Branch prediction for free"). */
#include "rewrite/plan/plan.h"

/* ---- classes ---- */

static bool runs_as(const flow_function *f, uint32_t a, uint32_t b)
{
    return f->loops.of[a] == f->loops.of[b] && flow_dominates(&f->dom, a, b) &&
           flow_dominates(&f->post, b, a);
}

static uint32_t root_of_block(const flow_function *f, uint32_t block)
{
    uint32_t root = block;
    for (uint32_t a = f->dom.parent[block];
         !f->loops.irreducible && a != FLOW_NONE && a < f->nblocks; a = f->dom.parent[a])
        if (runs_as(f, a, block))
            root = a;
    return root;
}

/* ---- branches ---- */

const ir_insn *rw_last_of(const flow_function *f, uint32_t block)
{
    return &f->func->insns[f->blocks[block].first + f->blocks[block].count - 1];
}

/* Where the branch with a guard at the end of the block goes when it is taken; FLOW_NONE: there is
 * no such branch. */
static uint32_t branch_target(const flow_function *f, uint32_t block)
{
    const ir_insn *last = rw_last_of(f, block);
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

bool rw_guard_follows_thread(rw_plan *p, const flow_function *f, const ir_insn *insn)
{
    uint32_t value = guard_value(f, insn);
    return value != FLOW_NONE && rw_follows_thread(p, f, value);
}

/* Does the instruction's guard follow from the launch? */
static bool guard_follows_launch(rw_plan *p, const flow_function *f, const ir_insn *insn)
{
    uint32_t value = guard_value(f, insn);
    return value != FLOW_NONE && rw_follows_launch(p, f, value);
}

bool rw_same_test(const rw_plan *p, const flow_function *f, uint32_t a, uint32_t b)
{
    const rw_run *runs = p->control->runs[f->index], *ra = &runs[a], *rb = &runs[b];
    if (ra->from == FLOW_NONE || rb->from == FLOW_NONE || ra->root != a || rb->root != b ||
        runs[ra->from].root != runs[rb->from].root)
        return false;
    const ir_insn *la = rw_last_of(f, ra->from), *lb = rw_last_of(f, rb->from);
    return guard_value(f, la) == guard_value(f, lb) &&
           (ra->taken != la->guard_neg) == (rb->taken != lb->guard_neg);
}

bool rw_guard_holds(rw_eval *eval, const flow_function *f, const ir_insn *insn)
{
    return insn->guard == IR_NONE ||
           (bool)rw_eval_value(eval, f, guard_value(f, insn)) != insn->guard_neg;
}

bool rw_goes(rw_eval *eval, const flow_function *f, const rw_run *run)
{
    return rw_guard_holds(eval, f, rw_last_of(f, run->from)) == run->taken;
}

rw_answer rw_may_go(rw_eval *eval, const flow_function *f, const rw_run *run)
{
    const ir_insn *last = rw_last_of(f, run->from);
    rw_interval taken = rw_eval_interval(eval, f, guard_value(f, last));
    if (taken.low != taken.high)
        return RW_PERHAPS;
    return (taken.low != last->guard_neg) == run->taken ? RW_YES : RW_NO;
}

bool rw_gets_to(rw_eval *eval, uint32_t root, uint32_t from)
{
    const flow_function *f = &eval->plan->flow->funcs[0];
    while (root != from) {
        const rw_run *run = &eval->plan->control->runs[0][root];
        if (!rw_goes(eval, f, run))
            return false;
        root = eval->plan->control->runs[0][run->from].root;
    }
    return true;
}

/* The edge of the block's branch: one, with one number, for both ways. */
static uint32_t edge_of(rw_plan *p, const flow_function *f, uint32_t block)
{
    uint32_t n = p->control->edge_at[f->first_pc + f->blocks[block].first],
             target = branch_target(f, block);
    if (n == FLOW_NONE) {
        n = p->control->edge_at[f->first_pc + f->blocks[block].first] = p->control->nedges++;
        p->control->edges[n] = (rw_edge){
            .func = f->index, .block = block, .taken = target == f->post.parent[block]};
        bool falls = false;
        for (uint32_t s = f->graph.succ_first[block]; s < f->graph.succ_first[block + 1]; s++)
            falls |= f->graph.succ[s] != target && f->graph.succ[s] == f->post.parent[block];
        p->control->edges[n].taken |= !falls;
    }
    return n;
}

static rw_run run_of_block(rw_plan *p, const flow_function *f, uint32_t block)
{
    rw_run run = {.root = root_of_block(f, block), .from = FLOW_NONE, .edge = FLOW_NONE};
    uint32_t first = f->graph.pred_first[run.root];
    if (run.root == f->dom.root || f->graph.pred_first[run.root + 1] - first != 1)
        return run;
    uint32_t from = f->graph.pred[first], target = branch_target(f, from);
    if (target == FLOW_NONE || f->loops.irreducible || f->loops.of[from] != f->loops.of[run.root])
        return run;
    run.from = from;
    run.taken = target == run.root;
    run.by_thread = rw_guard_follows_thread(p, f, rw_last_of(f, from));
    run.by_launch = guard_follows_launch(p, f, rw_last_of(f, from));
    /* Code that stands after the function cannot go to labels within inner scopes. */
    if (f->loops.of[from] == FLOW_NONE &&
        f->func->labels[rw_last_of(f, from)->operands[0].label].scope == 0)
        run.edge = edge_of(p, f, from);
    return run;
}

/* Needs: sites, variables. Fills: control, but for what is counted at edges. */
wl_status rw_pass_runs(rw_plan *p)
{
    p->control->runs = wl_new_array(p->arena, rw_run *, p->code.count);
    p->control->edges = wl_new_array(p->arena, rw_edge, (size_t)p->proof.npcs + 1);
    p->control->edge_at = wl_new_array(p->arena, uint32_t, (size_t)p->proof.npcs + 1);
    p->control->follows = wl_new_array(p->arena, uint8_t, (size_t)p->flow->funcs[0].nvalues + 1);
    if (!p->control->runs || !p->control->edges || !p->control->edge_at || !p->control->follows)
        return WL_NOMEM;
    for (uint32_t pc = 0; pc < p->proof.npcs; pc++)
        p->control->edge_at[pc] = FLOW_NONE;
    for (uint32_t k = 0; k < p->code.count; k++) {
        const flow_function *f = &p->flow->funcs[k];
        p->control->runs[k] = wl_new_array(p->arena, rw_run, (size_t)f->nblocks + 1);
        if (!p->control->runs[k])
            return WL_NOMEM;
        for (uint32_t b = 0; b < f->nblocks; b++)
            if (f->blocks[b].reached)
                p->control->runs[k][b] = run_of_block(p, f, b);
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
    uint32_t after = f->blocks[block].first + f->blocks[block].count;
    if (f->loops.irreducible || branch_target(f, block) == FLOW_NONE || after >= f->func->ninsns)
        return FLOW_NONE;
    uint32_t body = f->block_of[after], meeting = branch_target(f, block);
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
