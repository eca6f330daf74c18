/* The object that a lane's address lies in, for objects, touch and frequency.
 *
 * Needs: the address and the guard of the site, the pass slots. Keeps: everything. Accesses through
 * one parameter, and of one class where that matters, share a *slot*: the range that the parameter
 * points into, which the host knows and gives with the hidden parameter, so that nothing is loaded.
 * Accesses through other pointers share a slot a class, registers that keep the range that was
 * found last. A lane whose address lies elsewhere searches the table of ranges (search.c), and has
 * counted and marked there when it comes back. Ranges in slots begin at multiples of 128, where
 * elements are concerned: there a word of a bitmap and a line begin, too. Accesses of touch and
 * frequency wait for the end of their basic block (deferred.c). */
#include "rewrite/code/body.h"

#include "rewrite/elements/deferred.h"

#include <stddef.h>

static const uint32_t elements = 1u << REWRITE_TOUCH | 1u << REWRITE_FREQUENCY;

bool rw_is_given(const rw_body *b, uint32_t slot)
{
    return b->plan->elements->slots[slot].param != IR_NONE;
}

/* ---- registers ---- */

static void declare_slot(rw_body *b, uint32_t i)
{
    rw_slot_registers *s = &b->elements.slot[i];
    s->base = rw_declare(b, RW_B64, "base", i);
    s->size = rw_declare(b, RW_B64, "size", i);
    s->bits = rw_declare(b, RW_B64, "bits", i);
    s->counts = rw_declare(b, RW_B64, "counts", i);
    s->lines = rw_declare(b, RW_B64, "lines", i);
}

static void declare_ranges(rw_body *b)
{
    rw_element_code *e = &b->elements;
    if (!b->plan->elements->nslots)
        return;
    e->rows = rw_declare(b, RW_PRED, "rows", IR_NONE);
    e->begins = rw_declare(b, RW_PRED, "begins", IR_NONE);
    e->lane4 = rw_declare(b, RW_B32, "lane4", IR_NONE);
    for (uint32_t i = 0; b->probes & elements && i < RW_DEFERRED; i++)
        e->kept[i] = rw_declare(b, RW_B64, "k", i);
    for (uint32_t i = 0; i < b->plan->elements->nslots; i++)
        declare_slot(b, i);
}

/* ---- where the copy begins ---- */

/* The kernel finds slots in its parameter, other functions where the host left them in the state,
 * too. */
static void enter_slot(rw_body *b, uint32_t slot)
{
    const rw_slot_registers *s = &b->elements.slot[slot];
    const struct {
        rw_reg reg;
        size_t at;
    } parts[] = {{s->base, offsetof(rewrite_slot, base)},
                 {s->size, offsetof(rewrite_slot, size)},
                 {s->bits, offsetof(rewrite_slot, bits)},
                 {s->counts, offsetof(rewrite_slot, counts)},
                 {s->lines, offsetof(rewrite_slot, lines)}};
    for (unsigned i = 0; i < sizeof parts / sizeof *parts; i++) {
        size_t at = slot * sizeof(rewrite_slot) + parts[i].at;
        if (!rw_is_given(b, slot))
            rw_do(b, mov_u64, parts[i].reg, rw_number(0));
        else if (b->index == 0)
            rw_do(b, ld_param_u64, parts[i].reg, rw_in_param(offsetof(rewrite_param, slot) + at));
        else
            rw_do(b, ld_global_u64, parts[i].reg,
                  rw_at(b->state, (int64_t)(offsetof(rewrite_state, slot) + at)));
    }
}

/* Counters that are spread (layout.h) are those of the multiprocessor's copy. */
static void use_copy_of_counters(rw_body *b, uint32_t slot)
{
    const rw_slot_registers *s = &b->elements.slot[slot];
    size_t at = slot * sizeof(rewrite_slot) + offsetof(rewrite_slot, spread);
    if (!rw_has(b, REWRITE_FREQUENCY) || !rw_is_given(b, slot) ||
        !b->plan->elements->contended[slot])
        return;
    rw_reg spread = rw_temp(b, RW_B32);
    if (b->index == 0)
        rw_do(b, ld_param_u32, spread, rw_in_param(offsetof(rewrite_param, slot) + at));
    else
        rw_do(b, ld_global_u32, spread,
              rw_at(b->state, (int64_t)(offsetof(rewrite_state, slot) + at)));
    rw_reg copy = rw_copy_number(b, REWRITE_SPREAD);
    rw_do(b, mad_wide_u32, s->counts, copy, spread, s->counts);
    rw_do(b, mad_wide_u32, s->lines, copy, spread, s->lines);
}

