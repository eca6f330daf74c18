/* blocks: how often each basic block ran, by warps and by threads.
 *
 * Needs: the passes runs, blocks and paths. Keeps: everything. Buffers: REWRITE_COPIES tables of
 * three u64 a tally, of which a warp uses the one of the multiprocessor's number.
 *
 * What control flow tells is not counted (plan/runs.c): the kernel's first block, and those that
 * run as often, are known from the launch. Those that threads at some places of each block run
 * whenever another block runs, which all threads of a block run as often, follow from that one. At
 * branches outside of loops only the lanes are counted that go the less likely way; where they are
 * seldom taken, that costs nothing but a look at the active lanes.
 *
 * The lanes that run a block together count once. In loops they do so in registers, as far as there
 * are some to spare: one number, published after the loop, where the lanes that enter it together
 * leave it together, or wait for the last of them after it; else a lane counts how often it ran the
 * block, and how often as the first of those there, until it leaves the kernel. */
#include "rewrite/code/body.h"

#include "ir/blocks.h"

/* ---- registers ---- */

/* Calls `each` for the counters of the copy's function in registers. */
static void each_register(rw_body *b, void (*each)(rw_body *b, uint32_t counter))
{
    for (uint32_t c = 0; c < b->plan->out->ncounters; c++)
        if (b->plan->blocks->counters[c].func == b->index &&
            rw_counter_registers(&b->plan->blocks->counters[c]))
            each(b, c);
}

static bool is_per_lane(const rw_body *b, uint32_t c)
{
    return b->plan->blocks->counters[c].kind == RW_PER_LANE;
}

/* Names of declared registers, which are as many as there are counters. */
static rw_reg ran_register(uint32_t c)
{
    return (rw_reg){.kind = RW_OPD_DECLARED, .type = RW_B32, .name = "ran", .number = c};
}

static rw_reg led_register(uint32_t c)
{
    return (rw_reg){.kind = RW_OPD_DECLARED, .type = RW_B32, .name = "led", .number = c};
}

static void declare_counter(rw_body *b, uint32_t c)
{
    rw_declare(b, RW_B32, "ran", c);
    if (is_per_lane(b, c))
        rw_declare(b, RW_B32, "led", c);
}

static void declare_blocks(rw_body *b)
{
    b->lanes_below = rw_declare(b, RW_B32, "below", IR_NONE);
    each_register(b, declare_counter);
}

static void clear_counter(rw_body *b, uint32_t c)
{
    rw_do(b, mov_u32, ran_register(c), rw_number(0));
    if (is_per_lane(b, c))
        rw_do(b, mov_u32, led_register(c), rw_number(0));
}

static void find_below(rw_body *b)
{
    rw_do(b, mov_u32, b->lanes_below, rw_sreg("%lanemask_lt"));
}

static bool counts_per_lane(const rw_body *b)
{
    for (uint32_t c = 0; c < b->plan->out->ncounters; c++)
        if (b->plan->blocks->counters[c].func == b->index && is_per_lane(b, c))
            return true;
    return false;
}

static void enter_blocks(rw_body *b)
{
    if (counts_per_lane(b))
        find_below(b);
    each_register(b, clear_counter);
}

/* ---- tallies in memory ---- */

/* The tallies of this multiprocessor, less counters_at. */
static rw_reg find_tallies(rw_body *b)
{
    rw_reg copy = rw_copy_number(b, REWRITE_COPIES);
    return rw_get(b, mad_wide_u32, copy, rw_number(b->plan->out->copy_bytes), b->state);
}

static uint32_t tally_offset(const rw_body *b, uint32_t tally)
{
    return b->plan->out->counters_at + REWRITE_TALLY_BYTES * tally;
}

/* Is this the first of the lanes in `mask`, of which it is one? */
static rw_reg is_first_of(rw_body *b, rw_reg mask)
{
    rw_reg before = rw_get(b, and_b32, mask, b->lanes_below);
    return rw_get(b, setp_eq_u32, before, rw_number(0));
}

/* Adds 1, the number of lanes here, and `third` to the tally: each lane one of the numbers, so that
 * they go in one request; or several, where the lanes are too few. */
