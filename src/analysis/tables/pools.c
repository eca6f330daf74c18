/* Pools: what they take from the device, and what of it is handed out. CUDA's own tell that
 * themselves; of those of the program it is seen from the parts of its allocations. */
#include "analysis/tables.h"

#include <stdlib.h>
#include <string.h>

/* ---- memory that the program divides ---- */

typedef struct member { /* an allocation, or a part of one */
    const prof_object *segment, *object;
} member;

static const prof_object *segment_of(const prof_object_rows *objects, const prof_object *o)
{
    const prof_object *outer = o->parent ? prof_find_object(objects, o->parent) : NULL;
    return outer && ana_takes_device_memory(outer) ? outer : NULL;
}

/* Allocations of one name are one pool; each without a name is one by itself. */
static int compare_pools(const prof_object *x, const prof_object *y)
{
    if (x->process != y->process)
        return x->process < y->process ? -1 : 1;
    if (x->device != y->device)
        return x->device < y->device ? -1 : 1;
    int order = strcmp(x->tag, y->tag);
    if (order || x->tag[0])
        return order;
    return x->id < y->id ? -1 : x->id > y->id;
}

static int by_pool_and_id(const void *a, const void *b)
{
    const member *x = a, *y = b;
    int order = compare_pools(x->segment, y->segment);
    if (order)
        return order;
    return x->object->id < y->object->id ? -1 : x->object->id > y->object->id;
}

/* Allocations that may be divided, and their parts; parts of parts lie in those. Sorted by pool. */
static uint32_t list_members(const prof_object_rows *objects, member *out)
{
    uint32_t n = 0;
    for (uint32_t i = 0; objects->rows && i < objects->count; i++) {
        const prof_object *o = &objects->rows[i];
        const prof_object *segment = ana_takes_device_memory(o) ? o : segment_of(objects, o);
        if (segment)
            out[n++] = (member){.segment = segment, .object = o};
    }
    if (n)
        qsort(out, n, sizeof *out, by_pool_and_id);
    return n;
}

typedef struct change { /* a member comes or goes */
    const member *of;
    uint64_t order;
    bool freed;
} change;

static int by_order_of_change(const void *a, const void *b)
{
    const change *x = a, *y = b;
    if (x->order != y->order)
        return x->order < y->order ? -1 : 1;
    return x->freed - y->freed;
}

static bool is_segment(const member *m)
{
    return m->segment == m->object;
}

/* Fills in the peaks; returns when most was in use. */
static uint64_t replay_pool(const change *changes, uint32_t n, ana_pool *out)
{
    uint64_t reserved = 0, used = 0, when = 0;
    for (uint32_t i = 0; i < n; i++) {
        const member *m = changes[i].of;
        uint64_t *amount = is_segment(m) ? &reserved : &used, bytes = m->object->bytes;
        *amount = changes[i].freed ? *amount - (bytes < *amount ? bytes : *amount)
                                   : *amount + bytes;
        out->most_reserved = reserved > out->most_reserved ? reserved : out->most_reserved;
        if (used <= out->most_used)
            continue;
        out->most_used = used;
        out->reserved_then = reserved;
        when = changes[i].order;
    }
    return when;
}

static int by_base(const void *a, const void *b)
{
    const member *x = *(const member *const *)a, *y = *(const member *const *)b;
    if (x->object->base != y->object->base)
        return x->object->base < y->object->base ? -1 : 1;
    return is_segment(y) - is_segment(x);
}

static void count_gap(uint64_t from, uint64_t to, ana_pool *out)
{
    uint64_t gap = to > from ? to - from : 0;
    out->free_then += gap;
    out->largest_free_then = gap > out->largest_free_then ? gap : out->largest_free_then;
}

/* What lies between the parts: of one allocation, and a part may go on in the next one. */
static void measure_gaps(const member *const *alive, uint32_t n, ana_pool *out)
{
    uint64_t at = 0, end = 0;
    for (uint32_t i = 0; i < n; i++) {
        const prof_object *o = alive[i]->object;
        if (is_segment(alive[i])) {
            count_gap(at, end, out);
            at = at > o->base ? at : o->base;
            end = o->base + o->bytes;
        } else {
            count_gap(at, o->base, out);
            at = o->base + o->bytes > at ? o->base + o->bytes : at;
        }
    }
    count_gap(at, end, out);
}

static bool is_alive(const prof_object *o, uint64_t when)
{
    return o->alloc_order <= when && !(o->freed && o->free_order <= when);
}

static int by_size_of_member(const void *a, const void *b)
{
    const member *x = *(const member *const *)a, *y = *(const member *const *)b;
    if (x->object->bytes != y->object->bytes)
        return x->object->bytes > y->object->bytes ? -1 : 1;
    return x->object->id < y->object->id ? -1 : x->object->id > y->object->id;
}