static rw_reg or_index(rw_body *b, rw_reg any, const char *sreg)
{
    rw_reg index = rw_get(b, mov_u32, rw_sreg(sreg));
    rw_do(b, or_b32, any, any, index);
    return any;
}

/* Fills begins, rows and lane4. */
static void enter_rows(rw_body *b)
{
    const rw_element_code *e = &b->elements;
    rw_reg any = rw_get(b, mov_u32, rw_sreg("%tid.x"));
    any = or_index(b, any, "%tid.y");
    any = or_index(b, any, "%tid.z");
    rw_do(b, setp_eq_u32, e->begins, any, rw_number(0));
    rw_reg ny = rw_get(b, mov_u32, rw_sreg("%ntid.y")), nz = rw_get(b, mov_u32, rw_sreg("%ntid.z"));
    rw_reg rows = rw_get(b, mul_lo_u32, ny, nz);
    rw_reg one = rw_get(b, setp_eq_u32, rows, rw_number(1));
    rw_reg nx = rw_get(b, mov_u32, rw_sreg("%ntid.x"));
    rw_do(b, and_b32, nx, nx, rw_number(31));
    rw_do(b, setp_eq_or_u32, e->rows, nx, rw_number(0), one);
    rw_do(b, shl_b32, e->lane4, b->lane, rw_number(2));
    rw_do(b, selp_b32, e->lane4, e->lane4, rw_number(-1), e->rows);
}

static void enter_ranges(rw_body *b)
{
    if (!b->plan->elements->nslots)
        return;
    for (uint32_t i = 0; i < b->plan->elements->nslots; i++)
        enter_slot(b, i);
    for (uint32_t i = 0; i < b->plan->elements->nslots; i++)
        use_copy_of_counters(b, i);
    if (b->probes & elements)
        enter_rows(b);
}

/* ---- at an access ---- */

/* The condition under which the lane accesses global memory. */
static rw_opd valid_lanes(rw_body *b, uint32_t site, rw_reg address)
{
    if (!(b->plan->sites[site].flags & ACC_GENERIC))
        return b->guard;
    rw_reg valid = rw_temp(b, RW_PRED);
    rw_compare(b, RW_I_setp_lt_u64, RW_I_setp_lt_and_u64, valid, address,
               rw_number((int64_t)REWRITE_TAG_SHARED), b->guard);
    return valid;
}

void rw_find_lanes_in(rw_body *b, uint32_t site, rw_reg address, rw_found *found)
{
    uint32_t slot = b->plan->elements->slot_of[site];
    rw_opd valid = valid_lanes(b, site, address), size = b->elements.slot[slot].size;
    found->in = rw_temp(b, RW_PRED);
    if (!rw_is_some(found->out))
        found->out = rw_temp(b, RW_PRED);
    if (rw_is_some(valid))
        rw_do(b, setp_lt_and_u64__both, found->in, found->out, found->at, size, valid);
    else
        rw_do(b, setp_lt_u64__both, found->in, found->out, found->at, size);
}

/* Of the probe objects alone: nothing is noted where the lane is in its slot's range. */
static void look_up(rw_body *b, uint32_t site)
{
    uint32_t slot = b->plan->elements->slot_of[site];
    rw_label done = rw_new_label(b, "known");
    rw_found found = {.at = rw_get(b, sub_s64, b->address, b->elements.slot[slot].base)};
    rw_find_lanes_in(b, site, b->address, &found);
    rw_goto_if(b, rw_not(found.out), done);
    rw_look_elsewhere(b, site, b->address);
    rw_put_label(b, done);
}

static void note_access(rw_body *b, uint32_t site)
{
    if (b->probes & elements)
        rw_defer(b, site);
    else if (b->plan->elements->slot_of[site] != IR_NONE && !rw_is_in_walk(b->plan, site))
        look_up(b, site);
}

const rw_emitter rw_emitter_ranges = {.probes = elements | 1u << REWRITE_OBJECTS,
                                      .declare = declare_ranges,
                                      .enter = enter_ranges,
                                      .access = note_access,
                                      .finish = rw_finish_block,
                                      .scope = rw_finish_scope};
