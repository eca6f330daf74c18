/* trace: every access of the blocks that the launch names, in the order in which each lane made them.
 *
 * Needs: __wl_lane, the pieces (pieces.c). Keeps: everything; no lane waits for another. Buffers: a region of the pool for each
 * warp, a column of it for each lane (layout.h).
 *
 * A record is written where a basic block ends: the piece's number and the lanes that are there, and the registers that its
 * accesses are relative to. So an access costs one store or none, and lanes that run together write whole lines. Between
 * the accesses nothing is written: ptxas moves no load before a store, so that loads would wait for each other that the
 * kernel has under way together. A register that changes before the end is kept in one of ours. A loop that is one piece
 * writes its registers in two iterations, and counts on.
 *
 * Within a basic block there is neither a branch nor a store with a guard, which ptxas makes one of: it contracts products
 * and sums to fma within basic blocks only, and the results would differ. Where the room does not suffice, a lane goes on
 * writing to the region's last rows. */
#include "rewrite/code/body.h"

#include <stddef.h>

#define ROW REWRITE_ROW

static void declare(rw_body *b)
{
    rw_text(b, "\t.reg .b64 __wl_row;\n\t.reg .b32 __wl_slot, __wl_room, __wl_ran, __wl_count;\n"
               "\t.reg .pred __wl_has_room;\n");
    rw_line(b, ".reg .b64 __wl_held<%u>;", RW_PENDING);
    rw_line(b, ".reg .b32 __wl_short<%u>;", RW_PENDING);
}

/* ---- a lane's place in the pool ---- */

static void enter_kernel(rw_body *b)
{
    rw_text(b, "\tcvt.u64.u32 __wl_x, __wl_slot;\n"
               "\tadd.s64 __wl_x, __wl_x, __wl_state;\n\tmov.u32 __wl_t, 1;\n");
    rw_line(b, "st.global.u8 [__wl_x+%zu], __wl_t;", offsetof(rewrite_state, ran));
    rw_linear_warp(b, "__wl_t");
    rw_line(b, "ld.param.u64 __wl_row, [__wl_probe+%zu];", offsetof(rewrite_param, pool));
    rw_line(b, "ld.param.u32 __wl_room, [__wl_probe+%zu];", offsetof(rewrite_param, rows));
    rw_line(b, "ld.param.u32 __wl_v, [__wl_probe+%zu];", offsetof(rewrite_param, warps));
    rw_text(b, "\tmad.lo.u32 __wl_u, __wl_slot, __wl_v, __wl_t;\n"
               "\tmul.wide.u32 __wl_x, __wl_u, __wl_room;\n"
               "\tshl.b64 __wl_x, __wl_x, 8;\n"
               "\tadd.s64 __wl_row, __wl_row, __wl_x;\n"
               "\tmad.wide.u32 __wl_row, __wl_lane, 8, __wl_row;\n");
    rw_line(b, "sub.u32 __wl_room, __wl_room, %u;", b->plan->out->tail_rows);
}

static void enter(rw_body *b)
{
    if (b->index == 0)
        enter_kernel(b);
    rw_line(b, "mov.u32 __wl_count, 0;");
}

void rw_keep_trace(rw_body *b)
{
    rw_text(b, "\tst.local.u64 [__wl_frame+8], __wl_row;\n"
               "\tst.local.u32 [__wl_frame+16], __wl_room;\n");
}

void rw_restore_trace(rw_body *b)
{
    rw_text(b, "\tld.local.u64 __wl_row, [__wl_frame+8];\n"
               "\tld.local.u32 __wl_room, [__wl_frame+16];\n");
}

/* ---- bases ---- */

/* __wl_x: the site's address, or -1 where the lane's guard is false. */
static void find_address(rw_body *b)
{
    const char *guard = b->guard.text;
    if (!*guard)
        rw_line(b, "mov.u64 __wl_x, __wl_a;");
    else if (*guard == '!')
        rw_line(b, "selp.b64 __wl_x, -1, __wl_a, %s;", guard + 1);
    else
        rw_line(b, "selp.b64 __wl_x, __wl_a, -1, %s;", guard);
}

/* ---- basic blocks ---- */

/* Takes `rows` of the room that is left. What is lost is counted below 0, and does not wrap. */
static void take_room(rw_body *b, uint32_t rows)
{
    rw_line(b, "sub.s32 __wl_room, __wl_room, %u;", rows);
    rw_text(b, "\tsetp.ge.s32 __wl_has_room, __wl_room, 0;\n"
               "\t@!__wl_has_room max.s32 __wl_room, __wl_room, -1073741824;\n");
}

static const char *held_name(const rw_pending *p)
{
    return p->narrow ? "__wl_short" : "__wl_held";
}

