/* Elements that a loop walks through, noted once behind it: for touch and frequency.
 *
 * Needs: ranges.c. Keeps: everything. Where flow has an address as a linear form of which only the loop's counter changes, and
 * linearly, and the access runs in each iteration, a lane's addresses are first, first + step, ... last. In the loop it keeps
 * the last (and, where flow does not know the number, the step) and counts iterations; behind it all are noted at once:
 *
 *   frequency   the step is constant over the launch, mostly: a table of differences for that step (layout.h) gets 1 at the
 *               first element and -1 behind the last. A walk without gaps has the step of an element, however far the loop is
 *               unrolled. Lanes that all made the same walk add together.
 *   touch       the lines and elements between first and last, where the walk leaves no gap. Else a mark at the first element, in
 *               a table of walks with that step and number of iterations.
 *
 * Tables belong to the step, or step and number, that the first lane to come wrote down. Walks that differ, that leave the
 * slot's range, or whose table is missing are gone through again element by element. The form may assume that a 32-bit index does
 * not wrap: in a loop in which it did, addresses would be 4 GiB apart or more.
 *
 * Sites of one basic block with one base register are one walk; walks through one slot whose bases move alike have one *leader*,
 * which keeps what they have in common. */
#include "rewrite/code/body.h"

#include <stddef.h>
#include <stdio.h>

/* ---- in the loop ---- */

static void each_head(rw_body *b, void (*each)(rw_body *b, uint32_t head))
{
    uint32_t first = b->f->first_pc, end = b->plan->site_first[first + b->f->func->ninsns];
    for (uint32_t s = b->plan->site_first[first]; s < end; s++)
        if (b->plan->elements->walk[s].loop != FLOW_NONE && b->plan->elements->walk[s].head == s)
            each(b, s);
}

static bool is_leader(const rw_body *b, uint32_t head)
{
    return b->plan->elements->walk[head].leader == head;
}

static bool counts_turns(const rw_body *b, uint32_t head)
{
    return is_leader(b, head) && b->plan->elements->walk[head].count == head;
}

static void declare_walk(rw_body *b, uint32_t head)
{
    rw_line(b, ".reg .b64 __wl_last%u;", head);
    if (counts_turns(b, head))
        rw_line(b, ".reg .b32 __wl_n%u;", head);
    if (is_leader(b, head) && !b->plan->elements->walk[head].known)
        rw_line(b, ".reg .b64 __wl_stride%u;", head);
}

static void declare(rw_body *b)
{
    rw_text(b,
            "\t.reg .b64 __wl_low, __wl_stride, __wl_length, __wl_table, __wl_marks, __wl_diffs;\n"
            "\t.reg .b32 __wl_turns, __wl_times, __wl_weight, __wl_left;\n"
            "\t.reg .pred __wl_adds, __wl_fits, __wl_down, __wl_wary;\n");
    each_head(b, declare_walk);
}

static void clear(rw_body *b, uint32_t head)
{
    if (counts_turns(b, head))
        rw_line(b, "mov.u32 __wl_n%u, 0;", head);
}

static void enter(rw_body *b)
{
    each_head(b, clear);
}

static void keep(rw_body *b, uint32_t site)
{
    const rw_walk *late = &b->plan->elements->walk[site];
    if (late->loop == FLOW_NONE || late->head != site)
        return;
    if (counts_turns(b, site))
        rw_line(b, "add.u32 __wl_n%u, __wl_n%u, 1;", site, site);
    if (is_leader(b, site) && !late->known)
        rw_line(b, "sub.s64 __wl_stride%u, __wl_a, __wl_last%u;", site, site);
    rw_line(b, "mov.u64 __wl_last%u, __wl_a;", site);
}

/* ---- behind it: what a leader's walks have in common ---- */

static size_t place_of(const rw_body *b, uint32_t head, size_t member)
{
    return offsetof(rewrite_state, walk) +
           b->plan->elements->walk[head].table * sizeof(rewrite_walk) + member;
}

/* __wl_turns: iterations; __wl_stride: how far each moves; __wl_length: from the lowest address to the highest; __wl_down: the last
 * is the lowest. */
