/* Elements that a loop walks through, noted once after it: for touch and frequency.
 *
 * Needs: the passes slots and walks. Keeps: everything. In the loop a lane keeps the last address
 * of each walk (and, where flow does not know it, the step) and counts iterations; after it all are
 * noted at once:
 *
 *   frequency   the step is constant over the launch, mostly: a table of differences for that step
 *               (layout.h) gets 1 at the
 *               first element and -1 after the last. A walk without gaps has the step of an
 *               element, however far the loop is
 *               unrolled. Lanes that all made the same walk add together. (walk_counts.c)
 *   touch       the lines and elements between first and last, where the walk leaves no gap. Else a
 *               mark at the first element, in
 *               a table of walks with that step and number of iterations. (walk_marks.c)
 *
 * Tables belong to the step, or step and number, that the first lane to come wrote down. Walks that
 * differ, that leave the slot's range, or whose table is missing are gone through again element by
 * element. The form may assume that a 32-bit index does not wrap: in a loop in which it did,
 * addresses would be 4 GiB apart or more.
 *
 * Sites of one basic block with one base register are one walk; walks through one slot whose bases
 * move alike have one *leader*, which keeps what they have in common. */
#include "rewrite/elements/walk_code.h"

#include <stddef.h>

/* ---- in the loop ---- */

static void each_head(rw_body *b, void (*each)(rw_body *b, uint32_t head))
{
    uint32_t end = rw_end_of_sites(b->plan, b->f);
    for (uint32_t s = rw_first_site(b->plan, b->f); s < end; s++)
        if (rw_heads_walk(b->plan, s))
            each(b, s);
}

static const rw_walk *walk_of(const rw_body *b, uint32_t site)
{
    return &b->plan->elements->walk[site];
}

static bool is_leader(const rw_body *b, uint32_t head)
{
    return walk_of(b, head)->leader == head;
}

static bool counts_turns(const rw_body *b, uint32_t head)
{
    return is_leader(b, head) && walk_of(b, head)->count == head;
}

/* Declared registers: the last address of the head, the last step of a leader, iterations of those
 * that it counts for. */
static rw_reg last_register(uint32_t head)
{
    return (rw_reg){.kind = RW_OPD_DECLARED, .type = RW_B64, .name = "last", .number = head};
}

static rw_reg step_register(uint32_t head)
{
    return (rw_reg){.kind = RW_OPD_DECLARED, .type = RW_B64, .name = "stride", .number = head};
}

static rw_reg turns_register(uint32_t head)
{
    return (rw_reg){.kind = RW_OPD_DECLARED, .type = RW_B32, .name = "n", .number = head};
}

static void declare_walk(rw_body *b, uint32_t head)
{
    rw_declare(b, RW_B64, "last", head);
    if (counts_turns(b, head))
        rw_declare(b, RW_B32, "n", head);
    if (is_leader(b, head) && !walk_of(b, head)->known)
        rw_declare(b, RW_B64, "stride", head);
}

static void declare_walks(rw_body *b)
{
    each_head(b, declare_walk);
}

static void clear_walk(rw_body *b, uint32_t head)
{
    if (counts_turns(b, head))
        rw_do(b, mov_u32, turns_register(head), rw_number(0));
}

static void enter_walks(rw_body *b)
{
    each_head(b, clear_walk);
}

static void keep_last(rw_body *b, uint32_t site)
{
    if (!rw_heads_walk(b->plan, site))
        return;
    if (counts_turns(b, site))
        rw_do(b, add_u32, turns_register(site), turns_register(site), rw_number(1));
    if (is_leader(b, site) && !walk_of(b, site)->known)
        rw_do(b, sub_s64, step_register(site), b->address, last_register(site));
    rw_do(b, mov_u64, last_register(site), b->address);
}

/* ---- what notes walks ---- */

rw_opd rw_in_walk(const rw_body *b, uint32_t head, size_t member)
{
    return rw_at(b->state, (int64_t)(offsetof(rewrite_state, walk) +
                                     walk_of(b, head)->table * sizeof(rewrite_walk) + member));
}

void rw_each_site_of_walk(rw_body *b, uint32_t head, const rw_walk_code *w,
                          void (*each)(rw_body *b, const rw_walk_code *w, uint32_t site))
{
    uint32_t end = rw_end_of_sites(b->plan, b->f);
    for (uint32_t s = head; s < end; s++) {
        if (!rw_is_in_walk(b->plan, s) || walk_of(b, s)->head != head)
            continue;
        const rw_temps temps = rw_temps_now(b);
        each(b, w, s);
        rw_temps_back(b, &temps);
    }
}

/* Of the site: how far its base is after that of its head. */
static int64_t after_head(const rw_body *b, uint32_t site)
{
    return rw_offset_of(b->plan, site) - rw_offset_of(b->plan, walk_of(b, site)->head);
}

rw_reg rw_find_walked(rw_body *b, const rw_walk_code *w, uint32_t site)
{
    rw_reg base = b->elements.slot[b->plan->elements->slot_of[site]].base;
    rw_reg at = rw_get(b, sub_s64, w->low, base);
    rw_do(b, add_s64, at, at, rw_number(after_head(b, site)));
    return at;
}

