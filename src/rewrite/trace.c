/* trace: every access of the blocks that the launch names, in the order in which each warp made them.
 *
 * Needs: __wl_lane. Keeps: everything; the lanes that access memory together find each other with activemask, and none waits
 * for lanes that are elsewhere. Buffers: chunks of the pool (layout.h).
 *
 * The first of the lanes writes the record, into a chunk of its own: so no two lanes ever write to the same chunk, and the
 * place in it is kept in a register. Only a new chunk costs an atomic. */
#include "rewrite/internal.h"

/* A cursor whose chunk has no room: that of a lane that has none. */
#define FULL (REWRITE_CHUNK - 1)
#define RAW_BYTES (8 * REWRITE_LANES)

static void declare(rw_body *b)
{
    rw_text(b, "\t.reg .b32 __wl_cursor, __wl_step, __wl_blo, __wl_bhi;\n\t.reg .pred __wl_raw;\n");
}

static void enter(rw_body *b)
{
    if (b->index == 0)
        rw_line(b, "mov.u32 __wl_cursor, %u;", FULL);
}

/* The leader takes a chunk: __wl_cursor is behind its head, or FULL and a record is counted as dropped. */
static void take_chunk(rw_body *b, uint32_t label)
{
    uint32_t pool = b->plan->out->pool_at;
    rw_text(b, "\tmov.u32 __wl_cursor, 4095;\n"
               "\tld.volatile.global.v2.u32 {__wl_hi, __wl_t}, [__wl_state];\n"
               "\tsetp.ge.u32 __wl_p, __wl_t, __wl_hi;\n");
    rw_line(b, "@__wl_p bra $__wl_drop%u;", label);
    rw_text(b, "\tatom.global.add.u32 __wl_t, [__wl_state+4], 1;\n"
               "\tsetp.ge.u32 __wl_p, __wl_t, __wl_hi;\n");
    rw_line(b, "@__wl_p bra $__wl_drop%u;", label);
    rw_text(b, "\tshl.b32 __wl_cursor, __wl_t, 12;\n"
               "\tcvt.u64.u32 __wl_x, __wl_cursor;\n"
               "\tadd.s64 __wl_x, __wl_x, __wl_state;\n");
    rw_linear_block(b, "__wl_y");
    rw_line(b, "st.global.u64 [__wl_x+%u], __wl_y;", pool);
    rw_linear_warp(b, "__wl_t");
    rw_line(b, "st.global.v2.u32 [__wl_x+%u], {__wl_t, __wl_lane};", pool + 8);
    rw_line(b, "mov.u64 __wl_y, %%clock64;");
    rw_line(b, "st.global.u64 [__wl_x+%u], __wl_y;", pool + 16);
    rw_line(b, "add.u32 __wl_cursor, __wl_cursor, %zu;", sizeof(rewrite_chunk));
    rw_line(b, "bra $__wl_room%u;", label);
    ptx_putf(b->out, "$__wl_drop%u:\n", label);
    rw_line(b, "red.global.add.u64 [__wl_state+8], 1;");
}

/* __wl_raw: the addresses are not at a constant distance from lane to lane. __wl_step: that distance. */
static void find_stride(rw_body *b)
{
    rw_text(b, "\tmov.b64 {__wl_lo, __wl_hi}, __wl_a;\n"
               "\tadd.u32 __wl_t, __wl_lead, 1;\n"
               "\tshfl.sync.idx.b32 __wl_blo, __wl_lo, __wl_lead, 31, __wl_active;\n"
               "\tshfl.sync.idx.b32 __wl_bhi, __wl_hi, __wl_lead, 31, __wl_active;\n"
               "\tshfl.sync.idx.b32 __wl_step, __wl_lo, __wl_t, 31, __wl_active;\n"
               "\tsub.u32 __wl_step, __wl_step, __wl_blo;\n"
               "\tsub.u32 __wl_t, __wl_lane, __wl_lead;\n"
               "\tmad.lo.u32 __wl_t, __wl_step, __wl_t, __wl_blo;\n"
               "\tsetp.ne.u32 __wl_p, __wl_t, __wl_lo;\n"
               "\tsetp.ne.or.u32 __wl_p, __wl_hi, __wl_bhi, __wl_p;\n"
               "\tvote.sync.ballot.b32 __wl_t, __wl_p, __wl_active;\n"
               "\tand.b32 __wl_t, __wl_t, __wl_mask;\n"
               "\tsetp.ne.u32 __wl_raw, __wl_t, 0;\n");
}