static void find_steps(rw_body *b, uint32_t leader)
{
    const rw_walk *late = &b->plan->elements->walk[leader];
    rw_line(b, "mov.u32 __wl_turns, __wl_n%u;", late->count);
    rw_line(b, "setp.eq.u32 __wl_p, __wl_turns, 1;");
    if (late->known)
        rw_line(b, "mov.u64 __wl_stride, %lld;", (long long)late->step);
    else
        rw_line(b, "selp.b64 __wl_stride, 0, __wl_stride%u, __wl_p;", leader);
    rw_text(b, "\tsub.u32 __wl_t, __wl_turns, 1;\n"
               "\tsetp.lt.s64 __wl_down, __wl_stride, 0;\n"
               "\tabs.s64 __wl_stride, __wl_stride;\n"
               "\tcvt.u64.u32 __wl_x, __wl_t;\n"
               "\tmul.lo.s64 __wl_length, __wl_x, __wl_stride;\n");
}

/* __wl_low: the lowest address of the head; __wl_in: all that the walk's sites access lies in the slot's range. */
static void find_ends(rw_body *b, uint32_t head)
{
    const rw_walk *late = &b->plan->elements->walk[head];
    uint32_t slot = b->plan->elements->slot_of[head];
    int64_t own = rw_offset_of(b->plan, head);
    rw_line(b, "mov.u64 __wl_low, __wl_last%u;", head);
    rw_text(b, "\t@!__wl_down sub.s64 __wl_low, __wl_low, __wl_length;\n");
    rw_line(b, "sub.s64 __wl_x, __wl_low, __wl_base%u;", slot);
    rw_line(b, "add.s64 __wl_y, __wl_x, %lld;", (long long)(late->low - own));
    rw_line(b, "setp.lt.u64 __wl_in, __wl_y, __wl_size%u;", slot);
    rw_text(b, "\tadd.s64 __wl_y, __wl_x, __wl_length;\n");
    rw_line(b, "add.s64 __wl_y, __wl_y, %lld;", (long long)(late->highest - own));
    rw_line(b, "setp.lt.and.u64 __wl_in, __wl_y, __wl_size%u, __wl_in;", slot);
}

static void each_site(rw_body *b, uint32_t head, void (*each)(rw_body *b, uint32_t site))
{
    uint32_t end = b->plan->site_first[b->f->first_pc + b->f->func->ninsns];
    for (uint32_t s = head; s < end; s++)
        if (b->plan->elements->walk[s].loop != FLOW_NONE && b->plan->elements->walk[s].head == head)
            each(b, s);
}

/* __wl_x: how far behind the begin of the range the site's lowest address lies. */
static void find_site(rw_body *b, uint32_t site)
{
    rw_line(b, "sub.s64 __wl_x, __wl_low, __wl_base%u;", b->plan->elements->slot_of[site]);
    rw_line(b, "add.s64 __wl_x, __wl_x, %lld;",
            (long long)(rw_offset_of(b->plan, site) -
                        rw_offset_of(b->plan, b->plan->elements->walk[site].head)));
}

/* Behind what is to be done `times` (a register) and ends with __wl_x at what comes next. */
static void begin_turns(rw_body *b, const char *times, uint32_t label)
{
    rw_line(b, "mov.u32 __wl_left, %s;", times);
    ptx_putf(b->out, "$__wl_turn%u:\n", label);
}

static void end_turns(rw_body *b, uint32_t label)
{
    rw_text(b, "\tsub.u32 __wl_left, __wl_left, 1;\n"
               "\tsetp.ne.u32 __wl_p, __wl_left, 0;\n");
    rw_line(b, "@__wl_p bra $__wl_turn%u;", label);
}

/* ---- element by element, wherever they lie ---- */

static void search_site(rw_body *b, uint32_t site)
{
    rw_line(b, "add.s64 __wl_a, __wl_low, %lld;",
            (long long)(rw_offset_of(b->plan, site) -
                        rw_offset_of(b->plan, b->plan->elements->walk[site].head)));
    rw_look_elsewhere(b, site);
}

static void search_all(rw_body *b, uint32_t head)
{
    uint32_t label = (*b->labels)++;
    begin_turns(b, "__wl_turns", label);
    each_site(b, head, search_site);
    rw_text(b, "\tadd.s64 __wl_low, __wl_low, __wl_stride;\n");
    end_turns(b, label);
}

/* ---- which lanes ---- */

/* __wl_adds: the lane notes its walk; __wl_weight: for how many lanes. Where flow expects one address, lanes whose walks are all the same
 * have their first do it. */
