/* The course of a process's memory as columns of bytes for the HTML report: docs/report-payload.md. */
#include "report/impl.h"
#include "report/keys.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
    OP_BYTES = 1 + 1 + 4 + 4 + 2 + 2 + 4 + 4 + 4 + 4 + 4 + 8,
    SET_BYTES = 4,
    ACCESS_BYTES = 4 + 1,
    OBJECT_BYTES = 4 + 1 + 1 + 8 + 2 + 6 * 4,
    HIT_BYTES = 6 * 4 + 2 * 8,
    MOST_FRAMES = 32, /* of a stack, the innermost */
    US = 1000         /* nanoseconds */
};

#define COLUMN(c, key, width, type, rows, count, expression)         \
    do {                                                             \
        for (size_t i = 0; i < (count); i++) {                       \
            const type *r = &(rows)[i];                              \
            rep_put_element((c), (count), (width), i, (expression)); \
        }                                                            \
        rep_end_column((c), (key), (count), (width));                \
    } while (0)

/* ---- operations ---- */

static unsigned op_flags(const ana_course_op *op)
{
    return (op->waits ? 1u : 0) | (op->unknown ? 2u : 0) | (op->start_ns >= 0 ? 4u : 0);
}

/* Nanoseconds, and 1 more; 0: not measured. */
static uint64_t time_taken(const ana_course_op *op)
{
    return op->seconds >= 0 && op->seconds < 1e9 ? (uint64_t)llround(op->seconds * 1e9) + 1 : 0;
}

/* Microseconds of the host since the operation before; what begins before that one began with it. */
static void put_since(rep_columns *c, const ana_course *course)
{
    int64_t last = 0;
    for (size_t i = 0; i < course->nops; i++) {
        int64_t now = course->ops[i].start_ns / US;
        uint64_t since = now > last ? (uint64_t)(now - last) : 0;
        since = since < UINT32_MAX ? since : UINT32_MAX;
        rep_put_element(c, course->nops, 4, i, since);
        last += (int64_t)since;
    }
    rep_end_column(c, K(page_course_columns, since), course->nops, 4);
}

static void put_op_columns(rep_columns *c, const ana_course *course)
{
    size_t n = course->nops;
    const ana_course_op *ops = course->ops;
    COLUMN(c, K(page_course_columns, kind), 1, ana_course_op, ops, n, r->kind);
    COLUMN(c, K(page_course_columns, flags), 1, ana_course_op, ops, n, op_flags(r));
    COLUMN(c, K(page_course_columns, repeat), 4, ana_course_op, ops, n, r->count);
    COLUMN(c, K(page_course_columns, level), 4, ana_course_op, ops, n, r->level);
    COLUMN(c, K(page_course_columns, queue), 2, ana_course_op, ops, n, r->queue);
    COLUMN(c, K(page_course_columns, thread), 2, ana_course_op, ops, n, r->thread);
    COLUMN(c, K(page_course_columns, about), 4, ana_course_op, ops, n, r->about);
    COLUMN(c, K(page_course_columns, accesses), 4, ana_course_op, ops, n, r->accesses);
    COLUMN(c, K(page_course_columns, kernel), 4, ana_course_op, ops, n, r->kernel);
    COLUMN(c, K(page_course_columns, site), 4, ana_course_op, ops, n, r->site);
    put_since(c, course);
    COLUMN(c, K(page_course_columns, took), 8, ana_course_op, ops, n, time_taken(r));
}

static void put_access_columns(rep_columns *c, const ana_course *course)
{
    COLUMN(c, K(page_course_columns, set_size), 4, ana_course_set, course->sets, course->nsets,
           r->count);
    COLUMN(c, K(page_course_columns, access_object), 4, ana_course_access, course->accesses,
           course->naccesses, r->object);
    COLUMN(c, K(page_course_columns, access_how), 1, ana_course_access, course->accesses,
           course->naccesses, r->how);
}

/* ---- objects, hits ---- */

static unsigned object_flags(const ana_course_object *o)
{
    return (o->counted ? 1u : 0) | (o->fixed ? 2u : 0) | (o->seen_by_host ? 4u : 0) |
           (o->pooled ? 8u : 0) | (o->possibly ? 16u : 0);
}

