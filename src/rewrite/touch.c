/* touch: which elements of objects were touched.
 *
 * Needs: ranges.c (__wl_in, __wl_x, lines). Keeps: everything. Buffers: the bitmaps of the ranges. A warp that accesses whole
 * lines stores whole words of ones, one a line, without an atomic: a word that is all ones loses nobody's bits. Elsewhere a lane
 * first looks whether its bits are set: once they are, nothing is written. */
#include "rewrite/internal.h"

#include <stdio.h>

/* A word that is all ones already is not written again: all warps that read the same data would wait for each other. */
static void mark_lines(rw_body *b, const char *bitmap, uint32_t label)
{
    rw_line(b, "mad.wide.u32 __wl_y, __wl_line, 4, %s;", bitmap);
    rw_text(b, "\tmov.u32 __wl_t, -1;\n"
               "\t@__wl_head ld.global.u32 __wl_t, [__wl_y];\n"
               "\tsetp.ne.u32 __wl_p, __wl_t, -1;\n"
               "\t@__wl_p st.global.u32 [__wl_y], -1;\n");
    rw_line(b, "@__wl_full bra $__wl_touched%u;", label);
}

/* Each lane for itself. */
static void mark_lanes(rw_body *b, unsigned n, const char *bitmap)
{
    rw_text(b, "\tshr.u64 __wl_y, __wl_x, 7;\n"
               "\tshl.b64 __wl_y, __wl_y, 2;\n");
    rw_line(b, "add.s64 __wl_y, __wl_y, %s;", bitmap);
    rw_text(b, "\tmov.u32 __wl_t, -1;\n"
               "\t@__wl_in ld.global.u32 __wl_t, [__wl_y];\n"
               "\tcvt.u32.u64 __wl_u, __wl_x;\n"
               "\tshr.u32 __wl_u, __wl_u, 2;\n");
    rw_line(b, "shf.l.wrap.b32 __wl_u, 0, %u, __wl_u;", (1u << n) - 1);
    rw_text(b, "\tnot.b32 __wl_t, __wl_t;\n"
               "\tand.b32 __wl_t, __wl_t, __wl_u;\n"
               "\tsetp.ne.u32 __wl_p, __wl_t, 0;\n"
               "\t@__wl_p red.global.or.b32 [__wl_y], __wl_t;\n");
}

static void mark(rw_body *b, uint32_t site, const char *bitmap)
{
    uint32_t label = (*b->labels)++;
    if (rw_tries_lines(b, site))
        mark_lines(b, bitmap, label);
    mark_lanes(b, rw_elements(&b->plan->sites[site]), bitmap);
    ptx_putf(b->out, "$__wl_touched%u:\n", label);
}

void rw_mark(rw_body *b, uint32_t site, const char *bitmap)
{
    if (rw_tries_lines(b, site))
        rw_find_lines(b, site);
    mark(b, site, bitmap);
}

static void touch(rw_body *b, uint32_t site)
{
    char bitmap[24];
    if (b->plan->slot_of[site] == PTX_NONE || b->plan->late[site].loop != FLOW_NONE)
        return;
    snprintf(bitmap, sizeof bitmap, "__wl_bits%u", b->plan->slot_of[site]);
    mark(b, site, bitmap);
}

const rw_pass rw_touch_pass = {.probes = 1u << REWRITE_TOUCH, .access = touch};
