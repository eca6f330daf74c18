/* Replays allocations with changes made, and chooses the changes that lower the peak together. */
#include "analysis/objects/savings.h"
#include "analysis/objects/bundles.h"
#include "analysis/objects/memory.h"

#include <stdlib.h>

/* An object as it lives with the changes that are made. */
typedef struct changed {
    uint64_t bytes;
    uint32_t begin, end; /* places in its device's memory */
    uint32_t reuses, reused_by;
    uint32_t away; /* times that it is given back in between */
    bool left_out;
} changed;

/* What takes memory: places of one device, from one up to another. */
typedef struct extent {
    uint32_t from, to;
    int64_t bytes;
} extent;

/* What a change adds to memory, and where: bytes may be negative. */
typedef struct deltas {
    uint32_t count;
    extent rows[4];
} deltas;

typedef struct planner {
    const obj_trace *trace;
    obj_hits *hits;
    obj_plan *plan;
    obj_memory *memories; /* by device */
    changed *objects;
    bool *made;        /* by hit */
    uint32_t *moments; /* by device: of the peak, as far as what is worthwhile was made */
    obj_bundles bundles;
    uint32_t *order;
    wl_vec(extent) given_back; /* by a bundle */
} planner;

/* ---- what objects take ---- */

static obj_memory *memory_of_object(const planner *p, uint32_t object)
{
    return &p->memories[p->trace->ndevices > 1 ? p->trace->objects.data[object].device : 0];
}

static obj_memory *memory_of_hit(const planner *p, uint32_t hit)
{
    return memory_of_object(p, p->hits->data[hit].object);
}

/* The object whose memory it lives in: its own, or that of the first of those that it reuses. */
static uint32_t owner_of_memory(const planner *p, uint32_t object)
{
    while (p->objects[object].reuses != OBJ_NONE)
        object = p->objects[object].reuses;
    return object;
}

static extent extent_of_object(const planner *p, uint32_t object)
{
    const changed *c = &p->objects[object];
    return c->left_out ? (extent){0} : (extent){c->begin, c->end, (int64_t)c->bytes};
}

/* What the memory of an owner takes: whoever lives in it needs the larger size, from the first
 * allocation to the last free. */
static extent extent_of_memory(const planner *p, uint32_t owner)
{
    extent all = extent_of_object(p, owner);
    for (uint32_t i = p->objects[owner].reused_by; i != OBJ_NONE; i = p->objects[i].reused_by) {
        extent one = extent_of_object(p, i);
        all.from = one.from < all.from ? one.from : all.from;
        all.to = one.to > all.to ? one.to : all.to;
        all.bytes = one.bytes > all.bytes ? one.bytes : all.bytes;
    }
    return all;
}

enum { AHEAD = 8 };

/* Hits are gone through in an order in which they do not lie: what comes soon is asked for. */
static void fetch_hits(const planner *p, const uint32_t *hits, size_t n, size_t at)
{
    if (at + 2 * AHEAD < n)
        __builtin_prefetch(&p->hits->data[hits[at + 2 * AHEAD]]);
    if (at + AHEAD < n)
        __builtin_prefetch(&p->objects[p->hits->data[hits[at + AHEAD]].object]);
}

/* ---- changes ---- */

/* The moments from which on, and to which, the change takes nothing. */
static void bounds_of_change(const obj_trace *trace, const obj_hit *h, uint32_t *from, uint32_t *to)
{
    const obj_object *o = &trace->objects.data[h->object];
    *from = h->from == OBJ_NONE ? o->begin : h->from + 1;
    *to = h->to == OBJ_NONE ? o->end : h->to;
}

