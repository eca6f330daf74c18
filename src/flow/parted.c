/* Follows parted lanes from the branches that part them. */
#include "flow/parted.h"

typedef struct state {
    flow_kernel *k;
    const flow_function *f;
    uint32_t *parted; /* [ninsns] */
    uint32_t *sets;   /* [nblocks] registers of convergence, by bit */
    uint32_t before;  /* those that were set before the branch at hand */
    uint32_t *stack;  /* blocks to be followed; room for each as often as it is put there */
    uint32_t *seen;   /* [nblocks] the last branch whose lanes came there, and 1 */
    uint32_t *set;    /* [nblocks] then: registers that the lanes may have set before, by bit */
} state;

static bool has_diverge(const flow_function *f)
{
    for (uint32_t i = 0; i < f->func->ninsns; i++)
        if (f->func->insns[i].op == IR_diverge)
            return true;
    return false;
}

/* ---- where lanes meet ---- */

/* A register of convergence, as a bit. */
static uint32_t bit_of(const ir_insn *insn)
{
    return insn->noperands ? UINT32_C(1) << (insn->operands[0].imm & 31) : 0;
}

/* The registers that blocks set. */
static void find_sets(state *s)
{
    const flow_function *f = s->f;
    for (uint32_t i = 0; i < f->func->ninsns; i++)
        if (f->func->insns[i].op == IR_bssy)
            s->sets[f->block_of[i]] |= bit_of(&f->func->insns[i]);
}

/* Those that were set on every way to the branch. */
static uint32_t set_before(const state *s, uint32_t branch)
{
    uint32_t set = s->sets[branch];
    for (uint32_t b = branch, up; (up = s->f->dom.parent[b]) < s->f->nblocks && up != b; b = up)
        set |= s->sets[up];
    return set;
}

static bool is_of_all_lanes(const ir_insn *insn)
{
    return flow_is_warp_barrier(insn) && insn->guard == IR_NONE && insn->noperands &&
           insn->operands[0].kind == IR_OPD_INT && (uint32_t)insn->operands[0].imm == UINT32_MAX;
}

/* `set`: registers that by now say where parted lanes meet with those that they are with. */
static bool lets_meet(const state *s, const ir_insn *insn, uint32_t set)
{
    return is_of_all_lanes(insn) ||
           (insn->op == IR_bsync && insn->guard == IR_NONE && bit_of(insn) & s->before & ~set);
}

/* ---- branches ---- */

static bool may_part(const state *s, uint32_t block)
{
    const flow_function *f = s->f;
    if (!f->blocks[block].reached || !f->blocks[block].count)
        return false;
    const ir_insn *last = &f->func->insns[f->blocks[block].first + f->blocks[block].count - 1];
    return (last->op == IR_bra || last->op == IR_brx) &&
           flow_branch_level(f, block) == FLOW_VARYING &&
           (flow_guard_source(f, last).reason != FLOW_CLEAN ||
            flow_branch_source(s->k, f, block).reason != FLOW_CLEAN);
}

/* A block is followed again where lanes come with other registers set: up to 32 times. */
static void come_parted(state *s, uint32_t block, uint32_t branch, uint32_t set, uint32_t *depth)
{
    if (block >= s->f->nblocks)
        return;
    if (s->seen[block] != branch + 1)
        s->set[block] = 0;
    else if (!(set & ~s->set[block]))
        return;
    s->seen[block] = branch + 1;
    s->set[block] |= set;
    s->stack[(*depth)++] = block;
}

/* False: the lanes meet in the block. */
static bool leave_parted(state *s, uint32_t block, uint32_t branch, uint32_t *set)
{
    const flow_block *b = &s->f->blocks[block];
    for (uint32_t i = b->first; i < b->first + b->count; i++) {
        const ir_insn *insn = &s->f->func->insns[i];
        if (lets_meet(s, insn, *set))
            return false;
        if (insn->op == IR_bssy || insn->op == IR_bput)
            *set |= bit_of(insn);
        if (s->parted[i] == FLOW_NONE)
            s->parted[i] = branch;
    }
    return true;
}

/* From where the sides join, which nothing between is proven before. */
static void follow_parted(state *s, uint32_t branch)
{
    const flow_graph *g = &s->f->graph;
    uint32_t depth = 0;
    s->before = set_before(s, branch);
    come_parted(s, s->f->post.parent[branch], branch, 0, &depth);
    while (depth) {
        uint32_t block = s->stack[--depth], set = s->set[block];
        if (!leave_parted(s, block, branch, &set))
            continue;
        for (uint32_t i = g->succ_first[block]; i < g->succ_first[block + 1]; i++)
            come_parted(s, g->succ[i], branch, set, &depth);
    }
}

const uint32_t *flow_find_parted(flow_kernel *k, const flow_function *f)
{
    if (!has_diverge(f))
        return NULL;
    state s = {.k = k,
               .f = f,
               .parted = flow_new(&k->mem, uint32_t, f->func->ninsns),
               .stack = flow_new(&k->mem, uint32_t, 33 * (size_t)f->nblocks),
               .seen = flow_new(&k->mem, uint32_t, f->nblocks),
               .set = flow_new(&k->mem, uint32_t, f->nblocks),
               .sets = flow_new(&k->mem, uint32_t, f->nblocks)};
    find_sets(&s);
    for (uint32_t i = 0; i < f->func->ninsns; i++)
        s.parted[i] = FLOW_NONE;
    for (uint32_t b = 0; b < f->nblocks; b++)
        if (may_part(&s, b))
            follow_parted(&s, b);
    return s.parted;
}
