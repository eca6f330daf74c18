/* blocks: how often each basic block ran, by warps and by threads.
 *
 * Needs: __wl_lane, plan->code.leader and block_at, runs.c. Keeps: everything. Buffers: REWRITE_COPIES tables of three u64 a tally,
 * the one of the multiprocessor's number.
 *
 * What control flow tells is not counted (runs.c): the kernel's first block, and those that run as often, are known from the
 * launch. Those that threads at some places of each block run whenever another block runs, which all threads of a block run
 * as often, follow from that one. At branches outside of loops only the lanes are counted that
 * go the less likely way; where they are seldom taken, that costs nothing but a look at the active lanes.
 *
 * The lanes that run a block together count once. In loops they do so in registers, as far as there are some to spare: one
 * number, published behind the loop, where the lanes that enter it together leave it together, or wait for the last of them
 * behind it; else a lane counts how often it ran the block, and how often as the first of those there, until it leaves the
 * kernel. */
#include "rewrite/code/body.h"

#include "ir/blocks.h"

/* ---- code ---- */

/* Calls `each` for the counters of the copy's function in registers. */
static void each_register(rw_body *b, void (*each)(rw_body *b, uint32_t counter))
{
    for (uint32_t c = 0; c < b->plan->out->ncounters; c++)
        if (b->plan->blocks->counters[c].func == b->index &&
            rw_counter_registers(&b->plan->blocks->counters[c]))
            each(b, c);
}

static void declare_counter(rw_body *b, uint32_t c)
{
    rw_line(b, ".reg .b32 __wl_ran%u;", c);
    if (b->plan->blocks->counters[c].kind == RW_PER_LANE)
        rw_line(b, ".reg .b32 __wl_led%u;", c);
}

static void declare(rw_body *b)
{
    rw_text(b, "\t.reg .b64 __wl_counters;\n\t.reg .b32 __wl_below;\n");
    each_register(b, declare_counter);
}

static void clear(rw_body *b, uint32_t c)
{
    rw_line(b, "mov.u32 __wl_ran%u, 0;", c);
    if (b->plan->blocks->counters[c].kind == RW_PER_LANE)
        rw_line(b, "mov.u32 __wl_led%u, 0;", c);
}

static void find_below(rw_body *b)
{
    rw_text(b, "\tmov.u32 __wl_below, %lanemask_lt;\n");
}

static bool counts_per_lane(const rw_body *b)
{
    for (uint32_t c = 0; c < b->plan->out->ncounters; c++)
        if (b->plan->blocks->counters[c].func == b->index &&
            b->plan->blocks->counters[c].kind == RW_PER_LANE)
            return true;
    return false;
}

static void enter(rw_body *b)
{
    if (counts_per_lane(b))
        find_below(b);
    each_register(b, clear);
}

/* __wl_counters: this multiprocessor's. Changes __wl_t. */
static void find_counters(rw_body *b)
{
    rw_line(b, "mov.u32 __wl_t, %%smid;");
    rw_line(b, "and.b32 __wl_t, __wl_t, %u;", REWRITE_COPIES - 1);
    rw_line(b, "mad.wide.u32 __wl_counters, __wl_t, %u, __wl_state;", b->plan->out->copy_bytes);
}

static uint32_t place_of(const rw_body *b, uint32_t tally)
{
    return b->plan->out->counters_at + REWRITE_TALLY_BYTES * tally;
}

/* __wl_leads: this is the first of the lanes in `mask`, of which it is one. */
static void find_leader(rw_body *b, const char *mask)
{
    rw_line(b, "and.b32 __wl_t, %s, __wl_below;", mask);
    rw_line(b, "setp.eq.u32 __wl_leads, __wl_t, 0;");
}

/* Adds 1, the number of lanes here, and __wl_v to the tally: each lane one of the numbers, so that they go in one request; or
 * several, where the lanes are too few. */
