/* Extents of objects. The launches of each object are listed once, those side by side that access the
 * same elements as one; then each object's elements are read in that order. */
#include "analysis/objects/elements.h"
#include "analysis/pile.h"

#include <stdlib.h>

typedef struct visit { /* launches that access the same elements of an object, one after another */
    uint32_t object, elements;
    uint32_t place; /* in the object's course */
} visit;

typedef struct course { /* of an object, while operations are walked */
    uint32_t newest, visits;
    bool unknown; /* some launch accessed nobody knows which of its elements */
} course;

/* The elements of one visit, or of several together. */
typedef struct slice {
    wl_spans spans;
    uint64_t touched;
    obj_part used;
} slice;

typedef struct measurer {
    const obj_trace *trace;
    const obj_lives *lives;
    obj_read_elements *read;
    void *ctx;
    obj_extent *extents;
    course *courses;
    wl_vec(visit) visits;
    bool failed;
} measurer;

/* ---- visits ---- */

static void note_larger_move(obj_moved *largest, uint32_t op, uint64_t bytes)
{
    if (bytes > largest->bytes)
        *largest = (obj_moved){op, bytes};
}

static void note_copy(measurer *m, uint32_t at, const obj_access *a, bool both)
{
    obj_extent *e = &m->extents[a->object];
    uint64_t bytes = m->trace->ranges.data[a->part].bytes;
    note_larger_move(both && a->how == OBJ_READ ? &e->on_device : &e->by_host, at, bytes);
}

static void note_visit(measurer *m, const obj_access *a)
{
    course *c = &m->courses[a->object];
    c->unknown |= !a->part;
    if (a->part && a->part == c->newest)
        return;
    c->newest = a->part;
    m->failed |= !wl_push(&m->visits, (visit){a->object, a->part, c->visits++});
}

static void note_visits(measurer *m)
{
    for (uint32_t i = 0; i < m->trace->ops.count; i++) {
        const obj_op *op = &m->trace->ops.data[i];
        uint32_t count;
        const obj_access *a = obj_accesses(m->trace, op, &count);
        for (uint32_t k = 0; k < count; k++)
            if (op->kind == OBJ_LAUNCH)
                note_visit(m, &a[k]);
            else
                note_copy(m, i, &a[k], !obj_is_one_way(a, count));
    }
}

static int by_object_and_place(const void *a, const void *b)
{
    const visit *x = a, *y = b;
    if (x->object != y->object)
        return x->object < y->object ? -1 : 1;
    return x->place < y->place ? -1 : x->place > y->place;
}

static int by_elements(const void *a, const void *b)
{
    const visit *x = a, *y = b;
    if (x->elements != y->elements)
        return x->elements < y->elements ? -1 : 1;
    return x->place < y->place ? -1 : x->place > y->place;
}

/* ---- slices ---- */

static void measure_slice(slice *s)
{
    wl_span_reader reader = ana_read_spans(&s->spans);
    s->touched = 0;
    s->used = (obj_part){0};
    for (wl_span span; wl_span_next(&reader, &span);) {
        s->used.first = s->touched ? s->used.first : span.first;
        s->used.count = span.first + span.count - s->used.first;
        s->touched += span.count;
    }
}

/* What `elements` numbers and `other`, as one slice. */
static slice read_slice(measurer *m, uint32_t elements, const wl_spans *other)
{
    slice out = {0};
    wl_span_reader reader = {0}, rest = ana_read_spans(other);
    m->failed |= !m->read(m->ctx, elements, &reader) || !wl_spans_sum(&reader, &rest, &out.spans);
    measure_slice(&out);
    return out;
}

/* The elements of all visits; each that comes again is read once. `visits` are sorted by them. */
static slice read_whole_course(measurer *m, const visit *visits, size_t n)
{
    ana_pile pile = {0};
    const wl_spans nothing = {0};
    for (size_t i = 0; i < n && !m->failed; i++)
        if (i == 0 || visits[i].elements != visits[i - 1].elements)
            ana_pile_up(&pile, read_slice(m, visits[i].elements, &nothing).spans);
    slice all = {.spans = ana_pile_sum(&pile)};
    m->failed |= pile.failed;
    measure_slice(&all);
    return all;
}

