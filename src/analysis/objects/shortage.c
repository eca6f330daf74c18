#include "analysis/objects/shortage.h"

#include <stdlib.h>

/* Operations before `at` are over, and the others have not begun. */
static bool is_alive_at(const obj_trace *trace, uint32_t object, const obj_refusal *r)
{
    const obj_object *o = &trace->objects.data[object];
    bool here = trace->objects.data[obj_outermost(trace, object)].device == r->device;
    return o->counted && here && (o->begin < r->at || o->fixed) && o->end >= r->at;
}

/* ---- what is held ---- */

static int by_place(const void *a, const void *b)
{
    const obj_held *x = a, *y = b;
    if (x->place != y->place)
        return x->place < y->place ? -1 : 1;
    if (x->bytes != y->bytes)
        return x->bytes > y->bytes ? -1 : 1;
    return x->object < y->object ? -1 : x->object > y->object;
}

static int by_bytes_held(const void *a, const void *b)
{
    const obj_held *x = a, *y = b;
    if (x->bytes != y->bytes)
        return x->bytes > y->bytes ? -1 : 1;
    return x->object < y->object ? -1 : x->object > y->object;
}

/* Makes the rows of one place one, with its largest object. */
static void join_places(obj_shortage *s)
{
    size_t kept = 0;
    for (size_t i = 0; i < s->held.count; i++) {
        obj_held *row = &s->held.data[i], *last = kept ? &s->held.data[kept - 1] : NULL;
        if (last && last->place == row->place) {
            last->count++;
            last->bytes += row->bytes;
        } else {
            s->held.data[kept++] = *row;
        }
    }
    s->held.count = kept;
}

typedef struct divided { /* an object, as its program divides it */
    uint64_t handed_out; /* bytes of parts that are alive */
    uint32_t pool;       /* the device that stands for it */
} divided;

/* By object, on the heap; NULL when memory is exhausted. */
static divided *list_divided(const obj_trace *trace, const obj_refusal *r)
{
    divided *rows = calloc(trace->objects.count + 1, sizeof *rows);
    for (uint32_t i = 0; rows && i < trace->objects.count; i++) {
        const obj_object *o = &trace->objects.data[i];
        if (!o->part)
            continue;
        rows[o->whole].pool = o->device;
        rows[o->whole].handed_out += is_alive_at(trace, i, r) ? o->bytes : 0;
    }
    return rows;
}

/* Of what is divided the parts, and the rest. */
static obj_held held_by(const obj_trace *trace, uint32_t object, const divided *d)
{
    const obj_object *o = &trace->objects.data[object];
    uint64_t rest = o->bytes > d->handed_out ? o->bytes - d->handed_out : 0;
    uint32_t place = o->divided ? (uint32_t)trace->objects.count + d->pool : o->site;
    return (obj_held){object, 1, rest, place, o->divided};
}

static bool list_held(const obj_trace *trace, const obj_refusal *r, obj_shortage *s)
{
    divided *rows = list_divided(trace, r);
    bool good = rows != NULL;
    for (uint32_t i = 0; good && i < trace->objects.count; i++) {
        if (!is_alive_at(trace, i, r))
            continue;
        obj_held held = held_by(trace, i, &rows[i]);
        s->in_use += trace->objects.data[i].part ? 0 : trace->objects.data[i].bytes;
        good = !held.bytes || wl_push(&s->held, held);
    }
    free(rows);
    if (!good || !s->held.count)
        return good;
    qsort(s->held.data, s->held.count, sizeof *s->held.data, by_place);
    join_places(s);
    qsort(s->held.data, s->held.count, sizeof *s->held.data, by_bytes_held);
    return true;
}

/* ---- what would have made room ---- */

/* The bytes that following the hit leaves free at that moment. */
static uint64_t freed_by(const obj_trace *trace, const obj_hit *h, const obj_refusal *r)
{
    const obj_object *o = &trace->objects.data[h->object];
    if (h->possible || !is_alive_at(trace, h->object, r))
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
        return is_alive_at(trace, h->other, r) ? less : 0;
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
