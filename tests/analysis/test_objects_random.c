/* Order, reuse and savings of random traces against their definitions, written down naively: all
 * pairs of operations with Kahn's algorithm, the walk over all objects, bytes moment by moment. */
#include "support/random.h"
#include "support/test.h"
#include "tale.h"

#include "analysis/objects/memory.h"
#include "analysis/objects/order.h"
#include "analysis/objects/savings.h"

#include <stdlib.h>
#include <string.h>

enum {
    TRACES = 10000,
    MOST_OPS = 48,
    MOST_OBJECTS = 48,
    QUEUES = 7,
    EVENTS = 3,
    PLANS = 4 /* of so many traces one: it takes long */
};

static uint64_t seed;

static uint32_t below(uint32_t n)
{
    return (uint32_t)random_below(&seed, n);
}

/* ---- traces ---- */

static bool is_alive(const obj_trace *t, uint32_t object)
{
    return t->objects.data[object].free == OBJ_NONE;
}

static uint32_t any_alive(const obj_trace *t)
{
    uint32_t alive[MOST_OBJECTS], n = 0;
    for (uint32_t i = 0; i < t->objects.count; i++)
        if (is_alive(t, i))
            alive[n++] = i;
    return n ? alive[below(n)] : OBJ_NONE;
}

static void access_some(obj_trace *t, uint32_t op)
{
    obj_access accesses[3];
    uint32_t n = below(4), made = 0;
    for (uint32_t i = 0; i < n; i++) {
        uint32_t object = any_alive(t);
        if (object != OBJ_NONE)
            accesses[made++] = (obj_access){.object = object,
                                            .how = 1 + below(3),
                                            .possible = t->objects.data[object].part &&
                                                        below(4) == 0};
    }
    t->ops.data[op].accesses = obj_trace_add_set(t, accesses, made);
}

static uint64_t unit; /* of sizes: large ones differ in more than their last digits */

/* Two threads, two contexts with a legacy stream each, blocking streams and a free one. */
static void begin_random(obj_trace *t)
{
    static const obj_queue queues[QUEUES] = {{OBJ_QUEUE_THREAD, 0, 0},   {OBJ_QUEUE_LEGACY, 0, 0},
                                             {OBJ_QUEUE_BLOCKING, 0, 0}, {OBJ_QUEUE_BLOCKING, 0, 0},
                                             {OBJ_QUEUE_FREE, 0, 0},     {OBJ_QUEUE_LEGACY, 1, 0},
                                             {OBJ_QUEUE_THREAD, 0, 0}};
    tale_begin(t);
    unit = below(3) ? 1 : 70001;
    t->queues.count = 0;
    for (int i = 0; i < QUEUES; i++)
        assert_true(wl_push(&t->queues, queues[i]));
    t->ncontexts = 2;
    t->nevents = EVENTS;
}

static void add_nodes(obj_trace *t, uint32_t run)
{
    uint32_t queue = 1 + below(5), n = 1 + below(4), first = (uint32_t)t->ops.count;
    for (uint32_t i = 0; i < n; i++) {
        uint32_t op = tale_launch(t, queue, OBJ_NONE, OBJ_NONE);
        access_some(t, op);
        assert_true(wl_push(&t->nodes, (obj_node){op, run}));
        for (uint32_t from = first; from < op; from++)
            if (below(3) == 0)
                assert_true(wl_push(&t->edges, (obj_edge){from, op}));
    }
}

static void add_object(obj_trace *t, uint32_t stream)
{
    uint32_t whole = below(3) ? OBJ_NONE : any_alive(t), made = (uint32_t)t->objects.count, op;
    if (whole != OBJ_NONE)
        op = tale_part(t, whole, unit * (80 + below(50)), NULL);
    else
        op = tale_allocate(t, below(3) ? TALE_HOST : stream, unit * (80 + below(50)), NULL);
    t->objects.data[made].site = below(made + 1);
    if (whole == OBJ_NONE)
        t->objects.data[made].context = below(2);
    if (whole != OBJ_NONE || t->ops.data[op].queue != TALE_HOST)
        t->ops.data[op].thread = below(2) ? 6 : TALE_HOST;
}

