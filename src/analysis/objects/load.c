/* Makes traces of profiles: operations of the process's course, objects of its allocations. */
#include "analysis/objects/load.h"
#include "analysis/detect.h"
#include "analysis/forms.h"
#include "analysis/hash.h"
#include "analysis/tables.h"

#include <stdlib.h>
#include <string.h>

/* ---- what kinds of launches access ---- */

static int by_launch_and_object(const void *a, const void *b)
{
    const prof_instruction *x = *(const prof_instruction *const *)a,
                           *y = *(const prof_instruction *const *)b;
    if (x->launch != y->launch)
        return x->launch < y->launch ? -1 : 1;
    return x->c.object < y->c.object ? -1 : x->c.object > y->c.object;
}

static int by_user(const void *a, const void *b)
{
    const prof_use *x = *(const prof_use *const *)a, *y = *(const prof_use *const *)b;
    if (x->launch != y->launch)
        return x->launch < y->launch ? -1 : 1;
    return x->object < y->object ? -1 : x->object > y->object;
}

static wl_status load_uses_by_launch(const ana_program *program, wl_arena *arena, obj_kinds *out,
                                     wl_error *err)
{
    wl_status status = prof_load_uses(program->db, PROF_ALL, arena, &out->uses, err);
    uint32_t n = out->uses.count;
    out->used = status == WL_OK ? wl_new_array(arena, const prof_use *, (size_t)n + 1) : NULL;
    if (status != WL_OK || !out->used)
        return status != WL_OK ? status : ana_nomem(err);
    for (uint32_t i = 0; i < n; i++)
        out->used[i] = &out->uses.rows[i];
    qsort(out->used, n, sizeof *out->used, by_user);
    return WL_OK;
}

wl_status obj_load_kinds(const ana_program *program, wl_arena *arena, obj_kinds *out, wl_error *err)
{
    *out = (obj_kinds){0};
    wl_status status = prof_load_kind_instructions(program->db, arena, &out->instructions, err);
    if (status != WL_OK)
        return status;
    uint32_t n = out->instructions.count;
    out->by_launch = wl_new_array(arena, const prof_instruction *, (size_t)n + 1);
    if (!out->by_launch)
        return ana_nomem(err);
    for (uint32_t i = 0; i < n; i++)
        out->by_launch[i] = &out->instructions.rows[i];
    qsort(out->by_launch, n, sizeof *out->by_launch, by_launch_and_object);
    status = prof_load_forms(program->db, PROF_ALL, arena, &out->forms, err);
    return status == WL_OK ? load_uses_by_launch(program, arena, out, err) : status;
}

/* ---- the trace ---- */

typedef struct of_call { /* an object that a call made, or freed */
    uint32_t call, object;
} of_call;

typedef struct of_kind { /* the set of accesses of a kind of launches */
    uint32_t launch, set;
} of_kind;

typedef struct event_of_object { /* an allocation or free, in the process's course of these */
    uint64_t order;
    uint32_t object;
    bool frees;
} event_of_object;

typedef struct numbers {    /* of the trace for those of the profile */
    wl_vec(uint32_t) table; /* by the profile's: 1 + the trace's, or 0 */
    uint32_t count;
} numbers;

typedef struct inside { /* parts of an object that are alive: a list in both directions */
    uint32_t first;     /* 1 more than the number; 0: none */
    uint32_t next, last;
} inside;

typedef struct loader {
    const ana_program *program;
    const obj_kinds *kinds;
    uint32_t process;
    obj_trace *trace;
    wl_arena *arena;
    uint32_t *index;          /* by row of program->objects: of the trace's objects; OBJ_NONE */
    const prof_object **rows; /* by object */
    inside *inside;           /* by object */
    uint64_t order;           /* of the last object that came or went */
    wl_vec(obj_access) list;  /* of the operation that is looked at */
    uint32_t *listed;         /* by object: where it may be in the list */
    bool varies; /* the list is of parts that were alive: of this launch, not of its kind */
    wl_vec(of_call) made, freed;
    wl_vec(of_kind) sets;
    numbers contexts, devices, queues, events;
    wl_vec(uint64_t) ordinals; /* of operations */
    prof_stream_rows known_streams;
    prof_graph_run_rows runs;
} loader;

