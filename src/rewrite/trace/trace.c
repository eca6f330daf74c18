/* trace: every access of the blocks that the launch names, in the order in which each lane made
 * them.
 *
 * Needs: the pass records. Keeps: everything; no lane waits for another. Buffers: a region of the
 * pool for each warp, a column of it for each lane (layout.h).
 *
 * A record is written where a basic block ends: the piece's number and the lanes that are there,
 * and the registers that its accesses are relative to. So an access costs one store or none, and
 * lanes that run together write whole lines. Between the accesses nothing is written: ptxas moves
 * no load before a store, so that loads would wait for each other that the kernel has under way
 * together. A register that changes before the end is kept in one of ours. A loop that is one piece
 * writes its registers in two iterations, and counts on.
 *
 * Within a basic block there is neither a branch nor a store with a guard, which ptxas makes one
 * of: it contracts products and sums to fma within basic blocks only, and the results would differ.
 * Where the room does not suffice, a lane goes on writing to the region's last rows. */
#include "rewrite/code/body.h"

#include <stddef.h>

enum { ROW = REWRITE_ROW };

static void declare_trace(rw_body *b)
{
    rw_trace_code *t = &b->trace;
    t->row = rw_declare(b, RW_B64, "row", IR_NONE);
    t->slot = rw_declare(b, RW_B32, "slot", IR_NONE);
    t->room = rw_declare(b, RW_B32, "room", IR_NONE);
    t->ran = rw_declare(b, RW_B32, "ran", IR_NONE);
    t->count = rw_declare(b, RW_B32, "count", IR_NONE);
    for (uint32_t i = 0; i < RW_PENDING; i++) {
        t->held[i] = rw_declare(b, RW_B64, "held", i);
        t->held_narrow[i] = rw_declare(b, RW_B32, "short", i);
    }
}

/* ---- a lane's place in the pool ---- */

static void enter_kernel(rw_body *b)
{
    const rw_trace_code *t = &b->trace;
    rw_reg slot = rw_get(b, cvt_u64_u32, t->slot);
    rw_do(b, add_s64, slot, slot, b->state);
    rw_reg ran = rw_get(b, mov_u32, rw_number(1));
    rw_do(b, st_global_u8, rw_at(slot, offsetof(rewrite_state, ran)), ran);
    rw_reg warp = rw_linear_warp(b);
    rw_do(b, ld_param_u64, t->row, rw_in_param(offsetof(rewrite_param, pool)));
    rw_do(b, ld_param_u32, t->room, rw_in_param(offsetof(rewrite_param, rows)));
    rw_reg warps = rw_get(b, ld_param_u32, rw_in_param(offsetof(rewrite_param, warps)));
    rw_reg region = rw_get(b, mad_lo_u32, t->slot, warps, warp);
    rw_reg offset = rw_get(b, mul_wide_u32, region, t->room);
    rw_do(b, shl_b64, offset, offset, rw_number(8));
    rw_do(b, add_s64, t->row, t->row, offset);
    rw_do(b, mad_wide_u32, t->row, b->lane, rw_number(8), t->row);
    rw_do(b, sub_u32, t->room, t->room, rw_number(b->plan->out->tail_rows));
}

static void enter_trace(rw_body *b)
{
    if (b->index == 0)
        enter_kernel(b);
    rw_do(b, mov_u32, b->trace.count, rw_number(0));
}

void rw_keep_trace(rw_body *b)
{
    rw_do(b, st_local_u64, rw_at(b->frame, 8), b->trace.row);
    rw_do(b, st_local_u32, rw_at(b->frame, 16), b->trace.room);
}

void rw_restore_trace(rw_body *b)
{
    rw_do(b, ld_local_u64, b->trace.row, rw_at(b->frame, 8));
    rw_do(b, ld_local_u32, b->trace.room, rw_at(b->frame, 16));
}

/* ---- bases ---- */