static void add_random(obj_trace *t, uint32_t i)
{
    uint32_t stream = 1 + below(5), object = any_alive(t), op = OBJ_NONE;
    switch (below(12)) {
    case 0:
    case 1: add_object(t, stream); break;
    case 2:
        op = object == OBJ_NONE ? OBJ_NONE : tale_free(t, below(3) ? TALE_HOST : stream, object);
        break;
    case 3: op = object == OBJ_NONE ? OBJ_NONE : tale_copy_in(t, stream, object); break;
    case 4: op = tale_order(t, OBJ_RECORD, stream, below(EVENTS)); break;
    case 5: op = tale_order(t, OBJ_WAIT, stream, below(EVENTS)); break;
    case 6: op = tale_order(t, (obj_op_kind)(OBJ_SYNC_EVENT + below(3)), stream, below(2)); break;
    case 7: add_nodes(t, i + 1); break;
    default:
        op = tale_launch(t, stream, OBJ_NONE, OBJ_NONE);
        access_some(t, op);
        t->ops.data[op].unknown = below(12) == 0;
        break;
    }
    if (op != OBJ_NONE && t->ops.data[op].queue != TALE_HOST)
        t->ops.data[op].thread = below(2) ? 6 : TALE_HOST;
}

static void draw_trace(obj_trace *t)
{
    begin_random(t);
    for (uint32_t i = 0; t->ops.count < MOST_OPS - 4; i++)
        add_random(t, i);
}

/* ---- levels, by Kahn's algorithm over all pairs ---- */

static bool conflict(const obj_trace *t, uint32_t from, uint32_t to)
{
    uint32_t n, m; /* parts of what is divided have an order of their own */
    const obj_op *x = &t->ops.data[from], *y = &t->ops.data[to];
    const obj_access *a = obj_accesses(t, x, &n), *b = obj_accesses(t, y, &m);
    bool x_life = x->kind == OBJ_ALLOCATE || x->kind == OBJ_FREE, y_life = y->kind == OBJ_FREE;
    for (uint32_t i = 0; i < n; i++) {
        if (y_life && y->about == a[i].object)
            return true;
        for (uint32_t k = 0; k < m; k++)
            if (a[i].object == b[k].object && ((a[i].how | b[k].how) & OBJ_WRITE) &&
                !t->objects.data[a[i].object].divided)
                return true;
    }
    for (uint32_t k = 0; x_life && k < m; k++)
        if (b[k].object == x->about)
            return true;
    return x_life && y_life && x->about == y->about;
}

/* Does what is in one queue wait for what is in the other by then? */
static bool streams_wait(const obj_trace *t, uint32_t from, uint32_t to)
{
    const obj_queue *a = &t->queues.data[from], *b = &t->queues.data[to];
    bool pair = (a->kind == OBJ_QUEUE_LEGACY && b->kind == OBJ_QUEUE_BLOCKING) ||
                (a->kind == OBJ_QUEUE_BLOCKING && b->kind == OBJ_QUEUE_LEGACY);
    return from == to || (pair && a->context == b->context);
}

static bool is_in_stream(const obj_trace *t, const obj_op *op)
{
    return (obj_is_work(op->kind) || op->kind == OBJ_WAIT) &&
           t->queues.data[op->queue].kind != OBJ_QUEUE_THREAD;
}

/* Is what its thread does next later than it? */
static bool holds_thread(const obj_trace *t, const obj_op *op)
{
    return op->kind >= OBJ_SYNC_EVENT || (obj_is_work(op->kind) && op->waits) ||
           (obj_is_work(op->kind) && t->queues.data[op->queue].kind == OBJ_QUEUE_THREAD);
}

/* Is it the last record of the event before `to`? */
static bool is_latest(const obj_trace *t, uint32_t from, uint32_t to)
{
    for (uint32_t i = from + 1; i < to; i++)
        if (t->ops.data[i].kind == OBJ_RECORD && t->ops.data[i].about == t->ops.data[from].about)
            return false;
    return true;
}

static bool waits_in_context(const obj_trace *t, const obj_op *from, const obj_op *to)
{
    bool host = t->queues.data[to->queue].kind == OBJ_QUEUE_THREAD;
    uint32_t context = to->kind == OBJ_SYNC_CONTEXT ? to->about
                       : to->kind == OBJ_FREE       ? t->objects.data[to->about].context
                                                    : 0;
    return (to->kind == OBJ_SYNC_CONTEXT || (to->kind == OBJ_FREE && host)) &&
           is_in_stream(t, from) && t->queues.data[from->queue].context == context;
}

