/* Accesses that wait for the end of their basic block: code between them would keep the compiler
 * from moving one before another, as it does to wait for several at once. */
#include "rewrite/elements/deferred.h"

/* ---- which accesses wait ---- */

/* Does the site wait? What is noted after its loop, or by another site, does not. */
static bool is_deferred(const rw_body *b, uint32_t site)
{
    const rw_element_plan *e = b->plan->elements;
    return e->slot_of[site] != IR_NONE && !rw_is_in_walk(b->plan, site) &&
           !(rw_marks(b) && e->merges[site].head != site);
}

static uint32_t deferred_in(const rw_body *b, uint32_t block)
{
    uint32_t first = b->f->first_pc + b->f->blocks[block].first, n = 0;
    uint32_t end = b->plan->site_first[first + b->f->blocks[block].count];
    for (uint32_t s = b->plan->site_first[first]; s < end; s++)
        n += is_deferred(b, s);
    return n;
}

static bool has_base(const rw_body *b, uint32_t site)
{
    const flow_address *a = b->plan->addresses[site];
    return a->value != FLOW_NONE && !(b->plan->sites[site].flags & ACC_GENERIC) &&
           ir_type_get(b->func->regs[a->operand->reg].type)->bits == 64;
}

/* What was deferred from the same base as the site; NULL: nothing. */
static const rw_deferred *find_base(const rw_body *b, uint32_t site)
{
    for (uint32_t i = 0; i < b->elements.ndeferred && has_base(b, site); i++) {
        const rw_deferred *d = &b->elements.deferred[i];
        if (d->base == i && !d->guarded && has_base(b, d->site) &&
            b->plan->addresses[d->site]->value == b->plan->addresses[site]->value)
            return d;
    }
    return NULL;
}

/* Atomics whose result is waited for are no instructions with guards. */
static bool has_atomic(const rw_body *b, uint32_t block)
{
    const flow_block *f = &b->f->blocks[block];
    for (uint32_t i = f->first; i < f->first + f->count; i++)
        if (b->f->func->insns[i].op == IR_atom)
            return true;
    return false;
}

enum { MOST_CARRIED = 8 /* of sixteen */ };

/* Is the block gone around by a branch of the one before, so that what is deferred in it waits for
 * what follows? */
static bool is_carried(const rw_body *b, uint32_t block)
{
    uint32_t first = b->f->graph.pred_first[block];
    if (b->f->graph.pred_first[block + 1] - first != 1)
        return false;
    uint32_t from = b->f->graph.pred[first];
    return from < b->f->nblocks && rw_body_of_if(b->f, from) == block && !has_atomic(b, block) &&
           deferred_in(b, block) <= MOST_CARRIED;
}

static bool is_in_if(const rw_body *b, uint32_t site)
{
    return is_carried(b, rw_block_of(b->plan, b->f, site));
}

/* ---- deferring ---- */

static rw_deferred describe_deferred(const rw_body *b, uint32_t site, uint32_t number)
{
    const rw_merge *merge = &b->plan->elements->merges[site];
    rw_deferred d = {.site = site,
                     .base = number,
                     .elements = rw_elements(&b->plan->sites[site]),
                     .guarded = rw_is_some(b->guard) || is_in_if(b, site)};
    if (rw_marks(b) && merge->high > merge->low) {
        d.joined = merge->high - merge->low > 4 * (int64_t)d.elements;
        d.elements = (uint32_t)((merge->high - merge->low) / 4);
        d.offset = merge->low - rw_offset_of(b->plan, site);
    }
    return d;
}

/* Lanes that do not access memory keep what no address is. */
static void keep_address(rw_body *b, rw_reg to)
{
    if (!rw_is_some(b->guard))
        rw_do(b, mov_b64, to, b->address);
    else if (b->guard.negated)
        rw_do(b, selp_b64, to, rw_number(-1), b->address, rw_not(b->guard));
    else
        rw_do(b, selp_b64, to, b->address, rw_number(-1), b->guard);
}

/* Notes what waits. */
static void note_deferred(rw_body *b)
{
    uint32_t n = b->elements.ndeferred;
    const rw_opd guard = b->guard; /* of an access that is still to be noted, perhaps */
    b->elements.ndeferred = 0;
    if (n && rw_marks(b))
        rw_mark_all_deferred(b, n);
    for (uint32_t i = 0; i < n && !rw_marks(b); i++)
        rw_count_deferred(b, &b->elements.deferred[i]);
    b->guard = guard;
}

void rw_defer(rw_body *b, uint32_t site)
{
    rw_element_code *e = &b->elements;
    if (!is_deferred(b, site))
        return;
    if (e->ndeferred == RW_DEFERRED)
        note_deferred(b);
    uint32_t n = e->ndeferred;
    rw_deferred d = describe_deferred(b, site, n);
    const rw_deferred *base = d.guarded ? NULL : find_base(b, site);
    if (base) {
        d.base = base->base;
        d.offset += rw_offset_of(b->plan, site) - rw_offset_of(b->plan, base->site);
    } else {
        keep_address(b, e->kept[n]);
    }
    e->deferred[e->ndeferred++] = d;
}