/* The address, or -1 where the lane's guard is false. */
static rw_reg address_if_any(rw_body *b, rw_reg address)
{
    if (!rw_is_some(b->guard))
        return rw_get(b, mov_u64, address);
    if (b->guard.negated)
        return rw_get(b, selp_b64, rw_number(-1), address, rw_not(b->guard));
    return rw_get(b, selp_b64, address, rw_number(-1), b->guard);
}

/* ---- basic blocks ---- */

/* Takes `rows` of the room that is left; the result: there was as much. What is lost is counted
 * below 0, and does not wrap. */
static rw_reg take_room(rw_body *b, uint32_t rows)
{
    rw_reg room = b->trace.room;
    rw_do(b, sub_s32, room, room, rw_number(rows));
    rw_reg has_room = rw_get(b, setp_ge_s32, room, rw_number(0));
    rw_when(b, rw_not(has_room), max_s32, room, room, rw_number(-1073741824));
    return has_room;
}

/* Begins a record: its piece, and the lanes that are there. */
static void write_record_head(rw_body *b, rw_reg piece)
{
    rw_do(b, st_global_v2_b32, rw_at(b->trace.row, 0), piece, b->warp.active);
}

static void write_number(rw_body *b, uint32_t number)
{
    write_record_head(b, rw_get(b, mov_u32, rw_number(number)));
}

static void next_record(rw_body *b, rw_reg has_room, uint32_t rows)
{
    rw_when(b, has_room, add_s64, b->trace.row, b->trace.row, rw_number((int64_t)ROW * rows));
}

/* The base that shares the row with the one at `pending`, after it; npending: none. */
static uint32_t other_half(const rw_trace_code *t, uint32_t pending)
{
    const rw_pending *p = &t->pending[pending];
    uint32_t i = pending + 1;
    while (i < t->npending && (t->pending[i].row != p->row || t->pending[i].high == p->high))
        i++;
    return p->narrow && !p->high ? i : t->npending;
}

static void write_base(rw_body *b, uint32_t pending)
{
    rw_trace_code *t = &b->trace;
    const rw_pending *p = &t->pending[pending];
    uint32_t other = other_half(t, pending);
    rw_opd to = rw_at(t->row, (int64_t)ROW * p->row + 4 * p->high);
    if (!p->narrow) {
        rw_do(b, st_global_b64, to, p->reg);
    } else if (other < t->npending) {
        rw_do(b, st_global_v2_b32, to, p->reg, t->pending[other].reg);
        t->pending[other].row = 0; /* is written */
    } else {
        rw_do(b, st_global_b32, to, p->reg);
    }
}

static void write_pending(rw_body *b)
{
    for (uint32_t i = 0; i < b->trace.npending; i++)
        if (b->trace.pending[i].row)
            write_base(b, i);
    b->trace.npending = 0;
}

/* Keeps a base until the basic block ends. */
static rw_pending *add_pending(rw_body *b, uint32_t reg, uint32_t row, bool narrow, bool high)
{
    rw_trace_code *t = &b->trace;
    if (t->npending == RW_PENDING)
        write_pending(b);
    rw_pending *p = &t->pending[t->npending++];
    *p = (rw_pending){.number = reg, .row = row, .narrow = narrow, .high = high};
    if (reg != IR_NONE)
        p->reg = rw_kernels(b, reg);
    return p;
}

/* Keeps the base in a register of ours. */
static void hold_base(rw_body *b, rw_pending *p, rw_reg value)
{
    uint32_t i = (uint32_t)(p - b->trace.pending);
    p->held = true;
    p->reg = p->narrow ? b->trace.held_narrow[i] : b->trace.held[i];
    if (p->narrow)
        rw_do(b, mov_b32, p->reg, value);
    else
        rw_do(b, mov_b64, p->reg, value);
}

static void add_site_base(rw_body *b, uint32_t site)
{
    const rewrite_spot *spot = &b->plan->trace->spots[site];
    rw_pending *p = add_pending(b, b->plan->addresses[site]->operand->reg, spot->row, spot->narrow,
                                spot->high);
    if (spot->alone)
        hold_base(b, p, address_if_any(b, b->address));
}

