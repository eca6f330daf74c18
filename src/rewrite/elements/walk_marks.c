/* touch: marking what a loop walked through. */
#include "rewrite/elements/walk_code.h"

#include <stddef.h>

/* ---- walks without a gap ---- */

/* Elements [first, end) of a range, in registers. */
typedef struct elements {
    rw_reg first, end;
} elements;

static elements find_walked_elements(rw_body *b, uint32_t head, const rw_walk_code *w)
{
    const rw_walk *walk = &b->plan->elements->walk[head];
    const rw_slot_registers *s = &b->elements.slot[b->plan->elements->slot_of[head]];
    int64_t own = rw_offset_of(b->plan, head);
    rw_reg first = rw_get(b, sub_s64, w->low, s->base);
    rw_reg last = rw_get(b, add_s64, first, w->length);
    rw_do(b, add_s64, first, first, rw_number(walk->low - own));
    rw_do(b, add_s64, last, last, rw_number(walk->high - own - 4));
    rw_reg most = rw_get(b, sub_s64, s->size, rw_number(1));
    rw_do(b, min_u64, last, last, most);
    elements e = {.first = rw_get(b, shr_u64, first, rw_number(2))};
    e.end = rw_get(b, shr_u64, last, rw_number(2));
    rw_do(b, add_s64, e.end, e.end, rw_number(1));
    return e;
}

/* May `width` marks be set at once from `low` on, of `left`? */
static rw_reg may_set(rw_body *b, rw_reg low, rw_reg left, unsigned width)
{
    rw_reg beyond = rw_get(b, and_b32, low, rw_number(width - 1));
    rw_reg may = rw_get(b, setp_eq_u32, beyond, rw_number(0));
    rw_do(b, setp_ge_and_u32, may, left, rw_number(width), may);
    return may;
}

/* Marks elements [at, end), which are fewer than a line, several at once. Changes both. */
static void mark_part(rw_body *b, rw_reg table, rw_reg at, rw_reg end)
{
    rw_label part = rw_new_label(b, "part");
    rw_do(b, add_s64, at, at, table);
    rw_do(b, add_s64, end, end, table);
    rw_put_label(b, part);
    rw_reg low = rw_get(b, cvt_u32_u64, at);
    rw_reg wide = rw_get(b, sub_s64, end, at);
    rw_reg left = rw_get(b, cvt_u32_u64, wide);
    rw_reg width = rw_get(b, mov_u32, rw_number(1));
    rw_reg four = may_set(b, low, left, 4);
    rw_reg eight = may_set(b, low, left, 8);
    rw_when(b, four, mov_u32, width, rw_number(4));
    rw_when(b, eight, mov_u32, width, rw_number(8));
    rw_do(b, setp_eq_u32, four, width, rw_number(4));
    rw_when(b, eight, st_global_u64, rw_at(at, 0), rw_number(0x0101010101010101));
    rw_when(b, four, st_global_u32, rw_at(at, 0), rw_number(0x01010101));
    rw_reg one = rw_get(b, setp_eq_u32, width, rw_number(1));
    rw_when(b, one, st_global_u8, rw_at(at, 0), rw_number(1));
    rw_reg step = rw_get(b, cvt_u64_u32, width);
    rw_do(b, add_s64, at, at, step);
    rw_goto_if(b, rw_get(b, setp_lt_u64, at, end), part);
}

/* Sets the line's word of the bitmap, which it first looks at. */
static void mark_line(rw_body *b, rw_reg line, rw_reg bits)
{
    rw_reg word = rw_get(b, shl_b64, line, rw_number(2));
    rw_do(b, add_s64, word, word, bits);
    rw_reg known = rw_get(b, ld_global_u32, rw_at(word, 0));
    rw_reg is_new = rw_get(b, setp_ne_u32, known, rw_number(-1));
    rw_when(b, is_new, st_global_u32, rw_at(word, 0), rw_number(-1));
}

/* Of lines that the walk covers marks a word of the bitmap, of others their elements. Where a whole
 * warp makes one walk, its lanes share the lines. */