/* The number that stands for `of`, from 0 in the order in which they are met. The profile numbers
 * from 0 or 1 on; a damaged one may not, and then some share a number. */
static uint32_t number_of(numbers *n, uint64_t of)
{
    enum { MOST = 1 << 24 };
    size_t at = of % MOST;
    while (n->table.count <= at)
        if (!wl_push(&n->table, 0))
            return OBJ_NONE;
    if (!n->table.data[at])
        n->table.data[at] = ++n->count;
    return n->table.data[at] - 1;
}

/* Of the trace; OBJ_NONE: it has no such object. */
static uint32_t object_of_row(const loader *l, uint32_t id)
{
    const prof_object *o = prof_find_object(&l->program->objects, id);
    return o ? l->index[o - l->program->objects.rows] : OBJ_NONE;
}

static int by_call(const void *a, const void *b)
{
    const of_call *x = a, *y = b;
    if (x->call != y->call)
        return x->call < y->call ? -1 : 1;
    return x->object < y->object ? -1 : x->object > y->object;
}

static uint32_t ended_of(const prof_object *o)
{
    switch (o->freed_how) {
    case CAP_FREED_PROGRAM:
    case CAP_FREED_KERNEL: return OBJ_FREED;
    case CAP_FREED_MODULE:
    case CAP_FREED_CONTEXT: return OBJ_GIVEN_BACK;
    case CAP_FREED_EXIT: return OBJ_LEAKED;
    default: return OBJ_UNTOLD;
    }
}

/* Whatever reads arrays, textures and surfaces, may be left out of what is known of a launch. */
static bool is_seen_elsewhere(const prof_object *o)
{
    return o->kind == CAP_OBJECT_MANAGED || o->kind == CAP_OBJECT_ARRAY;
}

static bool add_row_of_object(loader *l, uint32_t row)
{
    const prof_object *o = &l->program->objects.rows[row];
    uint32_t whole = o->parent ? object_of_row(l, o->parent) : OBJ_NONE,
             number = (uint32_t)l->trace->objects.count;
    bool part = whole != OBJ_NONE;
    uint32_t device = part ? 0 : number_of(&l->devices, o->device);
    obj_object made = {
        .id = o->id,
        .device = device & (OBJ_MOST_DEVICES - 1),
        .part = part,
        .whole = part ? whole : 0,
        .bytes = o->bytes,
        .allocate = OBJ_NONE,
        .free = OBJ_NONE,
        .end = OBJ_NONE,
        .ended = ended_of(o) & 3u,
        .counted = part ? l->trace->objects.data[whole].counted : ana_takes_device_memory(o),
        .fixed = !part && (o->kind == CAP_OBJECT_SYMBOL || o->kind == CAP_OBJECT_CONST),
        .seen_by_host = is_seen_elsewhere(o),
        .pooled = o->pool != 0};
    l->index[row] = number;
    l->rows[number] = o;
    if (part)
        l->trace->objects.data[whole].divided = true;
    return device < OBJ_MOST_DEVICES && wl_push(&l->trace->objects, made) &&
           (!o->alloc_call || wl_push(&l->made, (of_call){o->alloc_call, number})) &&
           (!o->free_call || wl_push(&l->freed, (of_call){o->free_call, number}));
}

/* What a part lies in comes before it. */
static bool belongs_to_process(const loader *l, const prof_object *o)
{
    return o->process == l->process && (!o->parent || object_of_row(l, o->parent) != OBJ_NONE);
}

/* ---- pools ---- */

typedef struct pool_key {
    uint64_t hash;
    uint32_t whole; /* an object that is divided */
} pool_key;

static int by_pool_key(const void *a, const void *b)
{
    const pool_key *x = a, *y = b;
    if (x->hash != y->hash)
        return x->hash < y->hash ? -1 : 1;
    return x->whole < y->whole ? -1 : x->whole > y->whole;
}

/* Objects of one name that are divided are one pool, as in tables/pools.c; a part that is divided is
 * of another than what it lies in. */
static uint64_t pool_of_object(const loader *l, uint32_t whole)
{
    const prof_object *o = l->rows[whole];
    const obj_object *made = &l->trace->objects.data[whole];
    uint64_t in = made->part ? pool_of_object(l, made->whole) : hash_number(1, made->device);
    return o->tag[0] ? hash_text(in, o->tag) : hash_number(in, o->id);
}