/* Makes the change of a hit to its object, or undoes it. */
static void change_object(planner *p, uint32_t hit, bool make)
{
    const obj_hit *h = &p->hits->data[hit];
    const obj_object *o = &p->trace->objects.data[h->object];
    const obj_memory *m = memory_of_hit(p, hit);
    changed *c = &p->objects[h->object];
    uint32_t from, to;
    bounds_of_change(p->trace, h, &from, &to);
    p->made[hit] = make;
    switch (h->pattern) {
    case ANA_EARLY_ALLOCATION: c->begin = obj_memory_place(m, make ? to : o->begin); break;
    case ANA_LATE_DEALLOCATION:
    case ANA_LEAK: c->end = obj_memory_place(m, make ? from : o->end); break;
    case ANA_UNUSED_ALLOCATION: c->left_out = make; break;
    case ANA_OVERALLOCATION:
    case ANA_STRUCTURED_ACCESS: c->bytes = make ? h->keeps : o->bytes; break;
    case ANA_TEMPORARY_IDLENESS: c->away += make ? 1 : UINT32_MAX; break;
    case ANA_REDUNDANT_ALLOCATION:
        c->reuses = make ? h->other : OBJ_NONE;
        p->objects[h->other].reused_by = make ? h->object : OBJ_NONE;
        break;
    default: break;
    }
}

static void add_delta(deltas *d, uint32_t from, uint32_t to, int64_t bytes)
{
    if (from < to && bytes)
        d->rows[d->count++] = (extent){from, to, bytes};
}

/* From one extent to another: only the ends, or the size, where the rest stays as it is. */
static void add_extents_apart(deltas *d, const extent *before, const extent *after)
{
    uint32_t least = before->from < after->from ? before->from : after->from;
    uint32_t most = before->to > after->to ? before->to : after->to;
    bool overlap = before->from < after->to && after->from < before->to;
    if (before->from == after->from && before->to == after->to) {
        add_delta(d, after->from, after->to, after->bytes - before->bytes);
        return;
    }
    if (!overlap || before->bytes != after->bytes) {
        add_delta(d, before->from, before->to, -before->bytes);
        add_delta(d, after->from, after->to, after->bytes);
        return;
    }
    add_delta(d, least, before->from, after->bytes);
    add_delta(d, least, after->from, -after->bytes);
    add_delta(d, before->to, most, after->bytes);
    add_delta(d, after->to, most, -after->bytes);
}

/* An object that others live with is not given back in between. */
static deltas change_gap(planner *p, uint32_t hit, bool make)
{
    const obj_hit *h = &p->hits->data[hit];
    const obj_memory *m = memory_of_hit(p, hit);
    const changed *c = &p->objects[h->object];
    int64_t bytes = (int64_t)c->bytes;
    deltas d = {0};
    uint32_t from, to;
    bounds_of_change(p->trace, h, &from, &to);
    change_object(p, hit, make);
    if (c->reuses == OBJ_NONE && c->reused_by == OBJ_NONE && !c->left_out)
        add_delta(&d, obj_memory_place(m, from), obj_memory_place(m, to), make ? -bytes : bytes);
    return d;
}

static deltas change_reuse(planner *p, uint32_t hit, bool make)
{
    const obj_hit *h = &p->hits->data[hit];
    uint32_t owner = owner_of_memory(p, h->other), object = h->object;
    deltas d = {0};
    for (int after = 0; after < 2; after++) {
        bool joint = p->objects[object].reuses != OBJ_NONE;
        extent first = extent_of_memory(p, owner), second = {0};
        if (!joint)
            second = extent_of_memory(p, object);
        add_delta(&d, first.from, first.to, after ? first.bytes : -first.bytes);
        add_delta(&d, second.from, second.to, after ? second.bytes : -second.bytes);
        if (!after)
            change_object(p, hit, make);
    }
    return d;
}

/* Makes the change of a hit to its objects, or undoes it, and tells what memory lacks of that. */
static deltas change_for_hit(planner *p, uint32_t hit, bool make)
{
    const obj_hit *h = &p->hits->data[hit];
    deltas d = {0};
    if (h->pattern == ANA_TEMPORARY_IDLENESS)
        return change_gap(p, hit, make);
    if (h->pattern == ANA_REDUNDANT_ALLOCATION)
        return change_reuse(p, hit, make);
    uint32_t owner = owner_of_memory(p, h->object);
    extent before = extent_of_memory(p, owner);
    change_object(p, hit, make);
    extent after = extent_of_memory(p, owner);
    add_extents_apart(&d, &before, &after);
    return d;
}