static void mark_lines(rw_body *b, uint32_t head, const rw_walk_code *w)
{
    const rw_slot_registers *s = &b->elements.slot[b->plan->elements->slot_of[head]];
    rw_label again = rw_new_label(b, "line"), done = rw_new_label(b, "marked"),
             part = rw_new_label(b, "part_of"), next = rw_new_label(b, "next");
    elements e = find_walked_elements(b, head, w);
    rw_reg line = rw_get(b, shr_u64, e.first, rw_number(5));
    rw_reg step = rw_get(b, mov_u64, rw_number(1)), lane = rw_get(b, cvt_u64_u32, b->lane);
    rw_reg shared = rw_get(b, setp_eq_u32, w->weight, rw_number(32));
    rw_when(b, shared, mov_u64, step, rw_number(32));
    rw_when(b, shared, add_s64, line, line, lane);
    rw_put_label(b, again);
    rw_reg at = rw_get(b, shl_b64, line, rw_number(5));
    rw_reg end = rw_get(b, add_s64, at, rw_number(32));
    rw_goto_if(b, rw_get(b, setp_ge_u64, at, e.end), done);
    rw_do(b, max_u64, at, at, e.first);
    rw_do(b, min_u64, end, end, e.end);
    rw_reg count = rw_get(b, sub_s64, end, at);
    rw_goto_if(b, rw_get(b, setp_ne_u64, count, rw_number(32)), part);
    mark_line(b, line, s->bits);
    rw_goto(b, next);
    rw_put_label(b, part);
    mark_part(b, s->lines, at, end);
    rw_put_label(b, next);
    rw_do(b, add_s64, line, line, step);
    rw_goto(b, again);
    rw_put_label(b, done);
}

/* ---- walks with gaps ---- */

/* To `chosen` where the step is of no elements, or of more than 32 bits. */
static void check_step(rw_body *b, rw_reg step, rw_label chosen)
{
    rw_reg bad = rw_get(b, setp_eq_u64, step, rw_number(0));
    rw_reg rest = rw_get(b, and_b64, step, rw_number((int64_t)0xffffffff00000003));
    rw_do(b, setp_ne_or_u64, bad, rest, rw_number(0), bad);
    rw_goto_if(b, bad, chosen);
}

/* The table of walks of this step and number, and 1 times; or that of elements, as often as there
 * were turns: where lanes are side by side, and few warps of the launch make the same walk, which
 * is faster than to agree about the table. Where loaded data says from where lanes go, hardly two
 * of them agree. */
void rw_choose_marks(rw_body *b, uint32_t head, rw_walk_code *w)
{
    uint32_t slot = b->plan->elements->slot_of[head];
    rw_label chosen = rw_new_label(b, "chosen");
    bool lines = rw_pattern_of(b->plan, b->f, head) == RW_COALESCED ||
                 rw_is_loaded(b->plan, b->f, head);
    w->marks = rw_get(b, mov_u64, b->elements.slot[slot].lines);
    w->wary = rw_everywhere(b);
    rw_reg stays = rw_get(b, setp_eq_u64, w->step, rw_number(0));
    w->times = rw_get(b, selp_b32, rw_number(1), w->turns, stays);
    if (lines)
        rw_is_reused(b, rw_reuse_of(b->plan, b->f, head), w->wary);
    if (b->plan->elements->walk[head].table == IR_NONE)
        return;
    if (lines)
        rw_goto_if(b, rw_not(w->wary), chosen);
    check_step(b, w->step, chosen);
    rw_reg table = rw_get(b, ld_global_u64, rw_in_walk(b, head, offsetof(rewrite_walk, marks)));
    rw_goto_if(b, rw_get(b, setp_eq_u64, table, rw_number(0)), chosen);
    rw_reg step = rw_get(b, cvt_u32_u64, w->step);
    rw_reg shape = rw_get(b, mov_b64__join, w->turns, step);
    rw_reg ours = rw_claim(b, rw_in_walk(b, head, offsetof(rewrite_walk, shape)), shape);
    rw_when(b, ours, mov_u64, w->marks, table);
    rw_when(b, ours, mov_u32, w->times, rw_number(1));
    rw_put_label(b, chosen);
}

static void mark_site(rw_body *b, const rw_walk_code *w, uint32_t site)
{
    rw_reg at = rw_find_walked(b, w, site);
    rw_turns turns = rw_begin_turns(b, w->times);
    rw_mark(b, rw_elements(&b->plan->sites[site]), w->marks, at, w->in, w->wary);
    rw_do(b, add_s64, at, at, w->step);
    rw_end_turns(b, &turns);
}

/* ---- any ---- */

void rw_mark_walk(rw_body *b, uint32_t head, const rw_walk_code *w)
{
    rw_label done = rw_new_label(b, "touched");
    bool gapless = b->plan->elements->walk[head].gapless;
    rw_reg marks = rw_get(b, mov_pred, w->adds);
    if (gapless)
        rw_do(b, setp_eq_or_u32, marks, w->weight, rw_number(32), w->adds);
    rw_goto_if(b, rw_not(marks), done);
    if (gapless)
        mark_lines(b, head, w);
    else
        rw_each_site_of_walk(b, head, w, mark_site);
    rw_put_label(b, done);
}
