/* touch: which elements of objects were touched.
 *
 * Needs: ranges.c (__wl_in, __wl_x, lines). Keeps: everything. Buffers: the bitmaps of the ranges. A warp that accesses whole
 * lines stores whole words of ones, one a line, without an atomic: a word that is all ones loses nobody's bits. Elsewhere a lane
 * first looks whether its bits are set: once they are, nothing is written. */
#include "rewrite/internal.h"

static void mark_lines(rw_body *b, uint32_t site, uint32_t label)
{
    rw_line(b, "mad.wide.u32 __wl_y, __wl_line, 4, __wl_bits%u;", b->plan->slot_of[site]);
    rw_text(b, "\t@__wl_head st.global.u32 [__wl_y], -1;\n");
    rw_line(b, "@__wl_full bra $__wl_touched%u;", label);
}

/* Each lane for itself. */
static void mark(rw_body *b, uint32_t site)
{
    unsigned n = rw_elements(&b->plan->sites[site]);
    rw_text(b, "\tshr.u64 __wl_y, __wl_x, 7;\n"
               "\tshl.b64 __wl_y, __wl_y, 2;\n");
    rw_line(b, "add.s64 __wl_y, __wl_y, __wl_bits%u;", b->plan->slot_of[site]);
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

static void touch(rw_body *b, uint32_t site)
{
    uint32_t label = (*b->labels)++;
    if (b->plan->slot_of[site] == PTX_NONE || b->plan->late[site].loop != FLOW_NONE)
        return;
    if (rw_tries_lines(b, site))
        mark_lines(b, site, label);
    mark(b, site);
    ptx_putf(b->out, "$__wl_touched%u:\n", label);
}

const rw_pass rw_touch_pass = {.probes = 1u << REWRITE_TOUCH, .access = touch};
