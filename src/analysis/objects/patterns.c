/* The patterns of lives. What moves an allocation, or a free, moves it only over operations that are
 * known not to access the object: such a hit is certain, whatever the others do. */
#include "analysis/objects/patterns.h"
#include "analysis/objects/shortage.h"

#include <stdlib.h>

typedef struct wait { /* of the host */
    uint32_t queue;   /* OBJ_NONE: for all of the context */
    uint32_t op;
} wait;

typedef struct finder {
    const obj_trace *trace;
    const uint32_t *levels;
    const obj_lives *lives;
    const obj_extent *extents; /* by object; NULL: nothing is known of elements */
    const ana_thresholds *t;
    obj_hits *hits;
    uint32_t end_level; /* one more than the last operation's */
    bool cut_short;     /* what objects would have been used for later is not known */
    uint32_t *leaks;    /* by site: objects that were never freed */
    uint32_t *newest;   /* by site: the last allocation */
    wait *syncs;        /* by queue, operation */
    size_t nsyncs;
} finder;

static obj_hit hit_of(const finder *f, ana_pattern pattern, uint32_t object)
{
    const obj_object *o = &f->trace->objects.data[object];
    return (obj_hit){.pattern = (uint8_t)pattern,
                     .object = object,
                     .other = OBJ_NONE,
                     .from = OBJ_NONE,
                     .to = OBJ_NONE,
                     .count = 1,
                     .seconds = -1,
                     .bytes = o->bytes,
                     .possible = o->seen_by_host,
                     .in_pool = o->part};
}

static uint32_t levels_between(const finder *f, uint32_t from, uint32_t to)
{
    uint32_t before = f->levels[from], after = f->levels[to];
    return after > before + 1 ? after - before - 1 : 0;
}

/* The first access; what fills the object does not count where it comes long before the first use, for
 * it can be put off as well. Times that are long enough to be idleness are told as that. */
static uint32_t first_need(const finder *f, uint32_t object)
{
    const obj_life *life = &f->lives->rows[object];
    bool filled = life->filled != OBJ_NONE && life->used != OBJ_NONE && !life->idle_first;
    bool early = filled && levels_between(f, life->first, life->used) >= f->t->early_calls;
    return early ? life->used : life->first;
}

static bool find_early(finder *f, uint32_t object)
{
    const obj_object *o = &f->trace->objects.data[object];
    obj_hit hit = hit_of(f, ANA_EARLY_ALLOCATION, object);
    hit.from = o->allocate;
    hit.to = first_need(f, object);
    hit.calls = levels_between(f, hit.from, hit.to);
    return !hit.calls || wl_push(f->hits, hit);
}

/* What is given back by a reset was not freed any sooner. */
static bool find_late(finder *f, uint32_t object)
{
    const obj_object *o = &f->trace->objects.data[object];
    const obj_life *life = &f->lives->rows[object];
    obj_hit hit = hit_of(f, ANA_LATE_DEALLOCATION, object);
    if (f->cut_short || (o->ended != OBJ_FREED && o->ended != OBJ_GIVEN_BACK))
        return true;
    hit.from = life->last;
    hit.to = o->free;
    hit.calls = o->free != OBJ_NONE ? levels_between(f, hit.from, hit.to)
                                    : f->end_level - f->levels[life->last] - 1;
    return !hit.calls || wl_push(f->hits, hit);
}

static bool find_unused(finder *f, uint32_t object)
{
    bool known = !f->lives->rows[object].possibly && !f->cut_short;
    return !known || wl_push(f->hits, hit_of(f, ANA_UNUSED_ALLOCATION, object));
}

/* Does a call of the program's allocate it, in memory of its own or of a pool? What the program divides
 * is its own allocator's, which keeps memory on purpose. */
static bool is_allocated(const obj_object *o)
{
    return o->counted && !o->fixed && !o->divided && o->allocate != OBJ_NONE;
}

/* Parts end with their pool, which is kept to the end: only those leak whose place allocates anew
 * after their last use, and that often. */
static bool is_leak(const finder *f, uint32_t object)
{
    const obj_object *o = &f->trace->objects.data[object];
    uint32_t last = f->lives->rows[object].last, newest = f->newest[o->site];
    if (o->ended != OBJ_LEAKED || !is_allocated(o))
        return false;
    bool left = o->allocate < newest && (last == OBJ_NONE || last < newest);
    return left || !o->part;
}

static bool find_leak(finder *f, uint32_t object)
{
    const obj_object *o = &f->trace->objects.data[object];
    obj_hit hit = hit_of(f, ANA_LEAK, object);
    bool often = f->leaks[o->site] >= f->t->leak_objects;
    if (f->cut_short || !is_leak(f, object) || (o->part && !often))
        return true;
    hit.from = f->lives->rows[object].last;
    hit.count = f->leaks[o->site];
    return wl_push(f->hits, hit);
}

/* ---- elements ---- */

static uint64_t unused_at_ends(const obj_extent *e)
{
    return e->elements > e->used.count ? e->elements - e->used.count : 0;
}