static void count_group(rw_body *b, uint32_t tally, rw_reg third)
{
    rw_label number = rw_new_label(b, "number");
    rw_reg tallies = find_tallies(b);
    find_below(b);
    rw_reg lanes = rw_get(b, popc_b32, b->warp.active);
    rw_reg before = rw_get(b, and_b32, b->warp.active, b->lanes_below);
    rw_reg mine = rw_get(b, popc_b32, before);
    rw_put_label(b, number);
    rw_reg is = rw_get(b, setp_eq_u32, mine, rw_number(0));
    rw_reg amount = rw_get(b, selp_b32, rw_number(1), third, is);
    rw_do(b, setp_eq_u32, is, mine, rw_number(1));
    rw_do(b, selp_b32, amount, lanes, amount, is);
    rw_reg wide = rw_get(b, cvt_u64_u32, amount);
    rw_reg at = rw_get(b, mad_wide_u32, mine, rw_number(8), tallies);
    rw_reg more = rw_get(b, setp_lt_u32, mine, rw_number(3));
    rw_reg adds = rw_get(b, setp_ne_and_u32, amount, rw_number(0), more);
    rw_when(b, adds, red_global_add_u64, rw_at(at, tally_offset(b, tally)), wide);
    rw_do(b, add_u32, mine, mine, lanes);
    rw_goto_if(b, more, number);
}

static void count_in_memory(rw_body *b, uint32_t tally)
{
    rw_active(b);
    count_group(b, tally, rw_get(b, mov_u32, rw_number(0)));
}

/* ---- counting ---- */

static void count_once(rw_body *b, uint32_t c)
{
    if (b->plan->blocks->counters[c].kind == RW_IN_MEMORY) {
        count_in_memory(b, b->plan->blocks->known[c].tally);
        return;
    }
    rw_do(b, add_u32, ran_register(c), ran_register(c), rw_number(1));
    if (!is_per_lane(b, c))
        return;
    rw_active(b);
    rw_reg first = is_first_of(b, b->warp.active);
    rw_when(b, first, add_u32, led_register(c), led_register(c), rw_number(1));
}

static uint32_t counted_at(const rw_body *b, uint32_t insn)
{
    uint32_t block = b->f->block_of[insn];
    bool first = insn < b->f->func->ninsns && b->f->blocks[block].first == insn;
    return first ? b->plan->blocks->counted_at[b->f->first_pc + insn] : IR_NONE;
}

/* Who waits is counted after the waiting. */
static bool is_unguarded_wait(const rw_body *b, uint32_t insn)
{
    const ir_insn *i = &b->f->func->insns[insn];
    return i->guard == IR_NONE && ir_wait_of(i) != IR_WAIT_NONE;
}

static void count_basic_block(rw_body *b, uint32_t block)
{
    uint32_t insn = b->plan->out->blocks[block].first_pc - b->f->first_pc;
    uint32_t c = counted_at(b, insn);
    if (c != IR_NONE && is_unguarded_wait(b, insn))
        count_once(b, c);
    if (b->plan->blocks->owns[block])
        count_once(b, b->plan->out->blocks[block].counter);
}

/* The third number of a tally: how often nobody stayed. */
static void count_edge_lanes(rw_body *b, uint32_t edge)
{
    if (!(b->plan->control->edges[edge].probes >> REWRITE_BLOCKS & 1))
        return;
    rw_reg all = rw_get(b, setp_eq_u32, b->warp.active, b->branches.here);
    rw_reg third = rw_get(b, selp_b32, rw_number(1), rw_number(0), all);
    count_group(b, b->plan->control->edges[edge].tally, third);
}

/* ---- publishing registers ---- */

/* All lanes that ran the block ran it equally often, and are here. The third number of a tally is
 * of whole warps. */
static void publish_together(rw_body *b, uint32_t c)
{
    uint32_t place = tally_offset(b, b->plan->blocks->known[c].tally);
    rw_active(b);
    find_below(b);
    rw_reg ran = rw_get(b, setp_ne_u32, ran_register(c), rw_number(0));
    rw_reg lanes = rw_get(b, vote_sync_ballot_b32, ran, b->warp.active);
    rw_reg before = rw_get(b, and_b32, lanes, b->lanes_below);
    rw_reg leads = rw_get(b, setp_eq_and_u32, before, rw_number(0), ran);
    rw_reg whole = rw_get(b, setp_eq_and_u32, lanes, rw_number(-1), leads);
    rw_reg part = rw_get(b, setp_ne_and_u32, lanes, rw_number(-1), leads);
    rw_reg tallies = find_tallies(b);
    rw_reg number = rw_get(b, popc_b32, lanes);
    rw_reg of_lanes = rw_get(b, mul_wide_u32, ran_register(c), number);
    rw_reg of_warp = rw_get(b, cvt_u64_u32, ran_register(c));
    rw_when(b, whole, red_global_add_u64, rw_at(tallies, place + 16), of_warp);
    rw_when(b, part, red_global_add_u64, rw_at(tallies, place), of_warp);
    rw_when(b, part, red_global_add_u64, rw_at(tallies, place + 8), of_lanes);
}

