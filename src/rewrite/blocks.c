/* blocks: how often each basic block ran, by warps and by threads.
 *
 * Needs: __wl_lane, plan->leader and block_at. Keeps: everything. Buffers: REWRITE_COPIES tables of two u64 a counter, the one
 * of the multiprocessor's number.
 *
 * Blocks that run equally often share a counter: those that all lanes of a warp enter together (flow's uniform pass) and of
 * which one dominates the other and is post-dominated by it, in the same loop. The lanes that run a block together count once;
 * in loops they do so in registers, as far as there are some to spare: a lane counts how often it ran the block, and how often
 * as the first of those there. In a loop that all lanes of a warp enter and leave together the first number is enough. */
#include "rewrite/internal.h"

#include "ptx/blocks.h"

enum { MAX_REGISTERS = 12 }; /* of a copy, for counters */

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

/* The outermost loop around the block that all lanes of a warp leave together, with all loops within; FLOW_NONE without. */
static uint32_t common_loop(const flow_function *f, uint32_t block)
{
    uint32_t found = FLOW_NONE;
    for (uint32_t l = f->loops.of[block]; l != FLOW_NONE; l = f->loops.loops[l].parent) {
        if (f->loop_level[l] > FLOW_WARP)
            break;
        found = l;
    }
    return found;
}

static rw_counter counter_of(const flow_function *f, uint32_t k, uint32_t block, bool shared)
{
    rw_counter c = {.func = k, .loop = FLOW_NONE};
    uint32_t loop = block != FLOW_NONE ? f->loops.of[block] : FLOW_NONE;
    if (loop == FLOW_NONE || f->loops.irreducible)
        return c;
    c.depth = f->loops.loops[loop].depth;
    c.loop = shared ? common_loop(f, block) : FLOW_NONE;
    c.kind = c.loop != FLOW_NONE ? RW_TOGETHER : RW_PER_LANE;
    return c;
}

static uint32_t registers_of(const rw_counter *c)
{
    return c->kind == RW_TOGETHER ? 1 : c->kind == RW_PER_LANE ? 2 : 0;
}

/* Counters of the deepest loops get the registers; the others stay in memory. */
static void grant_registers(rw_plan *p, uint32_t first)
{
    uint32_t left = MAX_REGISTERS, deepest = 0;
    for (uint32_t c = first; c < p->out->ncounters; c++)
        if (p->counters[c].depth > deepest)
            deepest = p->counters[c].depth;
    for (uint32_t depth = deepest; depth > 0; depth--)
        for (uint32_t c = first; c < p->out->ncounters; c++) {
            rw_counter *counter = &p->counters[c];
            if (counter->depth != depth)
                continue;
            if (registers_of(counter) > left)
                counter->kind = RW_IN_MEMORY;
            left -= registers_of(counter);
        }
}

/* Blocks here are at least as small as flow's. One that starts in the middle of another where lanes may wait for others runs
 * as often as that one only if no lanes come or go. */
static void plan_function(rw_plan *p, uint32_t k, uint32_t *shared, rewrite_block *blocks)
{
    const flow_function *f = &p->flow->funcs[k];
    const uint8_t *leader = p->leader + f->first_pc + k;
    bool seen = p->cloned[k];
    uint32_t first = p->out->ncounters;
    for (uint32_t n = 0; n <= f->func->ninsns; n++) {
        if (leader[n]) {
            uint32_t fb = n < f->func->ninsns ? f->block_of[n] : FLOW_NONE;
            bool share = fb != FLOW_NONE && f->blocks[fb].reached && together(f, fb) &&
                         !(f->func->insns[n].guard != PTX_NONE &&
                           ptx_stands_alone(&f->func->insns[n]));
            uint32_t *slot = share ? &shared[root_of(f, fb)] : NULL;
            bool own = !slot || !*slot;
            uint32_t counter = !seen ? PTX_NONE : own ? p->out->ncounters++ : *slot - 1;
            if (seen && own)
                p->counters[counter] = counter_of(f, k, fb, share);
            if (slot)
                *slot = counter + 1;
            p->owns[p->out->nblocks] = seen && own;
            p->block_at[f->first_pc + k + n] = p->out->nblocks;
            blocks[p->out->nblocks++] = (rewrite_block){f->first_pc + n, 0, counter};
        }
        if (n < f->func->ninsns)
            blocks[p->out->nblocks - 1].ninsns++;
    }
    grant_registers(p, first);
}