rw_turns rw_begin_turns(rw_body *b, rw_reg times)
{
    rw_turns t = {rw_get(b, mov_u32, times), rw_new_label(b, "turn")};
    rw_put_label(b, t.again);
    return t;
}

void rw_end_turns(rw_body *b, const rw_turns *t)
{
    rw_do(b, sub_u32, t->left, t->left, rw_number(1));
    rw_goto_if(b, rw_get(b, setp_ne_u32, t->left, rw_number(0)), t->again);
}

rw_reg rw_claim(rw_body *b, rw_opd place, rw_reg mine)
{
    rw_label claimed = rw_new_label(b, "claimed");
    rw_reg theirs = rw_get(b, ld_global_cg_u64, place);
    rw_reg is = rw_get(b, setp_ne_u64, theirs, rw_number(0));
    rw_goto_if(b, is, claimed);
    rw_group(b, (rw_opd){0});
    rw_when(b, b->warp.leads, atom_global_cas_b64, theirs, place, rw_number(0), mine);
    rw_do(b, setp_eq_u64, is, theirs, rw_number(0));
    rw_when(b, is, mov_u64, theirs, mine);
    rw_reg low = rw_temp(b, RW_B32), high = rw_temp(b, RW_B32);
    rw_do(b, mov_b64__split, low, high, theirs);
    rw_do(b, shfl_sync_idx_b32, low, low, b->warp.lead, rw_number(31), b->warp.active);
    rw_do(b, shfl_sync_idx_b32, high, high, b->warp.lead, rw_number(31), b->warp.active);
    rw_do(b, mov_b64__join, theirs, low, high);
    rw_put_label(b, claimed);
    rw_do(b, setp_eq_u64, is, theirs, mine);
    return is;
}

/* ---- after the loop: what a leader's walks have in common ---- */

static void find_walk_steps(rw_body *b, uint32_t leader, rw_walk_code *w)
{
    const rw_walk *walk = walk_of(b, leader);
    w->turns = rw_get(b, mov_u32, turns_register(walk->count));
    rw_reg once = rw_get(b, setp_eq_u32, w->turns, rw_number(1));
    if (walk->known)
        w->step = rw_get(b, mov_u64, rw_number(walk->step));
    else
        w->step = rw_get(b, selp_b64, rw_number(0), step_register(leader), once);
    rw_reg moves = rw_get(b, sub_u32, w->turns, rw_number(1));
    w->down = rw_get(b, setp_lt_s64, w->step, rw_number(0));
    rw_do(b, abs_s64, w->step, w->step);
    rw_reg wide = rw_get(b, cvt_u64_u32, moves);
    w->length = rw_get(b, mul_lo_s64, wide, w->step);
}

/* ---- one walk ---- */

/* Fills low and in. */
static void find_walk_ends(rw_body *b, uint32_t head, rw_walk_code *w)
{
    const rw_walk *walk = walk_of(b, head);
    const rw_slot_registers *s = &b->elements.slot[b->plan->elements->slot_of[head]];
    int64_t own = rw_offset_of(b->plan, head);
    w->low = rw_get(b, mov_u64, last_register(head));
    rw_when(b, rw_not(w->down), sub_s64, w->low, w->low, w->length);
    rw_reg at = rw_get(b, sub_s64, w->low, s->base);
    rw_reg first = rw_get(b, add_s64, at, rw_number(walk->low - own));
    w->in = rw_get(b, setp_lt_u64, first, s->size);
    rw_reg last = rw_get(b, add_s64, at, w->length);
    rw_do(b, add_s64, last, last, rw_number(walk->highest - own));
    rw_do(b, setp_lt_and_u64, w->in, last, s->size, w->in);
}

/* Element by element, wherever they lie. */
static void search_site(rw_body *b, const rw_walk_code *w, uint32_t site)
{
    rw_look_elsewhere(b, site, rw_get(b, add_s64, w->low, rw_number(after_head(b, site))));
}

static void search_all(rw_body *b, uint32_t head, const rw_walk_code *w)
{
    rw_turns turns = rw_begin_turns(b, w->turns);
    rw_each_site_of_walk(b, head, w, search_site);
    rw_do(b, add_s64, w->low, w->low, w->step);
    rw_end_turns(b, &turns);
}

static void compare_half(rw_body *b, rw_reg value, rw_reg same)
{
    rw_reg leaders = rw_of_leader(b, value);
    rw_do(b, setp_eq_and_u32, same, leaders, value, same);
}

/* Have all lanes here made the walk of the first? */
static rw_reg made_one_walk(rw_body *b, const rw_walk_code *w)
{
    rw_reg low = rw_temp(b, RW_B32), high = rw_temp(b, RW_B32);
    rw_do(b, mov_b64__split, low, high, w->low);
    rw_reg same = rw_get(b, setp_eq_u32, rw_of_leader(b, low), low);
    compare_half(b, high, same);
    compare_half(b, w->turns, same);
    rw_do(b, mov_b64__split, low, high, w->step);
    compare_half(b, low, same);
    return rw_get(b, vote_sync_all_pred, same, b->warp.active);
}

