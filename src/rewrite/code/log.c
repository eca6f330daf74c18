/* The log: counters and marks that lanes would have updated, written one after the other.
 *
 * Needs: the pass logs. Keeps: everything. Buffers: the log (layout.h), a column for each lane of
 * the grid. Atomics on counters that data chooses cost a kernel many times its time: each is a
 * request of its own in L2, and those of one counter wait for each other. An entry is a store side
 * by side with those of the other lanes, and nobody waits for it. When the kernel is over, another
 * one counts what is in the log, beside whatever the program does next. */
#include "rewrite/code/body.h"

#include <stddef.h>

static bool has_log(const rw_body *b)
{
    return b->index == 0 && b->plan->out->logs;
}

bool rw_logs(const rw_body *b, uint32_t site, rw_log_kind kind)
{
    return has_log(b) && b->plan->logged[site] & kind;
}

/* How far after the log the lane's column begins. */
static rw_reg find_column(rw_body *b)
{
    rw_reg warps = rw_get(b, ld_param_u32, rw_in_param(offsetof(rewrite_param, warps)));
    rw_reg warp = rw_get(b, mul_lo_u32, rw_low_block(b), warps), thread, threads;
    rw_linear_thread(b, &thread, &threads);
    rw_reg lane = rw_get(b, mad_lo_u32, warp, rw_number(REWRITE_LANES), thread);
    return rw_get(b, shl_b32, lane, rw_number(2));
}

static void declare_log(rw_body *b)
{
    if (!has_log(b))
        return;
    b->log = (rw_log_code){.log = rw_declare(b, RW_B64, "log", IR_NONE),
                           .at = rw_declare(b, RW_B32, "at", IR_NONE),
                           .end = rw_declare(b, RW_B32, "log_end", IR_NONE),
                           .row = rw_declare(b, RW_B32, "log_row", IR_NONE)};
}

static void enter_log(rw_body *b)
{
    const rw_log_code *l = &b->log;
    if (!has_log(b))
        return;
    rw_do(b, ld_param_u64, l->log, rw_in_param(offsetof(rewrite_param, log)));
    rw_do(b, ld_param_u32, l->end, rw_in_param(offsetof(rewrite_param, log_bytes)));
    rw_do(b, ld_param_u32, l->row, rw_in_param(offsetof(rewrite_param, log_row)));
    rw_do(b, mov_u32, l->at, find_column(b));
}

enum { MANY = 8 /* lanes: so few stores cost no more than entries would */ };

rw_reg rw_find_beside(rw_body *b, unsigned apart, rw_reg address, rw_reg in)
{
    rw_reg active = rw_temp(b, RW_B32);
    rw_do(b, activemask_b32, active);
    rw_reg lanes = rw_get(b, vote_sync_ballot_b32, in, active);
    rw_reg reversed = rw_get(b, brev_b32, lanes), low = rw_get(b, cvt_u32_u64, address);
    rw_reg lead = rw_get(b, bfind_shiftamt_u32, reversed);
    rw_reg first = rw_get(b, shfl_sync_idx_b32, low, lead, rw_number(31), active);
    rw_reg below = rw_get(b, mov_u32, rw_sreg("%lanemask_lt"));
    rw_do(b, and_b32, below, below, lanes);
    rw_reg rank = rw_get(b, popc_b32, below);
    rw_reg expected = rw_get(b, mad_lo_u32, rank, rw_number(apart), first);
    rw_reg is = rw_get(b, setp_eq_and_u32, expected, low, in);
    rw_reg are = rw_get(b, vote_sync_ballot_b32, is, active);
    rw_do(b, setp_eq_and_u32, is, are, lanes, in);
    return rw_get(b, setp_ge_and_u32, rw_get(b, popc_b32, lanes), rw_number(MANY), is);
}

bool rw_may_be_beside(const rw_body *b, uint32_t site)
{
    return b->f->loops.of[rw_block_of(b->plan, b->f, site)] == FLOW_NONE;
}

rw_reg rw_log_is_full(rw_body *b)
{
    return rw_get(b, setp_ge_u32, b->log.at, b->log.end);
}

