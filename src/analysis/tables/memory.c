#include "analysis/tables.h"

#include <stdlib.h>

enum { PEAKS = 2 };

/* Pinned and registered memory is the host's. */
static bool counts(const prof_object *o)
{
    return o->process && o->kind != CAP_OBJECT_PINNED && o->kind != CAP_OBJECT_REGISTERED;
}

typedef struct event {
    uint32_t process;
    uint64_t order;
    bool freed;
    const prof_object *object;
} event;

static int by_order(const void *a, const void *b)
{
    const event *x = a, *y = b;
    if (x->process != y->process) {
        return x->process < y->process ? -1 : 1;
    }
    return x->order < y->order ? -1 : x->order > y->order;
}

static uint32_t list_events(const prof_object_rows *objects, event *events)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < objects->count; i++) {
        const prof_object *o = &objects->rows[i];
        if (counts(o)) {
            events[n++] = (event){o->process, o->alloc_order, false, o};
            if (o->freed) {
                events[n++] = (event){o->process, o->free_order, true, o};
            }
        }
    }
    if (n) {
        qsort(events, n, sizeof *events, by_order);
    }
    return n;
}

static void replay(const event *events, uint32_t n, ana_memory *out)
{
    uint64_t bytes = 0;
    for (uint32_t i = 0; i < n; i++) {
        const prof_object *o = events[i].object;
        if (i && events[i].process != events[i - 1].process) {
            bytes = 0;
        }
        uint64_t less = bytes > o->bytes ? bytes - o->bytes : 0;
        bytes = events[i].freed ? less : bytes + o->bytes;
        out->points[i] = (ana_memory_point){events[i].process, o->id,
                                            events[i].freed ? o->free_call : o->alloc_call,
                                            events[i].freed, bytes};
        out->peak_bytes = bytes > out->peak_bytes ? bytes : out->peak_bytes;
    }
    out->npoints = n;
}

/* The last of a run of allocations: what follows is a free, another process or the end. */
static bool is_maximum(const ana_memory *m, uint32_t i)
{
    bool last = i + 1 == m->npoints || m->points[i + 1].process != m->points[i].process;
    return !m->points[i].freed && (last || m->points[i + 1].freed);
}

static int by_size(const void *a, const void *b)
{
    const prof_object *x = *(const prof_object *const *)a, *y = *(const prof_object *const *)b;
    if (x->bytes != y->bytes) {
        return x->bytes > y->bytes ? -1 : 1;
    }
    return x->id < y->id ? -1 : x->id > y->id;
}

/* The objects alive at an event. */
static bool fill_peak(const event *events, const ana_memory *m, uint32_t at, wl_arena *arena,
                      ana_peak *peak)
{
    const prof_object **alive = wl_new_array(arena, const prof_object *, at + 1);
    uint32_t n = 0;
    for (uint32_t i = 0; alive && i <= at; i++) {
        const prof_object *o = events[i].object;
        bool here = events[i].process == events[at].process && !events[i].freed;
        if (here && !(o->freed && o->free_order <= events[at].order)) {
            alive[n++] = o;
        }
    }
    *peak = (ana_peak){m->points[at].bytes, events[at].process, m->points[at].call, n, NULL};
    peak->objects = wl_new_array(arena, uint32_t, n);
    if (!alive || !peak->objects) {
        return false;
    }
    qsort(alive, n, sizeof *alive, by_size);
    for (uint32_t i = 0; i < n; i++) {
        peak->objects[i] = alive[i]->id;
    }
    return true;
}

static bool same_objects(const ana_peak *a, const ana_peak *b)
{
    bool same = a->nobjects == b->nobjects && a->process == b->process;
    for (uint32_t i = 0; same && i < a->nobjects; i++) {
        same = a->objects[i] == b->objects[i];
    }
    return same;
}

/* The highest maximum below `most` bytes or at it but later than event `after`. */
static uint32_t next_maximum(const ana_memory *m, uint64_t most, uint32_t after)
{
    uint32_t best = UINT32_MAX;
    for (uint32_t i = 0; i < m->npoints; i++) {
        uint64_t bytes = m->points[i].bytes;
        bool next = bytes < most || (bytes == most && i > after);
        if (is_maximum(m, i) && next && (best == UINT32_MAX || bytes > m->points[best].bytes)) {
            best = i;
        }
    }
    return best;
}

static bool find_peaks(const event *events, wl_arena *arena, ana_memory *out)
{
    out->peaks = wl_new_array(arena, ana_peak, PEAKS);
    uint64_t most = UINT64_MAX;
    uint32_t at = 0;
    while (out->peaks && out->npeaks < PEAKS && (at = next_maximum(out, most, at)) != UINT32_MAX) {
        ana_peak *peak = &out->peaks[out->npeaks];
        most = out->points[at].bytes;
        if (!fill_peak(events, out, at, arena, peak)) {
            return false;
        }
        out->npeaks += !(out->npeaks && same_objects(peak, &out->peaks[out->npeaks - 1]));
    }
    return out->peaks != NULL;
}

wl_status ana_memory_table(prof_db *profile, wl_arena *arena, ana_memory *out, wl_error *err)
{
    prof_object_rows objects;
    *out = (ana_memory){0};
    wl_status status = prof_load_objects(profile, arena, &objects, err);
    if (status != WL_OK) {
        return status;
    }
    event *events = wl_new_array(arena, event, 2 * (size_t)objects.count);
    out->points = wl_new_array(arena, ana_memory_point, 2 * (size_t)objects.count);
    if (!events || !out->points) {
        return wl_fail(err, WL_NOMEM, "Cannot analyse the profile: out of memory.");
    }
    replay(events, list_events(&objects, events), out);
    return find_peaks(events, arena, out)
               ? WL_OK
               : wl_fail(err, WL_NOMEM, "Cannot analyse the profile: out of memory.");
}