/* ---- finding what was deferred ---- */

/* The address of what was deferred. */
static rw_reg address_of_deferred(rw_body *b, const rw_deferred *d)
{
    return rw_get(b, add_s64, b->elements.kept[d->base], rw_number(d->offset));
}

/* The lanes that access memory keep an address. */
static void find_guard(rw_body *b, const rw_deferred *d)
{
    b->guard = (rw_opd){0};
    if (!d->guarded)
        return;
    rw_reg low = rw_temp(b, RW_B32), high = rw_temp(b, RW_B32);
    rw_do(b, mov_b64__split, low, high, b->elements.kept[d->base]);
    b->guard = rw_get(b, setp_ne_u32, high, rw_number(-1));
}

rw_found rw_find_deferred(rw_body *b, const rw_deferred *d, const rw_deferred *before, rw_reg *from,
                          rw_reg out)
{
    const rw_element_plan *p = b->plan->elements;
    uint32_t slot = p->slot_of[d->site];
    const rw_slot_registers *s = &b->elements.slot[slot];
    rw_reg address = {0};
    rw_found found = {.out = out};
    find_guard(b, d);
    if (b->plan->sites[d->site].flags & ACC_GENERIC)
        address = address_of_deferred(b, d);
    if (!before || before->base != d->base || p->slot_of[before->site] != slot)
        *from = rw_get(b, sub_s64, b->elements.kept[d->base], s->base);
    found.at = rw_get(b, add_s64, *from, rw_number(d->offset));
    rw_find_lanes_in(b, d->site, address, &found);
    if (d->joined) { /* all of it */
        rw_reg last = rw_get(b, add_s64, found.at, rw_number(4 * ((int64_t)d->elements - 1)));
        rw_reg beyond = rw_temp(b, RW_PRED);
        rw_do(b, setp_lt_and_u64__both, found.in, beyond, last, s->size, found.in);
        rw_do(b, or_pred, found.out, found.out, beyond);
    }
    return found;
}

void rw_note_elsewhere(rw_body *b, const rw_deferred *d, rw_reg out)
{
    rw_label done = rw_new_label(b, "known");
    rw_goto_if(b, rw_not(out), done);
    rw_look_elsewhere(b, d->site, address_of_deferred(b, d));
    rw_put_label(b, done);
}

/* ---- code that is seldom run ---- */

ptx_text *rw_begin_rest(rw_body *b, rw_label rest)
{
    ptx_text *out = b->out;
    if (b->depth == 0)
        b->out = b->rest;
    rw_put_label(b, rest);
    return out;
}

void rw_end_rest(rw_body *b, rw_label noted, ptx_text *out)
{
    if (b->depth == 0)
        rw_goto(b, noted);
    b->out = out;
    rw_put_label(b, noted);
}

/* ---- where blocks end ---- */

/* Room for what is deferred in the block that the branch goes around: where it does, the registers
 * say that nothing is accessed. */
static void make_room_for_body(rw_body *b, uint32_t body)
{
    uint32_t n = deferred_in(b, body);
    if (b->elements.ndeferred + n > MOST_CARRIED)
        note_deferred(b);
    for (uint32_t i = 0; i < n; i++)
        rw_do(b, mov_b64, b->elements.kept[b->elements.ndeferred + i], rw_number(-1));
}

/* Blocks that a branch goes around are as short as an access or two, as a rule, and the compiler
 * makes instructions with guards of them. So what they access is noted where the ways have met,
 * after all that follow each other so. */
void rw_finish_block(rw_body *b, uint32_t insn)
{
    uint32_t block = b->f->block_of[insn], body = rw_body_of_if(b->f, block);
    bool last = insn == b->f->blocks[block].first + b->f->blocks[block].count - 1;
    bool defers = last && (rw_has(b, REWRITE_TOUCH) || rw_has(b, REWRITE_FREQUENCY));
    if (defers && is_carried(b, block))
        return;
    if (defers && body != FLOW_NONE && deferred_in(b, body) && is_carried(b, body))
        make_room_for_body(b, body);
    else
        note_deferred(b);
}

/* Calls, which need their arguments side by side, are in scopes, but not in blocks that wait for
 * others. */
void rw_finish_scope(rw_body *b)
{
    const rw_element_code *e = &b->elements;
    const rw_deferred *last = e->ndeferred ? &e->deferred[e->ndeferred - 1] : NULL;
    bool waits = last && last->guarded && is_in_if(b, last->site);
    if (!waits)
        note_deferred(b);
}