static int by_first_object(const void *a, const void *b)
{
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return x < y ? -1 : x > y;
}

/* `pool_of`: by object that is divided, the first object of its pool. */
static bool list_pools(loader *l, uint32_t *pool_of)
{
    size_t n = l->trace->objects.count, count = 0;
    pool_key *keys = wl_new_array(l->arena, pool_key, n + 1);
    for (uint32_t i = 0; keys && i < n; i++)
        if (l->trace->objects.data[i].divided)
            keys[count++] = (pool_key){pool_of_object(l, i), i};
    if (count)
        qsort(keys, count, sizeof *keys, by_pool_key);
    for (size_t i = 0, first = 0; keys && i < count; i++) {
        first = keys[i].hash == keys[first].hash ? first : i;
        pool_of[keys[i].whole] = keys[first].whole;
        if (first == i && !wl_push(&l->trace->pools, keys[i].whole))
            return false;
    }
    if (l->trace->pools.count)
        qsort(l->trace->pools.data, l->trace->pools.count, sizeof *l->trace->pools.data,
              by_first_object);
    return keys != NULL;
}

/* Numbers pools from 0, in the order of their first objects, and gives parts these numbers. */
static bool number_pools(loader *l)
{
    size_t n = l->trace->objects.count;
    uint32_t *pool_of = wl_new_array(l->arena, uint32_t, n + 1);
    if (!pool_of || !list_pools(l, pool_of))
        return false;
    for (uint32_t i = 0; i < n; i++) {
        obj_object *o = &l->trace->objects.data[i];
        if (!o->part)
            continue;
        const uint32_t *found = bsearch(&pool_of[o->whole], l->trace->pools.data,
                                        l->trace->pools.count, sizeof *found, by_first_object);
        o->device = (uint32_t)(found - l->trace->pools.data);
    }
    return true;
}

/* They come after the devices of the machine, when all of these are known. */
static void put_pools_last(loader *l)
{
    for (size_t i = 0; i < l->trace->objects.count; i++)
        if (l->trace->objects.data[i].part)
            l->trace->objects.data[i].device += l->devices.count;
    l->trace->ndevices = l->devices.count + (uint32_t)l->trace->pools.count;
}

static bool add_rows_of_objects(loader *l)
{
    const prof_object_rows *all = &l->program->objects;
    l->index = wl_new_array(l->arena, uint32_t, (size_t)all->count + 1);
    l->rows = wl_new_array(l->arena, const prof_object *, (size_t)all->count + 1);
    l->inside = wl_new_array(l->arena, inside, (size_t)all->count + 1);
    l->listed = wl_new_array(l->arena, uint32_t, (size_t)all->count + 1);
    if (!l->index || !l->rows || !l->inside || !l->listed)
        return false;
    memset(l->index, 0xff, all->count * sizeof *l->index); /* OBJ_NONE */
    for (uint32_t i = 0; i < all->count; i++)
        if (belongs_to_process(l, &all->rows[i]) && !add_row_of_object(l, i))
            return false;
    if (l->made.count)
        qsort(l->made.data, l->made.count, sizeof *l->made.data, by_call);
    if (l->freed.count)
        qsort(l->freed.data, l->freed.count, sizeof *l->freed.data, by_call);
    return number_pools(l);
}

/* ---- sites ---- */

typedef struct site_key {
    uint64_t hash;
    uint32_t object;
} site_key;

static int by_hash(const void *a, const void *b)
{
    const site_key *x = a, *y = b;
    if (x->hash != y->hash)
        return x->hash < y->hash ? -1 : 1;
    return x->object < y->object ? -1 : x->object > y->object;
}

/* Objects of one line and variable, of a helper's by who calls it; without a line each for itself. */
static bool set_sites(loader *l)
{
    size_t n = l->trace->objects.count;
    site_key *keys = wl_new_array(l->arena, site_key, n + 1);
    for (uint32_t i = 0; keys && i < n; i++) {
        const prof_object *o = l->rows[i];
        uint64_t place = hash_number(hash_number(l->trace->objects.data[i].part, o->file), o->line);
        uint64_t at = hash_text(hash_number(hash_number(place, o->caller_file), o->caller_line),
                                o->variable);
        keys[i] = (site_key){o->line ? at : hash_number(2, o->id), i};
    }
    if (keys && n)
        qsort(keys, n, sizeof *keys, by_hash);
    for (uint32_t i = 0; keys && i < n; i++) {
        bool same = i && keys[i].hash == keys[i - 1].hash;
        l->trace->objects.data[keys[i].object].site =
            same ? l->trace->objects.data[keys[i - 1].object].site : keys[i].object;
    }
    return keys != NULL;
}

