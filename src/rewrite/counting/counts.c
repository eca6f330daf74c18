/* shared: adding to counters of elements, a u32 for each class and element. Counts are exact.
 *
 * Where all lanes have one address, one of them adds their number: flow proves it
 * (thread-invariant), or a shuffle and a vote find it out; where flow has the address as a form in
 * which %tid.x stands, lanes are apart, and each adds for itself. */
#include "rewrite/code/body.h"

#include "flow/affine.h"

/* ---- how the lanes' addresses lie ---- */

typedef enum spread { ONE_ADDRESS, APART, UNKNOWN } spread;

static spread address_spread(const rw_body *b, uint32_t site)
{
    const flow_address *a = b->plan->addresses[site];
    int64_t step;
    if (a->value == FLOW_NONE)
        return ONE_ADDRESS;
    if (flow_level_at(b->f, a->value, rw_block_of(b->plan, b->f, site)) <= FLOW_WARP)
        return ONE_ADDRESS;
    const flow_affine *form = b->f->affine[a->value];
    flow_symbol tid = {FLOW_SYM_SREG, IR_SR_tid, 1};
    return form && flow_affine_coefficient(form, tid, &step) && step != 0 ? APART : UNKNOWN;
}

bool rw_counts_lanes(const rw_body *b, uint32_t site)
{
    return address_spread(b, site) != APART && !rw_logs(b, site, RW_LOGS_SHARED);
}

/* ---- adding ---- */

static void add_together(rw_body *b, unsigned n, rw_reg counter, rw_reg counted)
{
    rw_reg lanes = rw_get(b, popc_b32, b->warp.mask);
    rw_reg adds = rw_get(b, and_pred, counted, b->warp.leads);
    rw_add_to_each(b, n, counter, adds, lanes);
}

/* Into `to`: all lanes that access memory have the address of their first. */
static void compare_lanes(rw_body *b, rw_reg to)
{
    rw_reg low = rw_temp(b, RW_B32), high = rw_temp(b, RW_B32);
    rw_do(b, mov_b64__split, low, high, b->address);
    rw_reg differs = rw_get(b, setp_ne_u32, rw_of_leader(b, low), low);
    rw_reg leads = rw_of_leader(b, high);
    rw_do(b, setp_ne_or_u32, differs, leads, high, differs);
    rw_reg lanes = rw_get(b, vote_sync_ballot_b32, differs, b->warp.active);
    rw_do(b, and_b32, lanes, lanes, b->warp.mask);
    rw_do(b, setp_eq_u32, to, lanes, rw_number(0));
}

/* Compares, unless an access from the same base in the same basic block has. */
static rw_reg have_one_address(rw_body *b, uint32_t site)
{
    rw_shared_code *s = &b->shared;
    bool keeps = !rw_is_some(b->guard) && !(b->plan->sites[site].flags & ACC_GENERIC);
    uint32_t value = b->plan->addresses[site]->value, n = s->next;
    for (uint32_t i = 0; keeps && i < RW_COMPARED; i++)
        if (s->compared[i] == value)
            return s->one[i];
    compare_lanes(b, s->one[n]);
    s->compared[n] = keeps ? value : FLOW_NONE;
    s->next = (n + 1) % RW_COMPARED;
    return s->one[n];
}

void rw_count(rw_body *b, uint32_t site, rw_reg counter, rw_reg counted)
{
    unsigned n = rw_elements(&b->plan->sites[site]);
    spread s = address_spread(b, site);
    rw_label together = rw_new_label(b, "together"), done = rw_new_label(b, "counted");
    if (rw_logs(b, site, RW_LOGS_SHARED)) {
        rw_add_to_each(b, n, counter, rw_log_counters(b, n, counter, counted), rw_number(1));
        return;
    }
    if (s == ONE_ADDRESS) {
        add_together(b, n, counter, counted);
        return;
    }
    if (s == UNKNOWN)
        rw_goto_if(b, have_one_address(b, site), together);
    rw_add_to_each(b, n, counter, counted, rw_number(1));
    if (s == UNKNOWN) {
        rw_goto(b, done);
        rw_put_label(b, together);
        add_together(b, n, counter, counted);
        rw_put_label(b, done);
    }
}

static void declare_compared(rw_body *b)
{
    for (uint32_t i = 0; i < RW_COMPARED; i++)
        b->shared.one[i] = rw_declare(b, RW_PRED, "one", i);
}

const rw_emitter rw_emitter_counts = {.probes = 1u << REWRITE_SHARED, .declare = declare_compared};
