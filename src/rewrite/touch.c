/* touch: which elements of objects were touched.
 *
 * Needs: ranges.c (__wl_in, __wl_x, lines). Keeps: everything. Buffers: the bitmaps of the ranges, and a u32 for each line: a warp that
 * accesses whole lines counts them there. Elsewhere a lane first looks whether its bits are set: once they are, nothing is written. */
#include "rewrite/internal.h"

#include <stdio.h>

/* Dimensions of the launch (as rw_reuse_of()) that, where they are large, have warps touch the same again and again: all blocks do,
 * or the turns of a loop. Once a warp is seldom enough. */
static uint32_t crowd_of(const rw_plan *p, const flow_function *f, uint32_t site)
{
    return rw_is_own(p, f, site) ? 0 : rw_reuse_of(p, f, site);
}

/* A set of dimensions as in crowd_of(), whose predicate is found once, where the copy begins; 0: none. */
static uint32_t common_reuse(const rw_body *b)
{
    uint32_t first = b->plan->site_first[b->f->first_pc],
             end = b->plan->site_first[b->f->first_pc + b->f->func->ninsns];
    for (uint32_t s = first; s < end; s++)
        if (b->plan->slot_of[s] != PTX_NONE && b->plan->late[s].loop == FLOW_NONE &&
            rw_tries_lines(b, s) && crowd_of(b->plan, b->f, s))
            return crowd_of(b->plan, b->f, s);
    return 0;
}

static void declare(rw_body *b)
{
    rw_text(b, "\t.reg .pred __wl_reused, __wl_look;\n");
}

static void enter(rw_body *b)
{
    uint32_t set = common_reuse(b);
    if (set)
        rw_is_reused(b, set, "__wl_reused");
}

/* __wl_look: lanes that look before they write. */
static void find_look(rw_body *b, uint32_t set)
{
    const char *reused = "__wl_reused";
    if (set != common_reuse(b)) {
        rw_is_reused(b, set, "__wl_p");
        reused = "__wl_p";
    }
    rw_line(b, "and.pred __wl_look, __wl_head, %s;", reused);
}

/* Where the warp accesses whole lines: counts it for each, unless frequency does. (A plain store to the bitmap would be enough, but
 * words that others look at and update are slow to store to.) Where dimensions of the launch that the address does not depend on are
 * large, a line that was counted is not counted again: all warps that touch the same would wait for each other. */
void rw_touch_lines(rw_body *b, uint32_t site)
{
    uint32_t set = crowd_of(b->plan, b->f, site), label = (*b->labels)++;
    if (rw_has(b, REWRITE_FREQUENCY))
        return;
    rw_line(b, "mad.wide.u32 __wl_y, __wl_line, 4, __wl_lines%u;", b->plan->slot_of[site]);
    if (!set) {
        rw_text(b, "\t@__wl_head red.global.add.u32 [__wl_y], 1;\n");
        return;
    }
    find_look(b, set);
    rw_text(b, "\tnot.pred __wl_p, __wl_look;\n"
               "\tand.pred __wl_p, __wl_p, __wl_head;\n"
               "\t@__wl_p red.global.add.u32 [__wl_y], 1;\n");
    rw_line(b, "@!__wl_look bra $__wl_looked%u;", label);
    rw_text(b, "\tld.global.u32 __wl_t, [__wl_y];\n"
               "\tsetp.eq.u32 __wl_p, __wl_t, 0;\n"
               "\t@__wl_p red.global.add.u32 [__wl_y], 1;\n");
    ptx_putf(b->out, "$__wl_looked%u:\n", label);
}

/* Words of ones in a bitmap of walks, which are few: always looks. */
static void mark_starts(rw_body *b, const char *bitmap, uint32_t label)
{
    rw_line(b, "mad.wide.u32 __wl_y, __wl_line, 4, %s;", bitmap);
    rw_text(b, "\tmov.u32 __wl_t, -1;\n"
               "\t@__wl_head ld.global.u32 __wl_t, [__wl_y];\n"
               "\tsetp.ne.u32 __wl_p, __wl_t, -1;\n"
               "\t@__wl_p st.global.u32 [__wl_y], -1;\n");
    rw_line(b, "@__wl_full bra $__wl_touched%u;", label);
}

