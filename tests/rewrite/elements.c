/* One element's marks and counters, read the plain way: by the addresses that the kernel itself
 * goes by. */
#include "elements.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

/* ---- numbers in a state ---- */

static bool read_at(const rewrite_copy *c, uint64_t at, void *out, size_t bytes)
{
    memset(out, 0, bytes);
    if (at > c->size || c->size - at < bytes)
        return false;
    memcpy(out, (const char *)c->state + at, bytes);
    return true;
}

static uint64_t number_at(const rewrite_copy *c, uint64_t at)
{
    uint64_t value;
    read_at(c, at, &value, sizeof value);
    return value;
}

static uint32_t word_at(const rewrite_copy *c, uint64_t at)
{
    uint32_t value;
    read_at(c, at, &value, sizeof value);
    return value;
}

/* The address in the copy of what the kernel knows by a device address. */
static uint64_t offset_of(const rewrite_copy *c, uint64_t address)
{
    return address - (number_at(c, offsetof(rewrite_state, ranges)) - c->layout->ranges_at);
}

static bool read_object_range(const rewrite_copy *c, uint32_t object, rewrite_range *out)
{
    return object < c->layout->nranges &&
           read_at(c, c->layout->ranges_at + sizeof *out * (uint64_t)object, out, sizeof *out);
}

/* Marked at that device address, or in the bitmap. */
static bool is_marked_at(const rewrite_copy *c, uint64_t address)
{
    uint64_t mark = offset_of(c, address) - c->layout->marks_at;
    uint8_t byte;
    if (mark >= 32 * c->layout->nwords)
        return false;
    read_at(c, c->layout->marks_at + mark, &byte, sizeof byte);
    return byte || word_at(c, c->layout->bits_at + mark / 32 * 4) >> mark % 32 & 1;
}

static rewrite_walk walk_of(const rewrite_copy *c, uint32_t walk)
{
    rewrite_walk w;
    read_at(c, offsetof(rewrite_state, walk) + walk * sizeof w, &w, sizeof w);
    return w;
}

/* Did one of the walks whose first elements are marked come to the element? */
static bool is_walked(const rewrite_copy *c, const rewrite_walk *w, uint64_t element)
{
    uint64_t step = (w->shape >> 32) / 4, turns = w->shape & UINT32_MAX;
    for (uint64_t i = 0; step && i < turns && i * step <= element; i++)
        if (is_marked_at(c, w->marks + element - i * step))
            return true;
    return false;
}

static uint32_t copies_in(const rewrite_range *r)
{
    return r->spread ? REWRITE_SPREAD : 1;
}

/* Of the element's line. */
static uint32_t line_count(const rewrite_copy *c, const rewrite_range *r, unsigned class_,
                           uint64_t element)
{
    uint32_t count = 0;
    for (uint64_t i = 0; i < copies_in(r); i++)
        count += word_at(c, offset_of(c, r->lines[class_]) + i * r->spread + element / 32 * 4);
    return count;
}

static uint32_t count_at(const rewrite_copy *c, const rewrite_range *r, unsigned class_,
                         uint64_t element)
{
    uint32_t count = line_count(c, r, class_, element);
    for (uint64_t i = 0; i < copies_in(r); i++)
        count += word_at(c, offset_of(c, r->counts[class_]) + i * r->spread + 4 * element);
    return count;
}

/* A walk that began at an element came to those a step further on as well. `sums` has room for
 * `n` numbers. */
static void add_walk(const rewrite_copy *c, const rewrite_walk *w, uint64_t n, uint32_t *sums,
                     uint32_t *counts)
{
    uint64_t step = w->step / 4;
    for (uint64_t e = 0; e < n; e++) {
        sums[e] = word_at(c, offset_of(c, w->counts) + 4 * e) + (e < step ? 0 : sums[e - step]);
        counts[e] += sums[e];
    }
}