static void add_deltas(obj_memory *m, const deltas *d, int sign)
{
    for (uint32_t i = 0; i < d->count; i++)
        obj_memory_add(m, d->rows[i].from, d->rows[i].to, sign * d->rows[i].bytes);
}

static int64_t bytes_at_place(const deltas *d, uint32_t place)
{
    int64_t bytes = 0;
    for (uint32_t i = 0; i < d->count; i++)
        if (d->rows[i].from <= place && place < d->rows[i].to)
            bytes += d->rows[i].bytes;
    return bytes;
}

static bool only_adds(const deltas *d)
{
    for (uint32_t i = 0; i < d->count; i++)
        if (d->rows[i].bytes < 0)
            return false;
    return true;
}

/* The peak that there would be. Where all is added, in ranges that lie apart, memory can stay as it
 * is. */
static uint64_t peak_with(obj_memory *m, const deltas *d)
{
    int64_t peak = obj_memory_peak(m);
    if (only_adds(d)) {
        for (uint32_t i = 0; i < d->count; i++) {
            int64_t most = obj_memory_most(m, d->rows[i].from, d->rows[i].to) + d->rows[i].bytes;
            peak = most > peak ? most : peak;
        }
        return (uint64_t)peak;
    }
    add_deltas(m, d, 1);
    peak = obj_memory_peak(m);
    add_deltas(m, d, -1);
    return (uint64_t)peak;
}

static uint64_t peak_for_hit(const planner *p, uint32_t hit)
{
    return (uint64_t)obj_memory_peak(memory_of_hit(p, hit));
}

/* A leak that goes on is no matter of a moment, and what is written twice of no memory. */
static bool changes_memory(const obj_hit *h)
{
    return h->pattern != ANA_DEAD_WRITE && !(h->pattern == ANA_LEAK && h->from == OBJ_NONE);
}

/* All objects as they are changed, when none lives in another's memory or is given back. */
static void load_memories(planner *p)
{
    for (uint32_t d = 0; d < p->trace->ndevices; d++)
        obj_memory_clear(&p->memories[d]);
    for (uint32_t i = 0; i < p->trace->objects.count; i++) {
        extent e = extent_of_object(p, i);
        if (p->trace->objects.data[i].counted)
            obj_memory_put(memory_of_object(p, i), e.from, e.to, e.bytes);
    }
    for (uint32_t d = 0; d < p->trace->ndevices; d++)
        obj_memory_sum(&p->memories[d]);
}

static void change_nothing(planner *p)
{
    for (uint32_t i = 0; i < p->trace->objects.count; i++) {
        const obj_object *o = &p->trace->objects.data[i];
        const obj_memory *m = memory_of_object(p, i);
        p->objects[i] = (changed){.bytes = o->bytes,
                                  .begin = obj_memory_place(m, o->begin),
                                  .end = obj_memory_place(m, o->end),
                                  .reuses = OBJ_NONE,
                                  .reused_by = OBJ_NONE};
    }
}

/* ---- what bundles save ---- */

/* What following a hit alone gives back: moments, not places. */
static extent given_back_by(const planner *p, const obj_hit *h)
{
    const obj_object *o = &p->trace->objects.data[h->object];
    extent e = {.bytes = changes_memory(h) ? (int64_t)o->bytes : 0};
    bounds_of_change(p->trace, h, &e.from, &e.to);
    if (h->pattern == ANA_EARLY_ALLOCATION)
        e.from = o->begin;
    if (h->pattern == ANA_OVERALLOCATION || h->pattern == ANA_STRUCTURED_ACCESS)
        e = (extent){o->begin, o->end, (int64_t)o->bytes - (int64_t)h->keeps};
    return e;
}

