/* trace: every access of the blocks that the launch names, in the order in which each lane made them.
 *
 * Needs: __wl_lane, the pieces (pieces.c). Keeps: everything; no lane waits for another. Buffers: a region of the pool for each
 * warp, a column of it for each lane (layout.h).
 *
 * A record is written when a lane comes to a piece: its number and the lanes that are there, then the registers that its
 * accesses are relative to, each where the first of them runs. So an access costs one store or none, and lanes that run
 * together write whole lines. A loop that is one piece writes its registers in two iterations, and counts on.
 *
 * Within a basic block there is neither a branch nor a store with a guard, which ptxas makes one of: it contracts products
 * and sums to fma within basic blocks only, and the results would differ. Where the room does not suffice, a lane goes on
 * writing to the region's last rows. */
#include "rewrite/internal.h"

#include <stddef.h>

#define ROW REWRITE_ROW

static void declare(rw_body *b)
{
    rw_text(b, "\t.reg .b64 __wl_row;\n\t.reg .b32 __wl_room, __wl_count;\n"
               "\t.reg .pred __wl_has_room;\n");
}

/* ---- a lane's place in the pool ---- */

/* __wl_u: which of the launch's blocks this is. */
static void find_block(rw_body *b)
{
    rw_linear_block(b, "__wl_y");
    rw_line(b, "mov.u32 __wl_u, %u;", REWRITE_MAX_BLOCKS);
    for (unsigned i = 0; i < REWRITE_MAX_BLOCKS; i++) {
        rw_line(b, "ld.param.u64 __wl_x, [__wl_probe+%u];", 8 + 8 * i);
        rw_line(b, "setp.eq.u64 __wl_p, __wl_x, __wl_y;");
        rw_line(b, "@__wl_p mov.u32 __wl_u, %u;", i);
    }
    rw_line(b, "setp.eq.u32 __wl_p, __wl_u, %u;", REWRITE_MAX_BLOCKS);
    rw_text(b, "\t@__wl_p bra $__wl_untraced;\n");
}

static void enter_kernel(rw_body *b)
{
    find_block(b);
    rw_line(b, "cvt.u64.u32 __wl_x, __wl_u;");
    rw_text(b, "\tadd.s64 __wl_x, __wl_x, __wl_state;\n\tmov.u32 __wl_t, 1;\n");
    rw_line(b, "st.global.u8 [__wl_x+%zu], __wl_t;", offsetof(rewrite_state, ran));
    rw_line(b, "ld.global.u64 __wl_row, [__wl_state+%zu];", offsetof(rewrite_state, pool_at));
    rw_line(b, "add.s64 __wl_row, __wl_row, __wl_state;");
    rw_line(b, "ld.global.v2.u32 {__wl_room, __wl_v}, [__wl_state+%zu];",
            offsetof(rewrite_state, rows));
    rw_linear_warp(b, "__wl_t");
    rw_text(b, "\tmad.lo.u32 __wl_u, __wl_u, __wl_v, __wl_t;\n"
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

static void begin_record(rw_body *b, uint32_t piece)
{
    take_room(b, rw_piece_rows(&b->plan->pieces[piece]));
    if (b->lanes == RW_LANES_UNKNOWN) {
        rw_active(b);
        b->lanes = RW_LANES_ACTIVE;
    }
    rw_line(b, "mov.u32 __wl_t, %u;", piece);
    rw_line(b, "st.global.v2.b32 [__wl_row], {__wl_t, __wl_active};");
}

static void trace_block(rw_body *b, uint32_t site, uint32_t number)
{
    const rw_piece *piece = &b->plan->pieces[number];
    if (site == piece->first)
        begin_record(b, number);
    if (b->plan->spots[site].alone)
        find_address(b);
    if (b->plan->opens[site])
        store_base(b, site, "__wl_row", (int)b->plan->spots[site].row);
    if (site + 1 == piece->end)
        rw_line(b, "@__wl_has_room add.s64 __wl_row, __wl_row, %u;", ROW * rw_piece_rows(piece));
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
    uint32_t number = b->plan->piece_of[site];
    if (b->plan->pieces[number].loop == FLOW_NONE)
        trace_block(b, site, number);
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
                               .leave = leave};
