/* Searching the range that a lane's address lies in, where it is not in its slot's, and noting the
 * access there and then. */
#include "rewrite/code/body.h"

#include <stddef.h>

/* One more access that is in no range. The number stops growing at a million: all lanes of a large
 * grid would wait for it. */
void rw_miss(rw_body *b)
{
    rw_opd missed = rw_at(b->state, offsetof(rewrite_state, missed));
    rw_reg known = rw_get(b, ld_volatile_global_u64, missed);
    rw_reg few = rw_get(b, setp_lt_u64, known, rw_number(REWRITE_MOST_MISSED));
    rw_when(b, few, red_global_add_u64, missed, rw_number(1));
}

/* Binary search: ranges [0, low) begin at the address or below it. Returns low. */
static rw_reg count_below(rw_body *b, rw_reg address, rw_reg *ranges)
{
    rw_label again = rw_new_label(b, "search"), done = rw_new_label(b, "searched");
    rw_reg high = rw_get(b, ld_global_u32, rw_at(b->state, offsetof(rewrite_state, nranges)));
    *ranges = rw_get(b, ld_global_u64, rw_at(b->state, offsetof(rewrite_state, ranges)));
    rw_reg low = rw_get(b, mov_u32, rw_number(0));
    rw_put_label(b, again);
    rw_goto_if(b, rw_get(b, setp_ge_u32, low, high), done);
    rw_reg middle = rw_get(b, add_u32, low, high);
    rw_do(b, shr_u32, middle, middle, rw_number(1));
    rw_reg range = rw_get(b, mad_wide_u32, middle, rw_number(sizeof(rewrite_range)), *ranges);
    rw_reg begin = rw_get(b, ld_global_u64, rw_at(range, 0));
    rw_reg below = rw_get(b, setp_le_u64, begin, address);
    rw_when(b, below, add_u32, low, middle, rw_number(1));
    rw_when(b, rw_not(below), mov_u32, high, middle);
    rw_goto(b, again);
    rw_put_label(b, done);
    return low;
}

rw_range_registers rw_search_range(rw_body *b, rw_reg address, rw_label none)
{
    rw_range_registers r = {.base = rw_temp(b, RW_B64), .size = rw_temp(b, RW_B64)};
    rw_reg ranges, low = count_below(b, address, &ranges);
    rw_goto_if(b, rw_get(b, setp_eq_u32, low, rw_number(0)), none);
    rw_do(b, sub_u32, low, low, rw_number(1));
    r.range = rw_get(b, mad_wide_u32, low, rw_number(sizeof(rewrite_range)), ranges);
    rw_do(b, ld_global_v2_u64, r.base, r.size, rw_at(r.range, 0));
    rw_reg offset = rw_get(b, sub_s64, address, r.base);
    rw_goto_if(b, rw_get(b, setp_ge_u64, offset, r.size), none);
    return r;
}

rw_reg rw_load_table(rw_body *b, rw_reg range, size_t at, rw_label none)
{
    rw_reg table = rw_get(b, ld_global_u64, rw_at(range, (int64_t)at));
    rw_goto_if(b, rw_get(b, setp_eq_u64, table, rw_number(0)), none);
    return table;
}

static void mark_used(rw_body *b, rw_reg range, unsigned class_)
{
    rw_opd at = rw_at(range, offsetof(rewrite_range, used));
    rw_reg used = rw_get(b, ld_global_u32, at);
    rw_do(b, and_b32, used, used, rw_number(1u << class_));
    rw_reg is_new = rw_get(b, setp_eq_u32, used, rw_number(0));
    rw_when(b, is_new, red_global_or_b32, at, rw_number(1u << class_));
}

/* Counts and marks this lane's access in the range. */
static void note_apart(rw_body *b, uint32_t site, rw_reg address, const rw_range_registers *r,
                       rw_label none)
{
    const rewrite_probe_site *s = &b->plan->sites[site];
    unsigned n = rw_elements(s);
    rw_reg line = rw_get(b, and_b64, r->base, rw_number(-128));
    rw_reg at = rw_get(b, sub_s64, address, line);
    if (rw_has(b, REWRITE_FREQUENCY)) {
        size_t member = offsetof(rewrite_range, counts) + 8 * rewrite_class(s);
        rw_reg counters = rw_load_table(b, r->range, member, none);
        rw_reg element = rw_get(b, and_b64, at, rw_number(-4));
        rw_do(b, add_s64, counters, counters, element);
        for (unsigned e = 0; e < n; e++)
            rw_do(b, red_global_add_u32, rw_at(counters, 4 * e), rw_number(1));
    }
    if (rw_marks(b)) {
        rw_reg marks = rw_load_table(b, r->range, offsetof(rewrite_range, lines), none);
        rw_reg all = rw_get(b, setp_eq_u64, marks, marks);
        rw_mark(b, n, marks, at, all, (rw_opd){0});
    }
}

/* Makes the range that was found the slot's. */
static void keep_slot(rw_body *b, uint32_t slot, const rw_range_registers *r, rw_label done)
{
    const rw_slot_registers *s = &b->elements.slot[slot];
    unsigned class_ = b->plan->elements->slots[slot].class_;
    if (rw_has(b, REWRITE_TOUCH) || rw_has(b, REWRITE_FREQUENCY)) {
        rw_reg in_line = rw_get(b, and_b64, r->base, rw_number(127));
        rw_goto_if(b, rw_get(b, setp_ne_u64, in_line, rw_number(0)), done);
    }
    rw_do(b, mov_u64, s->base, r->base);
    rw_do(b, mov_u64, s->size, r->size);
    bool counts = rw_has(b, REWRITE_FREQUENCY);
    if (counts)
        rw_do(b, ld_global_u64, s->counts,
              rw_at(r->range, offsetof(rewrite_range, counts) + 8 * class_));
    rw_do(b, ld_global_u64, s->lines,
          rw_at(r->range, offsetof(rewrite_range, lines) + (counts ? 8 * class_ : 0)));
}

void rw_look_elsewhere(rw_body *b, uint32_t site, rw_reg address)
{
    uint32_t slot = b->plan->elements->slot_of[site];
    rw_label none = rw_new_label(b, "none"), done = rw_new_label(b, "found");
    const rw_temps temps = rw_temps_now(b);
    if (rw_is_given(b, slot))
        rw_goto_if(b, rw_get(b, setp_eq_u64, b->elements.slot[slot].base, rw_number(-1)), none);
    rw_range_registers r = rw_search_range(b, address, none);
    if (rw_has(b, REWRITE_OBJECTS) && b->plan->sites[site].param == IR_NONE)
        mark_used(b, r.range, rewrite_class(&b->plan->sites[site]));
    if (rw_has(b, REWRITE_TOUCH) || rw_has(b, REWRITE_FREQUENCY))
        note_apart(b, site, address, &r, none);
    if (!rw_is_given(b, slot))
        keep_slot(b, slot, &r, done);
    rw_goto(b, done);
    rw_put_label(b, none);
    rw_miss(b);
    rw_put_label(b, done);
    rw_temps_back(b, &temps);
}