static void put_pending(rw_body *b, uint32_t pending)
{
    const rw_pending *p = &b->pending[pending];
    if (p->held)
        ptx_putf(b->out, "%s%u", held_name(p), pending);
    else
        ptx_put(b->out, b->func->regs[p->reg].name);
}

/* The base that shares the row with the one at `pending`, behind it; npending: none. */
static uint32_t other_half(const rw_body *b, uint32_t pending)
{
    const rw_pending *p = &b->pending[pending];
    uint32_t i = pending + 1;
    while (i < b->npending && (b->pending[i].row != p->row || b->pending[i].high == p->high))
        i++;
    return p->narrow && !p->high ? i : b->npending;
}

static void write_base(rw_body *b, uint32_t pending)
{
    rw_pending *p = &b->pending[pending];
    uint32_t other = other_half(b, pending);
    ptx_putf(b->out, "\tst.global.%s [__wl_row+%u], ",
             !p->narrow            ? "b64"
             : other < b->npending ? "v2.b32"
                                   : "b32",
             ROW * p->row + 4 * p->high);
    ptx_put(b->out, other < b->npending ? "{" : "");
    put_pending(b, pending);
    if (other < b->npending) {
        ptx_put(b->out, ", ");
        put_pending(b, other);
        b->pending[other].row = 0; /* is written */
    }
    ptx_put(b->out, other < b->npending ? "};\n" : ";\n");
}

static void write_pending(rw_body *b)
{
    for (uint32_t i = 0; i < b->npending; i++)
        if (b->pending[i].row)
            write_base(b, i);
    b->npending = 0;
}

/* Keeps a base until the basic block ends. */
static rw_pending *add_pending(rw_body *b, uint32_t reg, uint32_t row, bool narrow, bool high)
{
    if (b->npending == RW_PENDING)
        write_pending(b);
    rw_pending *p = &b->pending[b->npending++];
    *p = (rw_pending){.reg = reg, .row = row, .narrow = narrow, .high = high};
    return p;
}

static void keep_site(rw_body *b, uint32_t site)
{
    const rewrite_spot *spot = &b->plan->trace->spots[site];
    rw_pending *p = add_pending(b, b->plan->addresses[site]->operand->reg, spot->row, spot->narrow,
                                spot->high);
    if (!spot->alone)
        return;
    find_address(b);
    p->held = true;
    rw_line(b, "mov.b64 %s%u, __wl_x;", held_name(p), b->npending - 1);
}

/* The value that a register has just got, if other pieces refer to it. */
static void keep_value(rw_body *b, uint32_t value)
{
    uint32_t index = b->index == 0 ? b->plan->trace->keep_at[value] : IR_NONE;
    if (index == IR_NONE)
        return;
    const rewrite_keep *keep = &b->plan->trace->keeps[index].keep;
    uint32_t reg = b->f->values[value].reg;
    bool narrow = ir_type_get(b->func->regs[reg].type)->bits < 64;
    add_pending(b, reg, keep->row, narrow, keep->high);
}

/* Before the instruction changes registers that are to be written yet. */
static void save_pending(rw_body *b, uint32_t insn)
{
    for (uint32_t i = 0; i < b->npending; i++) {
        rw_pending *p = &b->pending[i];
        bool changes = false;
        for (uint32_t d = b->f->def_first[insn]; d < b->f->def_first[insn + 1]; d++)
            changes |= b->f->values[b->f->defs[d]].reg == p->reg;
        if (!changes || p->held)
            continue;
        p->held = true;
        rw_line(b, "mov.b%u %s%u, %s;", p->narrow ? 32 : 64, held_name(p), i,
                b->func->regs[p->reg].name);
    }
}

static void end_record(rw_body *b, uint32_t number)
{
    const rw_piece *piece = &b->plan->trace->pieces[number];
    take_room(b, piece->rows);
    if (b->lanes == RW_LANES_UNKNOWN) {
        rw_active(b);
        b->lanes = RW_LANES_ACTIVE;
    }
    rw_line(b, piece->nbits ? "or.b32 __wl_t, __wl_ran, %u;" : "mov.u32 __wl_t, %u;", number);
    rw_line(b, "st.global.v2.b32 [__wl_row], {__wl_t, __wl_active};");
    write_pending(b);
    rw_line(b, "@__wl_has_room add.s64 __wl_row, __wl_row, %u;", ROW * piece->rows);
}