/* All that the hits of a bundle give back; *there: at one moment. */
static bool list_given_back(planner *p, const uint32_t *rows, size_t n, uint32_t moment,
                            int64_t *there)
{
    *there = 0;
    p->given_back.count = 0;
    for (size_t i = 0; i < n; i++) {
        fetch_hits(p, rows, n, i);
        extent e = given_back_by(p, &p->hits->data[rows[i]]);
        *there += e.from <= moment && moment < e.to ? e.bytes : 0;
        if (!wl_push(&p->given_back, e))
            return false;
    }
    return true;
}

/* Takes away what is given back between two places, or undoes that; gives what is so for all of
 * them, and is left alone. */
static int64_t give_back_bundle(planner *p, obj_memory *m, uint32_t first, uint32_t end, int sign)
{
    int64_t all = 0;
    for (size_t i = 0; i < p->given_back.count; i++) {
        const extent *e = &p->given_back.data[i];
        uint32_t from = obj_memory_place(m, e->from), to = obj_memory_place(m, e->to);
        if (from <= first && to >= end)
            all += e->bytes;
        else
            obj_memory_add(m, from > first ? from : first, to < end ? to : end, -sign * e->bytes);
    }
    return all;
}

/* The peak will be no lower than what is left of it at its first place. Only what is higher now can
 * be higher then: what lies before the first such place, and after the last, is left alone. */
static bool find_peak_with_bundle(planner *p, const uint32_t *rows, size_t n, uint64_t *peak)
{
    obj_memory *m = memory_of_hit(p, *rows);
    uint32_t moment = obj_memory_moment(m, obj_memory_peak_place(m)), first, end;
    int64_t there;
    *peak = (uint64_t)obj_memory_peak(m);
    if (!list_given_back(p, rows, n, moment, &there))
        return false;
    if (there == 0)
        return true;
    obj_memory_above(m, (int64_t)*peak - there, &first, &end);
    int64_t all = give_back_bundle(p, m, first, end, 1);
    *peak = (uint64_t)(obj_memory_most(m, first, end) - all);
    give_back_bundle(p, m, first, end, -1);
    return true;
}

/* All that live in the memory of an owner, in place of each in its own. */
static void join_memory(planner *p, uint32_t owner, int sign)
{
    obj_memory *m = memory_of_object(p, owner);
    extent all = extent_of_memory(p, owner);
    for (uint32_t i = owner; i != OBJ_NONE; i = p->objects[i].reused_by) {
        extent one = extent_of_object(p, i);
        obj_memory_add(m, one.from, one.to, -sign * one.bytes);
    }
    obj_memory_add(m, all.from, all.to, sign * all.bytes);
}

static void join_bundle(planner *p, const uint32_t *rows, size_t n, int sign)
{
    for (size_t i = 0; i < n; i++) {
        uint32_t other = p->hits->data[rows[i]].other;
        if (p->objects[other].reuses == OBJ_NONE)
            join_memory(p, other, sign);
    }
}

/* Objects that take over each other's memory make chains, each of which is changed at once. */
static uint64_t peak_with_reuses(planner *p, const uint32_t *rows, size_t n)
{
    for (size_t i = 0; i < n; i++)
        change_object(p, rows[i], true);
    join_bundle(p, rows, n, 1);
    uint64_t peak = peak_for_hit(p, *rows);
    join_bundle(p, rows, n, -1);
    for (size_t i = 0; i < n; i++)
        change_object(p, rows[i], false);
    return peak;
}

/* Memory that is reused has the larger size the longer time: that may cost more than it saves. */
static uint64_t saved_of(uint64_t before, uint64_t after)
{
    return after < before ? before - after : 0;
}

static bool set_saving_of_bundle(planner *p, const uint32_t *rows, size_t n)
{
    uint64_t before = peak_for_hit(p, *rows), after;
    if (p->hits->data[*rows].pattern == ANA_REDUNDANT_ALLOCATION)
        after = peak_with_reuses(p, rows, n);
    else if (!find_peak_with_bundle(p, rows, n, &after))
        return false;
    for (size_t i = 0; i < n; i++) {
        obj_hit *h = &p->hits->data[rows[i]];
        h->saves = saved_of(before, after);
    }
    return true;
}