wl_status rw_plan_blocks(rw_plan *p)
{
    size_t room = (size_t)p->proof.npcs + p->order.count;
    p->counters = wl_new_array(p->arena, rw_counter, room);
    p->owns = wl_new_array(p->arena, bool, room);
    p->block_at = wl_new_array(p->arena, uint32_t, room);
    rewrite_block *blocks = wl_new_array(p->arena, rewrite_block, room);
    if (!p->counters || !p->owns || !p->block_at || !blocks)
        return WL_NOMEM;
    for (uint32_t k = 0; k < p->order.count; k++) {
        const flow_function *f = &p->flow->funcs[k];
        uint32_t *shared = wl_new_array(p->arena, uint32_t, (size_t)f->nblocks + 1);
        if (!shared)
            return WL_NOMEM;
        plan_function(p, k, shared, blocks);
    }
    p->out->blocks = blocks;
    return WL_OK;
}

/* ---- code ---- */

/* Calls `each` for the counters of the copy's function in registers. */
static void each_register(rw_body *b, void (*each)(rw_body *b, uint32_t counter))
{
    for (uint32_t c = 0; c < b->plan->out->ncounters; c++)
        if (b->plan->counters[c].func == b->index && b->plan->counters[c].kind != RW_IN_MEMORY)
            each(b, c);
}

static void declare_counter(rw_body *b, uint32_t c)
{
    rw_line(b, ".reg .b32 __wl_ran%u;", c);
    if (b->plan->counters[c].kind == RW_PER_LANE)
        rw_line(b, ".reg .b32 __wl_led%u;", c);
}

static void declare(rw_body *b)
{
    rw_line(b, ".reg .b64 __wl_counters;");
    each_register(b, declare_counter);
}

static void clear(rw_body *b, uint32_t c)
{
    rw_line(b, "mov.u32 __wl_ran%u, 0;", c);
    if (b->plan->counters[c].kind == RW_PER_LANE)
        rw_line(b, "mov.u32 __wl_led%u, 0;", c);
}

static void enter(rw_body *b)
{
    const rewrite_kernel *k = b->plan->out;
    rw_line(b, "mov.u32 __wl_t, %%smid;");
    rw_line(b, "and.b32 __wl_t, __wl_t, %u;", REWRITE_COPIES - 1);
    rw_line(b, "mul.wide.u32 __wl_counters, __wl_t, %u;", k->ncounters * 16);
    rw_line(b, "add.s64 __wl_counters, __wl_counters, __wl_state;");
    each_register(b, clear);
}

static uint32_t place_of(const rw_body *b, uint32_t c)
{
    return b->plan->out->counters_at + 16 * c;
}

/* __wl_leads: this is the first of the lanes in `mask`. */
static void find_leader(rw_body *b, const char *mask)
{
    rw_line(b, "brev.b32 __wl_t, %s;", mask);
    rw_line(b, "bfind.shiftamt.u32 __wl_t, __wl_t;");
    rw_line(b, "setp.eq.u32 __wl_leads, __wl_t, __wl_lane;");
}

static void count_in_memory(rw_body *b, uint32_t c)
{
    rw_active(b);
    rw_line(b, "popc.b32 __wl_u, __wl_active;");
    rw_line(b, "cvt.u64.u32 __wl_x, __wl_u;");
    find_leader(b, "__wl_active");
    rw_line(b, "@__wl_leads red.global.add.u64 [__wl_counters+%u], 1;", place_of(b, c));
    rw_line(b, "@__wl_leads red.global.add.u64 [__wl_counters+%u], __wl_x;", place_of(b, c) + 8);
}