/* ---- queues ---- */

static obj_queue_kind kind_of_stream(const loader *l, uint32_t stream)
{
    for (uint32_t i = 0; i < l->known_streams.count; i++) {
        const prof_stream *s = &l->known_streams.rows[i];
        if (s->stream != stream)
            continue;
        return s->kind == CAP_STREAM_LEGACY ? OBJ_QUEUE_LEGACY
               : s->flags & 1               ? OBJ_QUEUE_FREE
                                            : OBJ_QUEUE_BLOCKING;
    }
    return stream ? OBJ_QUEUE_BLOCKING : OBJ_QUEUE_LEGACY;
}

/* Threads and streams share the numbers of queues: threads as odd, streams as even ones. */
static uint32_t add_queue(loader *l, uint32_t queue, obj_queue made)
{
    bool good = queue < OBJ_MOST_QUEUES - 1 && wl_push(&l->trace->queues, made);
    return good ? queue : OBJ_NONE;
}

static uint32_t queue_of_thread(loader *l, const prof_operation *p)
{
    uint32_t queue = number_of(&l->queues, 2 * (uint64_t)p->thread + 1);
    if (queue == OBJ_NONE || queue < l->trace->queues.count)
        return queue;
    return add_queue(l, queue, (obj_queue){OBJ_QUEUE_THREAD, 0, p->thread});
}

static uint32_t queue_of_stream(loader *l, const prof_operation *p, uint32_t context)
{
    uint32_t queue = number_of(&l->queues, 2 * (uint64_t)p->stream);
    if (queue == OBJ_NONE || queue < l->trace->queues.count)
        return queue;
    return add_queue(l, queue, (obj_queue){kind_of_stream(l, p->stream), context, p->stream});
}

/* ---- parts that are alive ---- */

static void link_part(const loader *l, uint32_t part)
{
    inside *own = &l->inside[part], *whole = &l->inside[l->trace->objects.data[part].whole];
    own->next = whole->first;
    own->last = 0;
    if (whole->first)
        l->inside[whole->first - 1].last = part + 1;
    whole->first = part + 1;
}

static void unlink_part(const loader *l, uint32_t part)
{
    inside *own = &l->inside[part], *whole = &l->inside[l->trace->objects.data[part].whole];
    if (own->last)
        l->inside[own->last - 1].next = own->next;
    else if (whole->first == part + 1)
        whole->first = own->next;
    if (own->next)
        l->inside[own->next - 1].last = own->last;
    own->next = own->last = 0;
}

/* No call tells of the end of what was given up unseen. */
static bool has_ended(const loader *l, uint32_t part)
{
    return l->rows[part]->freed && l->rows[part]->free_order <= l->order;
}

static void begin_or_end(loader *l, uint32_t object, bool frees)
{
    l->order = frees ? l->rows[object]->free_order : l->rows[object]->alloc_order;
    if (l->trace->objects.data[object].part)
        frees ? unlink_part(l, object) : link_part(l, object);
    if (frees)
        l->inside[object].first = 0;
}

/* ---- operations ---- */

static int compare_run(const void *key, const void *item)
{
    uint32_t a = *(const uint32_t *)key, b = ((const prof_graph_run *)item)->call;
    return a < b ? -1 : a > b;
}

/* Nodes of a graph whose edges are not known run one after another. */
static uint32_t run_of_graph(const loader *l, uint32_t call)
{
    bool known = call && l->runs.count &&
                 bsearch(&call, l->runs.rows, l->runs.count, sizeof *l->runs.rows, compare_run);
    return known ? call : 0;
}

static bool push_op(loader *l, const prof_operation *p, obj_op op)
{
    obj_node node = {(uint32_t)l->trace->ops.count, run_of_graph(l, p->graph)};
    return op.queue != OBJ_NONE && op.thread != OBJ_MOST_QUEUES - 1 && op.about != OBJ_NONE &&
           (!node.run || wl_push(&l->trace->nodes, node)) && wl_push(&l->ordinals, p->ordinal) &&
           wl_push(&l->trace->ops, op);
}