/* The value that a register has just got, if other pieces refer to it. */
static void add_kept_value(rw_body *b, uint32_t value)
{
    uint32_t index = b->index == 0 ? b->plan->trace->keep_at[value] : IR_NONE;
    if (index == IR_NONE)
        return;
    const rewrite_keep *keep = &b->plan->trace->keeps[index].keep;
    uint32_t reg = b->f->values[value].reg;
    bool narrow = ir_type_get(b->func->regs[reg].type)->bits < 64;
    add_pending(b, reg, keep->row, narrow, keep->high);
}

static bool writes_register(const flow_function *f, uint32_t insn, uint32_t reg)
{
    for (uint32_t d = f->def_first[insn]; d < f->def_first[insn + 1]; d++)
        if (f->values[f->defs[d]].reg == reg)
            return true;
    return false;
}

/* Before the instruction changes registers that are to be written yet. */
static void save_pending(rw_body *b, uint32_t insn)
{
    for (uint32_t i = 0; i < b->trace.npending; i++) {
        rw_pending *p = &b->trace.pending[i];
        if (!p->held && writes_register(b->f, insn, p->number))
            hold_base(b, p, p->reg);
    }
}

static void know_active(rw_body *b)
{
    if (b->lanes != RW_LANES_UNKNOWN)
        return;
    rw_active(b);
    b->lanes = RW_LANES_ACTIVE;
}

static void end_record(rw_body *b, uint32_t number)
{
    const rw_piece *piece = &b->plan->trace->pieces[number];
    rw_reg has_room = take_room(b, piece->rows);
    know_active(b);
    if (piece->nbits)
        write_record_head(b, rw_get(b, or_b32, b->trace.ran, rw_number(number)));
    else
        write_number(b, number);
    write_pending(b);
    next_record(b, has_room, piece->rows);
}

/* Where regions begin, and blocks of them with a bit. */
static void start_region(rw_body *b, uint32_t block)
{
    uint8_t bit = b->plan->trace->ran_at[b->f->first_pc + b->f->blocks[block].first];
    for (uint32_t i = 0; i < b->plan->trace->npieces; i++) {
        const rw_piece *piece = &b->plan->trace->pieces[i];
        if (piece->func == b->index && piece->loop == FLOW_NONE && piece->block == block &&
            piece->nbits)
            rw_do(b, mov_u32, b->trace.ran, rw_number(0));
    }
    if (bit)
        rw_do(b, or_b32, b->trace.ran, b->trace.ran,
              rw_number(1u << (REWRITE_RAN_SHIFT + bit - 1)));
}

/* ---- loops ---- */

/* Into a row that is `rows` from the given one: the register that the site's address is relative
 * to, or, where that is alone, its address, which stands in b->address. */
static void store_base(rw_body *b, uint32_t site, rw_reg row, int rows)
{
    const rewrite_spot *spot = &b->plan->trace->spots[site];
    const ir_operand *o = b->plan->addresses[site]->operand;
    rw_opd to = rw_at(row, (int64_t)ROW * rows);
    rw_reg base = spot->alone ? b->address : rw_kernels(b, o->reg);
    if (spot->narrow)
        rw_do(b, st_global_b32, to, base);
    else
        rw_do(b, st_global_b64, to, base);
}

/* A base that is known where a loop or its iteration begins. */
static void store_early(rw_body *b, uint32_t site, rw_reg row, int rows)
{
    const rw_temps temps = rw_temps_now(b);
    if (b->plan->trace->spots[site].alone) {
        rw_reg address = rw_find_address(b, site);
        b->address = rw_get(b, mov_u64, address);
    }
    store_base(b, site, row, rows);
    rw_temps_back(b, &temps);
}

static void store_value(rw_body *b, uint32_t value, uint32_t at)
{
    rw_reg reg = rw_kernels(b, b->f->values[value].reg);
    if (reg.type == RW_B64)
        rw_do(b, st_global_b64, rw_at(b->trace.row, at), reg);
    else
        rw_do(b, st_global_b32, rw_at(b->trace.row, at), reg);
}