/* How often the lanes here ran the block, all together; each half of the numbers cannot
 * overflow. */
static rw_reg sum_lanes(rw_body *b, uint32_t c)
{
    rw_reg low = rw_get(b, and_b32, ran_register(c), rw_number(65535));
    rw_do(b, redux_sync_add_u32, low, low, b->warp.active);
    rw_reg high = rw_get(b, shr_u32, ran_register(c), rw_number(16));
    rw_do(b, redux_sync_add_u32, high, high, b->warp.active);
    rw_reg sum = rw_get(b, cvt_u64_u32, low);
    rw_do(b, mad_wide_u32, sum, high, rw_number(65536), sum);
    return sum;
}

/* Few lanes have been the first; all have run the block. */
static void publish_each(rw_body *b, uint32_t c)
{
    uint32_t place = tally_offset(b, b->plan->blocks->known[c].tally);
    rw_reg tallies = find_tallies(b);
    rw_reg adds = rw_get(b, setp_ne_u32, led_register(c), rw_number(0));
    rw_reg led = rw_get(b, cvt_u64_u32, led_register(c)), ran;
    rw_when(b, adds, red_global_add_u64, rw_at(tallies, place), led);
    if (rw_can_reduce(b->plan->module)) {
        rw_active(b);
        rw_reg leads = is_first_of(b, b->warp.active);
        ran = sum_lanes(b, c);
        rw_do(b, setp_ne_and_u64, adds, ran, rw_number(0), leads);
    } else {
        rw_do(b, setp_ne_u32, adds, ran_register(c), rw_number(0));
        ran = rw_get(b, cvt_u64_u32, ran_register(c));
    }
    rw_when(b, adds, red_global_add_u64, rw_at(tallies, place + 8), ran);
}

/* As long as any lane was there, the loop ran: as often as for the last of them. */
static void publish_fewer(rw_body *b, uint32_t c)
{
    uint32_t place = tally_offset(b, b->plan->blocks->known[c].tally);
    rw_reg tallies = find_tallies(b);
    find_below(b);
    rw_active(b);
    rw_reg leads = is_first_of(b, b->warp.active);
    rw_reg most = rw_get(b, redux_sync_max_u32, ran_register(c), b->warp.active);
    rw_reg adds = rw_get(b, setp_ne_and_u32, most, rw_number(0), leads);
    rw_reg of_warp = rw_get(b, cvt_u64_u32, most);
    rw_reg of_lanes = sum_lanes(b, c);
    rw_when(b, adds, red_global_add_u64, rw_at(tallies, place), of_warp);
    rw_when(b, adds, red_global_add_u64, rw_at(tallies, place + 8), of_lanes);
}

static void publish_counter(rw_body *b, uint32_t c)
{
    const rw_temps temps = rw_temps_now(b);
    if (b->plan->blocks->counters[c].kind == RW_TOGETHER)
        publish_together(b, c);
    else if (b->plan->blocks->counters[c].kind == RW_FEWER)
        publish_fewer(b, c);
    else
        publish_each(b, c);
    clear_counter(b, c);
    rw_temps_back(b, &temps);
}

static void leave_blocks(rw_body *b)
{
    each_register(b, publish_counter);
}

static void count_at_block_start(rw_body *b, uint32_t block)
{
    for (uint32_t c = 0; c < b->plan->out->ncounters; c++) {
        const rw_counter *counter = &b->plan->blocks->counters[c];
        if (counter->func == b->index &&
            (counter->kind == RW_TOGETHER || counter->kind == RW_FEWER) &&
            rw_follows_loop(b->f, block, counter->loop))
            publish_counter(b, c);
    }
    uint32_t insn = b->f->blocks[block].first, c = counted_at(b, insn);
    if (c != IR_NONE && !is_unguarded_wait(b, insn))
        count_once(b, c);
}

const rw_emitter rw_emitter_blocks = {.probes = 1u << REWRITE_BLOCKS,
                                      .declare = declare_blocks,
                                      .enter = enter_blocks,
                                      .start = count_at_block_start,
                                      .block = count_basic_block,
                                      .edge = count_edge_lanes,
                                      .leave = leave_blocks};