/* Where regions begin, and blocks of them with a bit. */
static void start_region(rw_body *b, uint32_t block)
{
    uint8_t bit = b->plan->trace->ran_at[b->f->first_pc + b->f->blocks[block].first];
    for (uint32_t i = 0; i < b->plan->trace->npieces; i++) {
        const rw_piece *piece = &b->plan->trace->pieces[i];
        if (piece->func == b->index && piece->loop == FLOW_NONE && piece->block == block &&
            piece->nbits)
            rw_line(b, "mov.u32 __wl_ran, 0;");
    }
    if (bit)
        rw_line(b, "or.b32 __wl_ran, __wl_ran, %u;", 1u << (REWRITE_RAN_SHIFT + bit - 1));
}

/* ---- loops ---- */

/* The register that the site's address is relative to, or its address, from a row on that is `rows` from the lane's. */
static void store_base(rw_body *b, uint32_t site, const char *row, int rows)
{
    const rewrite_spot *spot = &b->plan->trace->spots[site];
    const ir_operand *o = b->plan->addresses[site]->operand;
    rw_line(b, "st.global.b%u [%s+%d], %s;", spot->narrow ? 32 : 64, row, ROW * rows,
            spot->alone ? "__wl_x" : b->func->regs[o->reg].name);
}

static void store_value(rw_body *b, uint32_t value, uint32_t at)
{
    const ir_reg *reg = &b->func->regs[b->f->values[value].reg];
    rw_line(b, "st.global.b%u [__wl_row+%u], %s;", ir_type_get(reg->type)->bits, at, reg->name);
}

/* One that is told from outside: before it, what is known then. */
static void begin_outside(rw_body *b, uint32_t number)
{
    const rw_piece *piece = &b->plan->trace->pieces[number];
    bool told = false;
    if (b->lanes == RW_LANES_UNKNOWN) {
        rw_active(b);
        b->lanes = RW_LANES_ACTIVE;
    }
    rw_line(b, "mov.u32 __wl_t, %u;", number);
    rw_line(b, "st.global.v2.b32 [__wl_row], {__wl_t, __wl_active};");
    for (uint32_t s = piece->first; s < piece->end; s++) {
        if (!b->plan->trace->opens[s] || b->plan->trace->spots[s].last)
            continue;
        if (b->plan->trace->spots[s].alone) {
            rw_address(b, s);
            rw_line(b, "mov.u64 __wl_x, __wl_a;");
        }
        store_base(b, s, "__wl_row", (int)b->plan->trace->spots[s].row);
        told |= b->plan->trace->spots[s].row == piece->count_row;
    }
    if (!told)
        store_value(b, piece->counter, ROW * piece->count_row);
    if (piece->by != FLOW_NONE)
        store_value(b, piece->by, ROW * piece->by_row);
}

/* What has moved in the loop, behind what it was before. */
static void store_moved(rw_body *b, uint32_t value, uint32_t row, bool narrow)
{
    store_value(b, value, narrow ? ROW * row + 4 : ROW * (row + 1));
}

/* And behind it. */
static void end_outside(rw_body *b, uint32_t number)
{
    const rw_piece *piece = &b->plan->trace->pieces[number];
    for (uint32_t s = piece->first; s < piece->end; s++) {
        const rewrite_spot *spot = &b->plan->trace->spots[s];
        if (!b->plan->trace->opens[s])
            continue;
        if (spot->last)
            store_base(b, s, "__wl_row", (int)spot->row);
        else if (spot->step_row)
            store_moved(b, b->plan->addresses[s]->value, spot->row, spot->narrow);
    }
    store_moved(b, piece->counter, piece->count_row, piece->count_narrow);
    take_room(b, piece->rows);
    rw_line(b, "@__wl_has_room add.s64 __wl_row, __wl_row, %u;", ROW * piece->rows);
}

/* While another loop runs, __wl_row is behind its record. */
static void begin_loop(rw_body *b, uint32_t number, uint32_t label)
{
    uint32_t rows = b->plan->trace->pieces[number].rows;
    rw_line(b, "setp.ne.u32 __wl_p, __wl_count, 0;");
    rw_line(b, "@__wl_p bra $__wl_second%u;", label);
    take_room(b, rows);
    rw_text(b, "\t@!__wl_has_room mov.u32 __wl_count, 2;\n");
    rw_line(b, "@!__wl_has_room bra $__wl_steady%u;", label);
    rw_active(b);
    rw_line(b, "mov.u32 __wl_t, %u;", number);
    rw_line(b, "st.global.v2.b32 [__wl_row], {__wl_t, __wl_active};");
    rw_line(b, "mov.u32 __wl_t, -1;"); /* for a count that wraps */
    rw_line(b, "st.global.u32 [__wl_row+%u], __wl_t;", ROW * (rows - 1));
    rw_line(b, "add.s64 __wl_row, __wl_row, %u;", ROW * rows);
    ptx_putf(b->out, "$__wl_second%u:\n", label);
}

static int row_in_loop(const rw_body *b, const rw_piece *piece, uint32_t site)
{
    return (int)b->plan->trace->spots[site].row - (int)piece->rows;
}