bool obj_is_unused_at_ends(const obj_extent *e)
{
    return unused_at_ends(e) >= e->hole.count;
}

static uint64_t bytes_without(const obj_object *o, uint64_t elements)
{
    uint64_t less = elements * OBJ_ELEMENT_BYTES;
    return o->bytes > less ? o->bytes - less : 0;
}

/* Few elements are accessed, and those that are not lie together: the paper's equation 1. */
static bool is_overallocated(const finder *f, const obj_extent *e)
{
    double used = (double)e->touched / (double)e->elements,
           unused = (double)e->elements - (double)e->touched;
    return used < f->t->used_share && 1 - (double)e->hole.count / unused < f->t->fragmentation;
}

static uint64_t kept_of_overallocation(const obj_object *o, const obj_extent *e)
{
    return bytes_without(o, obj_is_unused_at_ends(e) ? unused_at_ends(e) : e->hole.count);
}

/* What one slice takes; all of it where another object gets more than a slice at once. */
static uint64_t kept_of_slices(const obj_object *o, const obj_extent *e)
{
    uint64_t bytes = e->longest * OBJ_ELEMENT_BYTES;
    return e->slices && bytes < o->bytes && e->on_device.bytes <= bytes ? bytes : o->bytes;
}

/* The one of the two that leaves less. Allocators round up the sizes of parts, so that what is left of
 * these need not be the program's. */
static bool find_in_elements(finder *f, uint32_t object)
{
    const obj_object *o = &f->trace->objects.data[object];
    const obj_extent *e = f->extents ? &f->extents[object] : NULL;
    if (!e || !e->known || o->part)
        return true;
    uint64_t shrunk = is_overallocated(f, e) ? kept_of_overallocation(o, e) : o->bytes,
             slice = e->slices >= f->t->least_slices ? kept_of_slices(o, e) : o->bytes;
    bool structured = slice < shrunk;
    obj_hit hit = hit_of(f, structured ? ANA_STRUCTURED_ACCESS : ANA_OVERALLOCATION, object);
    hit.keeps = structured ? slice : shrunk;
    hit.possible |= e->on_device.bytes > hit.keeps;
    return hit.keeps == o->bytes || wl_push(f->hits, hit);
}

/* ---- lives ---- */

static bool find_in_life(finder *f, uint32_t object)
{
    if (!is_allocated(&f->trace->objects.data[object]))
        return true;
    if (!f->lives->rows[object].accesses)
        return find_unused(f, object) && find_leak(f, object);
    return find_early(f, object) && find_late(f, object) && find_leak(f, object) &&
           find_in_elements(f, object);
}

/* ---- idleness ---- */

/* Gaps of the operations that may access anything are none: nobody knows what they use. */
static bool find_idle(finder *f)
{
    for (size_t i = 0; i < f->lives->gaps.count; i++) {
        const obj_gap *gap = &f->lives->gaps.data[i];
        obj_hit hit = hit_of(f, ANA_TEMPORARY_IDLENESS, gap->object);
        hit.from = gap->from;
        hit.to = gap->to;
        hit.calls = gap->calls;
        hit.seconds = (float)gap->seconds;
        hit.copies = (float)gap->copies;
        if (is_allocated(&f->trace->objects.data[gap->object]) && !wl_push(f->hits, hit))
            return false;
    }
    return true;
}

/* ---- dead writes ---- */

static int by_written_object(const void *a, const void *b)
{
    const obj_dead_write *x = a, *y = b;
    if (x->object != y->object)
        return x->object < y->object ? -1 : 1;
    return x->write < y->write ? -1 : x->write > y->write;
}

static bool find_dead_writes(finder *f)
{
    const obj_dead_write *rows = f->lives->dead.data;
    size_t n = f->lives->dead.count;
    if (n)
        qsort(f->lives->dead.data, n, sizeof *rows, by_written_object);
    for (size_t i = 0, end; i < n; i = end) {
        obj_hit hit = hit_of(f, ANA_DEAD_WRITE, rows[i].object);
        hit.from = rows[i].write;
        hit.to = rows[i].next;
        hit.bytes = hit.count = 0;
        for (end = i; end < n && rows[end].object == rows[i].object; end++) {
            hit.bytes += rows[end].bytes;
            hit.count++;
        }
        if (!f->trace->objects.data[hit.object].divided && !wl_push(f->hits, hit))
            return false;
    }
    return true;
}

/* ---- redundant allocations ---- */

static bool is_sync(const obj_trace *trace, const obj_op *op)
{
    return op->kind == OBJ_SYNC_CONTEXT ||
           (op->kind == OBJ_FREE && trace->queues.data[op->queue].kind == OBJ_QUEUE_THREAD &&
            !obj_concerns_part(trace, op));
}

static int by_queue(const void *a, const void *b)
{
    const wait *x = a, *y = b;
    if (x->queue != y->queue)
        return x->queue < y->queue ? -1 : 1;
    return x->op < y->op ? -1 : x->op > y->op;
}

