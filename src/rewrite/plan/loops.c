/* What is asked of loops: which lanes stay together in them, and what each iteration runs. */
#include "rewrite/plan/plan.h"

bool rw_runs_in_each_iteration(const flow_function *f, uint32_t block, uint32_t loop)
{
    uint32_t header = f->loops.loops[loop].header;
    for (uint32_t e = f->graph.pred_first[header]; e < f->graph.pred_first[header + 1]; e++) {
        uint32_t latch = f->graph.pred[e];
        if (flow_in_loop(&f->loops, loop, latch) && !flow_dominates(&f->dom, block, latch))
            return false;
    }
    return true;
}

bool rw_is_walk(const flow_function *f, const flow_affine *form, uint32_t loop)
{
    for (uint32_t t = 0; t < form->nterms; t++) {
        unsigned counters = 0;
        for (unsigned i = 0; i < form->terms[t].nfactors; i++) {
            flow_symbol s = form->terms[t].factors[i];
            if (s.kind == FLOW_SYM_VALUE && flow_in_loop(&f->loops, loop, f->values[s.a].block))
                return false;
            if (s.kind == FLOW_SYM_LOOP && s.a != loop &&
                flow_in_loop(&f->loops, loop, f->loops.loops[s.a].header))
                return false;
            counters += s.kind == FLOW_SYM_LOOP && s.a == loop;
        }
        if (counters > 1)
            return false;
    }
    return true;
}

bool rw_follows_loop(const flow_function *f, uint32_t block, uint32_t loop)
{
    if (flow_in_loop(&f->loops, loop, block))
        return false;
    for (uint32_t e = f->graph.pred_first[block]; e < f->graph.pred_first[block + 1]; e++)
        if (flow_in_loop(&f->loops, loop, f->graph.pred[e]))
            return true;
    return false;
}

/* ---- which lanes leave a loop together ---- */

/* How far threads agree on where the branch at the end of the block leads. */
static flow_level level_of_branch(const flow_function *f, uint32_t block)
{
    flow_level level = FLOW_GRID;
    const ir_insn *last = rw_last_of(f, block);
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

/* Do the lanes that run an iteration of the loop together agree on whether they run the block in
 * it? */
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
    bool *visited = flow_new(&p->flow->mem, bool, f->nblocks);
    return agree(f, block, loop, visited);
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

/* The only block that edges out of the loop lead to, which all lanes come to; FLOW_NONE: there are
 * several. */
static uint32_t meeting_after(const flow_function *f, const flow_loop *l, uint32_t loop)
{
    uint32_t next = FLOW_NONE;
    for (uint32_t n = 0; n < l->count; n++) {
        uint32_t v = f->loops.nodes[l->first + n];
        for (uint32_t s = f->graph.succ_first[v]; s < f->graph.succ_first[v + 1]; s++) {
            uint32_t to = f->graph.succ[s];
            if (to < f->nblocks && flow_in_loop(&f->loops, loop, to))
                continue;
            if (to >= f->nblocks || (next != FLOW_NONE && next != to))
                return FLOW_NONE;
            next = to;
        }
    }
    return next != FLOW_NONE && flow_dominates(&f->post, next, l->header) ? next : FLOW_NONE;
}

uint32_t rw_waiting_loop(const flow_function *f, uint32_t block)
{
    uint32_t loop = f->loops.irreducible ? FLOW_NONE : f->loops.of[block];
    if (loop == FLOW_NONE || f->loops.loops[loop].parent != FLOW_NONE ||
        meeting_after(f, &f->loops.loops[loop], loop) == FLOW_NONE)
        return FLOW_NONE;
    uint32_t header = f->loops.loops[loop].header;
    for (uint32_t e = f->graph.pred_first[header]; e < f->graph.pred_first[header + 1]; e++)
        if (flow_in_loop(&f->loops, loop, f->graph.pred[e]) &&
            !flow_dominates(&f->dom, block, f->graph.pred[e]))
            return FLOW_NONE;
    return loop;
}
