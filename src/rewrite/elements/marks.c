/* touch: marking all that was deferred, also what is in no slot that the host gives. */
#include "rewrite/elements/deferred.h"

#include <stddef.h>

/* The access whose turn it is, in registers: code for each of them would seldom be run, and takes
 * registers. */
typedef struct turn {
    rw_reg number;
    rw_reg address, out; /* of the access; it is elsewhere */
    rw_reg elements;
    rw_reg lost; /* where to search is known to be in vain */
} turn;

/* Fills `t` with what is deferred as number i and goes to `chosen`, if that is the turn. */
static void choose_deferred(rw_body *b, uint32_t i, uint32_t n, const turn *t, rw_label chosen)
{
    const rw_deferred *d = &b->elements.deferred[i];
    const rw_deferred looked_at = rw_find_in_step(b, i, n);
    const rw_temps temps = rw_temps_now(b);
    rw_label other = rw_new_label(b, "other");
    rw_reg base = b->elements.slot[b->plan->elements->slot_of[d->site]].base, from;
    rw_goto_if(b, rw_get(b, setp_ne_u32, t->number, rw_number(i)), other);
    rw_find_deferred(b, &looked_at, NULL, &from, t->out);
    rw_do(b, add_s64, t->address, b->elements.kept[d->base], rw_number(d->offset));
    rw_do(b, mov_u32, t->elements, rw_number(d->elements));
    rw_do(b, setp_eq_u64, t->lost, base, rw_number(-1));
    rw_goto(b, chosen);
    rw_put_label(b, other);
    rw_temps_back(b, &temps);
}

/* Marks the element at the address, wherever it lies. */
static void mark_element(rw_body *b, const turn *t)
{
    rw_label none = rw_new_label(b, "none"), marked = rw_new_label(b, "marked");
    rw_goto_if(b, t->lost, none);
    rw_range_registers r = rw_search_range(b, t->address, none);
    rw_reg line = rw_get(b, and_b64, r.base, rw_number(-128));
    rw_reg at = rw_get(b, sub_s64, t->address, line);
    rw_do(b, shr_u64, at, at, rw_number(2));
    rw_reg marks = rw_load_table(b, r.range, offsetof(rewrite_range, lines), none);
    rw_do(b, add_s64, marks, marks, at);
    rw_do(b, st_global_u8, rw_at(marks, 0), rw_number(1));
    rw_goto(b, marked);
    rw_put_label(b, none);
    rw_miss(b);
    rw_put_label(b, marked);
}

static void mark_elements(rw_body *b, const turn *t, rw_label done)
{
    rw_label each = rw_new_label(b, "each");
    rw_goto_if(b, rw_not(t->out), done);
    rw_put_label(b, each);
    mark_element(b, t);
    rw_do(b, add_s64, t->address, t->address, rw_number(4));
    rw_do(b, sub_u32, t->elements, t->elements, rw_number(1));
    rw_goto_if(b, rw_get(b, setp_ne_u32, t->elements, rw_number(0)), each);
}

/* Of the n accesses that were deferred those elsewhere, one after the other. */
static void mark_elsewhere(rw_body *b, uint32_t n)
{
    rw_label again = rw_new_label(b, "again"), chosen = rw_new_label(b, "chosen"),
             done = rw_new_label(b, "found");
    turn t = {.number = rw_temp(b, RW_B32),
              .address = rw_temp(b, RW_B64),
              .out = rw_temp(b, RW_PRED),
              .elements = rw_temp(b, RW_B32),
              .lost = rw_temp(b, RW_PRED)};
    rw_do(b, mov_u32, t.number, rw_number(0));
    rw_put_label(b, again);
    for (uint32_t i = 0; i < n; i++)
        if (rw_is_given(b, b->plan->elements->slot_of[b->elements.deferred[i].site]))
            choose_deferred(b, i, n, &t, chosen);
    rw_goto(b, done);
    rw_put_label(b, chosen);
    mark_elements(b, &t, done);
    rw_put_label(b, done);
    rw_do(b, add_u32, t.number, t.number, rw_number(1));
    rw_goto_if(b, rw_get(b, setp_lt_u32, t.number, rw_number(n)), again);
}

/* And those in slots whose ranges are found at run time. */
static void mark_found(rw_body *b, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++) {
        const rw_deferred *d = &b->elements.deferred[i];
        const rw_temps temps = rw_temps_now(b);
        uint32_t slot = b->plan->elements->slot_of[d->site];
        rw_reg from;
        if (rw_is_given(b, slot))
            continue;
        rw_found found = rw_find_deferred(b, d, NULL, &from, (rw_reg){0});
        rw_mark(b, d->elements, b->elements.slot[slot].lines, found.at, found.in, (rw_opd){0});
        rw_note_elsewhere(b, d, found.out);
        rw_temps_back(b, &temps);
    }
}

void rw_mark_all_deferred(rw_body *b, uint32_t n)
{
    const rw_temps temps = rw_temps_now(b);
    rw_label rest = rw_new_label(b, "rest"), noted = rw_new_label(b, "noted");
    rw_reg missed = rw_nowhere(b), unlogged = rw_get(b, mov_pred, missed);
    uint32_t last = rw_mark_deferred(b, n, missed, unlogged);
    rw_reg some = rw_get(b, or_pred, missed, unlogged);
    if (b->depth == 0)
        rw_goto_if(b, some, rest);
    else
        rw_goto_if(b, rw_not(some), noted);
    ptx_text *out = rw_begin_rest(b, rest);
    rw_mark_unlogged(b, last, n, unlogged);
    rw_goto_if(b, rw_not(missed), noted);
    mark_elsewhere(b, n);
    rw_end_rest(b, noted, out);
    rw_temps_back(b, &temps);
    mark_found(b, n);
}