static bool set_savings(planner *p)
{
    const obj_bundles *b = &p->bundles;
    bool good = obj_bundles_of(p->trace, p->hits, &p->bundles);
    for (uint32_t i = 0; good && i < b->count; i++)
        good = set_saving_of_bundle(p, &b->hits[b->first[i]], b->first[i + 1] - b->first[i]);
    wl_vec_free(&p->given_back);
    return good;
}

/* ---- the plan ---- */

/* A few bytes less of an object are not worth a step of the plan. */
static bool is_too_little(const planner *p, const obj_hit *h, double least)
{
    uint32_t device = p->trace->objects.data[h->object].device;
    return h->keeps &&
           (double)(h->bytes - h->keeps) < least * (double)p->plan->devices[device].before;
}

static void make_certain_changes(planner *p, double least)
{
    for (uint32_t i = 0; i < p->hits->count; i++) {
        const obj_hit *h = &p->hits->data[i];
        if (!h->possible && changes_memory(h) && obj_shortens(h) && !is_too_little(p, h, least))
            change_object(p, i, true);
    }
    load_memories(p);
}

/* Does it meet one that is made already? Memory that another lives in is not given back. */
static bool is_compatible(const planner *p, const obj_hit *h)
{
    const changed *c = &p->objects[h->object];
    if (h->pattern == ANA_TEMPORARY_IDLENESS)
        return c->reuses == OBJ_NONE && c->reused_by == OBJ_NONE;
    return c->away == 0 && p->objects[h->other].away == 0;
}

/* Is it worth its while? That goes by the peak, whatever else lies below it. */
static bool is_worthwhile(uint64_t before, int64_t less, double least)
{
    return less > 0 && (double)less >= least * (double)before;
}

static uint32_t peak_moment(const planner *p, uint32_t hit)
{
    const obj_memory *m = memory_of_hit(p, hit);
    return obj_memory_moment(m, obj_memory_peak_place(m));
}

/* Is it made? */
static bool make_where_worthwhile(planner *p, uint32_t hit, double least)
{
    obj_memory *m = memory_of_hit(p, hit);
    uint64_t before = peak_for_hit(p, hit);
    deltas d = change_for_hit(p, hit, true);
    if (is_worthwhile(before, -bytes_at_place(&d, obj_memory_peak_place(m)), least)) {
        add_deltas(m, &d, 1);
        if (is_worthwhile(before, (int64_t)(before - peak_for_hit(p, hit)), least))
            return true;
        add_deltas(m, &d, -1);
    }
    change_object(p, hit, false);
    return false;
}

/* What the memory lacks at a moment when the object is given back in between. */
static int64_t bytes_of_gap(const planner *p, uint32_t hit, uint32_t moment)
{
    const obj_hit *h = &p->hits->data[hit];
    uint32_t from, to;
    bounds_of_change(p->trace, h, &from, &to);
    if (moment < from || moment >= to || p->objects[h->object].left_out)
        return 0;
    return (int64_t)p->objects[h->object].bytes;
}

static bool may_be_worthwhile(const planner *p, uint32_t hit, double least)
{
    const obj_hit *h = &p->hits->data[hit];
    uint32_t moment = p->moments[p->trace->objects.data[h->object].device];
    return h->pattern != ANA_TEMPORARY_IDLENESS ||
           is_worthwhile(peak_for_hit(p, hit), bytes_of_gap(p, hit, moment), least);
}

static void make_worthwhile_changes(planner *p, double least)
{
    for (uint32_t d = 0; d < p->trace->ndevices; d++)
        p->moments[d] = obj_memory_moment(&p->memories[d], obj_memory_peak_place(&p->memories[d]));
    for (uint32_t i = 0; i < p->hits->count; i++) {
        const obj_hit *h = &p->hits->data[p->order[i]];
        fetch_hits(p, p->order, p->hits->count, i);
        if (!h->possible && changes_memory(h) && !obj_shortens(h) && is_compatible(p, h) &&
            may_be_worthwhile(p, p->order[i], least) &&
            make_where_worthwhile(p, p->order[i], least))
            p->moments[p->trace->objects.data[h->object].device] = peak_moment(p, p->order[i]);
    }
}