static bool waits_for_record(const obj_trace *t, uint32_t from, uint32_t to)
{
    const obj_op *x = &t->ops.data[from], *y = &t->ops.data[to];
    return x->kind == OBJ_RECORD && (y->kind == OBJ_WAIT || y->kind == OBJ_SYNC_EVENT) &&
           x->about == y->about && is_latest(t, from, to);
}

static bool has_edge(const obj_trace *t, uint32_t from, uint32_t to)
{
    for (size_t i = 0; i < t->edges.count; i++)
        if (t->edges.data[i].from == from && t->edges.data[i].to == to)
            return true;
    return false;
}

static bool concerns_part(const obj_trace *t, const obj_op *op)
{
    return (op->kind == OBJ_ALLOCATE || op->kind == OBJ_FREE) && t->objects.data[op->about].part;
}

/* The program's allocator comes after all that the context was given so far. */
static bool comes_before_part(const obj_trace *t, const obj_op *from, const obj_op *to)
{
    return (holds_thread(t, from) && from->thread == to->thread) ||
           (is_in_stream(t, from) &&
            t->queues.data[from->queue].context == t->objects.data[to->about].context);
}

static uint32_t run_of(const obj_trace *t, uint32_t op)
{
    for (size_t i = 0; i < t->nodes.count; i++)
        if (t->nodes.data[i].op == op)
            return t->nodes.data[i].run;
    return 0;
}

static bool depends(const obj_trace *t, uint32_t from, uint32_t to)
{
    const obj_op *x = &t->ops.data[from], *y = &t->ops.data[to];
    if (concerns_part(t, x) || concerns_part(t, y))
        return !concerns_part(t, x) && comes_before_part(t, x, y);
    bool work = obj_is_work(x->kind) && obj_is_work(y->kind);
    bool nodes = run_of(t, from) && run_of(t, from) == run_of(t, to);
    bool looks_at_stream = is_in_stream(t, y) || y->kind == OBJ_RECORD ||
                           y->kind == OBJ_SYNC_STREAM;
    if (holds_thread(t, x) && x->thread == y->thread)
        return true;
    /* A wait passes on the event alone to its stream; that the stream is in order itself. */
    if (is_in_stream(t, x) && looks_at_stream && y->kind != OBJ_WAIT && !nodes &&
        streams_wait(t, x->queue, y->queue))
        return true;
    return has_edge(t, from, to) || waits_in_context(t, x, y) || waits_for_record(t, from, to) ||
           (work && conflict(t, from, to));
}

static void take(bool edges[MOST_OPS][MOST_OPS], uint32_t n, bool *gone, uint32_t op)
{
    gone[op] = true;
    for (uint32_t i = 0; i < n; i++)
        edges[op][i] = false;
}

static bool is_free_of(bool edges[MOST_OPS][MOST_OPS], uint32_t op)
{
    for (uint32_t i = 0; i < op; i++)
        if (edges[i][op])
            return false;
    return true;
}

/* What only orders others is taken as soon as nothing is left that it waits for. */
static void take_orders(const obj_trace *t, bool edges[MOST_OPS][MOST_OPS], bool *gone)
{
    uint32_t n = (uint32_t)t->ops.count;
    for (uint32_t i = 0; i < n; i++)
        if (!gone[i] && !obj_is_work(t->ops.data[i].kind) && is_free_of(edges, i))
            take(edges, n, gone, i);
}

static void level_by_kahn(const obj_trace *t, uint32_t *levels)
{
    static bool edges[MOST_OPS][MOST_OPS];
    bool gone[MOST_OPS] = {false}, now[MOST_OPS];
    uint32_t n = (uint32_t)t->ops.count, left = n;
    for (uint32_t i = 0; i < n; i++)
        for (uint32_t k = 0; k < n; k++)
            edges[i][k] = i < k && depends(t, i, k);
    for (uint32_t level = 0; left; level++) {
        take_orders(t, edges, gone);
        left = 0;
        for (uint32_t i = 0; i < n; i++)
            now[i] = !gone[i] && obj_is_work(t->ops.data[i].kind) && is_free_of(edges, i);
        for (uint32_t i = 0; i < n; i++)
            if (now[i]) {
                levels[i] = level;
                take(edges, n, gone, i);
            }
        for (uint32_t i = 0; i < n; i++)
            left += !gone[i];
    }
    for (uint32_t i = 0; i < n; i++) /* with the last call before it */
        if (t->ops.data[i].kind == OBJ_ALLOCATE && concerns_part(t, &t->ops.data[i]) && levels[i])
            levels[i]--;
}

