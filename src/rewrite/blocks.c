/* blocks: how often each basic block ran, by warps and by threads.
 *
 * Needs: __wl_lane, plan->leader and block_at. Keeps: everything. Buffers: REWRITE_COPIES tables of two u64 a counter, the one
 * of the multiprocessor's number.
 *
 * The lanes that run a block together add once. Blocks that run equally often share a counter: those that all lanes of a warp
 * enter together (flow's uniform pass) and of which one dominates the other and is post-dominated by it, in the same loop. */
#include "rewrite/internal.h"

#include "ptx/blocks.h"

/* ---- counters ---- */

/* Do all lanes of a warp that run the block run it together? */
static bool together(const flow_function *f, uint32_t block)
{
    return f->entered_level <= FLOW_WARP && f->control_level[block] <= FLOW_WARP;
}

/* Does block a run exactly as often as b, which it dominates? */
static bool runs_as(const flow_function *f, uint32_t a, uint32_t b)
{
    return f->loops.of[a] == f->loops.of[b] && !f->loops.irreducible && together(f, a) &&
           together(f, b) && flow_dominates(&f->dom, a, b) && flow_dominates(&f->post, b, a);
}

/* The first block in the dominator tree that runs as often as this one. */
static uint32_t root_of(const flow_function *f, uint32_t block)
{
    uint32_t root = block;
    for (uint32_t a = f->dom.parent[block]; a != FLOW_NONE && a < f->nblocks; a = f->dom.parent[a])
        if (runs_as(f, a, block))
            root = a;
    return root;
}

/* Blocks here are at least as small as flow's. One that starts in the middle of another where lanes may wait for others runs
 * as often as that one only if no lanes come or go. */
static void plan_function(rw_plan *p, uint32_t k, uint32_t *shared, rewrite_block *blocks)
{
    const flow_function *f = &p->flow->funcs[k];
    const uint8_t *leader = p->leader + f->first_pc + k;
    bool seen = p->cloned[k];
    for (uint32_t n = 0; n <= f->func->ninsns; n++) {
        if (leader[n]) {
            uint32_t fb = n < f->func->ninsns ? f->block_of[n] : FLOW_NONE;
            bool share = fb != FLOW_NONE && f->blocks[fb].reached && together(f, fb) &&
                         !(f->func->insns[n].guard != PTX_NONE &&
                           ptx_stands_alone(&f->func->insns[n]));
            uint32_t *slot = share ? &shared[root_of(f, fb)] : NULL;
            bool own = !slot || !*slot;
            uint32_t counter = !seen ? PTX_NONE : own ? p->out->ncounters++ : *slot - 1;
            if (slot)
                *slot = counter + 1;
            p->owns[p->out->nblocks] = seen && own;
            p->block_at[f->first_pc + k + n] = p->out->nblocks;
            blocks[p->out->nblocks++] = (rewrite_block){f->first_pc + n, 0, counter};
        }
        if (n < f->func->ninsns)
            blocks[p->out->nblocks - 1].ninsns++;
    }
}

wl_status rw_plan_blocks(rw_plan *p)
{
    size_t room = (size_t)p->proof.npcs + p->order.count;
    p->leader = wl_new_array(p->arena, uint8_t, room);
    p->owns = wl_new_array(p->arena, bool, room);
    p->block_at = wl_new_array(p->arena, uint32_t, room);
    rewrite_block *blocks = wl_new_array(p->arena, rewrite_block, room);
    if (!p->leader || !p->owns || !p->block_at || !blocks)
        return WL_NOMEM;
    for (uint32_t k = 0; k < p->order.count; k++) {
        const flow_function *f = &p->flow->funcs[k];
        uint32_t *shared = wl_new_array(p->arena, uint32_t, (size_t)f->nblocks + 1);
        if (!shared)
            return WL_NOMEM;
        ptx_block_leaders(f->func, p->leader + f->first_pc + k);
        plan_function(p, k, shared, blocks);
    }
    p->out->blocks = blocks;
    return WL_OK;
}

/* ---- code ---- */

static void declare(rw_body *b)
{
    rw_text(b, "\t.reg .b64 __wl_counters;\n");
}

static void enter(rw_body *b)
{
    const rewrite_kernel *k = b->plan->out;
    rw_line(b, "mov.u32 __wl_t, %%smid;");
    rw_line(b, "and.b32 __wl_t, __wl_t, %u;", REWRITE_COPIES - 1);
    rw_line(b, "mul.wide.u32 __wl_counters, __wl_t, %u;", k->ncounters * 16);
    rw_line(b, "add.s64 __wl_counters, __wl_counters, __wl_state;");
}

static void count_block(rw_body *b, uint32_t block)
{
    const rewrite_kernel *k = b->plan->out;
    uint32_t at = k->counters_at + 16 * k->blocks[block].counter;
    if (!b->plan->owns[block])
        return;
    rw_text(b, "\tactivemask.b32 __wl_active;\n"
               "\tpopc.b32 __wl_t, __wl_active;\n"
               "\tcvt.u64.u32 __wl_x, __wl_t;\n"
               "\tbrev.b32 __wl_t, __wl_active;\n"
               "\tbfind.shiftamt.u32 __wl_t, __wl_t;\n"
               "\tsetp.eq.u32 __wl_p, __wl_t, __wl_lane;\n");
    rw_line(b, "@__wl_p red.global.add.u64 [__wl_counters+%u], 1;", at);
    rw_line(b, "@__wl_p red.global.add.u64 [__wl_counters+%u], __wl_x;", at + 8);
}

const rw_pass rw_blocks_pass = {
    .probes = 1u << REWRITE_BLOCKS, .declare = declare, .enter = enter, .block = count_block};
