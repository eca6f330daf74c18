/* frequency: counting what a loop walked through. */
#include "rewrite/elements/walk_code.h"

#include <stddef.h>

/* Finds out whether the table of differences is for the step, where only the launch knows that. */
static void agree_on_step(rw_body *b, uint32_t head, rw_walk_code *w)
{
    rw_label chosen = rw_new_label(b, "chosen");
    rw_reg rest = rw_get(b, and_b64, w->step, rw_number(3));
    rw_reg bad = rw_get(b, setp_ne_u64, rest, rw_number(0));
    rw_do(b, setp_eq_or_u64, bad, w->step, rw_number(0), bad);
    rw_do(b, setp_eq_or_u64, bad, w->differences, rw_number(0), bad);
    rw_goto_if(b, bad, chosen);
    rw_reg step = rw_get(b, mov_u64, w->step);
    rw_reg ours = rw_claim(b, rw_in_walk(b, head, offsetof(rewrite_walk, step)), step);
    rw_do(b, mov_pred, w->fits, ours);
    rw_put_label(b, chosen);
}

void rw_choose_differences(rw_body *b, uint32_t head, rw_walk_code *w)
{
    const rw_walk *walk = &b->plan->elements->walk[head];
    w->fits = rw_nowhere(b);
    w->differences = rw_temp(b, RW_B64);
    if (walk->table == IR_NONE)
        return;
    rw_do(b, ld_global_u64, w->differences, rw_in_walk(b, head, offsetof(rewrite_walk, counts)));
    if (walk->known)
        rw_do(b, setp_ne_u64, w->fits, w->differences, rw_number(0));
    else
        agree_on_step(b, head, w);
}

/* The weight at `at`, and less of it one step beyond the walk's end, if that is in the range;
 * elements n. */
static void add_difference(rw_body *b, uint32_t slot, const rw_walk_code *w, rw_reg at, unsigned n)
{
    rw_reg counter = rw_get(b, add_s64, at, w->differences);
    for (unsigned e = 0; e < n; e++)
        rw_when(b, w->adds, red_global_add_u32, rw_at(counter, 4 * e), w->weight);
    rw_do(b, add_s64, at, at, w->beyond);
    rw_reg inside = rw_get(b, setp_lt_and_u64, at, b->elements.slot[slot].size, w->adds);
    rw_do(b, add_s64, counter, at, w->differences);
    rw_reg less = rw_get(b, neg_s32, w->weight);
    for (unsigned e = 0; e < n; e++)
        rw_when(b, inside, red_global_add_u32, rw_at(counter, 4 * e), less);
}

static void count_site(rw_body *b, const rw_walk_code *w, uint32_t site)
{
    unsigned n = rw_elements(&b->plan->sites[site]);
    add_difference(b, b->plan->elements->slot_of[site], w, rw_find_walked(b, w, site), n);
}

/* All sites of a dense walk together: from `low` of the first iteration to `high` of the last. */
static void count_dense(rw_body *b, uint32_t head, const rw_walk_code *w)
{
    int64_t from = b->plan->elements->walk[head].low - rw_offset_of(b->plan, head);
    rw_reg at = rw_get(b, sub_s64, w->low, rw_slot_of_site(b, head).base);
    rw_do(b, add_s64, at, at, rw_number(from));
    add_difference(b, b->plan->elements->slot_of[head], w, at, 1);
}

/* Each turn by itself: w->times of them, w->weight each. */
static void count_turns(rw_body *b, const rw_walk_code *w, uint32_t site)
{
    unsigned n = rw_elements(&b->plan->sites[site]);
    rw_reg counter = rw_find_walked(b, w, site);
    rw_do(b, add_s64, counter, counter, rw_slot_of_site(b, site).counts);
    rw_turns turns = rw_begin_turns(b, w->times);
    for (unsigned e = 0; e < n; e++)
        rw_when(b, w->adds, red_global_add_u32, rw_at(counter, 4 * e), w->weight);
    rw_do(b, add_s64, counter, counter, w->step);
    rw_end_turns(b, &turns);
}

/* Where there is no table; all turns at once where the step is 0. */
static void count_turns_apart(rw_body *b, uint32_t head, const rw_walk_code *walk)
{
    rw_walk_code w = *walk;
    rw_reg stays = rw_get(b, setp_eq_u64, w.step, rw_number(0));
    w.times = rw_get(b, selp_b32, rw_number(1), w.turns, stays);
    w.weight = rw_get(b, selp_b32, w.turns, rw_number(1), stays);
    rw_do(b, mul_lo_u32, w.weight, w.weight, walk->weight);
    rw_each_site_of_walk(b, head, &w, count_turns);
}

void rw_count_walk(rw_body *b, uint32_t head, const rw_walk_code *walk)
{
    bool dense = b->plan->elements->walk[head].dense;
    rw_label apart = rw_new_label(b, "turns"), done = rw_new_label(b, "counted");
    rw_walk_code w = *walk;
    if (dense)
        rw_choose_differences(b, head, &w);
    rw_goto_if(b, rw_not(w.fits), apart);
    w.beyond = rw_get(b, add_s64, w.length, w.step);
    if (dense)
        count_dense(b, head, &w);
    else
        rw_each_site_of_walk(b, head, &w, count_site);
    rw_goto(b, done);
    rw_put_label(b, apart);
    count_turns_apart(b, head, &w);
    rw_put_label(b, done);
}
