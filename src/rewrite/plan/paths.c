/* Remembering which way threads went at branches, as bits of a register, where all threads leave
 * the kernel together: there the bits are counted. Elsewhere the lanes of a branch are counted on
 * their way. (Ball and Larus, "Efficient path profiling") */
#include "rewrite/plan/plan.h"

enum { MAX_BITS = 32 };

bool rw_leaves_together(const rw_plan *p)
{
    const flow_function *f = &p->flow->funcs[0];
    uint32_t places = 0;
    if (!f->func->ninsns)
        return false;
    for (uint32_t k = 1; k < p->code.count; k++)
        if (p->flow->funcs[k].may_exit)
            return false;
    for (uint32_t i = 0; i < f->func->ninsns; i++) {
        const ir_insn *insn = &f->func->insns[i];
        if (insn->op != IR_ret && insn->op != IR_exit)
            continue;
        places++;
        if (insn->guard != IR_NONE || !f->blocks[f->block_of[i]].reached ||
            !rw_runs_once(f, p->control->runs[0][f->block_of[i]].root))
            return false;
    }
    const ir_insn *last = &f->func->insns[f->func->ninsns - 1];
    return places == 1 && last->guard == IR_NONE &&
           (last->op == IR_ret || last->op == IR_exit || last->op == IR_bra);
}

/* Gives the edge a bit, and those that decide about its branch; false where something else does, or
 * bits run out. */
static bool give_bit(rw_plan *p, uint32_t edge, uint32_t *used)
{
    rw_edge *e = &p->control->edges[edge];
    const flow_function *f = &p->flow->funcs[0];
    uint32_t root = p->control->runs[0][e->block].root;
    const rw_run *run = &p->control->runs[0][root];
    if (e->bit)
        return true;
    if (!rw_runs_once(f, root)) {
        if (run->from == FLOW_NONE || run->edge == FLOW_NONE || !give_bit(p, run->edge, used))
            return false;
        const rw_edge *from = &p->control->edges[run->edge];
        e->before = from->before | from->bit;
        e->gone_before = from->gone_before | (run->taken == from->taken ? from->bit : 0);
    }
    if (*used == MAX_BITS)
        return false;
    e->bit = 1u << (*used)++;
    return true;
}

/* Needs: runs, shared, blocks: which edges are counted. Fills: bit, before, gone_before of
 * edges. */
wl_status rw_pass_paths(rw_plan *p)
{
    uint32_t used = 0;
    if (!rw_leaves_together(p))
        return WL_OK;
    for (uint32_t n = 0; n < p->control->nedges; n++)
        if (p->control->edges[n].func == 0 && p->control->edges[n].probes)
            (void)give_bit(p, n, &used);
    return WL_OK;
}
