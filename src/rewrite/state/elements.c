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
    bool begun;     /* some of the ring is not zero */
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

/* ---- what is empty ---- */

/* The first line of elements from `line` on that the table may say something of, `bytes` of it for
 * each; `at` is the table's place in the state. */
static uint64_t next_line_of_table(const rewrite_copy *c, const void *table, uint64_t bytes,
                                   uint64_t line)
{
    uint64_t at = (uint64_t)((const char *)table - (const char *)c->state),
             from = at + line * bytes;
    uint64_t low = 0, high = c->nruns;
    while (low < high) { /* the first run that does not end before it */
        uint64_t middle = low + (high - low) / 2;
        if (c->runs[middle].at + c->runs[middle].bytes <= from)
            low = middle + 1;
        else
            high = middle;
    }
    if (low == c->nruns)
        return UINT64_MAX;
    return c->runs[low].at <= from ? line : (c->runs[low].at - at) / bytes;
}

static void take_earlier_line(const reading *r, const void *table, uint64_t bytes, uint64_t line,
                              uint64_t *next)
{
    uint64_t its = table && *next > line ? next_line_of_table(r->copy, table, bytes, line) : *next;
    *next = its < *next ? its : *next;
}

static void take_earlier_mark(const reading *r, const marks *m, uint64_t line, uint64_t *next)
{
    take_earlier_line(r, m->bytes, LINE, line, next);
    take_earlier_line(r, m->bits, LINE / 8, line, next);
}

/* The first line from `line` on that any table may say something of. */
static uint64_t next_line(const reading *r, uint64_t line)
{
    uint64_t next = r->copy->runs ? UINT64_MAX : line;
    for (unsigned k = 0; k < REWRITE_CLASSES; k++) {
        const counters *c = &r->counts[k];
        if (c->copies > 1)
            return line;
        take_earlier_line(r, c->elements, 4 * LINE, line, &next);
        take_earlier_line(r, c->lines, 4, line, &next);
    }
    take_earlier_mark(r, &r->marks, line, &next);
    for (uint32_t i = 0; i < r->nwalks; i++) {
        const walk *w = &r->walks[i];
        if (w->begun)
            return line;
        take_earlier_line(r, w->counts, 4 * LINE, line, &next);
        take_earlier_mark(r, &w->marks, line, &next);
    }
    return next;
}

/* ---- elements, a line at once ---- */

typedef struct line_counts { /* how often a line's elements were accessed; of marks, 1 in the first
                                row says that they were */
    uint32_t times[REWRITE_CLASSES][LINE];
} line_counts;

static void count_line(const counters *c, uint64_t number, uint32_t *times)
{
    for (uint64_t copy = 0; copy < c->copies; copy++) {
        uint32_t all = c->lines ? c->lines[copy * c->apart + number] : 0;
        const uint32_t *each = c->elements ? &c->elements[copy * c->apart + number * LINE] : NULL;
        for (int i = 0; each && i < LINE; i++)
            times[i] += each[i];
        for (int i = 0; all && i < LINE; i++)
            times[i] += all;
    }
}

/* As far as the ring goes on, and then from its begin. */
static void count_walk(walk *w, uint64_t first, uint32_t *times)
{
    for (uint64_t done = 0, n; done < LINE; done += n) {
        uint64_t at = (first + done) % w->step;
        n = w->step - at < LINE - done ? w->step - at : LINE - done;
        uint32_t any = 0;
        for (uint64_t i = 0; i < n; i++) {
            w->ring[at + i] += w->counts[first + done + i];
            any |= w->ring[at + i];
            times[done + i] += w->ring[at + i];
        }
        w->begun |= any != 0;
    }
}

static bool is_touched(reading *r, uint64_t element)
{
    bool touched = is_element_marked(&r->marks, element);
    for (uint32_t i = 0; i < r->nwalks; i++) {
        walk *w = &r->walks[i];
        uint32_t *left = &w->ring[element % w->step];
        *left = is_element_marked(&w->marks, element) ? w->turns : *left ? *left - 1 : 0;
        touched |= *left > 0;
        w->begun |= *left > 0;
    }
    return touched;
}