static void start_loop(rw_body *b, uint32_t number)
{
    const rw_piece *piece = &b->plan->trace->pieces[number];
    uint32_t label = (*b->labels)++;
    rw_line(b, "setp.gt.u32 __wl_p, __wl_count, 1;");
    rw_line(b, "@__wl_p bra $__wl_steady%u;", label);
    begin_loop(b, number, label);
    rw_line(b, "mad.wide.u32 __wl_y, __wl_count, %u, __wl_row;", ROW * piece->early);
    for (uint32_t s = piece->first; s < piece->end; s++) {
        if (!b->plan->trace->opens[s] || b->plan->trace->spots[s].last)
            continue;
        if (b->plan->trace->spots[s].alone) {
            rw_address(b, s);
            rw_line(b, "mov.u64 __wl_x, __wl_a;");
        }
        store_base(b, s, "__wl_y", row_in_loop(b, piece, s));
    }
    ptx_putf(b->out, "$__wl_steady%u:\n", label);
    rw_line(b, "add.u32 __wl_count, __wl_count, 1;");
    rw_forget_lanes(b);
}

/* Behind the loop, if that is where the lane comes from. */
static void end_loop(rw_body *b, const rw_piece *piece)
{
    uint32_t label = (*b->labels)++;
    rw_line(b, "setp.eq.u32 __wl_p, __wl_count, 0;");
    rw_line(b, "@__wl_p bra $__wl_told%u;", label);
    rw_line(b, "setp.lt.s32 __wl_p, __wl_room, 0;");
    rw_line(b, "@__wl_p bra $__wl_lost%u;", label);
    for (uint32_t s = piece->first; s < piece->end; s++)
        if (b->plan->trace->opens[s] && b->plan->trace->spots[s].last)
            store_base(b, s, "__wl_row", row_in_loop(b, piece, s));
    rw_line(b, "st.global.u32 [__wl_row+%d], __wl_count;", -ROW);
    ptx_putf(b->out, "$__wl_lost%u:\n", label);
    rw_line(b, "mov.u32 __wl_count, 0;");
    ptx_putf(b->out, "$__wl_told%u:\n", label);
}

/* ---- the pass ---- */

static void trace_access(rw_body *b, uint32_t site)
{
    if (b->plan->trace->pieces[b->plan->trace->piece_of[site]].loop == FLOW_NONE &&
        b->plan->trace->opens[site])
        keep_site(b, site);
}

static bool ends_block(const rw_body *b, uint32_t insn)
{
    return b->plan->code.leader[b->f->first_pc + b->index + insn + 1] ||
           insn + 1 == b->func->ninsns;
}

/* Where a basic block may end, and its region. */
static void end(rw_body *b, uint32_t insn)
{
    uint32_t piece = b->plan->trace->record_at[b->f->first_pc + insn];
    if (piece != IR_NONE)
        end_record(b, piece);
    else if (ends_block(b, insn))
        write_pending(b);
    uint32_t loop = b->plan->trace->begins_at[b->f->first_pc + insn];
    if (loop != IR_NONE)
        begin_outside(b, loop);
}

static void behind(rw_body *b, uint32_t insn)
{
    for (uint32_t d = b->f->def_first[insn]; d < b->f->def_first[insn + 1]; d++)
        keep_value(b, b->f->defs[d]);
    uint32_t loop = b->plan->trace->ends_at[b->f->first_pc + insn];
    if (loop != IR_NONE)
        end_outside(b, loop);
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

static void start(rw_body *b, uint32_t block)
{
    each_loop(b, block, false);
    each_loop(b, block, true);
    start_region(b, block);
    for (uint32_t i = b->f->phi_first[block]; i < b->f->phi_first[block + 1]; i++)
        keep_value(b, b->f->phis[i]);
}

/* Marks the end of the lane's records, where the next one would begin; tells how far the fullest column is. */
static void leave(rw_body *b)
{
    rw_text(b, "\tneg.s32 __wl_u, __wl_room;\n\tmax.s32 __wl_u, __wl_u, 0;\n"
               "\tmov.u32 __wl_t, -1;\n"
               "\tst.global.v2.b32 [__wl_row], {__wl_t, __wl_u};\n");
    rw_line(b, "red.global.min.s32 [__wl_state+%zu], __wl_room;", offsetof(rewrite_state, room));
}

const rw_emitter rw_trace_emitter = {.probes = 1u << REWRITE_TRACE,
                                     .declare = declare,
                                     .enter = enter,
                                     .start = start,
                                     .access = trace_access,
                                     .before = save_pending,
                                     .behind = behind,
                                     .end = end,
                                     .scope = write_pending,
                                     .leave = leave};