/* Each lane for itself, where the predicate is set; it looks first, or not. */
static void mark_lanes(rw_body *b, unsigned n, const char *bitmap, const char *lanes, bool look)
{
    rw_text(b, "\tshr.u64 __wl_y, __wl_x, 7;\n"
               "\tshl.b64 __wl_y, __wl_y, 2;\n");
    rw_line(b, "add.s64 __wl_y, __wl_y, %s;", bitmap);
    rw_text(b, "\tcvt.u32.u64 __wl_u, __wl_x;\n"
               "\tshr.u32 __wl_u, __wl_u, 2;\n");
    rw_line(b, "shf.l.wrap.b32 __wl_u, 0, %u, __wl_u;", (1u << n) - 1);
    if (!look) {
        rw_line(b, "@%s red.global.or.b32 [__wl_y], __wl_u;", lanes);
        return;
    }
    rw_text(b, "\tmov.u32 __wl_t, -1;\n");
    rw_line(b, "@%s ld.global.u32 __wl_t, [__wl_y];", lanes);
    rw_text(b, "\tnot.b32 __wl_t, __wl_t;\n"
               "\tand.b32 __wl_t, __wl_t, __wl_u;\n"
               "\tsetp.ne.u32 __wl_p, __wl_t, 0;\n"
               "\t@__wl_p red.global.or.b32 [__wl_y], __wl_t;\n");
}

/* Lanes side by side in a row, one element each, that are no whole line: the first that has an element of a word marks it for all
 * that have; without the predicate each its own. Else all lanes would update one or two words. */
static void mark_words(rw_body *b, const char *bitmap, const char *aside)
{
    rw_text(b, "\tvote.sync.ballot.b32 __wl_v, __wl_in, __wl_active;\n"
               "\tcvt.u32.u64 __wl_u, __wl_x;\n"
               "\tshr.u32 __wl_u, __wl_u, 2;\n"
               "\tsub.u32 __wl_t, __wl_u, __wl_lane;\n"
               "\tand.b32 __wl_t, __wl_t, 31;\n" /* the bit of lane 0 in its word */
               "\tadd.u32 __wl_lo, __wl_t, __wl_lane;\n"
               "\tsetp.lt.u32 __wl_p, __wl_lo, 32;\n"
               "\tshl.b32 __wl_lo, __wl_v, __wl_t;\n"
               "\tsub.u32 __wl_t, 32, __wl_t;\n"
               "\tshr.u32 __wl_hi, __wl_v, __wl_t;\n"
               "\tselp.b32 __wl_v, __wl_lo, __wl_hi, __wl_p;\n"
               "\tshf.l.wrap.b32 __wl_t, 0, 1, __wl_u;\n"); /* the lane's own bit */
    rw_line(b, "selp.b32 __wl_v, __wl_v, __wl_t, %s;", aside);
    rw_text(b, "\tsub.u32 __wl_t, __wl_t, 1;\n"
               "\tand.b32 __wl_t, __wl_t, __wl_v;\n"
               "\tsetp.eq.and.u32 __wl_p, __wl_t, 0, __wl_in;\n"
               "\tshr.u64 __wl_y, __wl_x, 7;\n"
               "\tshl.b64 __wl_y, __wl_y, 2;\n");
    rw_line(b, "add.s64 __wl_y, __wl_y, %s;", bitmap);
    rw_text(b, "\tmov.u32 __wl_t, -1;\n"
               "\t@__wl_p ld.global.u32 __wl_t, [__wl_y];\n"
               "\tnot.b32 __wl_t, __wl_t;\n"
               "\tand.b32 __wl_t, __wl_t, __wl_v;\n"
               "\tsetp.ne.u32 __wl_p, __wl_t, 0;\n"
               "\t@__wl_p red.global.or.b32 [__wl_y], __wl_t;\n");
}

/* Are the lanes of a row side by side for certain, an element each? */
static bool is_aside(const rw_body *b, uint32_t site)
{
    return rw_shape_of(b->plan, b->f, site) == RW_LINES && b->plan->sites[site].bytes == 4;
}

void rw_mark(rw_body *b, uint32_t site, const char *bitmap)
{
    uint32_t label = (*b->labels)++;
    if (rw_tries_lines(b, site)) {
        rw_find_lines(b, site);
        mark_starts(b, bitmap, label);
    }
    if (is_aside(b, site))
        mark_words(b, bitmap, "__wl_aside");
    else
        mark_lanes(b, rw_elements(&b->plan->sites[site]), bitmap, "__wl_in", true);
    ptx_putf(b->out, "$__wl_touched%u:\n", label);
}

void rw_touch_lanes(rw_body *b, uint32_t site)
{
    char bitmap[24];
    rw_shape shape = rw_shape_of(b->plan, b->f, site);
    bool one = shape == RW_ONE || shape == RW_ONE_IN_ROW;
    snprintf(bitmap, sizeof bitmap, "__wl_bits%u", b->plan->slot_of[site]);
    if (is_aside(b, site))
        mark_words(b, bitmap, "__wl_rows");
    else
        mark_lanes(b, rw_elements(&b->plan->sites[site]), bitmap, one ? "__wl_alone" : "__wl_in",
                   !(one && rw_is_own(b->plan, b->f, site)));
}

const rw_pass rw_touch_pass = {.probes = 1u << REWRITE_TOUCH, .declare = declare, .enter = enter};
