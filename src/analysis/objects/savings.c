/* Replays allocations with changes made, and chooses the changes that lower the peak together. */
#include "analysis/objects/savings.h"
#include "analysis/objects/memory.h"

#include <stdlib.h>

/* An object as it lives with the changes that are made. */
typedef struct changed {
    uint64_t bytes;
    uint32_t begin, end;
    uint32_t away, back; /* given back in between; OBJ_NONE: not */
    uint32_t reuses, reused_by;
    bool left_out;
} changed;

typedef struct planner {
    const obj_trace *trace;
    obj_hits *hits;
    obj_plan *plan;
    obj_memory *memories; /* by device */
    uint32_t *moments;    /* of all, by device */
    changed *objects;
    bool *made; /* by hit */
    uint32_t *order;
} planner;

/* ---- what objects take ---- */

/* The object whose memory it lives in: its own, or that of the first of those that it reuses. */
static uint32_t owner_of_memory(const planner *p, uint32_t object)
{
    while (p->objects[object].reuses != OBJ_NONE)
        object = p->objects[object].reuses;
    return object;
}

/* Adds what the memory of an owner takes, times 1 or -1. Whoever lives in it needs the larger size,
 * from the first allocation to the last free. */
static void add_memory_of(planner *p, uint32_t owner, int sign)
{
    const changed *c = &p->objects[owner];
    obj_memory *m = &p->memories[p->trace->objects.data[owner].device];
    uint32_t begin = c->begin, end = c->end;
    uint64_t bytes = c->bytes;
    bool alone = c->reused_by == OBJ_NONE;
    for (uint32_t i = c->reused_by; i != OBJ_NONE; i = p->objects[i].reused_by) {
        const changed *other = &p->objects[i];
        begin = other->begin < begin ? other->begin : begin;
        end = other->end > end ? other->end : end;
        bytes = other->bytes > bytes ? other->bytes : bytes;
    }
    if (c->left_out)
        return;
    obj_memory_add(m, begin, end, sign * (int64_t)bytes);
    if (alone && c->away != OBJ_NONE)
        obj_memory_add(m, c->away, c->back, -sign * (int64_t)bytes);
}

/* ---- changes ---- */

/* The moments from which on, and to which, the change takes nothing. */
static void bounds_of_change(const obj_trace *trace, const obj_hit *h, uint32_t *from, uint32_t *to)
{
    const obj_object *o = &trace->objects.data[h->object];
    *from = h->from == OBJ_NONE ? o->begin : h->from + 1;
    *to = h->to == OBJ_NONE ? o->end : h->to;
}

static void change_object(planner *p, const obj_hit *h, bool make)
{
    const obj_object *o = &p->trace->objects.data[h->object];
    changed *c = &p->objects[h->object];
    uint32_t from, to;
    bounds_of_change(p->trace, h, &from, &to);
    switch (h->pattern) {
    case ANA_EARLY_ALLOCATION: c->begin = make ? to : o->begin; break;
    case ANA_LATE_DEALLOCATION:
    case ANA_LEAK: c->end = make ? from : o->end; break;
    case ANA_UNUSED_ALLOCATION: c->left_out = make; break;
    case ANA_OVERALLOCATION:
    case ANA_STRUCTURED_ACCESS: c->bytes = make ? h->keeps : o->bytes; break;
    case ANA_TEMPORARY_IDLENESS:
        c->away = make ? from : OBJ_NONE;
        c->back = make ? to : OBJ_NONE;
        break;
    case ANA_REDUNDANT_ALLOCATION:
        c->reuses = make ? h->other : OBJ_NONE;
        p->objects[h->other].reused_by = make ? h->object : OBJ_NONE;
        break;
    default: break;
    }
}

/* Makes the change of a hit, or undoes it. */
static void make_change(planner *p, uint32_t hit, bool make)
{
    const obj_hit *h = &p->hits->data[hit];
    uint32_t first = h->other == OBJ_NONE ? h->object : h->other;
    uint32_t owner = owner_of_memory(p, h->object), other = owner_of_memory(p, first);
    add_memory_of(p, owner, -1);
    if (other != owner)
        add_memory_of(p, other, -1);
    change_object(p, h, make);
    p->made[hit] = make;
    owner = owner_of_memory(p, h->object);
    other = owner_of_memory(p, first);
    add_memory_of(p, owner, 1);
    if (other != owner)
        add_memory_of(p, other, 1);
}

static uint64_t peak_for_hit(const planner *p, uint32_t hit)
{
    const obj_object *o = &p->trace->objects.data[p->hits->data[hit].object];
    return (uint64_t)obj_memory_peak(&p->memories[o->device]);
}

/* A leak that goes on is no matter of a moment, and what is written twice of no memory. */
static bool changes_memory(const obj_hit *h)
{
    return h->pattern != ANA_DEAD_WRITE && !(h->pattern == ANA_LEAK && h->from == OBJ_NONE);
}

static bool shortens(const obj_hit *h)
{
    return h->pattern != ANA_TEMPORARY_IDLENESS && h->pattern != ANA_REDUNDANT_ALLOCATION;
}