/* One that is summarized: before it, what is known then. */
static void begin_summary(rw_body *b, uint32_t number)
{
    const rw_piece *piece = &b->plan->trace->pieces[number];
    bool told = false;
    know_active(b);
    write_number(b, number);
    for (uint32_t s = piece->first; s < piece->end; s++) {
        if (!b->plan->trace->opens[s] || b->plan->trace->spots[s].last)
            continue;
        store_early(b, s, b->trace.row, (int)b->plan->trace->spots[s].row);
        told |= b->plan->trace->spots[s].row == piece->count_row;
    }
    if (!told)
        store_value(b, piece->counter, ROW * piece->count_row);
    if (piece->by != FLOW_NONE)
        store_value(b, piece->by, ROW * piece->by_row);
}

/* What has moved in the loop, after what it was before. */
static void store_moved(rw_body *b, uint32_t value, uint32_t row, bool narrow)
{
    store_value(b, value, narrow ? ROW * row + 4 : ROW * (row + 1));
}

/* And after it. */
static void end_summary(rw_body *b, uint32_t number)
{
    const rw_piece *piece = &b->plan->trace->pieces[number];
    for (uint32_t s = piece->first; s < piece->end; s++) {
        const rewrite_spot *spot = &b->plan->trace->spots[s];
        if (!b->plan->trace->opens[s])
            continue;
        if (spot->last)
            store_base(b, s, b->trace.row, (int)spot->row);
        else if (spot->step_row)
            store_moved(b, b->plan->addresses[s]->value, spot->row, spot->narrow);
    }
    store_moved(b, piece->counter, piece->count_row, piece->count_narrow);
    next_record(b, take_room(b, piece->rows), piece->rows);
}

/* In the first iteration. While another loop runs, the row is after its record. */
static void begin_loop(rw_body *b, uint32_t number, rw_label steady)
{
    const rw_trace_code *t = &b->trace;
    rw_label second = rw_new_label(b, "second");
    uint32_t rows = b->plan->trace->pieces[number].rows;
    rw_goto_if(b, rw_get(b, setp_ne_u32, t->count, rw_number(0)), second);
    rw_reg has_room = take_room(b, rows);
    rw_when(b, rw_not(has_room), mov_u32, t->count, rw_number(2));
    rw_goto_if(b, rw_not(has_room), steady);
    rw_active(b);
    write_number(b, number);
    rw_reg wraps = rw_get(b, mov_u32, rw_number(-1)); /* for a count that wraps */
    rw_do(b, st_global_u32, rw_at(t->row, (int64_t)ROW * (rows - 1)), wraps);
    rw_do(b, add_s64, t->row, t->row, rw_number((int64_t)ROW * rows));
    rw_put_label(b, second);
}

static int row_in_loop(const rw_body *b, const rw_piece *piece, uint32_t site)
{
    return (int)b->plan->trace->spots[site].row - (int)piece->rows;
}

static void start_loop(rw_body *b, uint32_t number)
{
    const rw_piece *piece = &b->plan->trace->pieces[number];
    rw_reg count = b->trace.count;
    rw_label steady = rw_new_label(b, "steady");
    rw_goto_if(b, rw_get(b, setp_gt_u32, count, rw_number(1)), steady);
    begin_loop(b, number, steady);
    rw_reg row = rw_get(b, mad_wide_u32, count, rw_number((int64_t)ROW * piece->early),
                        b->trace.row);
    for (uint32_t s = piece->first; s < piece->end; s++)
        if (b->plan->trace->opens[s] && !b->plan->trace->spots[s].last)
            store_early(b, s, row, row_in_loop(b, piece, s));
    rw_put_label(b, steady);
    rw_do(b, add_u32, count, count, rw_number(1));
    rw_forget_lanes(b);
}