/* A part lives by the program's own allocator, which is the host's and has no stream. */
static bool add_op_of_life(loader *l, const prof_operation *p, obj_op op, uint32_t object)
{
    obj_object *o = &l->trace->objects.data[object];
    uint32_t at = (uint32_t)l->trace->ops.count;
    bool frees = op.kind == OBJ_FREE;
    op.about = object;
    op.waits &= !o->part;
    op.queue = o->part ? op.thread : op.queue;
    o->context = o->part ? l->trace->objects.data[o->whole].context
                         : number_of(&l->contexts, p->context);
    *(frees ? &o->free : &o->allocate) = at;
    *(frees ? &o->end : &o->begin) = at;
    begin_or_end(l, object, frees);
    return o->context != OBJ_NONE && push_op(l, p, op);
}

/* Objects that the call made or freed, in either's list; an operation for each. */
static bool add_lives(loader *l, const prof_operation *p, obj_op op, const of_call *rows, size_t n)
{
    size_t low = 0, high = n;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (rows[middle].call < p->call)
            low = middle + 1;
        else
            high = middle;
    }
    op.kind = rows == l->freed.data ? OBJ_FREE : OBJ_ALLOCATE;
    for (; low < n && rows[low].call == p->call; low++)
        if (!add_op_of_life(l, p, op, rows[low].object))
            return false;
    return true;
}

/* ---- what copies and sets access ---- */

typedef struct copied { /* of an object */
    uint32_t object;
    unsigned how;
    bool possible;
    obj_range range;
} copied;

static copied copied_of_call(const prof_operation *p, uint32_t object, unsigned how)
{
    bool apart = p->rows > 1 || p->width;
    uint64_t shape = hash_number(hash_number(hash_number(1, p->target_pitch), p->rows), p->width);
    return (copied){object, how, false,
                    .range = {.offset = how == OBJ_READ ? p->source_offset : p->target_offset,
                              .bytes = p->bytes,
                              .shape = apart ? (uint32_t)shape : 0,
                              .apart = apart}};
}

static bool push_copied(loader *l, const copied *c)
{
    uint32_t range = obj_trace_add_range(l->trace, &c->range);
    obj_access access = {
        .object = c->object, .how = c->how, .possible = c->possible, .part = range};
    return range != OBJ_NONE && wl_push(&l->list, access);
}

/* The same bytes, as those of what the part lies in. */
static void move_outwards(const loader *l, copied *c)
{
    uint32_t whole = l->trace->objects.data[c->object].whole;
    c->range.offset += l->rows[c->object]->base - l->rows[whole]->base;
    c->object = whole;
}

/* What of it is a part's. False: nothing. Of rows with gaps between them it is not known. */
static bool cut_to_part(const loader *l, const copied *c, uint32_t part, copied *out)
{
    uint64_t begin = l->rows[part]->base - l->rows[c->object]->base,
             end = begin + l->rows[part]->bytes, last = c->range.offset + c->range.bytes;
    uint64_t from = c->range.offset > begin ? c->range.offset : begin, to = last < end ? last : end;
    *out = (copied){part, c->how, c->possible || c->range.apart, {0}};
    if (!c->range.apart)
        out->range = (obj_range){.offset = from - begin, .bytes = to - from};
    return c->range.apart || from < to;
}

/* NOLINTNEXTLINE(misc-no-recursion): as deep as parts lie in parts */
static bool list_copy_of_parts(loader *l, const copied *c)
{
    copied inner;
    for (uint32_t i = l->inside[c->object].first; i; i = l->inside[i - 1].next)
        if (!has_ended(l, i - 1) && cut_to_part(l, c, i - 1, &inner) &&
            !(push_copied(l, &inner) && list_copy_of_parts(l, &inner)))
            return false;
    return true;
}

/* Of what the call names, of what that lies in, and of the parts that lie in it. */
static bool list_copy(loader *l, copied c)
{
    bool good = c.object == OBJ_NONE || (push_copied(l, &c) && list_copy_of_parts(l, &c));
    while (good && c.object != OBJ_NONE && l->trace->objects.data[c.object].part) {
        move_outwards(l, &c);
        good = push_copied(l, &c);
    }
    return good;
}