static void put_object_columns(rep_columns *c, const ana_course *course)
{
    size_t n = course->nobjects;
    const ana_course_object *objects = course->objects;
    COLUMN(c, K(page_course_columns, object), 4, ana_course_object, objects, n, r->id);
    COLUMN(c, K(page_course_columns, object_flags), 1, ana_course_object, objects, n,
           object_flags(r));
    COLUMN(c, K(page_course_columns, object_ended), 1, ana_course_object, objects, n, r->ended);
    COLUMN(c, K(page_course_columns, bytes), 8, ana_course_object, objects, n, r->bytes);
    COLUMN(c, K(page_course_columns, device), 2, ana_course_object, objects, n, r->device);
    COLUMN(c, K(page_course_columns, allocate), 4, ana_course_object, objects, n, r->allocate);
    COLUMN(c, K(page_course_columns, free), 4, ana_course_object, objects, n, r->free);
    COLUMN(c, K(page_course_columns, begin), 4, ana_course_object, objects, n, r->begin);
    COLUMN(c, K(page_course_columns, end), 4, ana_course_object, objects, n, r->end);
    COLUMN(c, K(page_course_columns, first), 4, ana_course_object, objects, n, r->first);
    COLUMN(c, K(page_course_columns, last), 4, ana_course_object, objects, n, r->last);
}

static void put_hit_columns(rep_columns *c, const ana_course *course)
{
    size_t n = course->nhits;
    const ana_course_hit *hits = course->hits;
    COLUMN(c, K(page_course_columns, hit_object), 4, ana_course_hit, hits, n, r->object);
    COLUMN(c, K(page_course_columns, hit_other), 4, ana_course_hit, hits, n, r->other);
    COLUMN(c, K(page_course_columns, hit_from), 4, ana_course_hit, hits, n, r->from);
    COLUMN(c, K(page_course_columns, hit_to), 4, ana_course_hit, hits, n, r->to);
    COLUMN(c, K(page_course_columns, hit_calls), 4, ana_course_hit, hits, n, r->calls);
    COLUMN(c, K(page_course_columns, hit_step), 4, ana_course_hit, hits, n, r->step);
    COLUMN(c, K(page_course_columns, hit_bytes), 8, ana_course_hit, hits, n, r->bytes);
    COLUMN(c, K(page_course_columns, hit_adds), 8, ana_course_hit, hits, n, r->adds);
}

static json_t *course_columns_json(const ana_course *course, rep_part *part)
{
    rep_columns c;
    size_t most = (size_t)course->nops * OP_BYTES + (size_t)course->nsets * SET_BYTES +
                  (size_t)course->naccesses * ACCESS_BYTES +
                  (size_t)course->nobjects * OBJECT_BYTES + (size_t)course->nhits * HIT_BYTES;
    if (rep_columns_init(&c, most)) {
        put_op_columns(&c, course);
        put_access_columns(&c, course);
        put_object_columns(&c, course);
        put_hit_columns(&c, course);
    }
    return rep_pack_columns(&c, part);
}

/* ---- sites ---- */

static json_t *frame_json(const rep_data *d, const prof_frame *f)
{
    const char *path = rep_file_path(d, f->file);
    json_t *row = json_object();
    if (f->function[0])
        rep_put_text(row, K(page_frame, function), f->function);
    if (path && f->line) {
        rep_put_text(row, K(page_frame, file), path);
        rep_put_count(row, K(page_frame, line), f->line);
    }
    return row;
}

static json_t *stacks_json(const rep_data *d, const ana_course *course)
{
    json_t *stacks = json_array(), *stack = NULL;
    for (uint32_t i = 0; i < course->frames.count; i++) {
        const prof_frame *f = &course->frames.rows[i];
        if (i == 0 || f->stack != f[-1].stack)
            json_array_append_new(stacks, stack = json_array());
        if (json_array_size(stack) < MOST_FRAMES)
            json_array_append_new(stack, frame_json(d, f));
    }
    return stacks;
}

/* The first frame of the stack; frames.count where it has none. */
static uint32_t first_frame_of(const prof_frame_rows *frames, uint32_t stack)
{
    uint32_t low = 0, high = frames->count;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (frames->rows[middle].stack < stack)
            low = middle + 1;
        else
            high = middle;
    }
    return low < frames->count && frames->rows[low].stack == stack ? low : frames->count;
}

/* `numbers`: of the stack that each frame is of. */
static json_t *site_json(const ana_course *course, const uint32_t *numbers, const prof_call_site *s)
{
    uint32_t frame = first_frame_of(&course->frames, s->stack);
    json_t *row = json_object();
    rep_put_text(row, K(page_site, api), s->api);
    if (s->file && s->line) {
        rep_put_count(row, K(page_site, file), s->file);
        rep_put_count(row, K(page_site, line), s->line);
    }
    if (frame < course->frames.count)
        rep_put_count(row, K(page_site, stack), numbers[frame]);
    return row;
}

static json_t *sites_json(const ana_course *course)
{
    const prof_frame_rows *frames = &course->frames;
    json_t *sites = json_array();
    uint32_t *numbers = calloc((size_t)frames->count + 1, sizeof *numbers);
    for (uint32_t i = 1; numbers && i < frames->count; i++)
        numbers[i] = numbers[i - 1] + (frames->rows[i].stack != frames->rows[i - 1].stack);
    for (uint32_t i = 0; numbers && i < course->sites.count; i++)
        json_array_append_new(sites, site_json(course, numbers, &course->sites.rows[i]));
    free(numbers);
    return sites;
}