static void read_line(reading *r, uint64_t number, line_counts *l)
{
    *l = (line_counts){0};
    for (uint64_t i = 0; !r->counted && i < LINE; i++)
        l->times[0][i] = is_touched(r, number * LINE + i);
    for (unsigned k = 0; r->counted && k < REWRITE_CLASSES; k++)
        count_line(&r->counts[k], number, l->times[k]);
    for (uint32_t i = 0; r->counted && i < r->nwalks; i++)
        count_walk(&r->walks[i], number * LINE, l->times[r->walks[i].class_]);
}

static bool is_line_empty(const line_counts *l)
{
    uint32_t any = 0;
    for (unsigned k = 0; k < REWRITE_CLASSES; k++)
        for (int i = 0; i < LINE; i++)
            any |= l->times[k][i];
    return !any;
}

static bool are_elements_alike(const line_counts *l, uint64_t a, uint64_t b)
{
    return l->times[0][a] == l->times[0][b] && l->times[1][a] == l->times[1][b] &&
           l->times[2][a] == l->times[2][b];
}

/* Elements [from, end) of the line; `first`: its first one, counted from the object's begin. */
static void add_element_line(const line_counts *l, uint64_t from, uint64_t end, int64_t first,
                             bool counted, wl_spans *out)
{
    for (uint64_t i = from, n; i < end; i += n) {
        for (n = 1; i + n < end && are_elements_alike(l, i, i + n);)
            n++;
        wl_span span = {.first = (uint64_t)(first + (int64_t)i), .count = n};
        for (unsigned k = 0; counted && k < REWRITE_CLASSES; k++)
            span.times[k] = l->times[k][i];
        if (l->times[0][i] | l->times[1][i] | l->times[2][i])
            wl_spans_add(out, &span);
    }
}

static uint64_t end_of_elements(const reading *r)
{
    return ((r->range.base & 127) + r->range.bytes + 3) / 4;
}

static void add_lines(reading *r, uint64_t begin, uint64_t lines, wl_spans *out)
{
    uint64_t end = end_of_elements(r);
    line_counts l;
    for (uint64_t n = next_line(r, begin); n < lines; n = next_line(r, n + 1)) {
        uint64_t first = n * LINE, from = r->skipped > first ? r->skipped - first : 0;
        read_line(r, n, &l);
        if (!is_line_empty(&l))
            add_element_line(&l, from, end - first < LINE ? end - first : LINE,
                             (int64_t)first - (int64_t)r->skipped, r->counted, out);
    }
}

static uint64_t count_element_lines(const reading *r)
{
    return (end_of_elements(r) + LINE - 1) / LINE;
}

wl_status rewrite_read_lines(const rewrite_copy *c, uint32_t object, uint64_t from, uint64_t to,
                             wl_spans *out)
{
    reading r;
    if (!begin_reading(&r, c, object))
        return WL_OK;
    uint64_t lines = count_element_lines(&r);
    bool good = make_rings(&r);
    if (good)
        add_lines(&r, from, to < lines ? to : lines, out);
    for (uint32_t i = 0; i < r.nwalks; i++)
        free(r.walks[i].ring);
    return good && !out->failed ? WL_OK : WL_NOMEM;
}

wl_status rewrite_read_elements(const rewrite_copy *c, uint32_t object, wl_spans *out)
{
    wl_status status = rewrite_read_lines(c, object, 0, UINT64_MAX, out);
    return status == WL_OK && wl_spans_finish(out) ? WL_OK : WL_NOMEM;
}

uint64_t rewrite_lines(const rewrite_copy *c, uint32_t object)
{
    reading r;
    return begin_reading(&r, c, object) && !r.nwalks ? count_element_lines(&r) : 0;
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