/* ---- lives ---- */

/* *certain: it does; *named: it is told of by itself. */
static bool may_access(const obj_trace *t, uint32_t op, uint32_t object, bool *certain, bool *named)
{
    uint32_t n;
    const obj_op *o = &t->ops.data[op];
    const obj_object *x = &t->objects.data[object];
    const obj_access *a = obj_accesses(t, o, &n);
    *certain = *named = false;
    for (uint32_t i = 0; i < n; i++) {
        *named |= a[i].object == object;
        *certain |= a[i].object == object && !a[i].possible;
    }
    return *named || (o->unknown && op > x->allocate && op < x->free);
}

static void compare_life(const obj_trace *t, const obj_lives *lives, uint32_t object)
{
    uint32_t first = OBJ_NONE, last = OBJ_NONE;
    bool any = false, certain, named;
    for (uint32_t i = 0; i < t->ops.count; i++) {
        if (!may_access(t, i, object, &certain, &named))
            continue;
        first = first == OBJ_NONE ? i : first;
        last = i;
        any |= certain;
    }
    const obj_life *life = &lives->rows[object];
    assert_int_equal(life->first, first);
    assert_int_equal(life->last, last);
    assert_int_equal(life->accesses > 0, any);
}

static bool has_gap(const obj_lives *lives, uint32_t object, uint32_t from, uint32_t to)
{
    for (size_t i = 0; i < lives->gaps.count; i++) {
        const obj_gap *gap = &lives->gaps.data[i];
        if (gap->object == object && gap->from == from && gap->to == to)
            return true;
    }
    return false;
}

/* Two operations that access the object, with none in between. What happens between two of
 * which nothing is known nobody knows. `least`: calls in between. */
static uint32_t compare_gaps(const obj_trace *t, const uint32_t *levels, const obj_lives *lives,
                             uint32_t object, uint32_t least)
{
    uint32_t last = OBJ_NONE, count = 0;
    bool certain, named, last_named = false;
    for (uint32_t i = 0; i < t->ops.count; i++) {
        if (!may_access(t, i, object, &certain, &named))
            continue;
        bool known = last != OBJ_NONE && (named || last_named);
        bool far = known && levels[i] > levels[last] + least;
        if (far != has_gap(lives, object, last, i))
            fail_msg("object %u, operations %u to %u: %d", object, last, i, far);
        count += far;
        last = i;
        last_named = named;
    }
    return count;
}

/* ---- reuse: the walk over all objects ---- */

typedef enum status { INITIAL, IN_USE, DONE, REUSED } status;

static bool fits(const obj_object *a, const obj_object *b, double apart)
{
    double x = (double)a->bytes, y = (double)b->bytes;
    if (a->device != b->device)
        return false;
    return x > y ? y >= x * (1 - apart) : x >= y * (1 - apart);
}

typedef struct point {
    uint32_t level, object;
    bool last;
} point;

static bool is_after(const point *a, const point *b)
{
    if (a->level != b->level)
        return a->level > b->level;
    if (a->last != b->last)
        return a->last;
    return a->object > b->object;
}

static void sort_points(point *points, uint32_t n)
{
    for (uint32_t i = 1; i < n; i++)
        for (uint32_t k = i; k && is_after(&points[k - 1], &points[k]); k--) {
            point swap = points[k];
            points[k] = points[k - 1];
            points[k - 1] = swap;
        }
}