static void count_block(rw_body *b, uint32_t block)
{
    uint32_t c = b->plan->out->blocks[block].counter;
    if (!b->plan->owns[block])
        return;
    if (b->plan->counters[c].kind == RW_IN_MEMORY) {
        count_in_memory(b, c);
        return;
    }
    rw_line(b, "add.u32 __wl_ran%u, __wl_ran%u, 1;", c, c);
    if (b->plan->counters[c].kind == RW_TOGETHER)
        return;
    rw_active(b);
    find_leader(b, "__wl_active");
    rw_line(b, "@__wl_leads add.u32 __wl_led%u, __wl_led%u, 1;", c, c);
}

/* All lanes that ran the block ran it equally often, and are here. */
static void publish_together(rw_body *b, uint32_t c)
{
    rw_active(b);
    rw_line(b, "setp.ne.u32 __wl_p, __wl_ran%u, 0;", c);
    rw_text(b, "\tvote.sync.ballot.b32 __wl_u, __wl_p, __wl_active;\n");
    find_leader(b, "__wl_u");
    rw_text(b, "\tpopc.b32 __wl_u, __wl_u;\n");
    rw_line(b, "mul.wide.u32 __wl_x, __wl_ran%u, __wl_u;", c);
    rw_line(b, "cvt.u64.u32 __wl_y, __wl_ran%u;", c);
    rw_line(b, "@__wl_leads red.global.add.u64 [__wl_counters+%u], __wl_y;", place_of(b, c));
    rw_line(b, "@__wl_leads red.global.add.u64 [__wl_counters+%u], __wl_x;", place_of(b, c) + 8);
}

/* __wl_x: how often the lanes here ran the block, all together; each half of the numbers cannot overflow. */
static void sum_lanes(rw_body *b, uint32_t c)
{
    rw_line(b, "and.b32 __wl_u, __wl_ran%u, 65535;", c);
    rw_line(b, "redux.sync.add.u32 __wl_u, __wl_u, __wl_active;");
    rw_line(b, "shr.u32 __wl_v, __wl_ran%u, 16;", c);
    rw_line(b, "redux.sync.add.u32 __wl_v, __wl_v, __wl_active;");
    rw_line(b, "cvt.u64.u32 __wl_x, __wl_u;");
    rw_line(b, "mad.wide.u32 __wl_x, __wl_v, 65536, __wl_x;");
}

/* Few lanes have been the first; all have run the block. */
static void publish_each(rw_body *b, uint32_t c)
{
    rw_line(b, "setp.ne.u32 __wl_p, __wl_led%u, 0;", c);
    rw_line(b, "cvt.u64.u32 __wl_x, __wl_led%u;", c);
    rw_line(b, "@__wl_p red.global.add.u64 [__wl_counters+%u], __wl_x;", place_of(b, c));
    if (rw_can_reduce(b->plan->module)) {
        rw_active(b);
        find_leader(b, "__wl_active");
        sum_lanes(b, c);
        rw_line(b, "setp.ne.and.u64 __wl_p, __wl_x, 0, __wl_leads;");
    } else {
        rw_line(b, "setp.ne.u32 __wl_p, __wl_ran%u, 0;", c);
        rw_line(b, "cvt.u64.u32 __wl_x, __wl_ran%u;", c);
    }
    rw_line(b, "@__wl_p red.global.add.u64 [__wl_counters+%u], __wl_x;", place_of(b, c) + 8);
}

static void publish(rw_body *b, uint32_t c)
{
    if (b->plan->counters[c].kind == RW_TOGETHER)
        publish_together(b, c);
    else
        publish_each(b, c);
    clear(b, c);
}

static void leave(rw_body *b)
{
    each_register(b, publish);
}

static void start(rw_body *b, uint32_t block)
{
    for (uint32_t c = 0; c < b->plan->out->ncounters; c++) {
        const rw_counter *counter = &b->plan->counters[c];
        if (counter->func == b->index && counter->kind == RW_TOGETHER &&
            rw_follows_loop(b->f, block, counter->loop))
            publish(b, c);
    }
}

const rw_pass rw_blocks_pass = {.probes = 1u << REWRITE_BLOCKS,
                                .declare = declare,
                                .enter = enter,
                                .start = start,
                                .block = count_block,
                                .leave = leave};