static void count_group(rw_body *b, uint32_t tally)
{
    uint32_t label = (*b->labels)++;
    find_counters(b);
    find_below(b);
    rw_text(b, "\tpopc.b32 __wl_u, __wl_active;\n"
               "\tand.b32 __wl_t, __wl_active, __wl_below;\n"
               "\tpopc.b32 __wl_t, __wl_t;\n");
    ptx_putf(b->out, "$__wl_number%u:\n", label);
    rw_text(b, "\tsetp.eq.u32 __wl_p, __wl_t, 0;\n"
               "\tselp.b32 __wl_lo, 1, __wl_v, __wl_p;\n"
               "\tsetp.eq.u32 __wl_p, __wl_t, 1;\n"
               "\tselp.b32 __wl_lo, __wl_u, __wl_lo, __wl_p;\n"
               "\tcvt.u64.u32 __wl_x, __wl_lo;\n"
               "\tmad.wide.u32 __wl_y, __wl_t, 8, __wl_counters;\n"
               "\tsetp.lt.u32 __wl_p, __wl_t, 3;\n"
               "\tsetp.ne.and.u32 __wl_q, __wl_lo, 0, __wl_p;\n");
    rw_line(b, "@__wl_q red.global.add.u64 [__wl_y+%u], __wl_x;", place_of(b, tally));
    rw_text(b, "\tadd.u32 __wl_t, __wl_t, __wl_u;\n");
    rw_line(b, "@__wl_p bra $__wl_number%u;", label);
}

static void count_in_memory(rw_body *b, uint32_t tally)
{
    rw_active(b);
    rw_text(b, "\tmov.u32 __wl_v, 0;\n");
    count_group(b, tally);
}

static void count(rw_body *b, uint32_t c)
{
    if (b->plan->blocks->counters[c].kind == RW_IN_MEMORY) {
        count_in_memory(b, b->plan->blocks->known[c].tally);
        return;
    }
    rw_line(b, "add.u32 __wl_ran%u, __wl_ran%u, 1;", c, c);
    if (b->plan->blocks->counters[c].kind != RW_PER_LANE)
        return;
    rw_active(b);
    find_leader(b, "__wl_active");
    rw_line(b, "@__wl_leads add.u32 __wl_led%u, __wl_led%u, 1;", c, c);
}

static uint32_t counted_at(const rw_body *b, uint32_t insn)
{
    uint32_t block = b->f->block_of[insn];
    bool first = insn < b->f->func->ninsns && b->f->blocks[block].first == insn;
    return first ? b->plan->blocks->counted_at[b->f->first_pc + insn] : IR_NONE;
}

/* Who waits is counted behind the waiting. */
static bool waits(const rw_body *b, uint32_t insn)
{
    const ir_insn *i = &b->f->func->insns[insn];
    return i->guard == IR_NONE && ir_wait_of(i) != IR_WAIT_NONE;
}

static void count_block(rw_body *b, uint32_t block)
{
    uint32_t insn = b->plan->out->blocks[block].first_pc - b->f->first_pc;
    uint32_t c = counted_at(b, insn);
    if (c != IR_NONE && waits(b, insn))
        count(b, c);
    if (b->plan->blocks->owns[block])
        count(b, b->plan->out->blocks[block].counter);
}

/* The third number of a tally: how often nobody stayed. */
static void count_edge(rw_body *b, uint32_t edge)
{
    if (!(b->plan->control->edges[edge].probes >> REWRITE_BLOCKS & 1))
        return;
    rw_text(b, "\tsetp.eq.u32 __wl_p, __wl_active, __wl_here;\n"
               "\tselp.b32 __wl_v, 1, 0, __wl_p;\n");
    count_group(b, b->plan->control->edges[edge].tally);
}

