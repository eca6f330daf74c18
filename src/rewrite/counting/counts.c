/* What frequency and shared have in common: adding to counters of elements, a u32 for each class and element. Counts are exact.
 *
 * Where all lanes have one address, one of them adds their number: flow proves it (thread-invariant), or a shuffle and a vote
 * find it out; where flow has the address as a form in which %tid.x stands, lanes are apart, and each adds for itself. */
#include "rewrite/code/body.h"

#include "flow/affine.h"

#include <stdio.h>

/* ---- shapes ---- */

typedef enum shape { ONE_ADDRESS, APART, UNKNOWN } shape;

static shape shape_of(const rw_body *b, uint32_t site)
{
    const flow_address *a = b->plan->addresses[site];
    uint32_t i = b->plan->sites[site].pc - b->f->first_pc;
    int64_t step;
    if (a->value == FLOW_NONE)
        return ONE_ADDRESS;
    if (flow_level_at(b->f, a->value, b->f->block_of[i]) <= FLOW_WARP)
        return ONE_ADDRESS;
    const flow_affine *form = b->f->affine[a->value];
    flow_symbol tid = {FLOW_SYM_SREG, IR_SR_tid, 1};
    return form && flow_affine_coefficient(form, tid, &step) && step != 0 ? APART : UNKNOWN;
}

bool rw_counts_lanes(const rw_body *b, uint32_t site)
{
    return shape_of(b, site) != APART;
}

/* ---- adding ---- */

static void add(rw_body *b, unsigned n, const char *guard, const char *amount)
{
    for (unsigned e = 0; e < n; e++)
        rw_line(b, "@%s red.global.add.u32 [__wl_x+%u], %s;", guard, 4 * e, amount);
}

static void add_together(rw_body *b, unsigned n)
{
    rw_text(b, "\tpopc.b32 __wl_t, __wl_mask;\n"
               "\tand.pred __wl_p, __wl_counted, __wl_leads;\n");
    add(b, n, "__wl_p", "__wl_t");
}

/* The predicate `to`: all lanes that access memory have the address of their first. */
static void compare(rw_body *b, const char *to)
{
    rw_text(b, "\tmov.b64 {__wl_lo, __wl_hi}, __wl_a;\n"
               "\tshfl.sync.idx.b32 __wl_t, __wl_lo, __wl_lead, 31, __wl_active;\n"
               "\tsetp.ne.u32 __wl_p, __wl_t, __wl_lo;\n"
               "\tshfl.sync.idx.b32 __wl_t, __wl_hi, __wl_lead, 31, __wl_active;\n"
               "\tsetp.ne.or.u32 __wl_p, __wl_t, __wl_hi, __wl_p;\n"
               "\tvote.sync.ballot.b32 __wl_t, __wl_p, __wl_active;\n"
               "\tand.b32 __wl_t, __wl_t, __wl_mask;\n");
    rw_line(b, "setp.eq.u32 %s, __wl_t, 0;", to);
}

/* Compares, unless an access from the same base in the same basic block has; n of __wl_one<n>, which tells. */
static uint32_t compared(rw_body *b, uint32_t site)
{
    bool keeps = !*b->guard.text && !(b->plan->sites[site].flags & REWRITE_GENERIC);
    uint32_t value = b->plan->addresses[site]->value, n = b->next_shape;
    for (uint32_t i = 0; keeps && i < RW_SHAPES; i++)
        if (b->shapes[i] == value)
            return i;
    char name[16];
    snprintf(name, sizeof name, "__wl_one%u", n);
    compare(b, name);
    b->shapes[n] = keeps ? value : FLOW_NONE;
    b->next_shape = (n + 1) % RW_SHAPES;
    return n;
}

void rw_count(rw_body *b, uint32_t site)
{
    unsigned n = rw_elements(&b->plan->sites[site]);
    shape s = shape_of(b, site);
    uint32_t label = (*b->labels)++;
    if (s == ONE_ADDRESS) {
        add_together(b, n);
        return;
    }
    if (s == UNKNOWN) {
        rw_line(b, "@__wl_one%u bra $__wl_together%u;", compared(b, site), label);
    }
    add(b, n, "__wl_counted", "1");
    if (s == UNKNOWN) {
        rw_line(b, "bra $__wl_counted%u;", label);
        ptx_putf(b->out, "$__wl_together%u:\n", label);
        add_together(b, n);
        ptx_putf(b->out, "$__wl_counted%u:\n", label);
    }
}

static void declare(rw_body *b)
{
    rw_text(b, "\t.reg .pred __wl_counted, __wl_one0, __wl_one1;\n");
}

const rw_emitter rw_counted_emitter = {.probes = 1u << REWRITE_SHARED, .declare = declare};