static bool pack_sites(const rep_data *d, const ana_course *course, rep_part *part)
{
    json_t *row = json_object();
    rep_put(row, K(page_sites, sites), sites_json(course));
    rep_put(row, K(page_sites, stacks), stacks_json(d, course));
    char *text = json_dumps(row, JSON_COMPACT);
    bool good = text && rep_gzip(text, strlen(text), part);
    free(text);
    json_decref(row);
    return good;
}

/* ---- the row ---- */

static json_t *course_device_json(const rep_data *data, const ana_course_device *d)
{
    json_t *row = json_object();
    rep_put_count(row, K(page_course_device, device), d->ordinal);
    if (d->pool) {
        rep_put_count(row, K(page_course_device, pool), d->pool);
        rep_put_text(row, K(page_course_device, pool_name), rep_pool_name(data, d->pool));
    }
    rep_put_count(row, K(page_course_device, peak), d->peak);
    rep_put_count(row, K(page_course_device, peak_after), d->peak_after);
    if (d->moment != OBJ_NONE)
        rep_put_count(row, K(page_course_device, moment), d->moment);
    return row;
}

static json_t *queue_json(const obj_queue *q)
{
    json_t *row = json_object();
    rep_put(row, K(page_queue, thread), json_boolean(q->kind == OBJ_QUEUE_THREAD));
    rep_put_count(row, K(page_queue, number), q->number);
    return row;
}

static json_t *refusal_json(const rep_data *d, wl_arena *arena, const ana_course_refusal *r)
{
    json_t *row = json_object();
    rep_put_count(row, K(page_refusal, at), r->at);
    rep_put_count(row, K(page_refusal, device), r->device);
    rep_put_text(row, K(page_refusal, call), rep_call_text(d, arena, r->call));
    if (r->bytes)
        rep_put_count(row, K(page_refusal, bytes), r->bytes);
    rep_put_count(row, K(page_refusal, free), r->free);
    rep_put_count(row, K(page_refusal, total), r->total);
    return row;
}

static json_t *change_json(const ana_course_change *c)
{
    const ana_pattern_info *pattern = ana_pattern_get(c->pattern);
    json_t *row = json_object();
    rep_put_text(row, K(page_change, pattern), pattern->name);
    rep_put_text(row, K(page_change, title), pattern->title);
    rep_put_text(row, K(page_change, effect), ana_effect_name(c->effect));
    if (c->possible)
        rep_put(row, K(page_change, possible), json_true());
    rep_put_count(row, K(page_change, first), c->first);
    rep_put_count(row, K(page_change, count), c->count);
    rep_put_count(row, K(page_change, saves), c->saves);
    if (c->number)
        rep_put_count(row, K(page_change, number), c->number);
    return row;
}

static void put_course_lists(json_t *row, const rep_data *d, wl_arena *arena,
                             const ana_course *course)
{
    json_t *devices = json_array(), *queues = json_array(), *changes = json_array(),
           *refusals = json_array();
    for (uint32_t i = 0; i < course->ndevices; i++)
        json_array_append_new(devices, course_device_json(d, &course->devices[i]));
    for (uint32_t i = 0; i < course->nqueues; i++)
        json_array_append_new(queues, queue_json(&course->queues[i]));
    for (uint32_t i = 0; i < course->nchanges; i++)
        json_array_append_new(changes, change_json(&course->changes[i]));
    for (uint32_t i = 0; i < course->nrefusals; i++)
        json_array_append_new(refusals, refusal_json(d, arena, &course->refusals[i]));
    rep_put(row, K(page_course, devices), devices);
    rep_put(row, K(page_course, queues), queues);
    rep_put(row, K(page_course, changes), changes);
    rep_put(row, K(page_course, refusals), refusals);
}

json_t *rep_pack_course(const rep_data *data, const ana_course *course, wl_arena *arena,
                        rep_parts *parts)
{
    rep_part columns = {0}, sites = {0};
    json_t *places = course_columns_json(course, &columns);
    if (!places || !pack_sites(data, course, &sites)) {
        free(columns.data);
        json_decref(places);
        return NULL;
    }
    json_t *row = json_object();
    rep_put_count(row, K(page_course, process), course->process);
    rep_put_count(row, K(page_course, operations), course->nops);
    if (course->left_out)
        rep_put_count(row, K(page_course, left_out), course->left_out);
    rep_put_count(row, K(page_course, objects), course->nobjects);
    put_course_lists(row, data, arena, course);
    rep_put_count(row, K(page_course, part), parts->count);
    rep_put(row, K(page_course, columns), places);
    rep_add_part(parts, columns);
    rep_put_count(row, K(page_course, sites), parts->count);
    rep_add_part(parts, sites);
    return row;
}