/* ---- the plan ---- */

static uint32_t site_of(const planner *p, uint32_t object)
{
    return object == OBJ_NONE ? OBJ_NONE : p->trace->objects.data[object].site;
}

static int compare_bundles(const planner *p, uint32_t a, uint32_t b)
{
    const obj_hit *x = &p->hits->data[a], *y = &p->hits->data[b];
    const uint32_t left[] = {x->pattern, site_of(p, x->object), site_of(p, x->other),
                             p->trace->objects.data[x->object].device, x->possible};
    const uint32_t right[] = {y->pattern, site_of(p, y->object), site_of(p, y->other),
                              p->trace->objects.data[y->object].device, y->possible};
    for (size_t i = 0; i < sizeof left / sizeof *left; i++)
        if (left[i] != right[i])
            return left[i] < right[i] ? -1 : 1;
    return 0;
}

static int by_bundle(const void *a, const void *b, void *planner_)
{
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    int order = compare_bundles(planner_, x, y);
    return order ? order : x < y ? -1 : x > y;
}

static void change_bundle(planner *p, const uint32_t *hits, size_t n, bool make)
{
    for (size_t i = 0; i < n; i++)
        if (changes_memory(&p->hits->data[hits[i]]))
            make_change(p, hits[i], make);
}

static void set_savings(planner *p)
{
    size_t n = p->hits->count;
    for (uint32_t i = 0; i < n; i++)
        p->order[i] = i;
    qsort_r(p->order, n, sizeof *p->order, by_bundle, p);
    for (size_t i = 0, end; i < n; i = end) {
        uint64_t before = peak_for_hit(p, p->order[i]);
        for (end = i + 1; end < n && compare_bundles(p, p->order[i], p->order[end]) == 0;)
            end++;
        change_bundle(p, &p->order[i], end - i, true);
        uint64_t after = peak_for_hit(p, p->order[i]);
        change_bundle(p, &p->order[i], end - i, false);
        for (size_t k = i; k < end; k++) {
            p->hits->data[p->order[k]].bundle = p->order[i];
            p->hits->data[p->order[k]].saves = before - after;
        }
    }
}

static void make_certain_changes(planner *p)
{
    for (uint32_t i = 0; i < p->hits->count; i++) {
        const obj_hit *h = &p->hits->data[i];
        if (!h->possible && changes_memory(h) && shortens(h))
            make_change(p, i, true);
    }
}

/* Does it meet one that is made already? Memory that another lives in is not given back. */
static bool is_compatible(const planner *p, const obj_hit *h)
{
    const changed *c = &p->objects[h->object];
    if (h->pattern == ANA_TEMPORARY_IDLENESS)
        return c->reuses == OBJ_NONE && c->reused_by == OBJ_NONE;
    return c->away == OBJ_NONE && p->objects[h->other].away == OBJ_NONE;
}

static void make_worthwhile_changes(planner *p, double least)
{
    for (uint32_t i = 0; i < p->hits->count; i++) {
        uint32_t hit = p->order[i];
        const obj_hit *h = &p->hits->data[hit];
        uint64_t before = peak_for_hit(p, hit);
        if (h->possible || !changes_memory(h) || shortens(h) || !is_compatible(p, h))
            continue;
        make_change(p, hit, true);
        uint64_t after = peak_for_hit(p, hit);
        if (after >= before || (double)(before - after) < least * (double)before)
            make_change(p, hit, false);
    }
}

/* From the last in order on: what makes no difference to the peak is not needed. */
static void leave_out_needless(planner *p)
{
    for (size_t i = p->hits->count; i-- > 0;) {
        uint32_t hit = p->order[i];
        uint64_t before = peak_for_hit(p, hit);
        if (!p->made[hit])
            continue;
        make_change(p, hit, false);
        if (peak_for_hit(p, hit) > before)
            make_change(p, hit, true);
    }
}

/* With what is left: those that were needed when less was left out may have become needless. */
static void note_plan(planner *p)
{
    for (uint32_t i = 0; i < p->hits->count; i++) {
        obj_hit *h = &p->hits->data[i];
        h->planned = p->made[i];
        if (!h->planned)
            continue;
        uint64_t with = peak_for_hit(p, i);
        make_change(p, i, false);
        h->adds = peak_for_hit(p, i) - with;
        make_change(p, i, true);
    }
    for (uint32_t d = 0; d < p->trace->ndevices; d++)
        p->plan->devices[d].after = (uint64_t)obj_memory_peak(&p->memories[d]);
}

static bool list_steps(planner *p)
{
    for (uint32_t i = 0; i < p->hits->count; i++)
        if (p->made[i])
            make_change(p, i, false);
    for (uint32_t i = 0; i < p->hits->count; i++) {
        uint32_t hit = p->order[i];
        if (!p->hits->data[hit].planned)
            continue;
        make_change(p, hit, true);
        obj_step step = {hit, peak_for_hit(p, hit)};
        if (!wl_push(&p->plan->steps, step))
            return false;
    }
    return true;
}

/* ---- begin and end ---- */

