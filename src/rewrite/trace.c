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
#include "ptx/blocks.h"
#include "rewrite/internal.h"

#include <stddef.h>

#define ROW REWRITE_ROW

static void declare(rw_body *b)
{
    rw_text(b, "\t.reg .b64 __wl_row;\n\t.reg .b32 __wl_slot, __wl_room, __wl_count;\n"
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

/* The register that the site's address is relative to, or its address, from a row on that is `rows` from the lane's. */
static void store_base(rw_body *b, uint32_t site, const char *row, int rows)
{
    const rewrite_spot *spot = &b->plan->spots[site];
    const ptx_operand *o = b->plan->addresses[site]->operand;
    rw_line(b, "st.global.b%u [%s+%d], %s;", spot->narrow ? 32 : 64, row, ROW * rows,
            spot->alone ? "__wl_x" : b->func->regs[o->reg].name);
}

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

static bool is_narrow(const rw_body *b, uint32_t site)
{
    return b->plan->spots[site].narrow;
}

/* The register that a pending base is kept in, where it is not its own. */
static const char *held_name(const rw_body *b, uint32_t pending)
{
    return is_narrow(b, b->pending[pending].site) ? "__wl_short" : "__wl_held";
}

static void write_pending(rw_body *b)
{
    for (uint32_t i = 0; i < b->npending; i++) {
        const rw_pending *p = &b->pending[i];
        int row = ROW * (int)b->plan->spots[p->site].row;
        if (p->held)
            rw_line(b, "st.global.b%u [__wl_row+%d], %s%u;", is_narrow(b, p->site) ? 32 : 64, row,
                    held_name(b, i), i);
        else
            store_base(b, p->site, "__wl_row", (int)b->plan->spots[p->site].row);
    }
    b->npending = 0;
}

/* Keeps the site's base until the basic block ends. */
static void keep_base(rw_body *b, uint32_t site)
{
    bool alone = b->plan->spots[site].alone;
    if (b->npending == RW_PENDING)
        write_pending(b);
    if (alone) {
        find_address(b);
        rw_line(b, "mov.b64 __wl_held%u, __wl_x;", b->npending);
    }
    b->pending[b->npending++] = (rw_pending){.site = site, .held = alone};
}

/* Before the instruction changes registers that are to be written yet. */
static void save_pending(rw_body *b, uint32_t insn)
{
    for (uint32_t i = 0; i < b->npending; i++) {
        rw_pending *p = &b->pending[i];
        if (p->held)
            continue;
        uint32_t reg = b->plan->addresses[p->site]->operand->reg;
        for (uint32_t d = b->f->def_first[insn]; d < b->f->def_first[insn + 1]; d++)
            p->held |= b->f->values[b->f->defs[d]].reg == reg;
        if (p->held)
            rw_line(b, "mov.b%u %s%u, %s;", is_narrow(b, p->site) ? 32 : 64, held_name(b, i), i,
                    b->func->regs[reg].name);
    }
}

static void end_record(rw_body *b, uint32_t piece)
{
    uint32_t rows = rw_piece_rows(&b->plan->pieces[piece]);
    take_room(b, rows);
    if (b->lanes == RW_LANES_UNKNOWN) {
        rw_active(b);
        b->lanes = RW_LANES_ACTIVE;
    }
    rw_line(b, "mov.u32 __wl_t, %u;", piece);
    rw_line(b, "st.global.v2.b32 [__wl_row], {__wl_t, __wl_active};");
    write_pending(b);
    rw_line(b, "@__wl_has_room add.s64 __wl_row, __wl_row, %u;", ROW * rows);
}

/* ---- loops ---- */

/* While a loop runs, __wl_row is behind its record. */
static void begin_loop(rw_body *b, uint32_t number, uint32_t label)
{
    uint32_t rows = rw_piece_rows(&b->plan->pieces[number]);
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
    return (int)b->plan->spots[site].row - (int)rw_piece_rows(piece);
}

static void start_loop(rw_body *b, uint32_t number)
{
    const rw_piece *piece = &b->plan->pieces[number];
    uint32_t label = (*b->labels)++;
    rw_line(b, "setp.gt.u32 __wl_p, __wl_count, 1;");
    rw_line(b, "@__wl_p bra $__wl_steady%u;", label);
    begin_loop(b, number, label);
    rw_line(b, "mad.wide.u32 __wl_y, __wl_count, %u, __wl_row;", ROW * piece->early);
    for (uint32_t s = piece->first; s < piece->end; s++) {
        if (!b->plan->opens[s] || b->plan->spots[s].last)
            continue;
        if (b->plan->spots[s].alone) {
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
        if (b->plan->opens[s] && b->plan->spots[s].last)
            store_base(b, s, "__wl_row", row_in_loop(b, piece, s));
    rw_line(b, "st.global.u32 [__wl_row+%d], __wl_count;", -ROW);
    ptx_putf(b->out, "$__wl_lost%u:\n", label);
    rw_line(b, "mov.u32 __wl_count, 0;");
    ptx_putf(b->out, "$__wl_told%u:\n", label);
}

/* ---- the pass ---- */

static void trace_access(rw_body *b, uint32_t site)
{
    if (b->plan->pieces[b->plan->piece_of[site]].loop == FLOW_NONE && b->plan->opens[site])
        keep_base(b, site);
}

/* Where the basic block of the instruction ends, its record is written: before what leads away from it. */
static void end_block(rw_body *b, uint32_t insn)
{
    const uint8_t *leader = b->plan->leader + b->f->first_pc + b->index;
    uint32_t first = insn, pc = b->f->first_pc;
    while (!leader[first])
        first--;
    uint32_t site = b->plan->site_first[pc + first];
    if (site == b->plan->site_first[pc + insn + 1])
        return;
    uint32_t number = b->plan->piece_of[site];
    if (b->plan->pieces[number].loop == FLOW_NONE)
        end_record(b, number);
}

static bool is_last(const rw_body *b, uint32_t insn)
{
    return b->plan->leader[b->f->first_pc + b->index + insn + 1] || insn + 1 == b->func->ninsns;
}

static void before(rw_body *b, uint32_t insn)
{
    if (is_last(b, insn) && ptx_ends_block(&b->func->insns[insn]))
        end_block(b, insn);
    else
        save_pending(b, insn);
}

static void behind(rw_body *b, uint32_t insn)
{
    if (is_last(b, insn) && !ptx_ends_block(&b->func->insns[insn]))
        end_block(b, insn);
}

static void each_loop(rw_body *b, uint32_t block, bool begins)
{
    for (uint32_t i = 0; i < b->plan->npieces; i++) {
        const rw_piece *piece = &b->plan->pieces[i];
        if (piece->func != b->index || piece->loop == FLOW_NONE)
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
}

/* Marks the end of the lane's records, where the next one would begin; tells how far the fullest column is. */
static void leave(rw_body *b)
{
    rw_text(b, "\tneg.s32 __wl_u, __wl_room;\n\tmax.s32 __wl_u, __wl_u, 0;\n"
               "\tmov.u32 __wl_t, -1;\n"
               "\tst.global.v2.b32 [__wl_row], {__wl_t, __wl_u};\n");
    rw_line(b, "red.global.min.s32 [__wl_state+%zu], __wl_room;", offsetof(rewrite_state, room));
}

const rw_pass rw_trace_pass = {.probes = 1u << REWRITE_TRACE,
                               .declare = declare,
                               .enter = enter,
                               .start = start,
                               .access = trace_access,
                               .before = before,
                               .behind = behind,
                               .scope = write_pending,
                               .leave = leave};
