/* The plan of the probe blocks: how few counters suffice, and which of them get registers. */
#include "rewrite/counting/counting.h"

#include "ir/blocks.h"

enum { MAX_REGISTERS = 32 }; /* of a copy, for counters */

/* ---- counters ---- */

static rw_counter measured(const rw_plan *p, const flow_function *f, uint32_t block, bool whole)
{
    rw_counter c = {.func = f->index, .loop = FLOW_NONE};
    uint32_t loop = block != FLOW_NONE ? f->loops.of[block] : FLOW_NONE;
    if (loop == FLOW_NONE || f->loops.irreducible)
        return c;
    c.depth = f->loops.loops[loop].depth;
    c.loop = whole ? rw_common_loop(p, f, block) : FLOW_NONE;
    c.kind = c.loop != FLOW_NONE ? RW_TOGETHER : RW_PER_LANE;
    if (whole && c.kind == RW_PER_LANE && rw_can_reduce(p->module)) {
        c.loop = rw_waiting_loop(f, block);
        c.kind = c.loop != FLOW_NONE ? RW_FEWER : RW_PER_LANE;
    }
    return c;
}

uint32_t rw_counter_registers(const rw_counter *c)
{
    return c->kind == RW_TOGETHER || c->kind == RW_FEWER ? 1 : c->kind == RW_PER_LANE ? 2 : 0;
}

/* Counters of the deepest loops get the registers; the others stay in memory. */
static void grant_registers(rw_plan *p, uint32_t first)
{
    uint32_t left = MAX_REGISTERS, deepest = 0;
    for (uint32_t c = first; c < p->out->ncounters; c++)
        if (p->blocks->counters[c].depth > deepest)
            deepest = p->blocks->counters[c].depth;
    for (uint32_t depth = deepest; depth > 0; depth--)
        for (uint32_t c = first; c < p->out->ncounters; c++) {
            rw_counter *counter = &p->blocks->counters[c];
            if (counter->depth != depth)
                continue;
            if (rw_counter_registers(counter) > left)
                counter->kind = RW_IN_MEMORY;
            left -= rw_counter_registers(counter);
        }
}

static uint32_t add_counter(rw_plan *p, rewrite_counter known, rw_counter how)
{
    p->blocks->known[p->out->ncounters] = known;
    p->blocks->counters[p->out->ncounters] = how;
    return p->out->ncounters++;
}

static uint32_t count_root(rw_plan *p, const flow_function *f, uint32_t root, uint32_t *of_root);

static uint32_t tally_of_edge(rw_plan *p, uint32_t edge)
{
    if (!(p->control->edges[edge].probes >> REWRITE_BLOCKS & 1))
        p->control->edges[edge].tally = p->out->ntallies++;
    p->control->edges[edge].probes |= 1u << REWRITE_BLOCKS;
    return p->control->edges[edge].tally;
}

/* From another counter, where a branch decides; false where that is not possible. */
static bool derive_counter(rw_plan *p, const flow_function *f, uint32_t root, uint32_t *of_root,
                           rewrite_counter *out)
{
    const rw_run *run = &p->control->runs[f->index][root];
    *out = (rewrite_counter){.kind = REWRITE_COUNT_LAUNCH, .from = IR_NONE, .root = root};
    if (f->index == 0 && rw_runs_once(f, root))
        return true;
    if (run->from == FLOW_NONE || (!run->by_thread && run->edge == FLOW_NONE))
        return false;
    out->from = count_root(p, f, p->control->runs[f->index][run->from].root, of_root);
    const rewrite_counter *from = &p->blocks->known[out->from];
    if (run->by_thread && from->kind == REWRITE_COUNT_PLACED) {
        *out = (rewrite_counter){REWRITE_COUNT_PLACED, from->from, 0, root};
        return true;
    }
    if (run->by_thread && f->index == 0 && rw_by_blocks(f, from->root)) {
        out->kind = REWRITE_COUNT_PLACED;
        return true;
    }
    if (run->edge == FLOW_NONE)
        return false;
    out->kind = run->taken == p->control->edges[run->edge].taken ? REWRITE_COUNT_LEFT
                                                                 : REWRITE_COUNT_STAYED;
    out->tally = tally_of_edge(p, run->edge);
    return true;
}

/* of_root[] of another root that the same test leads to, from blocks that run as often; 0: there is
 * none yet. */