static void end_slice(obj_extent *e, slice *s, uint64_t *sum)
{
    e->slices++;
    e->longest = s->used.count > e->longest ? s->used.count : e->longest;
    *sum += s->touched;
    wl_spans_free(&s->spans);
}

/* Cuts the course into slices; their elements add up to those of the object where none overlap. */
static void cut_slices(measurer *m, const visit *visits, size_t n, obj_extent *e)
{
    const wl_spans nothing = {0};
    uint64_t sum = 0;
    slice now = read_slice(m, visits[0].elements, &nothing);
    for (size_t i = 1; i < n && !m->failed && sum <= e->touched; i++) {
        slice next = read_slice(m, visits[i].elements, &nothing);
        slice both = read_slice(m, visits[i].elements, &now.spans);
        bool apart = both.touched == now.touched + next.touched;
        if (apart)
            end_slice(e, &now, &sum);
        else
            wl_spans_free(&now.spans);
        wl_spans_free(apart ? &both.spans : &next.spans);
        now = apart ? next : both;
    }
    end_slice(e, &now, &sum);
    if (sum != e->touched || e->slices < 2)
        e->slices = 0, e->longest = 0;
}

/* ---- objects ---- */

static void measure_hole(const slice *all, obj_extent *e)
{
    wl_span_reader reader = ana_read_spans(&all->spans);
    uint64_t end = 0;
    for (wl_span span; wl_span_next(&reader, &span); end = span.first + span.count)
        if (span.first - end > e->hole.count)
            e->hole = (obj_part){end, span.first - end};
    if (e->elements > end && e->elements - end > e->hole.count)
        e->hole = (obj_part){end, e->elements - end};
}

/* `visits`: of the object. */
static void measure_object(measurer *m, visit *visits, size_t n)
{
    uint32_t object = visits[0].object;
    const obj_object *o = &m->trace->objects.data[object];
    obj_extent *e = &m->extents[object];
    if (m->courses[object].unknown || m->lives->rows[object].possibly || o->divided)
        return;
    qsort(visits, n, sizeof *visits, by_elements);
    slice all = read_whole_course(m, visits, n);
    e->known = all.touched > 0;
    e->elements = (o->bytes + OBJ_ELEMENT_BYTES - 1) / OBJ_ELEMENT_BYTES;
    e->touched = all.touched;
    e->used = all.used;
    measure_hole(&all, e);
    wl_spans_free(&all.spans);
    qsort(visits, n, sizeof *visits, by_object_and_place);
    if (e->known && n > 1 && !m->failed)
        cut_slices(m, visits, n, e);
}

static bool begin_extents(measurer *m)
{
    size_t n = m->trace->objects.count;
    m->extents = calloc(n + 1, sizeof *m->extents);
    m->courses = calloc(n + 1, sizeof *m->courses);
    for (size_t i = 0; m->extents && i < n; i++)
        m->extents[i].by_host.op = m->extents[i].on_device.op = OBJ_NONE;
    return m->extents && m->courses;
}

obj_extent *obj_extents_of(const obj_trace *trace, const obj_lives *lives, obj_read_elements *read,
                           void *ctx)
{
    measurer m = {.trace = trace, .lives = lives, .read = read, .ctx = ctx};
    m.failed = !begin_extents(&m);
    if (!m.failed)
        note_visits(&m);
    size_t n = m.failed ? 0 : m.visits.count;
    if (n)
        qsort(m.visits.data, n, sizeof *m.visits.data, by_object_and_place);
    for (size_t i = 0, end; i < n; i = end) {
        for (end = i + 1; end < n && m.visits.data[end].object == m.visits.data[i].object;)
            end++;
        measure_object(&m, &m.visits.data[i], end - i);
    }
    wl_vec_free(&m.visits);
    free(m.courses);
    if (m.failed)
        free(m.extents);
    return m.failed ? NULL : m.extents;
}