static void reuse_naively(const obj_trace *t, const uint32_t *levels, const bool *wanted,
                          uint32_t *reuses)
{
    point points[2 * MOST_OBJECTS];
    status now[MOST_OBJECTS] = {INITIAL};
    uint32_t n = 0;
    for (uint32_t i = 0; i < t->objects.count; i++) {
        reuses[i] = OBJ_NONE;
        uint32_t least = UINT32_MAX, most = 0;
        bool certain, named;
        for (uint32_t op = 0; op < t->ops.count; op++)
            if (may_access(t, op, i, &certain, &named) && certain) {
                least = levels[op] < least ? levels[op] : least;
                most = levels[op] > most ? levels[op] : most;
            }
        if (!wanted[i] || least == UINT32_MAX)
            continue;
        points[n++] = (point){least, i, false};
        points[n++] = (point){most, i, true};
    }
    sort_points(points, n);
    for (uint32_t i = n; i-- > 0;) {
        uint32_t object = points[i].object;
        if (points[i].last) {
            now[object] = now[object] == INITIAL ? IN_USE : now[object];
            continue;
        }
        now[object] = now[object] == IN_USE ? DONE : now[object];
        for (uint32_t k = i; k-- > 0;) {
            uint32_t left = points[k].object;
            if (!points[k].last || now[left] != INITIAL ||
                !fits(&t->objects.data[object], &t->objects.data[left], 0.1))
                continue;
            reuses[object] = left;
            now[left] = REUSED;
            break;
        }
    }
}

static void compare_reuses(const obj_trace *t, const uint32_t *levels, const obj_lives *lives)
{
    bool wanted[MOST_OBJECTS];
    uint32_t expected[MOST_OBJECTS];
    for (uint32_t i = 0; i < t->objects.count; i++)
        wanted[i] = below(8) != 0;
    uint32_t *reuses = obj_find_reuses(t, lives, wanted, 0.1);
    assert_non_null(reuses);
    reuse_naively(t, levels, wanted, expected);
    for (uint32_t i = 0; i < t->objects.count; i++)
        assert_int_equal(reuses[i], expected[i]);
    free(reuses);
}

/* ---- savings: bytes moment by moment ---- */

/* Bytes that an object takes at a moment with the chosen hits followed, as its owner of memory; 0
 * where it lives in another's. */
static uint64_t bytes_at(const obj_trace *t, const obj_hits *hits, const bool *chosen,
                         uint32_t object, uint32_t moment)
{
    uint64_t bytes = t->objects.data[object].bytes;
    uint32_t begin = t->objects.data[object].begin, end = t->objects.data[object].end,
             next = object;
    for (size_t i = 0; i < hits->count; i++)
        if (chosen[i] && hits->data[i].object == object &&
            hits->data[i].pattern == ANA_REDUNDANT_ALLOCATION)
            return 0;
    for (bool more = true; more;) {
        uint32_t from = t->objects.data[next].begin, to = t->objects.data[next].end;
        more = false;
        for (size_t i = 0; i < hits->count; i++) {
            const obj_hit *h = &hits->data[i];
            if (!chosen[i] || h->object != next)
                continue;
            from = h->pattern == ANA_EARLY_ALLOCATION ? h->to : from;
            bool sooner = h->pattern == ANA_LATE_DEALLOCATION ||
                          (h->pattern == ANA_LEAK && h->from != OBJ_NONE);
            to = sooner ? h->from + 1 : to;
            if (h->pattern == ANA_UNUSED_ALLOCATION)
                return 0;
            if (h->pattern == ANA_TEMPORARY_IDLENESS && moment > h->from && moment < h->to)
                return 0;
        }
        begin = from < begin || next == object ? from : begin;
        end = to > end || next == object ? to : end;
        bytes = t->objects.data[next].bytes > bytes ? t->objects.data[next].bytes : bytes;
        for (size_t i = 0; i < hits->count && !more; i++)
            if (chosen[i] && hits->data[i].other == next) {
                next = hits->data[i].object;
                more = true;
            }
    }
    return moment >= begin && moment < end ? bytes : 0;
}

/* Of the device. */
static uint64_t peak_with(const obj_trace *t, const obj_hits *hits, const bool *chosen,
                          uint32_t device)
{
    uint64_t peak = 0;
    for (uint32_t m = 0; m < t->ops.count; m++) {
        uint64_t sum = 0;
        for (uint32_t i = 0; i < t->objects.count; i++)
            if (t->objects.data[i].device == device)
                sum += bytes_at(t, hits, chosen, i, m);
        peak = sum > peak ? sum : peak;
    }
    return peak;
}

static uint32_t device_of(const obj_trace *t, const obj_hit *h)
{
    return t->objects.data[h->object].device;
}