/* Whether walk number i counts accesses of the class to the object. */
static bool counts_for(const rewrite_copy *c, uint32_t i, const rewrite_walk *w, uint32_t object,
                       unsigned class_)
{
    return w->counts && w->step && w->object == object &&
           c->kernel->slots[c->kernel->walks[i].slot].class_ == class_;
}

uint32_t *elements_counts(const rewrite_copy *c, uint32_t object, unsigned class_, uint64_t n)
{
    rewrite_range r;
    uint32_t *result = calloc(n + 1, sizeof *result);
    if (!read_object_range(c, object, &r) || !r.counts[class_])
        return result;
    uint64_t before = (r.base & 127) / 4; /* elements of the object's first line */
    uint32_t *counts = calloc(before + n + 1, sizeof *counts),
             *sums = calloc(before + n + 1, sizeof *sums);
    for (uint64_t e = before; e < before + n; e++)
        counts[e] = count_at(c, &r, class_, e);
    for (uint32_t i = 0; i < c->kernel->nwalks; i++) {
        rewrite_walk w = walk_of(c, i);
        if (counts_for(c, i, &w, object, class_))
            add_walk(c, &w, before + n, sums, counts);
    }
    memcpy(result, counts + before, n * sizeof *result);
    free(counts);
    free(sums);
    return result;
}

static uint32_t walked(const rewrite_copy *c, const rewrite_walk *w, uint64_t element)
{
    uint64_t step = w->step / 4;
    uint32_t count = 0;
    for (uint64_t at = element;; at -= step) {
        count += word_at(c, offset_of(c, w->counts) + 4 * at);
        if (at < step)
            return count;
    }
}

uint32_t elements_count(const rewrite_copy *c, uint32_t object, unsigned class_, uint64_t element)
{
    rewrite_range r;
    if (!read_object_range(c, object, &r) || !r.counts[class_])
        return 0;
    element += (r.base & 127) / 4;
    uint32_t count = count_at(c, &r, class_, element);
    for (uint32_t i = 0; i < c->kernel->nwalks; i++) {
        rewrite_walk w = walk_of(c, i);
        if (counts_for(c, i, &w, object, class_))
            count += walked(c, &w, element);
    }
    return count;
}

/* Counters say as much as marks. */
static void mark_counted(const rewrite_copy *c, uint32_t object, uint64_t n, bool *touched)
{
    for (unsigned k = 0; k < REWRITE_CLASSES; k++) {
        uint32_t *counts = elements_counts(c, object, k, n);
        for (uint64_t e = 0; e < n; e++)
            touched[e] |= counts[e] > 0;
        free(counts);
    }
}

static bool is_touched(const rewrite_copy *c, const rewrite_range *r, uint32_t object,
                       uint64_t element)
{
    bool touched = is_marked_at(c, r->lines[0] + element);
    for (uint32_t i = 0; !touched && i < c->kernel->nwalks; i++) {
        rewrite_walk w = walk_of(c, i);
        touched = w.marks && w.object == object && is_walked(c, &w, element);
    }
    return touched;
}

bool *elements_all_touched(const rewrite_copy *c, uint32_t object, uint64_t n)
{
    rewrite_range r;
    bool *touched = calloc(n + 1, sizeof *touched);
    if (c->kernel->probes >> REWRITE_FREQUENCY & 1)
        mark_counted(c, object, n, touched);
    else if (read_object_range(c, object, &r) && r.lines[0])
        for (uint64_t e = 0; e < n; e++)
            touched[e] = is_touched(c, &r, object, (r.base & 127) / 4 + e);
    return touched;
}

bool elements_touched(const rewrite_copy *c, uint32_t object, uint64_t element)
{
    rewrite_range r;
    bool touched = false;
    if (!(c->kernel->probes >> REWRITE_FREQUENCY & 1))
        return read_object_range(c, object, &r) && r.lines[0] &&
               is_touched(c, &r, object, (r.base & 127) / 4 + element);
    for (unsigned k = 0; !touched && k < REWRITE_CLASSES; k++)
        touched = elements_count(c, object, k, element) > 0;
    return touched;
}
