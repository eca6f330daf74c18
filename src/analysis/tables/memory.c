/* The memory that a program takes on each of its devices, over the course of its allocations. */
#include "analysis/tables.h"

#include <stdlib.h>

enum { PEAKS = 2 };

bool ana_takes_device_memory(const prof_object *o)
{
    return o->process && o->kind != CAP_OBJECT_PINNED && o->kind != CAP_OBJECT_REGISTERED &&
           o->kind != CAP_OBJECT_HEAP && !o->parent;
}

typedef struct event { /* an allocation or a free */
    const prof_object *object;
    uint64_t order; /* in the course of the process */
    bool freed;
} event;

static bool same_device(const event *a, const event *b)
{
    return a->object->process == b->object->process && a->object->device == b->object->device;
}

/* By process, device and time. */
static int by_order(const void *a, const void *b)
{
    const event *x = a, *y = b;
    if (x->object->process != y->object->process)
        return x->object->process < y->object->process ? -1 : 1;
    if (x->object->device != y->object->device)
        return x->object->device < y->object->device ? -1 : 1;
    return x->order < y->order ? -1 : x->order > y->order;
}

static uint32_t list_events(const prof_object_rows *objects, event *events)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < objects->count; i++) {
        const prof_object *o = &objects->rows[i];
        if (ana_takes_device_memory(o)) {
            events[n++] = (event){o, o->alloc_order, false};
            if (o->freed)
                events[n++] = (event){o, o->free_order, true};
        }
    }
    if (n)
        qsort(events, n, sizeof *events, by_order);
    return n;
}

/* What is in use after each of the events, which are those of one process on one device. */
static void replay(const event *events, ana_device_memory *out)
{
    uint64_t bytes = 0;
    for (uint32_t i = 0; i < out->npoints; i++) {
        const prof_object *o = events[i].object;
        bool freed = events[i].freed;
        uint64_t less = bytes > o->bytes ? bytes - o->bytes : 0;
        bytes = freed ? less : bytes + o->bytes;
        out->points[i] = (ana_memory_point){.object = o->id,
                                            .call = freed ? o->free_call : o->alloc_call,
                                            .freed = freed,
                                            .bytes = bytes};
        out->peak_bytes = bytes > out->peak_bytes ? bytes : out->peak_bytes;
    }
}

/* The last of a run of allocations: what follows is a free, or nothing. */
static bool is_maximum(const ana_device_memory *m, uint32_t i)
{
    return !m->points[i].freed && (i + 1 == m->npoints || m->points[i + 1].freed);
}

static int by_size(const void *a, const void *b)
{
    const prof_object *x = *(const prof_object *const *)a, *y = *(const prof_object *const *)b;
    if (x->bytes != y->bytes)
        return x->bytes > y->bytes ? -1 : 1;
    return x->id < y->id ? -1 : x->id > y->id;
}

/* The objects alive after event `at`. */
static bool fill_peak(const event *events, const ana_device_memory *m, uint32_t at, wl_arena *arena,
                      ana_peak *peak)
{
    const prof_object **alive = wl_new_array(arena, const prof_object *, at + 1);
    uint32_t n = 0;
    for (uint32_t i = 0; alive && i <= at; i++) {
        const prof_object *o = events[i].object;
        if (!events[i].freed && !(o->freed && o->free_order <= events[at].order))
            alive[n++] = o;
    }
    *peak = (ana_peak){.process = m->process,
                       .device = m->device,
                       .bytes = m->points[at].bytes,
                       .call = m->points[at].call,
                       .nobjects = n};
    peak->objects = wl_new_array(arena, uint32_t, n);
    if (!alive || !peak->objects)
        return false;
    qsort(alive, n, sizeof *alive, by_size);
    for (uint32_t i = 0; i < n; i++)
        peak->objects[i] = alive[i]->id;
    return true;
}

static bool same_objects(const ana_peak *a, const ana_peak *b)
{
    bool same = a->nobjects == b->nobjects;
    for (uint32_t i = 0; same && i < a->nobjects; i++)
        same = a->objects[i] == b->objects[i];
    return same;
}

/* The highest maximum below `most` bytes or at it but later than event `after`. */
static uint32_t next_maximum(const ana_device_memory *m, uint64_t most, uint32_t after)
{
    uint32_t best = UINT32_MAX;
    for (uint32_t i = 0; i < m->npoints; i++) {
        uint64_t bytes = m->points[i].bytes;
        bool next = bytes < most || (bytes == most && i > after);
        if (is_maximum(m, i) && next && (best == UINT32_MAX || bytes > m->points[best].bytes))
            best = i;
    }
    return best;
}

/* Appends the highest two maxima that differ in their objects. */
static bool append_peaks(const event *events, const ana_device_memory *m, wl_arena *arena,
                         ana_memory *out)
{
    ana_peak *peaks = &out->peaks[out->npeaks];
    uint64_t most = UINT64_MAX;
    uint32_t at = 0, n = 0;
    while (n < PEAKS && (at = next_maximum(m, most, at)) != UINT32_MAX) {
        most = m->points[at].bytes;
        if (!fill_peak(events, m, at, arena, &peaks[n]))
            return false;
        n += !(n && same_objects(&peaks[n], &peaks[n - 1]));
    }
    out->npeaks += n;
    return true;
}

static int by_bytes(const void *a, const void *b)
{
    const ana_peak *x = a, *y = b;
    if (x->bytes != y->bytes)
        return x->bytes > y->bytes ? -1 : 1;
    if (x->process != y->process)
        return x->process < y->process ? -1 : 1;
    return x->device < y->device ? -1 : x->device > y->device;
}

/* Appends the memory of the process and device whose n events these are. */
static bool append_device(const event *events, uint32_t n, wl_arena *arena, ana_memory *out)
{
    ana_device_memory *m = &out->devices[out->ndevices++];
    *m = (ana_device_memory){.process = events[0].object->process,
                             .device = events[0].object->device,
                             .npoints = n,
                             .points = wl_new_array(arena, ana_memory_point, n)};
    if (!m->points)
        return false;
    replay(events, m);
    out->peak_bytes = m->peak_bytes > out->peak_bytes ? m->peak_bytes : out->peak_bytes;
    return append_peaks(events, m, arena, out);
}

static bool fill_table(const prof_object_rows *objects, wl_arena *arena, ana_memory *out)
{
    event *events = wl_new_array(arena, event, 2 * (size_t)objects->count);
    out->devices = wl_new_array(arena, ana_device_memory, objects->count);
    out->peaks = wl_new_array(arena, ana_peak, PEAKS * (size_t)objects->count);
    if (!events || !out->devices || !out->peaks)
        return false;
    uint32_t n = list_events(objects, events);
    for (uint32_t i = 0, end; i < n; i = end) {
        for (end = i + 1; end < n && same_device(&events[i], &events[end]);)
            end++;
        if (!append_device(&events[i], end - i, arena, out))
            return false;
    }
    if (out->npeaks)
        qsort(out->peaks, out->npeaks, sizeof *out->peaks, by_bytes);
    return true;
}

wl_status ana_memory_table(prof_db *profile, wl_arena *arena, ana_memory *out, wl_error *err)
{
    prof_object_rows objects;
    *out = (ana_memory){0};
    wl_status status = prof_load_objects(profile, arena, &objects, err);
    if (status == WL_OK && !fill_table(&objects, arena, out))
        status = wl_fail(err, WL_NOMEM, "Cannot analyse the profile: out of memory.");
    return status;
}