static uint32_t set_of_list(loader *l)
{
    return obj_trace_add_set(l->trace, l->list.data, (uint32_t)l->list.count);
}

static uint32_t set_of_copy(loader *l, const prof_operation *p)
{
    uint32_t source = object_of_row(l, p->source_object),
             target = object_of_row(l, p->target_object);
    l->list.count = 0;
    bool good = list_copy(l, copied_of_call(p, source, OBJ_READ)) &&
                list_copy(l, copied_of_call(p, target, OBJ_WRITE));
    return good ? set_of_list(l) : OBJ_NONE;
}

/* ---- what launches access ---- */

static unsigned how_of(uint8_t op)
{
    return op == ACC_LOAD ? OBJ_READ : op == ACC_ATOMIC ? OBJ_READ | OBJ_WRITE : OBJ_WRITE;
}

/* Of the object's elements, as accesses number them. */
static uint32_t elements_of_use(const loader *l, uint32_t launch, uint32_t object)
{
    const prof_use key = {.launch = launch, .object = l->trace->objects.data[object].id},
                   *wanted = &key;
    const prof_use *const *found = bsearch(&wanted, l->kinds->used, l->kinds->uses.count,
                                           sizeof *l->kinds->used, by_user);
    return found && (*found)->known != OBS_KNOWN_NOTHING ? (*found)->spans : 0;
}

/* Notes the access in the list, in which each object stands once. */
static bool list_object_once(loader *l, uint32_t object, unsigned how, bool possible)
{
    uint32_t at = l->listed[object];
    if (at >= l->list.count || l->list.data[at].object != object) {
        at = l->listed[object] = (uint32_t)l->list.count;
        if (!wl_push(&l->list, (obj_access){.object = object, .possible = possible}))
            return false;
    }
    l->list.data[at].how |= how;
    l->list.data[at].possible &= possible;
    return true;
}

/* NOLINTNEXTLINE(misc-no-recursion): as deep as parts lie in parts */
static bool note_parts_of(loader *l, uint32_t object, unsigned how)
{
    for (uint32_t i = l->inside[object].first; i; i = l->inside[i - 1].next)
        if (!has_ended(l, i - 1) &&
            !(list_object_once(l, i - 1, how, true) && note_parts_of(l, i - 1, how)))
            return false;
    return true;
}

/* Of the object, and of what it lies in. What is told of an object that is divided may have been any
 * of its parts. */
static bool list_access(loader *l, const prof_instruction *i)
{
    bool elsewhere = i->c.space == ACC_SHARED || i->c.space == ACC_LOCAL;
    uint32_t object = elsewhere ? OBJ_NONE : object_of_row(l, i->c.object);
    unsigned how = how_of(i->c.op);
    if (object == OBJ_NONE)
        return true;
    const prof_form *form = ana_form_of(&l->kinds->forms, i->kernel, i->c.pc);
    l->trace->objects.data[object].by_data |= form && ana_form_is_of_data(form);
    l->varies |= l->trace->objects.data[object].divided;
    bool good = list_object_once(l, object, how, false) && note_parts_of(l, object, how);
    while (good && l->trace->objects.data[object].part) {
        object = l->trace->objects.data[object].whole;
        good = list_object_once(l, object, how, false);
    }
    return good;
}

static bool list_accesses_of_kind(loader *l, uint32_t launch)
{
    const prof_instruction **rows = l->kinds->by_launch;
    uint32_t low = 0, high = l->kinds->instructions.count;
    l->list.count = 0;
    l->varies = false;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (rows[middle]->launch < launch)
            low = middle + 1;
        else
            high = middle;
    }
    for (; low < l->kinds->instructions.count && rows[low]->launch == launch; low++)
        if (!list_access(l, rows[low]))
            return false;
    return true;
}

static uint32_t make_set_of_kind(loader *l, uint32_t launch)
{
    if (!list_accesses_of_kind(l, launch))
        return OBJ_NONE;
    for (size_t i = 0; i < l->list.count; i++)
        l->list.data[i].part = elements_of_use(l, launch, l->list.data[i].object);
    return set_of_list(l);
}