static void list_syncs(finder *f)
{
    for (uint32_t i = 0; i < f->trace->ops.count; i++) {
        const obj_op *op = &f->trace->ops.data[i];
        if (is_sync(f->trace, op))
            f->syncs[f->nsyncs++] = (wait){OBJ_NONE, i};
        else if (op->kind == OBJ_SYNC_STREAM)
            f->syncs[f->nsyncs++] = (wait){op->queue, i};
    }
    if (f->nsyncs)
        qsort(f->syncs, f->nsyncs, sizeof *f->syncs, by_queue);
}

/* Did the host wait in between for the queue, or, where that is OBJ_NONE, for all of the context? */
static bool has_sync_between(const finder *f, uint32_t queue, uint32_t from, uint32_t to)
{
    const wait after = {queue, from + 1};
    size_t low = 0, high = f->nsyncs;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (by_queue(&f->syncs[middle], &after) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return low < f->nsyncs && f->syncs[low].queue == queue && f->syncs[low].op < to;
}

/* Are all accesses of one object over before those of the other begin, whatever the levels are? */
static bool is_over_before(const finder *f, uint32_t object, uint32_t next)
{
    const obj_life *a = &f->lives->rows[object], *b = &f->lives->rows[next];
    const obj_op *last = &f->trace->ops.data[a->last], *first = &f->trace->ops.data[b->first];
    bool one_queue = a->queue != OBJ_NONE && a->queue == b->queue;
    bool waited = a->queue != OBJ_NONE && last->thread == first->thread &&
                  (last->waits || has_sync_between(f, a->queue, a->last, b->first));
    return a->last < b->first &&
           (one_queue || waited || has_sync_between(f, OBJ_NONE, a->last, b->first));
}

/* What is freed before the other is allocated needs no advice. */
static bool find_redundant(finder *f, const uint32_t *reuses)
{
    for (uint32_t i = 0; i < f->trace->objects.count; i++) {
        if (reuses[i] == OBJ_NONE ||
            f->trace->objects.data[reuses[i]].end <= f->trace->objects.data[i].begin)
            continue;
        obj_hit hit = hit_of(f, ANA_REDUNDANT_ALLOCATION, i);
        hit.other = reuses[i];
        hit.from = f->lives->rows[reuses[i]].last;
        hit.to = f->lives->rows[i].first;
        hit.calls = levels_between(f, hit.from, hit.to);
        hit.possible = !is_over_before(f, reuses[i], i);
        if (!wl_push(f->hits, hit))
            return false;
    }
    return true;
}

static bool may_reuse(const obj_object *o, const obj_life *life)
{
    return is_allocated(o) && !o->pooled && !o->part && !o->seen_by_host && life->accesses &&
           !life->possibly;
}

static bool find_reusable(finder *f)
{
    bool *wanted = malloc(f->trace->objects.count + 1);
    uint32_t *reuses = NULL;
    for (uint32_t i = 0; wanted && i < f->trace->objects.count; i++)
        wanted[i] = may_reuse(&f->trace->objects.data[i], &f->lives->rows[i]);
    if (wanted)
        reuses = obj_find_reuses(f->trace, f->lives, wanted, f->t->reuse_apart);
    bool good = reuses && find_redundant(f, reuses);
    free(reuses);
    free(wanted);
    return good;
}

/* ---- all of them ---- */

static void count_leaks(finder *f)
{
    for (uint32_t i = 0; i < f->trace->objects.count; i++) {
        const obj_object *o = &f->trace->objects.data[i];
        if (o->allocate != OBJ_NONE && o->allocate > f->newest[o->site])
            f->newest[o->site] = o->allocate;
    }
    for (uint32_t i = 0; i < f->trace->objects.count; i++)
        f->leaks[f->trace->objects.data[i].site] += is_leak(f, i);
}

static uint32_t last_level(const finder *f)
{
    uint32_t end = 0;
    for (uint32_t i = 0; i < f->trace->ops.count; i++)
        end = f->levels[i] >= end ? f->levels[i] + 1 : end;
    return end;
}

bool obj_find_patterns(const obj_trace *trace, const uint32_t *levels, const obj_lives *lives,
                       const obj_extent *extents, const ana_thresholds *thresholds, obj_hits *hits)
{
    finder f = {.trace = trace,
                .levels = levels,
                .lives = lives,
                .extents = extents,
                .t = thresholds,
                .hits = hits,
                .cut_short = obj_ends_by_shortage(trace)};
    f.leaks = calloc(trace->objects.count + 1, sizeof *f.leaks);
    f.newest = calloc(trace->objects.count + 1, sizeof *f.newest);
    f.syncs = malloc((trace->ops.count + 1) * sizeof *f.syncs);
    f.end_level = last_level(&f);
    bool good = f.leaks && f.newest && f.syncs;
    if (good) {
        count_leaks(&f);
        list_syncs(&f);
    }
    for (uint32_t i = 0; good && i < trace->objects.count; i++)
        good = find_in_life(&f, i);
    good = good && find_idle(&f) && find_dead_writes(&f) && find_reusable(&f);
    free(f.leaks);
    free(f.newest);
    free(f.syncs);
    return good;
}