/* Adds what the changes make of memory, once more or, where `sign` is -1, no longer. */
static void add_gaps(planner *p, const uint32_t *hits, size_t n, int sign)
{
    for (size_t i = 0; i < n; i++) {
        deltas d = change_for_hit(p, hits[i], sign > 0);
        add_deltas(memory_of_hit(p, hits[i]), &d, 1);
    }
}

/* `hits` stand together and none is made: all of them, where that lowers the peak. */
static void make_gaps_together(planner *p, const uint32_t *hits, size_t n, double least)
{
    uint64_t before = peak_for_hit(p, hits[0]);
    uint32_t moment = peak_moment(p, hits[0]);
    int64_t there = 0;
    for (size_t i = 0; i < n; i++) {
        fetch_hits(p, hits, n, i);
        there += bytes_of_gap(p, hits[i], moment);
    }
    if (!is_worthwhile(before, there, least))
        return;
    add_gaps(p, hits, n, 1);
    if (!is_worthwhile(before, (int64_t)(before - peak_for_hit(p, hits[0])), least))
        add_gaps(p, hits, n, -1);
}

/* The gaps among hits that may still be made; moves them to the front. */
static size_t gaps_left(const planner *p, uint32_t *hits, size_t n)
{
    size_t left = 0;
    if (p->hits->data[hits[0]].pattern != ANA_TEMPORARY_IDLENESS || p->hits->data[hits[0]].possible)
        return 0;
    for (size_t i = 0; i < n; i++)
        if (!p->made[hits[i]] && is_compatible(p, &p->hits->data[hits[i]]))
            hits[left++] = hits[i];
    return left;
}

/* Where several moments are as high as the peak, one gap alone lowers nothing: those that stand
 * together are tried together. */
static void make_worthwhile_gaps(planner *p, double least)
{
    for (uint32_t i = 0; i < p->bundles.count; i++) {
        uint32_t first = p->bundles.first[i], *hits = &p->bundles.hits[first];
        size_t left = gaps_left(p, hits, p->bundles.first[i + 1] - first);
        if (left > 1)
            make_gaps_together(p, hits, left, least);
    }
}

/* From the last in order on: what makes no difference to the peak is not needed. */
static void leave_out_needless(planner *p)
{
    for (size_t n = p->hits->count, i = n; i-- > 0;) {
        uint32_t hit = p->order[i];
        if (i >= AHEAD)
            __builtin_prefetch(&p->hits->data[p->order[i - AHEAD]]);
        if (!p->made[hit])
            continue;
        obj_memory *m = memory_of_hit(p, hit);
        deltas d = change_for_hit(p, hit, false);
        if (peak_with(m, &d) > peak_for_hit(p, hit))
            change_object(p, hit, true);
        else
            add_deltas(m, &d, 1);
    }
}

/* Where all changes together save less than `least` of a device's peak, none is worth making. */
static void leave_out_small_plans(planner *p, double least)
{
    for (uint32_t hit = 0; hit < p->hits->count; hit++) {
        obj_memory *m = memory_of_hit(p, hit);
        uint64_t before = p->plan->devices[m - p->memories].before;
        if (!p->made[hit] ||
            is_worthwhile(before, (int64_t)(before - (uint64_t)obj_memory_peak(m)), least))
            continue;
        deltas d = change_for_hit(p, hit, false);
        add_deltas(m, &d, 1);
    }
}

/* With what is left: those that were needed when less was left out may have become needless. */
static bool note_plan(planner *p)
{
    for (size_t i = 0; i < p->hits->count; i++) {
        uint32_t hit = p->order[i];
        fetch_hits(p, p->order, p->hits->count, i);
        p->hits->data[hit].planned = p->made[hit];
        if (!p->made[hit])
            continue;
        deltas d = change_for_hit(p, hit, false);
        uint64_t without = peak_with(memory_of_hit(p, hit), &d);
        obj_step step = {.hit = hit, .adds = saved_of(without, peak_for_hit(p, hit))};
        change_object(p, hit, true);
        if (!wl_push(&p->plan->steps, step))
            return false;
    }
    for (uint32_t d = 0; d < p->trace->ndevices; d++)
        p->plan->devices[d].after = (uint64_t)obj_memory_peak(&p->memories[d]);
    return true;
}