static uint32_t same_root(const rw_plan *p, const flow_function *f, uint32_t root,
                          const uint32_t *of_root)
{
    for (uint32_t b = 0; p->control->runs[f->index][root].from != FLOW_NONE && b < f->nblocks; b++)
        if (of_root[b] && rw_same_test(p, f, root, b))
            return of_root[b];
    return 0;
}

/* The counter of the blocks with that root; of_root[] holds 1 + the counter, or 0. */
static uint32_t count_root(rw_plan *p, const flow_function *f, uint32_t root, uint32_t *of_root)
{
    rewrite_counter known;
    if (!of_root[root])
        of_root[root] = same_root(p, f, root, of_root);
    if (of_root[root])
        return of_root[root] - 1;
    bool derived = derive_counter(p, f, root, of_root, &known);
    rw_counter how = {.kind = RW_DERIVED, .func = f->index, .loop = FLOW_NONE};
    if (!derived) {
        known = (rewrite_counter){REWRITE_COUNT_MEASURED, IR_NONE, p->out->ntallies++, root};
        how = measured(p, f, root, true);
    }
    uint32_t c = add_counter(p, known, how);
    of_root[root] = c + 1;
    if (!derived)
        p->blocks->counted_at[f->first_pc + f->blocks[root].first] = c;
    return c;
}

/* Blocks here are at least as small as flow's. One that starts in the middle of another runs as
 * often as that one, but for instructions of which some lanes take no part. */
static void plan_block(rw_plan *p, const flow_function *f, uint32_t n, uint32_t *of_root)
{
    uint32_t fb = n < f->func->ninsns ? f->block_of[n] : FLOW_NONE, counter = IR_NONE;
    bool own = fb == FLOW_NONE || !f->blocks[fb].reached ||
               (f->func->insns[n].guard != IR_NONE && ir_stands_alone(&f->func->insns[n]));
    if (p->cloned[f->index] && !own)
        counter = count_root(p, f, p->control->runs[f->index][fb].root, of_root);
    else if (p->cloned[f->index])
        counter = add_counter(p,
                              (rewrite_counter){REWRITE_COUNT_MEASURED, IR_NONE, p->out->ntallies++,
                                                FLOW_NONE},
                              measured(p, f, fb, false));
    p->blocks->owns[p->out->nblocks] = p->cloned[f->index] && own;
    p->blocks->block_at[f->first_pc + f->index + n] = p->out->nblocks;
    p->blocks->list[p->out->nblocks++] = (rewrite_block){f->first_pc + n, 0, counter};
}

static void plan_function(rw_plan *p, const flow_function *f, uint32_t *of_root)
{
    const uint8_t *leader = p->code.leader + f->first_pc + f->index;
    uint32_t first = p->out->ncounters;
    for (uint32_t n = 0; n <= f->func->ninsns; n++) {
        if (leader[n])
            plan_block(p, f, n, of_root);
        if (n < f->func->ninsns)
            p->blocks->list[p->out->nblocks - 1].ninsns++;
    }
    grant_registers(p, first);
}

/* Needs: sites, runs; which edges `shared` counts. Fills: blocks, and tallies of edges. */
wl_status rw_pass_blocks(rw_plan *p)
{
    if (!rw_plan_has(p, REWRITE_BLOCKS))
        return WL_OK;
    size_t room = 2 * ((size_t)p->proof.npcs + p->code.count);
    p->blocks->counters = wl_new_array(p->arena, rw_counter, room);
    p->blocks->known = wl_new_array(p->arena, rewrite_counter, room);
    p->blocks->owns = wl_new_array(p->arena, bool, room);
    p->blocks->block_at = wl_new_array(p->arena, uint32_t, room);
    p->blocks->counted_at = wl_new_array(p->arena, uint32_t, room);
    p->blocks->list = wl_new_array(p->arena, rewrite_block, room);
    if (!p->blocks->counters || !p->blocks->known || !p->blocks->owns || !p->blocks->block_at ||
        !p->blocks->counted_at || !p->blocks->list)
        return WL_NOMEM;
    for (uint32_t pc = 0; pc < p->proof.npcs; pc++)
        p->blocks->counted_at[pc] = IR_NONE;
    for (uint32_t k = 0; k < p->code.count; k++) {
        const flow_function *f = &p->flow->funcs[k];
        uint32_t *of_root = wl_new_array(p->arena, uint32_t, (size_t)f->nblocks + 1);
        if (!of_root)
            return WL_NOMEM;
        plan_function(p, f, of_root);
    }
    p->out->blocks = p->blocks->list;
    p->out->counters = p->blocks->known;
    return WL_OK;
}
