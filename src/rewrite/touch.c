/* touch: which elements of objects were touched.
 *
 * Needs: ranges.c (__wl_in). Keeps: everything. Buffers: the bitmaps of the ranges. A lane first looks whether its bits are set:
 * once they are, nothing is written. Lanes whose bits are not set go in groups with one word of the bitmap, one update a
 * group; after a few groups, as scattered addresses have, each lane updates for itself. All lanes of the site take part in
 * each step, so that none can mix with another group. */
#include "rewrite/internal.h"

enum { ROUNDS = 4 };

static void declare(rw_body *b)
{
    rw_text(b, "\t.reg .b32 __wl_new, __wl_round, __wl_rest;\n");
}

/* __wl_x: the word of the bitmap; __wl_new: the lane's bits that are not set in it, 0 where it touches nothing; __wl_p: there
 * are some; __wl_q: in some lane. */
static void look(rw_body *b, uint32_t slot, unsigned n)
{
    rw_text(b, "\tshr.u64 __wl_x, __wl_a, 5;\n"
               "\tand.b64 __wl_x, __wl_x, -4;\n");
    rw_line(b, "add.s64 __wl_x, __wl_x, __wl_bits%u;", slot);
    rw_text(b, "\tcvt.u32.u64 __wl_lo, __wl_a;\n"
               "\tshr.u32 __wl_lo, __wl_lo, 2;\n"
               "\tmov.u32 __wl_hi, -1;\n"
               "\t@__wl_in ld.global.u32 __wl_hi, [__wl_x];\n");
    rw_line(b, "shf.l.wrap.b32 __wl_new, 0, %u, __wl_lo;", (1u << n) - 1);
    rw_text(b, "\tnot.b32 __wl_hi, __wl_hi;\n"
               "\tand.b32 __wl_new, __wl_new, __wl_hi;\n"
               "\tsetp.ne.u32 __wl_p, __wl_new, 0;\n"
               "\tvote.sync.any.pred __wl_q, __wl_p, __wl_active;\n");
}

/* In each round the first lane of the rest updates for those with its word. */
static void join(rw_body *b, uint32_t label)
{
    rw_line(b, "vote.sync.ballot.b32 __wl_rest, __wl_p, __wl_active;");
    rw_line(b, "mov.u32 __wl_round, %u;", ROUNDS);
    rw_line(b, "mov.b64 {__wl_lo, __wl_hi}, __wl_x;");
    ptx_putf(b->out, "$__wl_join%u:\n", label);
    rw_text(b, "\tbrev.b32 __wl_u, __wl_rest;\n"
               "\tbfind.shiftamt.u32 __wl_u, __wl_u;\n"
               "\tshfl.sync.idx.b32 __wl_v, __wl_lo, __wl_u, 31, __wl_active;\n"
               "\tshfl.sync.idx.b32 __wl_t, __wl_hi, __wl_u, 31, __wl_active;\n"
               "\tsetp.ne.u32 __wl_p, __wl_new, 0;\n"
               "\tsetp.eq.and.u32 __wl_p, __wl_v, __wl_lo, __wl_p;\n"
               "\tsetp.eq.and.u32 __wl_p, __wl_t, __wl_hi, __wl_p;\n"
               "\tselp.b32 __wl_v, __wl_new, 0, __wl_p;\n"
               "\tredux.sync.or.b32 __wl_v, __wl_v, __wl_active;\n"
               "\tsetp.eq.u32 __wl_q, __wl_u, __wl_lane;\n"
               "\t@__wl_q red.global.or.b32 [__wl_x], __wl_v;\n"
               "\tselp.b32 __wl_new, 0, __wl_new, __wl_p;\n"
               "\tvote.sync.ballot.b32 __wl_v, __wl_p, __wl_active;\n"
               "\txor.b32 __wl_rest, __wl_rest, __wl_v;\n"
               "\tsetp.eq.u32 __wl_q, __wl_rest, 0;\n");
    rw_line(b, "@__wl_q bra $__wl_touched%u;", label);
    rw_text(b, "\tsub.u32 __wl_round, __wl_round, 1;\n"
               "\tsetp.ne.u32 __wl_q, __wl_round, 0;\n");
    rw_line(b, "@__wl_q bra $__wl_join%u;", label);
}

static void touch(rw_body *b, uint32_t site)
{
    uint32_t slot = b->plan->slot_of[site], label = (*b->labels)++;
    if (slot == PTX_NONE || b->plan->late[site].loop != FLOW_NONE)
        return;
    look(b, slot, rw_elements(&b->plan->sites[site]));
    rw_line(b, "@!__wl_q bra $__wl_touched%u;", label);
    if (rw_can_reduce(b->plan->module))
        join(b, label);
    rw_text(b, "\tsetp.ne.u32 __wl_p, __wl_new, 0;\n"
               "\t@__wl_p red.global.or.b32 [__wl_x], __wl_new;\n");
    ptx_putf(b->out, "$__wl_touched%u:\n", label);
}

const rw_pass rw_touch_pass = {.probes = 1u << REWRITE_TOUCH, .declare = declare, .access = touch};
