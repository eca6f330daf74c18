/* Reading what touch and frequency left, all elements of an object at once.
 *
 * Elements of tables count from the object's begin rounded down to a line; a walk's table says of
 * an element something about later ones, a step apart, so that what was said is kept for one step
 * in a ring. */
#include "rewrite/plan/plan.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

enum { LINE = 32 /* elements */ };

typedef struct counters { /* of one class */
    const uint32_t *elements, *lines;
    uint64_t copies, apart; /* words from one copy to the next */
} counters;

typedef struct marks { /* either says that an element is marked */
    const uint8_t *bytes;
    const uint32_t *bits;
} marks;

typedef struct walk {
    const uint32_t *counts;
    marks marks; /* in place of them */
    unsigned class_;
    uint64_t step; /* elements */
    uint32_t turns;
    uint32_t *ring; /* [step]: the sum so far, or turns that are left */
} walk;

typedef struct reading {
    const rewrite_copy *copy;
    bool counted; /* there are counters, else marks */
    rewrite_range range;
    uint64_t elements, skipped; /* of the tables; before the object's first */
    counters counts[REWRITE_CLASSES];
    marks marks;
    walk walks[REWRITE_WALKS];
    uint32_t nwalks;
} reading;

/* ---- tables ---- */

static bool find_nonempty_range(const rewrite_copy *c, uint32_t object, rewrite_range *out)
{
    uint64_t at = c->layout->ranges_at + sizeof *out * (uint64_t)object;
    if (object >= c->layout->nranges || at > c->size || c->size - at < sizeof *out)
        return false;
    memcpy(out, (const char *)c->state + at, sizeof *out);
    return out->bytes > 0;
}

/* `bytes` of the copy at what the kernel knows by a device address; NULL where they are not
 * there. */
static const void *bytes_at(const rewrite_copy *c, uint64_t address, uint64_t bytes, uint64_t align)
{
    const rewrite_state *state = c->state;
    uint64_t at = address - (state->ranges - c->layout->ranges_at);
    bool there = address && at % align == 0 && at <= c->size && c->size - at >= bytes;
    return there ? (const char *)c->state + at : NULL;
}

static counters find_class_counters(const reading *r, unsigned class_)
{
    const rewrite_range *range = &r->range;
    counters found = {.copies = range->spread ? REWRITE_SPREAD : 1, .apart = range->spread / 4};
    uint64_t others = (found.copies - 1) * found.apart;
    found.elements = bytes_at(r->copy, range->counts[class_], 4 * (r->elements + others), 4);
    found.lines = bytes_at(r->copy, range->lines[class_], 4 * (r->elements / LINE + others), 4);
    return found;
}

/* Those at the address, and their bitmap, which lies as far after the range's as the marks do, by
 * bits; where the copy was made without marks, bitmaps say all. (What the layout says of marks
 * depends on pointers, which readers need not know.) */
static marks find_marks(const reading *r, uint64_t address)
{
    uint64_t first = r->range.lines[0], distance = address - first;
    if (!address || !r->range.bits || address < first)
        return (marks){NULL, NULL};
    return (marks){bytes_at(r->copy, address, r->elements, 1),
                   bytes_at(r->copy, r->range.bits + distance / 8, r->elements / 8, 4)};
}

static bool is_element_marked(const marks *m, uint64_t element)
{
    return (m->bytes && m->bytes[element]) ||
           (m->bits && m->bits[element / 32] >> element % 32 & 1);
}

static void find_object_tables(reading *r)
{
    for (unsigned k = 0; r->counted && k < REWRITE_CLASSES; k++)
        r->counts[k] = find_class_counters(r, k);
    if (!r->counted)
        r->marks = find_marks(r, r->range.lines[0]);
}