/* Fills adds and weight. Where flow expects one address, lanes whose walks are all the same have
 * their first do it. */
static void choose_lanes(rw_body *b, uint32_t head, rw_walk_code *w)
{
    rw_pattern pattern = rw_pattern_of(b->plan, b->f, head);
    w->adds = rw_everywhere(b);
    w->weight = rw_get(b, mov_u32, rw_number(1));
    if (pattern != RW_UNIFORM && pattern != RW_UNIFORM_IN_ROW)
        return;
    rw_group(b, (rw_opd){0});
    rw_reg one = made_one_walk(b, w);
    rw_reg lanes = rw_get(b, popc_b32, b->warp.active);
    rw_do(b, selp_b32, w->weight, lanes, rw_number(1), one);
    rw_reg several = rw_get(b, not_pred, one);
    rw_do(b, or_pred, w->adds, b->warp.leads, several);
}

static void note_walk(rw_body *b, uint32_t head, const rw_walk_code *common)
{
    const rw_temps temps = rw_temps_now(b);
    rw_walk_code w = *common;
    rw_label inside = rw_new_label(b, "inside"), done = rw_new_label(b, "walk");
    find_walk_ends(b, head, &w);
    rw_goto_if(b, w.in, inside);
    search_all(b, head, &w);
    rw_goto(b, done);
    rw_put_label(b, inside);
    choose_lanes(b, head, &w);
    if (rw_marks(b))
        rw_mark_walk(b, head, &w);
    if (rw_has(b, REWRITE_FREQUENCY))
        rw_count_walk(b, head, &w);
    rw_put_label(b, done);
    rw_temps_back(b, &temps);
}

/* ---- all walks of a leader ---- */

static bool is_gapless(const rw_walk *walk)
{
    return walk->gapless;
}

static bool is_dense(const rw_walk *walk)
{
    return walk->dense;
}

/* The first of the leader's walks that is not of the kind; IR_NONE without. */
static uint32_t first_that_is_not(const rw_body *b, uint32_t leader,
                                  bool (*kind)(const rw_walk *walk))
{
    uint32_t end = rw_end_of_sites(b->plan, b->f);
    for (uint32_t s = leader; s < end; s++)
        if (rw_heads_walk(b->plan, s) && walk_of(b, s)->leader == leader && !kind(walk_of(b, s)))
            return s;
    return IR_NONE;
}

/* The tables that walks with a leader share. Those of dense walks are others. */
static void choose_tables(rw_body *b, uint32_t leader, rw_walk_code *w)
{
    uint32_t gaps = first_that_is_not(b, leader, is_gapless),
             apart = first_that_is_not(b, leader, is_dense);
    if (rw_marks(b) && gaps != IR_NONE)
        rw_choose_marks(b, gaps, w);
    if (rw_has(b, REWRITE_FREQUENCY) && apart != IR_NONE)
        rw_choose_differences(b, apart, w);
}

static void publish_walks(rw_body *b, uint32_t leader)
{
    uint32_t end = rw_end_of_sites(b->plan, b->f);
    if (!is_leader(b, leader))
        return;
    const rw_temps temps = rw_temps_now(b);
    rw_walk_code w = {0};
    rw_label walked = rw_new_label(b, "walked");
    rw_reg turns = turns_register(walk_of(b, leader)->count);
    rw_goto_if(b, rw_get(b, setp_eq_u32, turns, rw_number(0)), walked);
    find_walk_steps(b, leader, &w);
    choose_tables(b, leader, &w);
    for (int dense = 0; dense <= 1; dense++) /* the latter choose tables of their own */
        for (uint32_t s = leader; s < end; s++)
            if (rw_heads_walk(b->plan, s) && walk_of(b, s)->leader == leader &&
                walk_of(b, s)->dense == dense)
                note_walk(b, s, &w);
    rw_put_label(b, walked);
    rw_temps_back(b, &temps);
}

static void leave_walks(rw_body *b)
{
    each_head(b, publish_walks);
    each_head(b, clear_walk);
}

/* Publishes what walked in loops that the block follows. */
static void publish_finished_walks(rw_body *b, uint32_t block)
{
    uint32_t end = rw_end_of_sites(b->plan, b->f);
    for (int cleared = 0; cleared <= 1; cleared++)
        for (uint32_t s = rw_first_site(b->plan, b->f); s < end; s++)
            if (rw_heads_walk(b->plan, s) && rw_follows_loop(b->f, block, walk_of(b, s)->loop))
                (cleared ? clear_walk : publish_walks)(b, s);
}

const rw_emitter rw_emitter_walks = {.probes = 1u << REWRITE_TOUCH | 1u << REWRITE_FREQUENCY,
                                     .declare = declare_walks,
                                     .enter = enter_walks,
                                     .start = publish_finished_walks,
                                     .access = keep_last,
                                     .leave = leave_walks};