/* All lanes that ran the block ran it equally often, and are here. The third number of a tally is of whole warps. */
static void publish_together(rw_body *b, uint32_t c)
{
    uint32_t place = place_of(b, b->plan->blocks->known[c].tally);
    rw_active(b);
    find_below(b);
    rw_line(b, "setp.ne.u32 __wl_p, __wl_ran%u, 0;", c);
    rw_text(b, "\tvote.sync.ballot.b32 __wl_u, __wl_p, __wl_active;\n"
               "\tand.b32 __wl_t, __wl_u, __wl_below;\n"
               "\tsetp.eq.and.u32 __wl_leads, __wl_t, 0, __wl_p;\n"
               "\tsetp.eq.and.u32 __wl_p, __wl_u, -1, __wl_leads;\n"
               "\tsetp.ne.and.u32 __wl_q, __wl_u, -1, __wl_leads;\n");
    find_counters(b);
    rw_text(b, "\tpopc.b32 __wl_u, __wl_u;\n");
    rw_line(b, "mul.wide.u32 __wl_x, __wl_ran%u, __wl_u;", c);
    rw_line(b, "cvt.u64.u32 __wl_y, __wl_ran%u;", c);
    rw_line(b, "@__wl_p red.global.add.u64 [__wl_counters+%u], __wl_y;", place + 16);
    rw_line(b, "@__wl_q red.global.add.u64 [__wl_counters+%u], __wl_y;", place);
    rw_line(b, "@__wl_q red.global.add.u64 [__wl_counters+%u], __wl_x;", place + 8);
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
    uint32_t place = place_of(b, b->plan->blocks->known[c].tally);
    find_counters(b);
    rw_line(b, "setp.ne.u32 __wl_p, __wl_led%u, 0;", c);
    rw_line(b, "cvt.u64.u32 __wl_x, __wl_led%u;", c);
    rw_line(b, "@__wl_p red.global.add.u64 [__wl_counters+%u], __wl_x;", place);
    if (rw_can_reduce(b->plan->module)) {
        rw_active(b);
        find_leader(b, "__wl_active");
        sum_lanes(b, c);
        rw_line(b, "setp.ne.and.u64 __wl_p, __wl_x, 0, __wl_leads;");
    } else {
        rw_line(b, "setp.ne.u32 __wl_p, __wl_ran%u, 0;", c);
        rw_line(b, "cvt.u64.u32 __wl_x, __wl_ran%u;", c);
    }
    rw_line(b, "@__wl_p red.global.add.u64 [__wl_counters+%u], __wl_x;", place + 8);
}

/* As long as any lane was there, the loop ran: as often as for the last of them. */
static void publish_fewer(rw_body *b, uint32_t c)
{
    uint32_t place = place_of(b, b->plan->blocks->known[c].tally);
    find_counters(b);
    find_below(b);
    rw_active(b);
    find_leader(b, "__wl_active");
    rw_line(b, "redux.sync.max.u32 __wl_u, __wl_ran%u, __wl_active;", c);
    rw_text(b, "\tsetp.ne.and.u32 __wl_p, __wl_u, 0, __wl_leads;\n\tcvt.u64.u32 __wl_y, __wl_u;\n");
    sum_lanes(b, c);
    rw_line(b, "@__wl_p red.global.add.u64 [__wl_counters+%u], __wl_y;", place);
    rw_line(b, "@__wl_p red.global.add.u64 [__wl_counters+%u], __wl_x;", place + 8);
}

static void publish(rw_body *b, uint32_t c)
{
    if (b->plan->blocks->counters[c].kind == RW_TOGETHER)
        publish_together(b, c);
    else if (b->plan->blocks->counters[c].kind == RW_FEWER)
        publish_fewer(b, c);
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
        const rw_counter *counter = &b->plan->blocks->counters[c];
        if (counter->func == b->index &&
            (counter->kind == RW_TOGETHER || counter->kind == RW_FEWER) &&
            rw_follows_loop(b->f, block, counter->loop))
            publish(b, c);
    }
    uint32_t insn = b->f->blocks[block].first, c = counted_at(b, insn);
    if (c != IR_NONE && !waits(b, insn))
        count(b, c);
}

const rw_emitter rw_blocks_emitter = {.probes = 1u << REWRITE_BLOCKS,
                                      .declare = declare,
                                      .enter = enter,
                                      .start = start,
                                      .block = count_block,
                                      .edge = count_edge,
                                      .leave = leave};
