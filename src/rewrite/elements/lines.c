/* frequency: counting an access that was deferred, by lines where a warp accesses whole lines, else
 * lane by lane. */
#include "rewrite/elements/deferred.h"

/* ---- which lanes ---- */

static bool tries_lines(const rw_body *b, uint32_t site)
{
    rw_pattern pattern = rw_pattern_of(b->plan, b->f, site);
    return b->plan->sites[site].bytes >= 4 &&
           (pattern == RW_COALESCED || pattern == RW_MAYBE_COALESCED || pattern == RW_UNKNOWN);
}

/* What frequency needs to know. */
static rw_lanes needed_lanes(const rw_body *b, uint32_t site)
{
    if (rw_is_for_block(b->plan, b->f, site))
        return RW_LANES_UNKNOWN;
    rw_pattern pattern = rw_pattern_of(b->plan, b->f, site);
    if (pattern == RW_UNIFORM || pattern == RW_UNIFORM_IN_ROW)
        return RW_LANES_GROUP;
    return tries_lines(b, site) ? RW_LANES_ACTIVE : RW_LANES_UNKNOWN;
}

/* Lanes that are side by side: each is as far in its lines as lanes before it reach; and, unless
 * that is proven, all are in the first one's lines. */
static rw_reg find_side_by_side(rw_body *b, const rw_found *found, rw_reg low, unsigned n,
                                bool proven)
{
    unsigned shift = n == 1 ? 0 : n == 2 ? 1 : 2;
    rw_reg own = b->elements.lane4;
    rw_reg in_lines = rw_get(b, and_b32, low, rw_number(128 * n - 1));
    if (shift)
        own = rw_get(b, shl_b32, b->elements.lane4, rw_number(shift));
    rw_reg is = rw_get(b, setp_eq_and_u32, in_lines, own, found->in);
    if (proven)
        return is;
    rw_reg wide = rw_get(b, shr_u64, found->at, rw_number(7 + shift));
    rw_reg lines = rw_get(b, cvt_u32_u64, wide);
    rw_reg first = rw_get(b, shfl_sync_idx_b32, lines, rw_number(0), rw_number(31), b->warp.active);
    rw_do(b, setp_eq_and_u32, is, first, lines, is);
    return is;
}

/* Does the warp access whole lines, all lanes side by side? *head: a lane for each line. `proven`:
 * flow knows that they are side by side if they are in a row. */
static rw_reg find_lines(rw_body *b, uint32_t site, const rw_found *found, bool proven,
                         rw_reg *head)
{
    unsigned n = rw_elements(&b->plan->sites[site]);
    rw_reg low = rw_get(b, cvt_u32_u64, found->at);
    rw_reg is = find_side_by_side(b, found, low, n, proven);
    rw_reg lanes = rw_get(b, vote_sync_ballot_b32, is, b->warp.active);
    rw_reg full = rw_get(b, setp_eq_u32, lanes, rw_number(-1));
    rw_reg in_line = n > 1 ? rw_get(b, and_b32, low, rw_number(127)) : b->lane;
    *head = rw_get(b, setp_eq_and_u32, in_line, rw_number(0), full);
    return full;
}

/* The lane that notes the access for all in *inside, which have its address. Where each lane has
 * found a range for itself, some may have searched, and are done. */
static rw_reg find_alone(rw_body *b, uint32_t slot, rw_pattern pattern, rw_reg in, rw_reg *inside)
{
    rw_reg leads = rw_temp(b, RW_PRED);
    *inside = rw_temp(b, RW_B32);
    if (rw_is_given(b, slot)) {
        rw_do(b, mov_b32, *inside, b->warp.mask);
        rw_do(b, mov_pred, leads, b->warp.leads);
    } else {
        rw_do(b, vote_sync_ballot_b32, *inside, in, b->warp.active);
        rw_reg reversed = rw_get(b, brev_b32, *inside);
        rw_reg lead = rw_get(b, bfind_shiftamt_u32, reversed);
        rw_do(b, setp_eq_u32, leads, lead, b->lane);
    }
    if (pattern == RW_UNIFORM_IN_ROW)
        rw_do(b, or_pred, leads, leads, rw_get(b, not_pred, b->elements.rows));
    return rw_get(b, and_pred, leads, in);
}

/* ---- counting ---- */

static void count_deferred_lanes(rw_body *b, const rw_deferred *d, const rw_found *found)
{
    rw_pattern pattern = rw_pattern_of(b->plan, b->f, d->site);
    rw_reg alone = {0}, inside = {0};
    rw_note_elsewhere(b, d, found->out);
    if (rw_is_for_block(b->plan, b->f, d->site)) {
        rw_count_block(b, d->site, found);
        return;
    }
    if (pattern == RW_UNIFORM || pattern == RW_UNIFORM_IN_ROW)
        alone = find_alone(b, b->plan->elements->slot_of[d->site], pattern, found->in, &inside);
    rw_count_lanes(b, d->site, found, alone, inside);
}

static void count_by_line(rw_body *b, const rw_deferred *d, const rw_found *found)
{
    rw_reg head;
    bool proven = rw_pattern_of(b->plan, b->f, d->site) == RW_COALESCED;
    rw_label rest = rw_new_label(b, "rest"), noted = rw_new_label(b, "noted");
    rw_reg full = find_lines(b, d->site, found, proven, &head);
    rw_goto_if(b, rw_not(full), rest);
    rw_count_lines(b, d->site, found->at, head);
    if (b->depth != 0)
        rw_goto(b, noted);
    ptx_text *out = rw_begin_rest(b, rest);
    count_deferred_lanes(b, d, found);
    rw_end_rest(b, noted, out);
}

void rw_count_deferred(rw_body *b, const rw_deferred *d)
{
    const rw_temps temps = rw_temps_now(b);
    rw_reg from;
    rw_found found = rw_find_deferred(b, d, NULL, &from, (rw_reg){0});
    rw_find_lanes(b, needed_lanes(b, d->site));
    if (tries_lines(b, d->site))
        count_by_line(b, d, &found);
    else
        count_deferred_lanes(b, d, &found);
    rw_temps_back(b, &temps);
}
