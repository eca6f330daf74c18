#include "analysis/objects/shortage.h"

#include <stdlib.h>

/* Operations before `at` are over, and the others have not begun. */
static bool is_alive_at(const obj_object *o, uint32_t device, uint32_t at)
{
    return o->counted && o->device == device && (o->begin < at || o->fixed) && o->end >= at;
}

/* ---- what is held ---- */

static int by_site(const void *a, const void *b, void *trace_)
{
    const obj_trace *trace = trace_;
    const obj_object *x = &trace->objects.data[((const obj_held *)a)->object],
                     *y = &trace->objects.data[((const obj_held *)b)->object];
    if (x->site != y->site)
        return x->site < y->site ? -1 : 1;
    return x->bytes > y->bytes ? -1 : x->bytes < y->bytes;
}

static int by_bytes_held(const void *a, const void *b)
{
    const obj_held *x = a, *y = b;
    if (x->bytes != y->bytes)
        return x->bytes > y->bytes ? -1 : 1;
    return x->object < y->object ? -1 : x->object > y->object;
}

/* Makes the rows of one site one, with its largest object. */
static void join_sites(const obj_trace *trace, obj_shortage *s)
{
    size_t kept = 0;
    for (size_t i = 0; i < s->held.count; i++) {
        obj_held *row = &s->held.data[i], *last = kept ? &s->held.data[kept - 1] : NULL;
        bool same = last &&
                    trace->objects.data[last->object].site == trace->objects.data[row->object].site;
        if (same) {
            last->count++;
            last->bytes += row->bytes;
        } else {
            s->held.data[kept++] = *row;
        }
    }
    s->held.count = kept;
}

static bool list_held(const obj_trace *trace, const obj_refusal *r, obj_shortage *s)
{
    for (uint32_t i = 0; i < trace->objects.count; i++) {
        const obj_object *o = &trace->objects.data[i];
        if (!is_alive_at(o, r->device, r->at))
            continue;
        s->in_use += o->bytes;
        if (!wl_push(&s->held, (obj_held){i, 1, o->bytes}))
            return false;
    }
    if (!s->held.count)
        return true;
    qsort_r(s->held.data, s->held.count, sizeof *s->held.data, by_site, (void *)trace);
    join_sites(trace, s);
    qsort(s->held.data, s->held.count, sizeof *s->held.data, by_bytes_held);
    return true;
}

/* ---- what would have made room ---- */

/* The bytes that following the hit leaves free at that moment. */
static uint64_t freed_by(const obj_trace *trace, const obj_hit *h, const obj_refusal *r)
{
    const obj_object *o = &trace->objects.data[h->object];
    if (h->possible || !is_alive_at(o, r->device, r->at))
        return 0;
    bool begun = h->from == OBJ_NONE || h->from < r->at,
         lasts = h->to == OBJ_NONE || h->to >= r->at;
    switch (h->pattern) {
    case ANA_EARLY_ALLOCATION: return lasts ? o->bytes : 0;
    case ANA_LATE_DEALLOCATION:
    case ANA_LEAK: return begun ? o->bytes : 0;
    case ANA_TEMPORARY_IDLENESS: return begun && lasts ? o->bytes : 0;
    case ANA_UNUSED_ALLOCATION: return o->bytes;
    case ANA_OVERALLOCATION:
    case ANA_STRUCTURED_ACCESS: return o->bytes - h->keeps;
    case ANA_REDUNDANT_ALLOCATION: {
        const obj_object *other = &trace->objects.data[h->other];
        uint64_t less = other->bytes < o->bytes ? other->bytes : o->bytes;
        return is_alive_at(other, r->device, r->at) ? less : 0;
    }
    default: return 0;
    }
}

static int by_room(const void *a, const void *b)
{
    const obj_room *x = a, *y = b;
    if (x->bytes != y->bytes)
        return x->bytes > y->bytes ? -1 : 1;
    return x->hit < y->hit ? -1 : x->hit > y->hit;
}

/* Keeps the first of each object, and of those no more than are needed. */
static bool choose_rooms(const obj_trace *trace, const obj_hits *hits, obj_shortage *s)
{
    bool *taken = calloc(trace->objects.count + 1, sizeof *taken);
    size_t kept = 0;
    for (size_t i = 0; taken && i < s->rooms.count && s->room < s->missing; i++) {
        obj_room room = s->rooms.data[i];
        const obj_hit *h = &hits->data[room.hit];
        if (taken[h->object] || (h->other != OBJ_NONE && taken[h->other]))
            continue;
        taken[h->object] = true;
        if (h->other != OBJ_NONE)
            taken[h->other] = true;
        s->room += room.bytes;
        s->rooms.data[kept++] = room;
    }
    s->rooms.count = kept;
    free(taken);
    return taken != NULL;
}

static bool list_rooms(const obj_trace *trace, const obj_hits *hits, const obj_refusal *r,
                       obj_shortage *s)
{
    for (uint32_t i = 0; i < hits->count; i++) {
        uint64_t bytes = freed_by(trace, &hits->data[i], r);
        if (bytes && !wl_push(&s->rooms, (obj_room){i, bytes}))
            return false;
    }
    if (s->rooms.count)
        qsort(s->rooms.data, s->rooms.count, sizeof *s->rooms.data, by_room);
    return choose_rooms(trace, hits, s);
}

bool obj_shortage_of(const obj_trace *trace, const obj_hits *hits, const obj_refusal *refusal,
                     obj_shortage *out)
{
    uint64_t asked = refusal->bytes;
    *out = (obj_shortage){.missing = asked > refusal->free ? asked - refusal->free : 0};
    return list_held(trace, refusal, out) && list_rooms(trace, hits, refusal, out);
}

void obj_shortage_free(obj_shortage *shortage)
{
    wl_vec_free(&shortage->held);
    wl_vec_free(&shortage->rooms);
}

bool obj_ends_by_shortage(const obj_trace *trace)
{
    size_t n = trace->refusals.count;
    for (size_t i = n ? trace->refusals.data[n - 1].at : 0; n && i < trace->ops.count; i++) {
        uint8_t kind = trace->ops.data[i].kind;
        if (kind == OBJ_COPY || kind == OBJ_SET || kind == OBJ_LAUNCH)
            return false;
    }
    return n > 0;
}