/* What is simplest to follow, and costs the program nothing, first. */
static int effort_of(const obj_hit *h)
{
    switch (h->pattern) {
    case ANA_UNUSED_ALLOCATION: return 0;
    case ANA_LEAK:
    case ANA_LATE_DEALLOCATION: return 1;
    case ANA_EARLY_ALLOCATION: return 2;
    case ANA_OVERALLOCATION: return 2;
    case ANA_REDUNDANT_ALLOCATION: return 4;
    case ANA_STRUCTURED_ACCESS: return 3;
    default: return 5;
    }
}

typedef struct ranked {
    uint64_t saves, bytes;
    bool shortens;
    int effort;
    uint32_t hit;
} ranked;

static int by_saving(const void *a, const void *b)
{
    const ranked *x = a, *y = b;
    if (x->shortens != y->shortens)
        return x->shortens ? -1 : 1;
    if (x->saves != y->saves)
        return x->saves > y->saves ? -1 : 1;
    if (x->bytes != y->bytes)
        return x->bytes > y->bytes ? -1 : 1;
    if (x->effort != y->effort)
        return x->effort < y->effort ? -1 : 1;
    return x->hit < y->hit ? -1 : x->hit > y->hit;
}

static bool order_hits(planner *p)
{
    size_t n = p->hits->count;
    ranked *rows = malloc((n + 1) * sizeof *rows);
    for (uint32_t i = 0; rows && i < n; i++) {
        const obj_hit *h = &p->hits->data[i];
        rows[i] = (ranked){h->saves, h->bytes, shortens(h), effort_of(h), i};
    }
    if (rows)
        qsort(rows, n, sizeof *rows, by_saving);
    for (uint32_t i = 0; rows && i < n; i++)
        p->order[i] = rows[i].hit;
    free(rows);
    return rows != NULL;
}

/* Counts the moments of a device's objects and hits, and writes them where there is room. */
static uint32_t list_moments(const planner *p, uint32_t device, uint32_t *moments)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < p->trace->objects.count; i++) {
        const obj_object *o = &p->trace->objects.data[i];
        if (o->device != device || !o->counted)
            continue;
        moments[n++] = o->begin;
        moments[n++] = o->end;
    }
    for (uint32_t i = 0; i < p->hits->count; i++) {
        const obj_hit *h = &p->hits->data[i];
        if (p->trace->objects.data[h->object].device == device)
            bounds_of_change(p->trace, h, &moments[n], &moments[n + 1]), n += 2;
    }
    return n;
}

static bool begin_memories(planner *p)
{
    uint32_t *at = p->moments;
    for (uint32_t d = 0; d < p->trace->ndevices; d++) {
        uint32_t n = list_moments(p, d, at);
        if (!obj_memory_init(&p->memories[d], at, n))
            return false;
        at += n;
    }
    for (uint32_t i = 0; i < p->trace->objects.count; i++) {
        const obj_object *o = &p->trace->objects.data[i];
        p->objects[i] = (changed){o->bytes, o->begin, o->end,   OBJ_NONE,
                                  OBJ_NONE, OBJ_NONE, OBJ_NONE, false};
        if (o->counted)
            add_memory_of(p, i, 1);
    }
    for (uint32_t d = 0; d < p->trace->ndevices; d++) {
        obj_device_peaks *peaks = &p->plan->devices[d];
        peaks->before = peaks->after = (uint64_t)obj_memory_peak(&p->memories[d]);
        peaks->moment = obj_memory_peak_moment(&p->memories[d]);
    }
    return true;
}

static bool begin_plan(planner *p)
{
    size_t objects = p->trace->objects.count, hits = p->hits->count;
    p->memories = calloc((size_t)p->trace->ndevices + 1, sizeof *p->memories);
    p->moments = malloc((2 * (objects + hits) + 1) * sizeof *p->moments);
    p->objects = malloc((objects + 1) * sizeof *p->objects);
    p->made = calloc(hits + 1, sizeof *p->made);
    p->order = malloc((hits + 1) * sizeof *p->order);
    p->plan->devices = calloc((size_t)p->trace->ndevices + 1, sizeof *p->plan->devices);
    return p->memories && p->moments && p->objects && p->made && p->order && p->plan->devices &&
           begin_memories(p);
}

bool obj_plan_savings(const obj_trace *trace, double least, obj_hits *hits, obj_plan *plan)
{
    planner p = {.trace = trace, .hits = hits, .plan = plan};
    *plan = (obj_plan){0};
    bool good = begin_plan(&p);
    if (good) {
        set_savings(&p);
        good = order_hits(&p);
    }
    if (good) {
        make_certain_changes(&p);
        make_worthwhile_changes(&p, least);
        leave_out_needless(&p);
        note_plan(&p);
        good = list_steps(&p);
    }
    for (uint32_t d = 0; p.memories && d < trace->ndevices; d++)
        obj_memory_free(&p.memories[d]);
    free(p.memories);
    free(p.moments);
    free(p.objects);
    free(p.made);
    free(p.order);
    return good;
}

void obj_plan_free(obj_plan *plan)
{
    free(plan->devices);
    wl_vec_free(&plan->steps);
}