static bool describe_moment(const member *members, uint32_t n, uint64_t when, wl_arena *arena,
                            ana_pool *out)
{
    const member **alive = wl_new_array(arena, const member *, (size_t)n + 1);
    uint32_t count = 0;
    out->objects = wl_new_array(arena, uint32_t, (size_t)n + 1);
    if (!alive || !out->objects)
        return false;
    for (uint32_t i = 0; i < n; i++)
        if (is_alive(members[i].object, when))
            alive[count++] = &members[i];
    qsort(alive, count, sizeof *alive, by_base);
    measure_gaps(alive, count, out);
    qsort(alive, count, sizeof *alive, by_size_of_member);
    for (uint32_t i = 0; i < count; i++)
        if (!is_segment(alive[i]))
            out->objects[out->nobjects++] = alive[i]->object->id;
    return true;
}

static bool add_program_pool(const member *members, uint32_t n, wl_arena *arena, ana_pool *out)
{
    const prof_object *segment = members->segment;
    change *changes = wl_new_array(arena, change, 2 * (size_t)n);
    uint32_t count = 0;
    *out = (ana_pool){.process = segment->process,
                      .device = segment->device,
                      .name = segment->tag[0] ? segment->tag : segment->name,
                      .divided = true};
    for (uint32_t i = 0; changes && i < n; i++) {
        const prof_object *o = members[i].object;
        changes[count++] = (change){&members[i], o->alloc_order, false};
        if (o->freed)
            changes[count++] = (change){&members[i], o->free_order, true};
    }
    if (!changes)
        return false;
    qsort(changes, count, sizeof *changes, by_order_of_change);
    return describe_moment(members, n, replay_pool(changes, count, out), arena, out);
}

static bool add_program_pools(const prof_object_rows *objects, wl_arena *arena, ana_pools *out)
{
    member *members = wl_new_array(arena, member, (size_t)objects->count + 1);
    if (!members)
        return false;
    uint32_t n = list_members(objects, members);
    for (uint32_t i = 0, end; i < n; i = end) {
        bool divided = !is_segment(&members[i]);
        for (end = i + 1; end < n && compare_pools(members[i].segment, members[end].segment) == 0;
             end++)
            divided |= !is_segment(&members[end]);
        if (divided && !add_program_pool(&members[i], end - i, arena, &out->rows[out->count++]))
            return false;
    }
    return true;
}

double ana_fragmentation(const ana_pool *pool)
{
    return pool->free_then ? 1 - (double)pool->largest_free_then / (double)pool->free_then : 0;
}

/* ---- CUDA's ---- */

static void add_cuda_pool(const prof_pool *pool, const prof_pool_state *states, uint32_t n,
                          ana_pool *out)
{
    *out = (ana_pool){.process = pool->process,
                      .device = pool->device,
                      .pool = pool->pool,
                      .kind = pool->kind,
                      .name = ""};
    for (uint32_t i = 0; i < n; i++) {
        const prof_pool_state *s = &states[i];
        out->most_reserved = s->reserved > out->most_reserved ? s->reserved : out->most_reserved;
        if (s->used <= out->most_used)
            continue;
        out->most_used = s->used;
        out->reserved_then = s->reserved;
    }
}

/* Of a pool whose amounts the driver did not tell, nothing is said. */
static void add_cuda_pools(const prof_pool_rows *pools, const prof_pool_state_rows *states,
                           ana_pools *out)
{
    for (uint32_t i = 0; i < pools->count; i++) {
        const prof_pool *pool = &pools->rows[i];
        uint32_t from = 0, to;
        while (from < states->count && (states->rows[from].process != pool->process ||
                                        states->rows[from].pool != pool->pool))
            from++;
        for (to = from; to < states->count && states->rows[to].process == pool->process &&
                        states->rows[to].pool == pool->pool;)
            to++;
        if (to > from)
            add_cuda_pool(pool, &states->rows[from], to - from, &out->rows[out->count++]);
    }
}

wl_status ana_pool_table(prof_db *profile, wl_arena *arena, ana_pools *out, wl_error *err)
{
    prof_object_rows objects;
    prof_pool_rows pools;
    prof_pool_state_rows states;
    *out = (ana_pools){0};
    wl_status status = prof_load_objects(profile, arena, &objects, err);
    status = status == WL_OK ? prof_load_pools(profile, arena, &pools, err) : status;
    status = status == WL_OK ? prof_load_pool_states(profile, arena, &states, err) : status;
    if (status != WL_OK)
        return status;
    out->rows = wl_new_array(arena, ana_pool, (size_t)objects.count + pools.count + 1);
    if (!out->rows || !add_program_pools(&objects, arena, out))
        return wl_fail(err, WL_NOMEM, "not enough memory for the pools of the profile");
    add_cuda_pools(&pools, &states, out);
    return WL_OK;
}