static void compare_savings(const obj_trace *t, const obj_hits *hits, const obj_plan *plan)
{
    bool *chosen = calloc(hits->count + 1, sizeof *chosen);
    for (uint32_t d = 0; d < t->ndevices; d++)
        assert_int_equal(plan->devices[d].before, peak_with(t, hits, chosen, d));
    for (size_t i = 0; i < hits->count; i++) {
        uint32_t d = device_of(t, &hits->data[i]);
        for (size_t k = 0; k < hits->count; k++)
            chosen[k] = hits->data[k].bundle == hits->data[i].bundle;
        uint64_t peak = peak_with(t, hits, chosen, d), before = plan->devices[d].before;
        assert_int_equal(hits->data[i].saves, peak < before ? before - peak : 0);
    }
    for (size_t k = 0; k < hits->count; k++)
        chosen[k] = hits->data[k].planned;
    for (uint32_t d = 0; d < t->ndevices; d++) {
        assert_int_equal(plan->devices[d].after, peak_with(t, hits, chosen, d));
        assert_true(plan->devices[d].after <= plan->devices[d].before);
    }
    for (size_t i = 0; i < plan->steps.count; i++) {
        const obj_step *step = &plan->steps.data[i];
        uint32_t d = device_of(t, &hits->data[step->hit]);
        assert_true(hits->data[step->hit].planned);
        chosen[step->hit] = false;
        assert_int_equal(step->adds, peak_with(t, hits, chosen, d) - plan->devices[d].after);
        assert_false(hits->data[step->hit].possible);
        chosen[step->hit] = true;
    }
    free(chosen);
}

/* ---- the plan: every peak from the beginning ---- */

static bool lowers_alone(const obj_hit *h)
{
    return h->pattern != ANA_TEMPORARY_IDLENESS && h->pattern != ANA_REDUNDANT_ALLOCATION;
}

static bool is_change(const obj_hit *h)
{
    return h->pattern != ANA_DEAD_WRITE && (h->pattern != ANA_LEAK || h->from != OBJ_NONE);
}

static int effort(const obj_hit *h)
{
    static const ana_pattern efforts[] = {ANA_UNUSED_ALLOCATION, ANA_LATE_DEALLOCATION,
                                          ANA_EARLY_ALLOCATION, ANA_REDUNDANT_ALLOCATION};
    ana_pattern pattern = h->pattern == ANA_LEAK ? ANA_LATE_DEALLOCATION : h->pattern;
    int at = 0;
    while (at < 4 && efforts[at] != pattern)
        at++;
    return at;
}

static bool comes_first(const obj_trace *t, const obj_hit *a, const obj_hit *b)
{
    if ((device_of(t, a) > 0) != (device_of(t, b) > 0))
        return device_of(t, b) > 0;
    if ((effort(a) > 2) != (effort(b) > 2))
        return effort(a) < effort(b);
    if (a->saves != b->saves)
        return a->saves > b->saves;
    if (a->bytes != b->bytes)
        return a->bytes > b->bytes;
    return effort(a) != effort(b) ? effort(a) < effort(b) : a < b;
}

static void rank_hits(const obj_trace *t, const obj_hits *hits, uint32_t *order)
{
    for (uint32_t i = 0; i < hits->count; i++) {
        uint32_t k = i;
        for (; k && comes_first(t, &hits->data[i], &hits->data[order[k - 1]]); k--)
            order[k] = order[k - 1];
        order[k] = i;
    }
}

/* Memory that others live in is not given back in between. */
static bool goes_with(const obj_hits *hits, const bool *chosen, const obj_hit *h)
{
    for (size_t i = 0; i < hits->count; i++) {
        const obj_hit *made = &hits->data[i];
        bool meets = made->object == h->object || made->other == h->object ||
                     (h->other != OBJ_NONE && made->object == h->other);
        if (chosen[i] && meets && !lowers_alone(made) && made->pattern != h->pattern)
            return false;
    }
    return true;
}