/* Kinds come in the order of their first launches. */
static uint32_t set_of_kind(loader *l, uint32_t launch)
{
    size_t low = 0, high = l->sets.count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (l->sets.data[middle].launch < launch)
            low = middle + 1;
        else
            high = middle;
    }
    if (low < l->sets.count && l->sets.data[low].launch == launch)
        return l->sets.data[low].set;
    of_kind made = {launch, make_set_of_kind(l, launch)};
    if (made.set == OBJ_NONE || l->varies)
        return made.set;
    if (!wl_push(&l->sets, made))
        return OBJ_NONE;
    memmove(&l->sets.data[low + 1], &l->sets.data[low],
            (l->sets.count - 1 - low) * sizeof *l->sets.data);
    l->sets.data[low] = made;
    return made.set;
}

/* What the operation does beside making or freeing objects. */
static obj_op describe(loader *l, const prof_operation *p)
{
    static const uint8_t kinds[] = {[PROF_COPIES] = OBJ_COPY,
                                    [PROF_SETS] = OBJ_SET,
                                    [PROF_LAUNCHES] = OBJ_LAUNCH,
                                    [PROF_LAUNCHES_UNSEEN] = OBJ_LAUNCH,
                                    [PROF_SYNCS_CONTEXT] = OBJ_SYNC_CONTEXT,
                                    [PROF_SYNCS_STREAM] = OBJ_SYNC_STREAM,
                                    [PROF_SYNCS_EVENT] = OBJ_SYNC_EVENT,
                                    [PROF_RECORDS_EVENT] = OBJ_RECORD,
                                    [PROF_WAITS_FOR_EVENT] = OBJ_WAIT,
                                    [PROF_ELSE] = 0};
    uint32_t context = number_of(&l->contexts, p->context);
    bool copies = p->kind == PROF_COPIES || p->kind == PROF_SETS;
    obj_op op = {.kind = kinds[p->kind],
                 .waits = p->kind == PROF_COPIES && !(p->flags & CAP_CALL_ASYNC),
                 .unknown = p->kind == PROF_LAUNCHES_UNSEEN || !p->accesses_known,
                 .queue = queue_of_stream(l, p, context),
                 .thread = queue_of_thread(l, p) & (OBJ_MOST_QUEUES - 1),
                 .call = p->call,
                 .launch = p->kind_of,
                 .seconds = (float)p->seconds};
    if (copies)
        op.accesses = set_of_copy(l, p);
    if (p->kind == PROF_LAUNCHES)
        op.accesses = set_of_kind(l, p->kind_of);
    if (p->kind == PROF_SYNCS_CONTEXT)
        op.about = context;
    else if (p->kind >= PROF_SYNCS_EVENT && p->kind <= PROF_WAITS_FOR_EVENT)
        op.about = number_of(&l->events, p->event);
    return op;
}

static bool take_in_course(void *ctx, const prof_operation *p)
{
    loader *l = ctx;
    obj_op op = describe(l, p), life = op;
    bool in_stream = p->flags & CAP_CALL_ASYNC;
    life.queue = in_stream ? op.queue : op.thread;
    life.waits = !in_stream;
    life.accesses = 0;
    life.unknown = false;
    if (p->launch == 0 && (!add_lives(l, p, life, l->made.data, l->made.count) ||
                           !add_lives(l, p, life, l->freed.data, l->freed.count)))
        return false;
    bool alone = p->kind == PROF_ALLOCATES || p->kind == PROF_FREES || p->kind == PROF_ELSE;
    return alone || push_op(l, p, op);
}

/* ---- what stands between calls ---- */

static int by_event_order(const void *a, const void *b)
{
    const event_of_object *x = a, *y = b;
    return x->order < y->order ? -1 : x->order > y->order;
}

/* Objects that no operation of the trace makes begin with the allocation or free before it; those
 * that none frees end with the next. */