/* Writes the entry. Gives the lanes of `in` that have no room for it. */
static rw_reg write_entry(rw_body *b, rw_reg entry, rw_reg in)
{
    const rw_log_code *l = &b->log;
    rw_reg full = rw_temp(b, RW_PRED), fits = rw_temp(b, RW_PRED);
    rw_do(b, setp_ge_and_u32__both, full, fits, l->at, l->end, in);
    rw_reg to = rw_get(b, cvt_u64_u32, l->at);
    rw_do(b, add_s64, to, to, l->log);
    rw_when(b, fits, st_global_cs_u32, rw_at(to, 0), entry);
    rw_when(b, fits, add_u32, l->at, l->at, l->row);
    return full;
}

static uint32_t width_of_entry(unsigned n)
{
    return (uint32_t)__builtin_ctz(n) << REWRITE_LOG_WIDTH;
}

/* An entry tells how far after the state's begin a counter is. The log is there only where 32 bits
 * tell. */
rw_reg rw_log_counters(rw_body *b, unsigned n, rw_reg address, rw_reg in)
{
    rw_reg entry = rw_get(b, cvt_u32_u64, address), state = rw_get(b, cvt_u32_u64, b->state);
    rw_do(b, sub_u32, entry, entry, state);
    rw_do(b, shr_u32, entry, entry, rw_number(2));
    if (width_of_entry(n))
        rw_do(b, or_b32, entry, entry, rw_number((int32_t)width_of_entry(n)));
    return write_entry(b, entry, in);
}

/* What an entry has beside the element's number is the same for all lanes. */
rw_reg rw_log_marks(rw_body *b, unsigned n, rw_reg table, rw_reg at, rw_reg in)
{
    rw_reg rest = rw_get(b, cvt_u32_u64, table), state = rw_get(b, cvt_u32_u64, b->state);
    rw_do(b, sub_u32, rest, rest, state);
    rw_do(b, or_b32, rest, rest, rw_number((int32_t)(REWRITE_LOG_MARKS | width_of_entry(n))));
    rw_reg element = rw_get(b, shr_u64, at, rw_number(2)), entry = rw_get(b, cvt_u32_u64, element);
    rw_do(b, add_u32, entry, entry, rest);
    return write_entry(b, entry, in);
}

static rw_reg load_log_param(rw_body *b, size_t member)
{
    return rw_get(b, ld_param_u32, rw_in_param(member));
}

/* How many rows the lane wrote: what its column holds is a multiple of a row, so that the row's odd
 * part is divided by as numbers modulo 2^32 are. */
static rw_reg count_log_rows(rw_body *b, rw_reg column)
{
    rw_reg rows = rw_get(b, sub_u32, b->log.at, column);
    rw_do(b, shr_u32, rows, rows, load_log_param(b, offsetof(rewrite_param, log_shift)));
    rw_do(b, mul_lo_u32, rows, rows, load_log_param(b, offsetof(rewrite_param, log_inverse)));
    return rows;
}

/* The column is found anew, since it would take a register all the way here. */
static void leave_log(rw_body *b)
{
    if (!has_log(b))
        return;
    bool narrow = rewrite_end_bytes(b->plan->out) == 1;
    rw_reg is = rw_get(b, setp_ne_u32, b->log.end, rw_number(0)), column = find_column(b);
    rw_reg rows = count_log_rows(b, column);
    rw_reg lane = rw_get(b, shr_u32, column, rw_number(narrow ? 2 : 1));
    rw_reg to = rw_get(b, cvt_u64_u32, lane);
    rw_reg ends = rw_get(b, ld_param_u64, rw_in_param(offsetof(rewrite_param, ends)));
    rw_do(b, add_s64, to, to, ends);
    if (narrow)
        rw_when(b, is, st_global_u8, rw_at(to, 0), rows);
    else
        rw_when(b, is, st_global_u16, rw_at(to, 0), rows);
}

const rw_emitter rw_emitter_log = {.probes = 1u << REWRITE_TOUCH | 1u << REWRITE_FREQUENCY |
                                             1u << REWRITE_SHARED,
                                   .declare = declare_log,
                                   .enter = enter_log,
                                   .leave = leave_log};