/* All gaps of a bundle that no choice had so far, where two or more of them lower the peak together. */
static void choose_gaps(const obj_trace *t, const obj_hits *hits, uint32_t bundle, bool *chosen)
{
    bool *with = calloc(hits->count + 1, sizeof *with);
    uint32_t more = 0, d = device_of(t, &hits->data[bundle]);
    for (size_t i = 0; i < hits->count; i++) {
        const obj_hit *h = &hits->data[i];
        bool joins = h->pattern == ANA_TEMPORARY_IDLENESS && h->bundle == bundle && !h->possible &&
                     !chosen[i] && goes_with(hits, chosen, h);
        with[i] = chosen[i] || joins;
        more += joins;
    }
    uint64_t before = peak_with(t, hits, chosen, d), after = peak_with(t, hits, with, d);
    if (more > 1 && after < before && (double)(before - after) >= 0.01 * (double)before)
        memcpy(chosen, with, hits->count * sizeof *chosen);
    free(with);
}

/* Of a device whose peak all of them together hardly lower. */
static void choose_no_trifles(const obj_trace *t, const obj_hits *hits, bool *chosen)
{
    bool *none = calloc(hits->count + 1, sizeof *none);
    for (uint32_t d = 0; d < t->ndevices; d++) {
        uint64_t before = peak_with(t, hits, none, d), after = peak_with(t, hits, chosen, d);
        if (before > after && (double)(before - after) >= 0.01 * (double)before)
            continue;
        for (size_t i = 0; i < hits->count; i++)
            chosen[i] &= device_of(t, &hits->data[i]) != d;
    }
    free(none);
}

static void choose_naively(const obj_trace *t, const obj_hits *hits, const uint32_t *order,
                           bool *chosen)
{
    for (size_t i = 0; i < hits->count; i++)
        chosen[i] = !hits->data[i].possible && is_change(&hits->data[i]) &&
                    lowers_alone(&hits->data[i]);
    for (size_t i = 0; i < hits->count; i++) {
        const obj_hit *h = &hits->data[order[i]];
        if (h->possible || !is_change(h) || lowers_alone(h) || !goes_with(hits, chosen, h))
            continue;
        uint32_t d = device_of(t, h);
        uint64_t before = peak_with(t, hits, chosen, d);
        chosen[order[i]] = true;
        uint64_t after = peak_with(t, hits, chosen, d);
        chosen[order[i]] = after < before && (double)(before - after) >= 0.01 * (double)before;
    }
    for (uint32_t i = 0; i < hits->count; i++)
        choose_gaps(t, hits, i, chosen);
    for (size_t i = hits->count; i-- > 0;) {
        uint32_t d = device_of(t, &hits->data[order[i]]);
        uint64_t before = peak_with(t, hits, chosen, d);
        bool was = chosen[order[i]];
        chosen[order[i]] = false;
        chosen[order[i]] = was && peak_with(t, hits, chosen, d) > before;
    }
    choose_no_trifles(t, hits, chosen);
}

static void compare_plan(const obj_trace *t, const obj_hits *hits, const obj_plan *plan)
{
    bool *chosen = calloc(hits->count + 1, sizeof *chosen);
    uint32_t *order = calloc(hits->count + 1, sizeof *order), step = 0;
    rank_hits(t, hits, order);
    choose_naively(t, hits, order, chosen);
    for (size_t i = 0; i < hits->count; i++)
        assert_int_equal(hits->data[i].planned, chosen[i]);
    for (size_t i = 0; i < hits->count; i++)
        chosen[i] = false;
    for (size_t i = 0; i < hits->count; i++) {
        if (!hits->data[order[i]].planned)
            continue;
        chosen[order[i]] = true;
        assert_true(step < plan->steps.count);
        assert_int_equal(plan->steps.data[step].hit, order[i]);
        assert_int_equal(plan->steps.data[step++].peak,
                         peak_with(t, hits, chosen, device_of(t, &hits->data[order[i]])));
    }
    assert_int_equal(step, plan->steps.count);
    free(chosen);
    free(order);
}

/* ---- all of it ---- */