/* After the loop, if that is where the lane comes from. */
static void end_loop(rw_body *b, const rw_piece *piece)
{
    const rw_trace_code *t = &b->trace;
    rw_label told = rw_new_label(b, "told"), lost = rw_new_label(b, "lost");
    rw_goto_if(b, rw_get(b, setp_eq_u32, t->count, rw_number(0)), told);
    rw_goto_if(b, rw_get(b, setp_lt_s32, t->room, rw_number(0)), lost);
    for (uint32_t s = piece->first; s < piece->end; s++)
        if (b->plan->trace->opens[s] && b->plan->trace->spots[s].last)
            store_base(b, s, t->row, row_in_loop(b, piece, s));
    rw_do(b, st_global_u32, rw_at(t->row, -ROW), t->count);
    rw_put_label(b, lost);
    rw_do(b, mov_u32, t->count, rw_number(0));
    rw_put_label(b, told);
}

/* ---- the emitter ---- */

static void trace_access(rw_body *b, uint32_t site)
{
    if (b->plan->trace->pieces[b->plan->trace->piece_of[site]].loop == FLOW_NONE &&
        b->plan->trace->opens[site])
        add_site_base(b, site);
}

static bool ends_basic_block(const rw_body *b, uint32_t insn)
{
    return b->plan->code.leader[b->f->first_pc + b->index + insn + 1] ||
           insn + 1 == b->func->ninsns;
}

/* Where a basic block may end, and its region. */
static void end_insn(rw_body *b, uint32_t insn)
{
    uint32_t piece = b->plan->trace->record_at[b->f->first_pc + insn];
    if (piece != IR_NONE)
        end_record(b, piece);
    else if (ends_basic_block(b, insn))
        write_pending(b);
    uint32_t loop = b->plan->trace->begins_at[b->f->first_pc + insn];
    if (loop != IR_NONE)
        begin_summary(b, loop);
}

static void after_insn(rw_body *b, uint32_t insn)
{
    for (uint32_t d = b->f->def_first[insn]; d < b->f->def_first[insn + 1]; d++)
        add_kept_value(b, b->f->defs[d]);
    uint32_t loop = b->plan->trace->ends_at[b->f->first_pc + insn];
    if (loop != IR_NONE)
        end_summary(b, loop);
}

static void each_loop(rw_body *b, uint32_t block, bool begins)
{
    for (uint32_t i = 0; i < b->plan->trace->npieces; i++) {
        const rw_piece *piece = &b->plan->trace->pieces[i];
        if (piece->func != b->index || piece->loop == FLOW_NONE || piece->summarized)
            continue;
        if (begins && piece->block == block)
            start_loop(b, i);
        if (!begins && rw_follows_loop(b->f, block, piece->loop))
            end_loop(b, piece);
    }
}

static void start_traced_block(rw_body *b, uint32_t block)
{
    each_loop(b, block, false);
    each_loop(b, block, true);
    start_region(b, block);
    for (uint32_t i = b->f->phi_first[block]; i < b->f->phi_first[block + 1]; i++)
        add_kept_value(b, b->f->phis[i]);
}

/* Marks the end of the lane's records, where the next one would begin; tells how far the fullest
 * column is. */
static void leave_trace(rw_body *b)
{
    rw_reg lost = rw_get(b, neg_s32, b->trace.room);
    rw_do(b, max_s32, lost, lost, rw_number(0));
    rw_reg end = rw_get(b, mov_u32, rw_number(-1));
    rw_do(b, st_global_v2_b32, rw_at(b->trace.row, 0), end, lost);
    rw_do(b, red_global_min_s32, rw_at(b->state, offsetof(rewrite_state, room)), b->trace.room);
}

const rw_emitter rw_emitter_trace = {.probes = 1u << REWRITE_TRACE,
                                     .declare = declare_trace,
                                     .enter = enter_trace,
                                     .start = start_traced_block,
                                     .access = trace_access,
                                     .before = save_pending,
                                     .after = after_insn,
                                     .end = end_insn,
                                     .scope = write_pending,
                                     .leave = leave_trace};