static void choose_lanes(rw_body *b, uint32_t head)
{
    rw_pattern shape = rw_pattern_of(b->plan, b->f, head);
    rw_text(b, "\tsetp.eq.u32 __wl_adds, __wl_lane, __wl_lane;\n\tmov.u32 __wl_weight, 1;\n");
    if (shape != RW_UNIFORM && shape != RW_UNIFORM_IN_ROW)
        return;
    const rw_guard none = {""};
    rw_group(b, &none);
    rw_text(b, "\tmov.b64 {__wl_lo, __wl_hi}, __wl_low;\n"
               "\tshfl.sync.idx.b32 __wl_t, __wl_lo, __wl_lead, 31, __wl_active;\n"
               "\tsetp.eq.u32 __wl_p, __wl_t, __wl_lo;\n"
               "\tshfl.sync.idx.b32 __wl_t, __wl_hi, __wl_lead, 31, __wl_active;\n"
               "\tsetp.eq.and.u32 __wl_p, __wl_t, __wl_hi, __wl_p;\n"
               "\tshfl.sync.idx.b32 __wl_t, __wl_turns, __wl_lead, 31, __wl_active;\n"
               "\tsetp.eq.and.u32 __wl_p, __wl_t, __wl_turns, __wl_p;\n"
               "\tmov.b64 {__wl_lo, __wl_hi}, __wl_stride;\n"
               "\tshfl.sync.idx.b32 __wl_t, __wl_lo, __wl_lead, 31, __wl_active;\n"
               "\tsetp.eq.and.u32 __wl_p, __wl_t, __wl_lo, __wl_p;\n"
               "\tvote.sync.all.pred __wl_q, __wl_p, __wl_active;\n"
               "\tpopc.b32 __wl_t, __wl_active;\n"
               "\tselp.b32 __wl_weight, __wl_t, 1, __wl_q;\n"
               "\tnot.pred __wl_p, __wl_q;\n"
               "\tor.pred __wl_adds, __wl_leads, __wl_p;\n");
}

/* ---- touch ---- */

/* __wl_first, __wl_range: the walk's first element, and what comes behind its last. */
static void find_elements(rw_body *b, uint32_t head)
{
    const rw_walk *late = &b->plan->elements->walk[head];
    uint32_t slot = b->plan->elements->slot_of[head];
    int64_t own = rw_offset_of(b->plan, head);
    rw_line(b, "sub.s64 __wl_x, __wl_low, __wl_base%u;", slot);
    rw_text(b, "\tadd.s64 __wl_y, __wl_x, __wl_length;\n");
    rw_line(b, "add.s64 __wl_x, __wl_x, %lld;", (long long)(late->low - own));
    rw_line(b, "add.s64 __wl_y, __wl_y, %lld;", (long long)(late->high - own - 4));
    rw_line(b, "sub.s64 __wl_z, __wl_size%u, 1;", slot);
    rw_text(b, "\tmin.u64 __wl_y, __wl_y, __wl_z;\n"
               "\tshr.u64 __wl_first, __wl_x, 2;\n"
               "\tshr.u64 __wl_range, __wl_y, 2;\n"
               "\tadd.s64 __wl_range, __wl_range, 1;\n");
}

/* Marks elements from __wl_x to __wl_y, which are fewer than a line, several at once. */
static void mark_part(rw_body *b, const char *table, uint32_t label)
{
    rw_line(b, "add.s64 __wl_x, __wl_x, %s;\n\tadd.s64 __wl_y, __wl_y, %s;", table, table);
    ptx_putf(b->out, "$__wl_part%u:\n", label);
    rw_text(b, "\tcvt.u32.u64 __wl_t, __wl_x;\n"
               "\tsub.s64 __wl_bits, __wl_y, __wl_x;\n"
               "\tcvt.u32.u64 __wl_u, __wl_bits;\n"
               "\tmov.u32 __wl_v, 1;\n"
               "\tand.b32 __wl_lo, __wl_t, 3;\n"
               "\tsetp.eq.u32 __wl_p, __wl_lo, 0;\n"
               "\tsetp.ge.and.u32 __wl_p, __wl_u, 4, __wl_p;\n"
               "\tand.b32 __wl_lo, __wl_t, 7;\n"
               "\tsetp.eq.u32 __wl_q, __wl_lo, 0;\n"
               "\tsetp.ge.and.u32 __wl_q, __wl_u, 8, __wl_q;\n"
               "\t@__wl_p mov.u32 __wl_v, 4;\n"
               "\t@__wl_q mov.u32 __wl_v, 8;\n"
               "\tsetp.eq.u32 __wl_p, __wl_v, 4;\n"
               "\t@__wl_q st.global.u64 [__wl_x], 72340172838076673;\n"
               "\t@__wl_p st.global.u32 [__wl_x], 16843009;\n"
               "\tsetp.eq.u32 __wl_p, __wl_v, 1;\n"
               "\t@__wl_p st.global.u8 [__wl_x], 1;\n"
               "\tcvt.u64.u32 __wl_bits, __wl_v;\n"
               "\tadd.s64 __wl_x, __wl_x, __wl_bits;\n"
               "\tsetp.lt.u64 __wl_p, __wl_x, __wl_y;\n");
    rw_line(b, "@__wl_p bra $__wl_part%u;", label);
}