static void set_peaks_of_steps(planner *p)
{
    change_nothing(p);
    load_memories(p);
    for (size_t i = 0; i < p->plan->steps.count; i++) {
        obj_step *step = &p->plan->steps.data[i];
        deltas d = change_for_hit(p, step->hit, true);
        add_deltas(memory_of_hit(p, step->hit), &d, 1);
        step->peak = peak_for_hit(p, step->hit);
    }
}

/* ---- begin and end ---- */

static void mark_moments(planner *p)
{
    for (uint32_t i = 0; i < p->trace->objects.count; i++) {
        const obj_object *o = &p->trace->objects.data[i];
        if (!o->counted)
            continue;
        obj_memory_mark(memory_of_object(p, i), o->begin);
        obj_memory_mark(memory_of_object(p, i), o->end);
    }
    for (uint32_t i = 0; i < p->hits->count; i++) {
        uint32_t from, to;
        bounds_of_change(p->trace, &p->hits->data[i], &from, &to);
        obj_memory_mark(memory_of_hit(p, i), from);
        obj_memory_mark(memory_of_hit(p, i), to);
    }
}

static bool begin_memories(planner *p)
{
    uint32_t n = p->trace->ndevices;
    for (uint32_t d = 0; d < n; d++)
        if (!obj_memory_init(&p->memories[d], (uint32_t)p->trace->ops.count))
            return false;
    mark_moments(p);
    for (uint32_t d = 0; d < n; d++)
        if (!obj_memory_begin(&p->memories[d]))
            return false;
    change_nothing(p);
    load_memories(p);
    for (uint32_t d = 0; d < n; d++) {
        const obj_memory *m = &p->memories[d];
        uint64_t peak = (uint64_t)obj_memory_peak(m);
        uint32_t moment = obj_memory_moment(m, obj_memory_peak_place(m));
        p->plan->devices[d] = (obj_device_peaks){peak, peak, moment};
    }
    return true;
}

static bool begin_plan(planner *p)
{
    size_t objects = p->trace->objects.count, hits = p->hits->count;
    p->memories = calloc((size_t)p->trace->ndevices + 1, sizeof *p->memories);
    p->objects = malloc((objects + 1) * sizeof *p->objects);
    p->made = calloc(hits + 1, sizeof *p->made);
    p->moments = calloc((size_t)p->trace->ndevices + 1, sizeof *p->moments);
    p->plan->devices = calloc((size_t)p->trace->ndevices + 1, sizeof *p->plan->devices);
    return p->memories && p->objects && p->made && p->moments && p->plan->devices &&
           begin_memories(p);
}

bool obj_plan_savings(const obj_trace *trace, double least, obj_hits *hits, obj_plan *plan)
{
    planner p = {.trace = trace, .hits = hits, .plan = plan};
    *plan = (obj_plan){0};
    bool good = begin_plan(&p);
    good = good && set_savings(&p) && (p.order = obj_rank_hits(hits)) != NULL;
    if (good) {
        make_certain_changes(&p, least);
        make_worthwhile_changes(&p, least);
        make_worthwhile_gaps(&p, least);
        obj_bundles_free(&p.bundles);
        leave_out_needless(&p);
        leave_out_small_plans(&p, least);
        good = note_plan(&p);
    }
    if (good)
        set_peaks_of_steps(&p);
    for (uint32_t d = 0; p.memories && d < trace->ndevices; d++)
        obj_memory_free(&p.memories[d]);
    free(p.memories);
    free(p.objects);
    free(p.made);
    free(p.moments);
    free(p.order);
    obj_bundles_free(&p.bundles);
    return good;
}

void obj_plan_free(obj_plan *plan)
{
    free(plan->devices);
    wl_vec_free(&plan->steps);
}
