/* One element's marks and counters, read the plain way: by the addresses that the kernel itself
 * goes by. */
#include "elements.h"

#include <stddef.h>
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
    uint32_t count = line_count(c, &r, class_, element);
    for (uint64_t i = 0; i < copies_in(&r); i++)
        count += word_at(c, offset_of(c, r.counts[class_]) + i * r.spread + 4 * element);
    for (uint32_t i = 0; i < c->kernel->nwalks; i++) {
        rewrite_walk w = walk_of(c, i);
        if (w.counts && w.step && w.object == object &&
            c->kernel->slots[c->kernel->walks[i].slot].class_ == class_)
            count += walked(c, &w, element);
    }
    return count;
}

static bool is_element_counted(const rewrite_copy *c, uint32_t object, uint64_t element)
{
    for (unsigned k = 0; k < REWRITE_CLASSES; k++)
        if (elements_count(c, object, k, element))
            return true;
    return false;
}

bool elements_touched(const rewrite_copy *c, uint32_t object, uint64_t element)
{
    rewrite_range r;
    if (c->kernel->probes >> REWRITE_FREQUENCY & 1) /* counters say as much as marks */
        return is_element_counted(c, object, element);
    if (!read_object_range(c, object, &r) || !r.lines[0])
        return false;
    element += (r.base & 127) / 4;
    bool touched = is_marked_at(c, r.lines[0] + element);
    for (uint32_t i = 0; !touched && i < c->kernel->nwalks; i++) {
        rewrite_walk w = walk_of(c, i);
        touched = w.marks && w.object == object && is_walked(c, &w, element);
    }
    return touched;
}