/* Marks elements from __wl_first to __wl_range: of lines that the walk covers a word of the bitmap, which it first looks at, of others their elements.
 * Where a whole warp makes one walk, its lanes share the lines. */
static void mark_lines(rw_body *b, uint32_t head)
{
    uint32_t label = (*b->labels)++;
    char table[24];
    snprintf(table, sizeof table, "__wl_lines%u", b->plan->elements->slot_of[head]);
    find_elements(b, head);
    rw_text(b, "\tshr.u64 __wl_z, __wl_first, 5;\n"
               "\tmov.u64 __wl_table, 1;\n"
               "\tcvt.u64.u32 __wl_x, __wl_lane;\n"
               "\tsetp.eq.u32 __wl_p, __wl_weight, 32;\n"
               "\t@__wl_p mov.u64 __wl_table, 32;\n"
               "\t@__wl_p add.s64 __wl_z, __wl_z, __wl_x;\n");
    ptx_putf(b->out, "$__wl_line%u:\n", label);
    rw_text(b, "\tshl.b64 __wl_x, __wl_z, 5;\n"
               "\tadd.s64 __wl_y, __wl_x, 32;\n"
               "\tsetp.ge.u64 __wl_p, __wl_x, __wl_range;\n");
    rw_line(b, "@__wl_p bra $__wl_marked%u;", label);
    rw_text(b, "\tmax.u64 __wl_x, __wl_x, __wl_first;\n"
               "\tmin.u64 __wl_y, __wl_y, __wl_range;\n"
               "\tsub.s64 __wl_bits, __wl_y, __wl_x;\n"
               "\tsetp.ne.u64 __wl_p, __wl_bits, 32;\n");
    rw_line(b, "@__wl_p bra $__wl_short%u;", label);
    rw_line(b, "shl.b64 __wl_bits, __wl_z, 2;\n\tadd.s64 __wl_bits, __wl_bits, __wl_bits%u;",
            b->plan->elements->slot_of[head]);
    rw_text(b, "\tld.global.u32 __wl_t, [__wl_bits];\n"
               "\tsetp.ne.u32 __wl_p, __wl_t, -1;\n"
               "\t@__wl_p st.global.u32 [__wl_bits], -1;\n");
    rw_line(b, "bra $__wl_next%u;", label);
    ptx_putf(b->out, "$__wl_short%u:\n", label);
    mark_part(b, table, label);
    ptx_putf(b->out, "$__wl_next%u:\n", label);
    rw_text(b, "\tadd.s64 __wl_z, __wl_z, __wl_table;\n");
    rw_line(b, "bra $__wl_line%u;", label);
    ptx_putf(b->out, "$__wl_marked%u:\n", label);
}

/* The predicate __wl_q: what stands at `place` in the state is __wl_y, or was nothing, and the first to come has put it there: of the
 * lanes that find nothing one tries. */
static void claim(rw_body *b, size_t place)
{
    const rw_guard none = {""};
    uint32_t label = (*b->labels)++;
    rw_line(b, "ld.global.cg.u64 __wl_z, [__wl_state+%zu];", place);
    rw_text(b, "\tsetp.ne.u64 __wl_q, __wl_z, 0;\n");
    rw_line(b, "@__wl_q bra $__wl_claimed%u;", label);
    rw_group(b, &none);
    rw_line(b, "@__wl_leads atom.global.cas.b64 __wl_z, [__wl_state+%zu], 0, __wl_y;", place);
    rw_text(b, "\tsetp.eq.u64 __wl_q, __wl_z, 0;\n"
               "\t@__wl_q mov.u64 __wl_z, __wl_y;\n"
               "\tmov.b64 {__wl_lo, __wl_hi}, __wl_z;\n"
               "\tshfl.sync.idx.b32 __wl_lo, __wl_lo, __wl_lead, 31, __wl_active;\n"
               "\tshfl.sync.idx.b32 __wl_hi, __wl_hi, __wl_lead, 31, __wl_active;\n"
               "\tmov.b64 __wl_z, {__wl_lo, __wl_hi};\n");
    ptx_putf(b->out, "$__wl_claimed%u:\n", label);
    rw_text(b, "\tsetp.eq.u64 __wl_q, __wl_z, __wl_y;\n");
}