static void compare_trace(const obj_trace *t, const ana_thresholds *thresholds, bool plans)
{
    uint32_t expected[MOST_OPS];
    obj_lives lives;
    obj_hits hits = {0};
    obj_plan plan;
    uint32_t *levels = obj_order(t);
    assert_non_null(levels);
    level_by_kahn(t, expected);
    for (uint32_t i = 0; i < t->ops.count; i++)
        if (obj_is_work(t->ops.data[i].kind))
            assert_int_equal(levels[i], expected[i]);
    assert_true(obj_lives_of(t, levels, thresholds, &lives));
    size_t gaps = 0;
    for (uint32_t i = 0; i < t->objects.count; i++) {
        compare_life(t, &lives, i);
        gaps += compare_gaps(t, levels, &lives, i, (uint32_t)thresholds->idle_calls);
    }
    assert_int_equal(lives.gaps.count, gaps);
    compare_reuses(t, levels, &lives);
    assert_true(obj_find_patterns(t, levels, &lives, NULL, thresholds, &hits));
    assert_true(obj_plan_savings(t, 0.01, &hits, &plan));
    compare_savings(t, &hits, &plan);
    if (plans)
        compare_plan(t, &hits, &plan);
    obj_plan_free(&plan);
    wl_vec_free(&hits);
    obj_lives_free(&lives);
    free(levels);
}

static void random_traces(void **state)
{
    (void)state;
    ana_thresholds thresholds = ana_thresholds_default();
    thresholds.idle_calls_untimed = 2; /* in short traces */
    for (uint32_t i = 0; i < TRACES; i++) {
        obj_trace t;
        seed = i;
        draw_trace(&t);
        compare_trace(&t, &thresholds, i % PLANS == 0);
        tale_end(&t);
    }
}

/* ---- memory over moments ---- */

enum { MOST_MOMENTS = 700, MEMORIES = 200, CHANGES = 60 };

typedef struct naive_memory {
    uint32_t count, moments[MOST_MOMENTS];
    int64_t bytes[MOST_MOMENTS];
} naive_memory;

static void change_both(obj_memory *m, naive_memory *n, bool first)
{
    uint32_t from = below(n->count + 1), to = below(n->count + 1);
    int64_t bytes = (int64_t)below(1000) - (first ? 0 : 500);
    for (uint32_t i = from; i < to; i++)
        n->bytes[i] += bytes;
    if (first)
        obj_memory_put(m, from, to, bytes);
    else
        obj_memory_add(m, from, to, bytes);
}

static int64_t most_of(const naive_memory *n, uint32_t from, uint32_t to)
{
    int64_t most = INT64_MIN;
    for (uint32_t i = from; i < to; i++)
        most = n->bytes[i] > most ? n->bytes[i] : most;
    return most;
}

static void compare_memory(const obj_memory *m, const naive_memory *n)
{
    int64_t peak = most_of(n, 0, n->count), limit = (int64_t)below(2000) - 200;
    uint32_t from = below(n->count + 1), to = below(n->count + 1), first, end, low = 0, high = 0;
    assert_int_equal(obj_memory_most(m, from, to), most_of(n, from, to));
    assert_int_equal(obj_memory_peak(m), peak > 0 ? peak : 0);
    for (from = 0; from < n->count && n->bytes[from] < peak; from++)
        ;
    assert_int_equal(obj_memory_peak_place(m), peak > 0 ? from : UINT32_MAX);
    for (uint32_t i = n->count; i-- > 0;)
        if (n->bytes[i] > limit) {
            high = high ? high : i + 1;
            low = i;
        }
    obj_memory_above(m, limit, &first, &end);
    if (limit >= 0) /* what lies after all places has nothing */
        assert_true(first == low && end == high);
}

static void random_memory(void **state)
{
    (void)state;
    for (uint32_t turn = 0; turn < MEMORIES; turn++) {
        obj_memory m;
        naive_memory n = {0};
        seed = turn;
        uint32_t end = 1 + below(3000);
        assert_true(obj_memory_init(&m, end));
        for (uint32_t i = 0; i <= end && n.count < MOST_MOMENTS; i++)
            if (below(3) == 0) {
                n.moments[n.count++] = i;
                obj_memory_mark(&m, i);
            }
        assert_true(obj_memory_begin(&m));
        for (int i = 0; i < CHANGES; i++)
            change_both(&m, &n, true);
        obj_memory_sum(&m);
        for (uint32_t i = 0; i < n.count; i++) {
            assert_int_equal(obj_memory_place(&m, n.moments[i]), i);
            assert_int_equal(obj_memory_moment(&m, i), n.moments[i]);
        }
        assert_int_equal(obj_memory_place(&m, OBJ_NONE), n.count);
        for (int i = 0; i < CHANGES; i++) {
            change_both(&m, &n, false);
            compare_memory(&m, &n);
        }
        obj_memory_free(&m);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(random_memory),
                                       cmocka_unit_test(random_traces)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
