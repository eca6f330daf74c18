/* touch: which elements of objects were touched.
 *
 * Needs: ranges.c (__wl_in, __wl_x, lines). Keeps: everything. Buffers: the bitmaps of the ranges. A warp that accesses whole
 * lines stores whole words of ones, one a line, without an atomic: a word that is all ones loses nobody's bits. Elsewhere a lane
 * first looks whether its bits are set: once they are, nothing is written. */
#include "rewrite/internal.h"

#include <stdio.h>

/* With `look` (a predicate; NULL: always) a word that is all ones already is not written again: all warps that touch the same
 * would wait for each other. Data that nobody else touches is not worth the wait for what is read. */
static void mark_lines(rw_body *b, const char *bitmap, const char *look, uint32_t label)
{
    rw_line(b, "mad.wide.u32 __wl_y, __wl_line, 4, %s;", bitmap);
    rw_text(b, "\tmov.u32 __wl_t, 0;\n");
    if (look)
        rw_line(b, "and.pred __wl_p, __wl_head, %s;", look);
    rw_line(b, "@%s ld.global.u32 __wl_t, [__wl_y];", look ? "__wl_p" : "__wl_head");
    rw_text(b, "\tsetp.ne.and.u32 __wl_p, __wl_t, -1, __wl_head;\n"
               "\t@__wl_p st.global.u32 [__wl_y], -1;\n");
    rw_line(b, "@__wl_full bra $__wl_touched%u;", label);
}

/* Each lane for itself, where the predicate is set. */
static void mark_lanes(rw_body *b, unsigned n, const char *bitmap, const char *lanes)
{
    rw_text(b, "\tshr.u64 __wl_y, __wl_x, 7;\n"
               "\tshl.b64 __wl_y, __wl_y, 2;\n");
    rw_line(b, "add.s64 __wl_y, __wl_y, %s;", bitmap);
    rw_text(b, "\tmov.u32 __wl_t, -1;\n");
    rw_line(b, "@%s ld.global.u32 __wl_t, [__wl_y];", lanes);
    rw_text(b, "\tcvt.u32.u64 __wl_u, __wl_x;\n"
               "\tshr.u32 __wl_u, __wl_u, 2;\n");
    rw_line(b, "shf.l.wrap.b32 __wl_u, 0, %u, __wl_u;", (1u << n) - 1);
    rw_text(b, "\tnot.b32 __wl_t, __wl_t;\n"
               "\tand.b32 __wl_t, __wl_t, __wl_u;\n"
               "\tsetp.ne.u32 __wl_p, __wl_t, 0;\n"
               "\t@__wl_p red.global.or.b32 [__wl_y], __wl_t;\n");
}

void rw_mark(rw_body *b, uint32_t site, const char *bitmap)
{
    uint32_t label = (*b->labels)++;
    if (rw_tries_lines(b, site)) {
        rw_find_lines(b, site);
        mark_lines(b, bitmap, NULL, label);
    }
    mark_lanes(b, rw_elements(&b->plan->sites[site]), bitmap, "__wl_in");
    ptx_putf(b->out, "$__wl_touched%u:\n", label);
}

static void touch_lines(rw_body *b, uint32_t site, const char *bitmap, uint32_t label)
{
    if (!rw_is_reused(b, site, "__wl_q"))
        rw_text(b, "\tsetp.ne.u32 __wl_q, __wl_lane, __wl_lane;\n");
    mark_lines(b, bitmap, "__wl_q", label);
}

static void touch(rw_body *b, uint32_t site)
{
    char bitmap[24];
    uint32_t label = (*b->labels)++;
    rw_shape shape = rw_shape_of(b->plan, b->f, site);
    bool one = shape == RW_ONE || shape == RW_ONE_IN_ROW;
    if (b->plan->slot_of[site] == PTX_NONE || b->plan->late[site].loop != FLOW_NONE)
        return;
    snprintf(bitmap, sizeof bitmap, "__wl_bits%u", b->plan->slot_of[site]);
    if (rw_tries_lines(b, site))
        touch_lines(b, site, bitmap, label);
    mark_lanes(b, rw_elements(&b->plan->sites[site]), bitmap, one ? "__wl_alone" : "__wl_in");
    ptx_putf(b->out, "$__wl_touched%u:\n", label);
}

const rw_pass rw_touch_pass = {.probes = 1u << REWRITE_TOUCH, .access = touch};