/* __wl_marks: the table of walks of this step and number, and 1 __wl_times; or that of elements, as often as there were turns: where lanes
 * are side by side, and few warps of the launch make the same walk, which is faster than to agree about the table. __wl_wary: lanes look
 * before they mark. */
static void choose_marks(rw_body *b, uint32_t head)
{
    uint32_t table = b->plan->elements->walk[head].table, slot = b->plan->elements->slot_of[head],
             label = (*b->labels)++;
    bool lines = rw_pattern_of(b->plan, b->f, head) == RW_COALESCED;
    rw_line(b, "mov.u64 __wl_marks, __wl_lines%u;", slot);
    rw_text(b, "\tsetp.eq.u32 __wl_wary, __wl_lane, __wl_lane;\n"
               "\tsetp.eq.u64 __wl_p, __wl_stride, 0;\n"
               "\tselp.b32 __wl_times, 1, __wl_turns, __wl_p;\n");
    if (lines)
        rw_is_reused(b, rw_reuse_of(b->plan, b->f, head), "__wl_wary");
    if (table == IR_NONE)
        return;
    if (lines)
        rw_line(b, "@!__wl_wary bra $__wl_chosen%u;", label);
    rw_text(b,
            "\tsetp.eq.u64 __wl_p, __wl_stride, 0;\n"
            "\tand.b64 __wl_y, __wl_stride, -4294967293;\n" /* more than 32 bits, or no elements */
            "\tsetp.ne.or.u64 __wl_p, __wl_y, 0, __wl_p;\n");
    rw_line(b, "@__wl_p bra $__wl_chosen%u;", label);
    rw_line(b, "ld.global.u64 __wl_x, [__wl_state+%zu];",
            place_of(b, head, offsetof(rewrite_walk, marks)));
    rw_line(b, "setp.eq.u64 __wl_p, __wl_x, 0;");
    rw_line(b, "@__wl_p bra $__wl_chosen%u;", label);
    rw_text(b, "\tcvt.u32.u64 __wl_t, __wl_stride;\n"
               "\tmov.b64 __wl_y, {__wl_turns, __wl_t};\n");
    claim(b, place_of(b, head, offsetof(rewrite_walk, shape)));
    rw_text(b, "\t@__wl_q mov.u64 __wl_marks, __wl_x;\n"
               "\t@__wl_q mov.u32 __wl_times, 1;\n");
    ptx_putf(b->out, "$__wl_chosen%u:\n", label);
}

static void touch_site(rw_body *b, uint32_t site)
{
    uint32_t label = (*b->labels)++;
    find_site(b, site);
    begin_turns(b, "__wl_times", label);
    rw_mark(b, rw_elements(&b->plan->sites[site]), "__wl_marks", "__wl_wary");
    rw_text(b, "\tadd.s64 __wl_x, __wl_x, __wl_stride;\n");
    end_turns(b, label);
}

static void touch(rw_body *b, uint32_t head)
{
    uint32_t label = (*b->labels)++;
    bool gapless = b->plan->elements->walk[head].gapless;
    rw_text(b, "\tmov.pred __wl_p, __wl_adds;\n");
    if (gapless)
        rw_text(b, "\tsetp.eq.or.u32 __wl_p, __wl_weight, 32, __wl_adds;\n");
    rw_line(b, "@!__wl_p bra $__wl_touched%u;", label);
    if (gapless) {
        mark_lines(b, head);
    } else {
        each_site(b, head, touch_site);
    }
    ptx_putf(b->out, "$__wl_touched%u:\n", label);
}

/* ---- frequency ---- */