static bool set_moments(loader *l)
{
    size_t n = l->trace->objects.count, count = 0;
    event_of_object *events = wl_new_array(l->arena, event_of_object, 2 * n + 1);
    for (uint32_t i = 0; events && i < n; i++) {
        events[count++] = (event_of_object){l->rows[i]->alloc_order, i, false};
        if (l->rows[i]->freed)
            events[count++] = (event_of_object){l->rows[i]->free_order, i, true};
    }
    if (!events)
        return false;
    qsort(events, count, sizeof *events, by_event_order);
    uint32_t moment = 0;
    for (size_t i = 0; i < count; i++) {
        obj_object *o = &l->trace->objects.data[events[i].object];
        uint32_t op = events[i].frees ? o->free : o->allocate;
        moment = op != OBJ_NONE ? op : moment;
        if (!events[i].frees)
            o->begin = moment;
    }
    moment = OBJ_NONE;
    for (size_t i = count; i-- > 0;) {
        obj_object *o = &l->trace->objects.data[events[i].object];
        uint32_t op = events[i].frees ? o->free : o->allocate;
        moment = op != OBJ_NONE ? op : moment;
        if (events[i].frees)
            o->end = moment;
        if (events[i].frees && o->free == OBJ_NONE && o->ended == OBJ_FREED)
            o->ended = OBJ_UNTOLD;
    }
    return true;
}

/* The first operation from this ordinal on. */
static uint32_t operation_from(const loader *l, uint64_t ordinal)
{
    size_t low = 0, high = l->ordinals.count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (l->ordinals.data[middle] < ordinal)
            low = middle + 1;
        else
            high = middle;
    }
    return (uint32_t)low;
}

static uint32_t operation_at(const loader *l, uint64_t ordinal)
{
    uint32_t at = operation_from(l, ordinal);
    bool here = at < l->ordinals.count && l->ordinals.data[at] == ordinal;
    return here ? at : OBJ_NONE;
}

static wl_status add_waits_of_nodes(loader *l, wl_error *err)
{
    prof_wait_of_node_rows waits;
    wl_status status = prof_load_waits_of_nodes(l->program->db, l->process, l->arena, &waits, err);
    for (uint32_t i = 0; status == WL_OK && i < waits.count; i++) {
        obj_edge edge = {operation_at(l, waits.rows[i].source),
                         operation_at(l, waits.rows[i].target)};
        if (edge.from != OBJ_NONE && edge.to != OBJ_NONE && !wl_push(&l->trace->edges, edge))
            status = ana_nomem(err);
    }
    return status;
}

static wl_status add_refusals(loader *l, wl_error *err)
{
    prof_refusal_rows rows;
    wl_status status = prof_load_refusals(l->program->db, l->process, l->arena, &rows, err);
    for (uint32_t i = 0; status == WL_OK && i < rows.count; i++) {
        const prof_refusal *r = &rows.rows[i];
        obj_refusal made = {operation_from(l, r->ordinal),
                            number_of(&l->devices, r->device),
                            r->call,
                            r->bytes,
                            r->free,
                            r->total};
        if (made.device == OBJ_NONE || !wl_push(&l->trace->refusals, made))
            status = ana_nomem(err);
    }
    return status;
}

static wl_status load_course(loader *l, wl_error *err)
{
    wl_status status = prof_load_streams(l->program->db, l->process, l->arena, &l->known_streams,
                                         err);
    if (status == WL_OK)
        status = prof_load_graph_runs(l->program->db, l->process, l->arena, &l->runs, err);
    if (status == WL_OK && (!add_rows_of_objects(l) || !set_sites(l)))
        status = ana_nomem(err);
    if (status == WL_OK)
        status = prof_each_operation(l->program->db, l->process, take_in_course, l, err);
    if (status == WL_OK && !set_moments(l))
        status = ana_nomem(err);
    status = status == WL_OK ? add_refusals(l, err) : status;
    if (status == WL_OK)
        put_pools_last(l);
    return status == WL_OK ? add_waits_of_nodes(l, err) : status;
}

wl_status obj_load_trace(const ana_program *program, const obj_kinds *kinds, uint32_t process,
                         wl_arena *arena, obj_trace *out, wl_error *err)
{
    loader l = {
        .program = program, .kinds = kinds, .process = process, .trace = out, .arena = arena};
    wl_status status = obj_trace_init(out) ? load_course(&l, err) : ana_nomem(err);
    out->ncontexts = l.contexts.count;
    out->nevents = l.events.count;
    wl_vec_free(&l.made);
    wl_vec_free(&l.freed);
    wl_vec_free(&l.sets);
    wl_vec_free(&l.contexts.table);
    wl_vec_free(&l.devices.table);
    wl_vec_free(&l.queues.table);
    wl_vec_free(&l.events.table);
    wl_vec_free(&l.ordinals);
    wl_vec_free(&l.list);
    return status;
}