/* The last 32 bytes of a chunk stay free, so that a cursor never stands at the next one. */
static void find_room(rw_body *b, uint32_t label)
{
    rw_line(b, "and.b32 __wl_t, __wl_cursor, %u;", REWRITE_CHUNK - 1);
    rw_line(b, "setp.gt.and.u32 __wl_p, __wl_t, %zu, __wl_leads;",
            REWRITE_CHUNK - 2 * sizeof(rewrite_record) - RAW_BYTES);
    rw_line(b, "@!__wl_p bra $__wl_room%u;", label);
    take_chunk(b, label);
    ptx_putf(b->out, "$__wl_room%u:\n", label);
}

static void write_record(rw_body *b, uint32_t site)
{
    uint32_t pool = b->plan->out->pool_at;
    rw_line(b, "setp.ne.and.u32 __wl_p, __wl_cursor, %u, __wl_leads;", FULL);
    rw_text(b, "\tcvt.u64.u32 __wl_x, __wl_cursor;\n\tadd.s64 __wl_x, __wl_x, __wl_state;\n");
    rw_line(b, "selp.b32 __wl_lo, %u, %u, __wl_raw;", site | REWRITE_RAW, site);
    rw_line(b, "mov.u32 __wl_hi, %%clock;");
    rw_line(b, "@__wl_p st.global.v4.b32 [__wl_x+%u], {__wl_lo, __wl_mask, __wl_hi, __wl_step};",
            pool);
    rw_line(b, "@__wl_p st.global.b64 [__wl_x+%u], __wl_a;", pool + 16);
    rw_line(b, "@__wl_p add.u32 __wl_cursor, __wl_cursor, %zu;", sizeof(rewrite_record));
}

/* Behind the record: each lane its own address. */
static void write_addresses(rw_body *b, const rw_guard *guard, uint32_t label)
{
    rw_line(b, "@!__wl_raw bra $__wl_done%u;", label);
    rw_line(b, "shfl.sync.idx.b32 __wl_t, __wl_cursor, __wl_lead, 31, __wl_active;");
    if (*guard->text)
        rw_line(b, "setp.ne.and.u32 __wl_q, __wl_t, %u, %s;", FULL, guard->text);
    else
        rw_line(b, "setp.ne.u32 __wl_q, __wl_t, %u;", FULL);
    rw_text(b, "\tcvt.u64.u32 __wl_x, __wl_t;\n"
               "\tmad.wide.u32 __wl_x, __wl_lane, 8, __wl_x;\n"
               "\tadd.s64 __wl_x, __wl_x, __wl_state;\n");
    rw_line(b, "@__wl_q st.global.b64 [__wl_x+%u], __wl_a;", b->plan->out->pool_at);
    rw_line(b, "@__wl_p add.u32 __wl_cursor, __wl_cursor, %u;", RAW_BYTES);
    ptx_putf(b->out, "$__wl_done%u:\n", label);
}

static void trace_access(rw_body *b, uint32_t site)
{
    uint32_t label = (*b->labels)++;
    find_stride(b);
    find_room(b, label);
    write_record(b, site);
    write_addresses(b, &b->guard, label);
}

const rw_pass rw_trace_pass = {
    .probes = 1u << REWRITE_TRACE, .declare = declare, .enter = enter, .access = trace_access};