/* __wl_diffs: the table of differences for the step; __wl_fits: there is one. */
static void choose_differences(rw_body *b, uint32_t head)
{
    const rw_walk *late = &b->plan->elements->walk[head];
    uint32_t label = (*b->labels)++;
    rw_text(b, "\tsetp.ne.u32 __wl_fits, __wl_lane, __wl_lane;\n");
    if (late->table == IR_NONE)
        return;
    rw_line(b, "ld.global.u64 __wl_diffs, [__wl_state+%zu];",
            place_of(b, head, offsetof(rewrite_walk, counts)));
    if (late->known) {
        rw_line(b, "setp.ne.u64 __wl_fits, __wl_diffs, 0;");
        return;
    }
    rw_text(b, "\tand.b64 __wl_y, __wl_stride, 3;\n"
               "\tsetp.ne.u64 __wl_p, __wl_y, 0;\n"
               "\tsetp.eq.or.u64 __wl_p, __wl_stride, 0, __wl_p;\n"
               "\tsetp.eq.or.u64 __wl_p, __wl_diffs, 0, __wl_p;\n");
    rw_line(b, "@__wl_p bra $__wl_chosen%u;", label);
    rw_text(b, "\tmov.u64 __wl_y, __wl_stride;\n");
    claim(b, place_of(b, head, offsetof(rewrite_walk, step)));
    rw_text(b, "\tmov.pred __wl_fits, __wl_q;\n");
    ptx_putf(b->out, "$__wl_chosen%u:\n", label);
}

/* __wl_weight at __wl_x, and less of it `behind` (a register) bytes on, if that is in the range; elements n. */
static void add_difference(rw_body *b, uint32_t slot, const char *behind, unsigned n)
{
    rw_text(b, "\tadd.s64 __wl_y, __wl_x, __wl_diffs;\n");
    for (unsigned e = 0; e < n; e++)
        rw_line(b, "@__wl_adds red.global.add.u32 [__wl_y+%u], __wl_weight;", 4 * e);
    rw_line(b, "add.s64 __wl_x, __wl_x, %s;", behind);
    rw_line(b, "setp.lt.and.u64 __wl_p, __wl_x, __wl_size%u, __wl_adds;", slot);
    rw_text(b, "\tadd.s64 __wl_y, __wl_x, __wl_diffs;\n"
               "\tneg.s32 __wl_t, __wl_weight;\n");
    for (unsigned e = 0; e < n; e++)
        rw_line(b, "@__wl_p red.global.add.u32 [__wl_y+%u], __wl_t;", 4 * e);
}

static void count_site(rw_body *b, uint32_t site)
{
    unsigned n = rw_elements(&b->plan->sites[site]);
    uint32_t slot = b->plan->elements->slot_of[site];
    find_site(b, site);
    add_difference(b, slot, "__wl_z", n);
}

/* Each turn by itself, or all at once where the step is 0. */
static void count_turns(rw_body *b, uint32_t site)
{
    unsigned n = rw_elements(&b->plan->sites[site]);
    uint32_t label = (*b->labels)++;
    find_site(b, site);
    rw_line(b, "add.s64 __wl_x, __wl_x, __wl_counts%u;", b->plan->elements->slot_of[site]);
    begin_turns(b, "__wl_u", label);
    for (unsigned e = 0; e < n; e++)
        rw_line(b, "@__wl_adds red.global.add.u32 [__wl_x+%u], __wl_v;", 4 * e);
    rw_text(b, "\tadd.s64 __wl_x, __wl_x, __wl_stride;\n");
    end_turns(b, label);
}

/* All sites of a dense walk together: from `low` of the first iteration to `high` of the last. */
static void count_dense(rw_body *b, uint32_t head)
{
    const rw_walk *late = &b->plan->elements->walk[head];
    rw_line(b, "sub.s64 __wl_x, __wl_low, __wl_base%u;", b->plan->elements->slot_of[head]);
    rw_line(b, "add.s64 __wl_x, __wl_x, %lld;",
            (long long)(late->low - rw_offset_of(b->plan, head)));
    add_difference(b, b->plan->elements->slot_of[head], "__wl_z", 1);
}