static void find_walk(reading *r, uint32_t object, uint32_t number)
{
    const rewrite_walk *w = &((const rewrite_state *)r->copy->state)->walk[number];
    walk *to = &r->walks[r->nwalks];
    if (w->object != object)
        return;
    *to = (walk){.class_ = r->copy->kernel->slots[r->copy->kernel->walks[number].slot].class_,
                 .step = (r->counted ? w->step : w->shape >> 32) / 4,
                 .turns = (uint32_t)w->shape};
    if (r->counted)
        to->counts = bytes_at(r->copy, w->counts, 4 * r->elements, 4);
    else
        to->marks = find_marks(r, w->marks);
    if (!to->step || (!to->counts && !to->marks.bytes && !to->marks.bits))
        return;
    to->step = to->step < r->elements ? to->step : r->elements;
    r->nwalks++;
}

static bool begin_reading(reading *r, const rewrite_copy *c, uint32_t object)
{
    *r = (reading){.copy = c, .counted = rewrite_has_probe(c->kernel, REWRITE_FREQUENCY)};
    if (c->size < sizeof(rewrite_state) || !find_nonempty_range(c, object, &r->range))
        return false;
    const rewrite_range *range = &r->range;
    r->skipped = (range->base & 127) / 4;
    r->elements = ((range->base + range->bytes - 1) / 128 - range->base / 128 + 1) * LINE;
    find_object_tables(r);
    for (uint32_t i = 0; i < c->kernel->nwalks; i++)
        find_walk(r, object, i);
    return true;
}

static bool make_rings(reading *r)
{
    bool all = true;
    for (uint32_t i = 0; i < r->nwalks; i++)
        all = (r->walks[i].ring = calloc(r->walks[i].step, sizeof(uint32_t))) && all;
    return all;
}

/* ---- elements ---- */

static uint32_t count_in_copies(const counters *c, uint64_t element)
{
    uint32_t count = 0;
    for (uint64_t i = 0; i < c->copies; i++) {
        count += c->elements ? c->elements[i * c->apart + element] : 0;
        count += c->lines ? c->lines[i * c->apart + element / LINE] : 0;
    }
    return count;
}

static void count_element(reading *r, uint64_t element, wl_span *span)
{
    uint32_t times[REWRITE_CLASSES], any = 0;
    for (unsigned k = 0; k < REWRITE_CLASSES; k++)
        times[k] = count_in_copies(&r->counts[k], element);
    for (uint32_t i = 0; i < r->nwalks; i++) {
        walk *w = &r->walks[i];
        times[w->class_] += w->ring[element % w->step] += w->counts[element];
    }
    for (unsigned k = 0; k < REWRITE_CLASSES; k++)
        any |= span->times[k] = times[k];
    span->count = any != 0;
}

static bool is_touched(reading *r, uint64_t element)
{
    bool touched = is_element_marked(&r->marks, element);
    for (uint32_t i = 0; i < r->nwalks; i++) {
        walk *w = &r->walks[i];
        uint32_t *left = &w->ring[element % w->step];
        *left = is_element_marked(&w->marks, element) ? w->turns : *left ? *left - 1 : 0;
        touched |= *left > 0;
    }
    return touched;
}

wl_status rewrite_read_elements(const rewrite_copy *c, uint32_t object, wl_spans *out)
{
    reading r;
    if (!begin_reading(&r, c, object))
        return WL_OK;
    bool good = make_rings(&r);
    uint64_t end = ((r.range.base & 127) + r.range.bytes + 3) / 4;
    for (uint64_t e = 0; good && e < end; e++) {
        wl_span span = {.first = e - r.skipped};
        if (r.counted)
            count_element(&r, e, &span);
        else
            span.count = is_touched(&r, e);
        if (e >= r.skipped)
            wl_spans_add(out, &span);
    }
    for (uint32_t i = 0; i < r.nwalks; i++)
        free(r.walks[i].ring);
    return good && wl_spans_finish(out) ? WL_OK : WL_NOMEM;
}

bool rewrite_knows_elements(const rewrite_copy *c, uint32_t object)
{
    rewrite_range r;
    bool counted = rewrite_has_probe(c->kernel, REWRITE_FREQUENCY);
    if (!find_nonempty_range(c, object, &r))
        return false;
    bool all = true;
    for (uint32_t i = 0; i < c->kernel->nslots; i++)
        all = all && (counted ? r.counts[c->kernel->slots[i].class_] : r.bits);
    return all || rewrite_missed(c) == 0;
}
