/* frequency: how often each element of objects was loaded, stored, updated.
 *
 * Needs: where the access lies in its slot's range (deferred.c, lines.c). Keeps: everything.
 * Buffers: a u32 for each class and element, and one for each class and line. Counts are exact. A
 * warp that accesses whole lines adds 1 to each line's counter, and to no element's; where all
 * lanes of a warp or all threads of a block have one address, one of them adds their number; else
 * each adds for itself. */
#include "rewrite/code/body.h"

/* The counter of the lane's first element. */
static rw_reg find_element_counter(rw_body *b, uint32_t site, rw_reg at)
{
    rw_reg counts = b->elements.slot[b->plan->elements->slot_of[site]].counts;
    if (b->plan->sites[site].bytes >= 4)
        return rw_get(b, add_s64, at, counts);
    rw_reg element = rw_get(b, and_b64, at, rw_number(-4));
    rw_do(b, add_s64, element, element, counts);
    return element;
}

/* If all 32 lanes have the address of the first, goes to `done` with one update. */
static void try_one(rw_body *b, unsigned n, rw_reg counter, const rw_found *found, rw_label done)
{
    rw_reg low = rw_temp(b, RW_B32), high = rw_temp(b, RW_B32), active = b->warp.active;
    rw_do(b, mov_b64__split, low, high, found->at);
    rw_reg first = rw_get(b, shfl_sync_idx_b32, low, rw_number(0), rw_number(31), active);
    rw_reg same = rw_get(b, setp_eq_and_u32, first, low, found->in);
    first = rw_get(b, shfl_sync_idx_b32, high, rw_number(0), rw_number(31), active);
    rw_do(b, setp_eq_and_u32, same, first, high, same);
    rw_reg lanes = rw_get(b, vote_sync_ballot_b32, same, active);
    rw_reg all = rw_get(b, setp_eq_u32, lanes, rw_number(-1));
    rw_reg adds = rw_get(b, setp_eq_and_u32, b->lane, rw_number(0), all);
    rw_add_to_each(b, n, counter, adds, rw_number(32));
    rw_goto_if(b, all, done);
}

void rw_count_lines(rw_body *b, uint32_t site, rw_reg at, rw_reg head)
{
    rw_reg lines = b->elements.slot[b->plan->elements->slot_of[site]].lines;
    rw_reg wide = rw_get(b, shr_u64, at, rw_number(7));
    rw_reg line = rw_get(b, cvt_u32_u64, wide);
    rw_reg counter = rw_get(b, mad_wide_u32, line, rw_number(4), lines);
    rw_when(b, head, red_global_add_u32, rw_at(counter, 0), rw_number(1));
}

void rw_count_block(rw_body *b, uint32_t site, const rw_found *found)
{
    rw_reg counter = find_element_counter(b, site, found->at), thread, threads;
    rw_linear_thread(b, &thread, &threads);
    rw_reg adds = rw_get(b, setp_eq_and_u32, thread, rw_number(0), found->in);
    rw_add_to_each(b, rw_elements(&b->plan->sites[site]), counter, adds, threads);
}

/* Lanes of `in` that update counters; the others log what they would. */
static rw_reg find_updating(rw_body *b, uint32_t site, rw_reg counter, rw_reg in)
{
    unsigned n = rw_elements(&b->plan->sites[site]);
    if (!rw_logs(b, site, RW_LOGS_ELEMENTS))
        return in;
    if (!rw_may_be_beside(b, site))
        return rw_log_counters(b, n, counter, in);
    rw_reg beside = rw_find_beside(b, 4 * n, counter, in);
    rw_reg logging = rw_get(b, not_pred, beside);
    rw_do(b, and_pred, logging, logging, in);
    rw_reg full = rw_log_counters(b, n, counter, logging);
    return rw_get(b, or_pred, full, beside);
}

void rw_count_lanes(rw_body *b, uint32_t site, const rw_found *found, rw_reg alone, rw_reg inside)
{
    unsigned n = rw_elements(&b->plan->sites[site]);
    rw_pattern pattern = rw_pattern_of(b->plan, b->f, site);
    rw_label done = rw_new_label(b, "counted");
    rw_reg counter = find_element_counter(b, site, found->at);
    if (pattern == RW_UNIFORM || pattern == RW_UNIFORM_IN_ROW) {
        rw_reg lanes = rw_get(b, popc_b32, inside);
        if (pattern == RW_UNIFORM_IN_ROW)
            rw_do(b, selp_b32, lanes, lanes, rw_number(1), b->elements.rows);
        rw_add_to_each(b, n, counter, alone, lanes);
    } else {
        if (pattern == RW_UNKNOWN)
            try_one(b, n, counter, found, done);
        rw_add_to_each(b, n, counter, find_updating(b, site, counter, found->in), rw_number(1));
    }
    rw_put_label(b, done);
}