static void count(rw_body *b, uint32_t head)
{
    uint32_t label = (*b->labels)++;
    if (b->plan->elements->walk[head].dense)
        choose_differences(b, head);
    rw_line(b, "@!__wl_fits bra $__wl_turns%u;", label);
    rw_text(b, "\tadd.s64 __wl_z, __wl_length, __wl_stride;\n");
    if (b->plan->elements->walk[head].dense)
        count_dense(b, head);
    else
        each_site(b, head, count_site);
    rw_line(b, "bra $__wl_counted%u;", label);
    ptx_putf(b->out, "$__wl_turns%u:\n", label);
    rw_text(b, "\tsetp.eq.u64 __wl_p, __wl_stride, 0;\n"
               "\tselp.b32 __wl_u, 1, __wl_turns, __wl_p;\n"
               "\tselp.b32 __wl_v, __wl_turns, 1, __wl_p;\n"
               "\tmul.lo.u32 __wl_v, __wl_v, __wl_weight;\n");
    each_site(b, head, count_turns);
    ptx_putf(b->out, "$__wl_counted%u:\n", label);
}

/* ---- the whole ---- */

static void note_walk(rw_body *b, uint32_t head)
{
    uint32_t label = (*b->labels)++;
    find_ends(b, head);
    rw_line(b, "@__wl_in bra $__wl_inside%u;", label);
    search_all(b, head);
    rw_line(b, "bra $__wl_noted%u;", label);
    ptx_putf(b->out, "$__wl_inside%u:\n", label);
    choose_lanes(b, head);
    if (rw_marks(b))
        touch(b, head);
    if (rw_has(b, REWRITE_FREQUENCY))
        count(b, head);
    ptx_putf(b->out, "$__wl_noted%u:\n", label);
}

/* The first of the leader's walks that is not of the kind; IR_NONE without. */
static uint32_t first_walk(const rw_body *b, uint32_t leader, size_t kind)
{
    uint32_t end = b->plan->site_first[b->f->first_pc + b->f->func->ninsns];
    for (uint32_t s = leader; s < end; s++) {
        const rw_walk *late = &b->plan->elements->walk[s];
        if (late->loop != FLOW_NONE && late->leader == leader && late->head == s &&
            !*(const bool *)((const char *)late + kind))
            return s;
    }
    return IR_NONE;
}

/* The tables that walks with a leader share. Those of dense walks are others. */
static void choose_tables(rw_body *b, uint32_t leader)
{
    uint32_t gaps = first_walk(b, leader, offsetof(rw_walk, gapless)),
             apart = first_walk(b, leader, offsetof(rw_walk, dense));
    if (rw_marks(b) && gaps != IR_NONE)
        choose_marks(b, gaps);
    if (rw_has(b, REWRITE_FREQUENCY) && apart != IR_NONE)
        choose_differences(b, apart);
}

static void publish(rw_body *b, uint32_t leader)
{
    uint32_t label = (*b->labels)++;
    uint32_t end = b->plan->site_first[b->f->first_pc + b->f->func->ninsns];
    if (!is_leader(b, leader))
        return;
    rw_line(b, "setp.eq.u32 __wl_p, __wl_n%u, 0;", b->plan->elements->walk[leader].count);
    rw_line(b, "@__wl_p bra $__wl_walked%u;", label);
    find_steps(b, leader);
    choose_tables(b, leader);
    for (int dense = 0; dense <= 1; dense++) /* the latter choose tables of their own */
        for (uint32_t s = leader; s < end; s++)
            if (b->plan->elements->walk[s].loop != FLOW_NONE &&
                b->plan->elements->walk[s].leader == leader &&
                b->plan->elements->walk[s].head == s && b->plan->elements->walk[s].dense == dense)
                note_walk(b, s);
    ptx_putf(b->out, "$__wl_walked%u:\n", label);
}

static void leave(rw_body *b)
{
    each_head(b, publish);
    each_head(b, clear);
}

/* Publishes what walked in loops that the block follows. */
static void start(rw_body *b, uint32_t block)
{
    uint32_t first = b->f->first_pc, end = b->plan->site_first[first + b->f->func->ninsns];
    for (int cleared = 0; cleared <= 1; cleared++)
        for (uint32_t s = b->plan->site_first[first]; s < end; s++)
            if (b->plan->elements->walk[s].loop != FLOW_NONE &&
                b->plan->elements->walk[s].head == s &&
                rw_follows_loop(b->f, block, b->plan->elements->walk[s].loop))
                (cleared ? clear : publish)(b, s);
}

const rw_emitter rw_walks_emitter = {.probes = 1u << REWRITE_TOUCH | 1u << REWRITE_FREQUENCY,
                                     .declare = declare,
                                     .enter = enter,
                                     .start = start,
                                     .access = keep,
                                     .leave = leave};
