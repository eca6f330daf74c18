/* frequency: how often each element of objects was loaded, stored, updated.
 *
 * Needs: ranges.c (__wl_in, __wl_x, lines). Keeps: everything. Buffers: a u32 for each class and element, and one for each class
 * and line. Counts are exact. A warp that accesses whole lines adds 1 to each line's counter, and to no element's; where all
 * lanes of a warp or all threads of a block have one address, one of them adds their number; else each adds for itself. */
#include "rewrite/code/body.h"

static void add(rw_body *b, unsigned n, const char *guard, const char *amount)
{
    for (unsigned e = 0; e < n; e++)
        rw_line(b, "@%s red.global.add.u32 [__wl_y+%u], %s;", guard, 4 * e, amount);
}

/* __wl_y: the counter of the lane's first element. */
static void find_counter(rw_body *b, uint32_t site)
{
    uint32_t slot = b->plan->elements->slot_of[site];
    if (b->plan->sites[site].bytes >= 4) {
        rw_line(b, "add.s64 __wl_y, __wl_x, __wl_counts%u;", slot);
        return;
    }
    rw_text(b, "\tand.b64 __wl_y, __wl_x, -4;\n");
    rw_line(b, "add.s64 __wl_y, __wl_y, __wl_counts%u;", slot);
}

/* One lane for all that have its address. */
static void add_together(rw_body *b, unsigned n, bool in_row)
{
    rw_text(b, "\tpopc.b32 __wl_t, __wl_inside;\n");
    if (in_row)
        rw_text(b, "\tselp.b32 __wl_t, __wl_t, 1, __wl_rows;\n");
    add(b, n, "__wl_alone", "__wl_t");
}

/* To $__wl_counted with one update, if all 32 lanes have the address of the first. */
static void try_one(rw_body *b, unsigned n, uint32_t label)
{
    rw_text(b, "\tmov.b64 {__wl_lo, __wl_u}, __wl_x;\n"
               "\tshfl.sync.idx.b32 __wl_t, __wl_lo, 0, 31, __wl_active;\n"
               "\tsetp.eq.and.u32 __wl_p, __wl_t, __wl_lo, __wl_in;\n"
               "\tshfl.sync.idx.b32 __wl_t, __wl_u, 0, 31, __wl_active;\n"
               "\tsetp.eq.and.u32 __wl_p, __wl_t, __wl_u, __wl_p;\n"
               "\tvote.sync.ballot.b32 __wl_t, __wl_p, __wl_active;\n"
               "\tsetp.eq.u32 __wl_q, __wl_t, -1;\n"
               "\tsetp.eq.and.u32 __wl_p, __wl_lane, 0, __wl_q;\n");
    add(b, n, "__wl_p", "32");
    rw_line(b, "@__wl_q bra $__wl_counted%u;", label);
}

void rw_count_lines(rw_body *b, uint32_t site)
{
    rw_text(b, "\tshr.u64 __wl_z, __wl_x, 7;\n\tcvt.u32.u64 __wl_u, __wl_z;\n");
    rw_line(b, "mad.wide.u32 __wl_z, __wl_u, 4, __wl_lines%u;", b->plan->elements->slot_of[site]);
    rw_text(b, "\t@__wl_head red.global.add.u32 [__wl_z], 1;\n");
}

void rw_count_block(rw_body *b, uint32_t site)
{
    find_counter(b, site);
    rw_linear_thread(b, "__wl_t", "__wl_lo");
    rw_text(b, "\tsetp.eq.and.u32 __wl_p, __wl_t, 0, __wl_in;\n");
    add(b, rw_elements(&b->plan->sites[site]), "__wl_p", "__wl_lo");
}

void rw_count_lanes(rw_body *b, uint32_t site)
{
    unsigned n = rw_elements(&b->plan->sites[site]);
    rw_pattern shape = rw_pattern_of(b->plan, b->f, site);
    uint32_t label = (*b->labels)++;
    find_counter(b, site);
    if (shape == RW_UNIFORM || shape == RW_UNIFORM_IN_ROW) {
        add_together(b, n, shape == RW_UNIFORM_IN_ROW);
    } else {
        if (shape == RW_UNKNOWN)
            try_one(b, n, label);
        add(b, n, "__wl_in", "1");
    }
    ptx_putf(b->out, "$__wl_counted%u:\n", label);
}
