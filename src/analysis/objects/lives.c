/* Lives of objects, in one pass over the operations. Operations that may access anything are kept as
 * one, for all objects: what an object has missed of them it is told when it is next accessed. */
#include "analysis/objects/lives.h"

#include <stdlib.h>

/* How much had run at some moment. */
typedef struct clock {
    double seconds;
    uint32_t unmeasured; /* operations */
} clock;

typedef struct moment {
    uint32_t op;
    clock before; /* it */
} moment;

typedef struct last_access {
    uint32_t op;         /* OBJ_NONE: none yet */
    uint32_t level;      /* its */
    clock after;         /* it */
    uint32_t gap, ngaps; /* the newest of the object's in obj_lives.gaps; how many there are */
    uint32_t write;      /* the last copy or set that wrote it, unread so far; OBJ_NONE: none */
    uint32_t to;         /* what that wrote: in obj_trace.ranges */
    uint32_t seen;       /* unknown operations before this place in the list are dealt with */
} last_access;

/* Bytes a second that copies move from the device to the host, and to the device. */
typedef struct link_rates {
    double out, in;
} link_rates;

typedef struct watcher {
    const obj_trace *trace;
    const uint32_t *levels;
    last_access *last;
    clock now; /* before the operation that is watched */
    wl_vec(moment) unknown;
    uint32_t most_gaps; /* of an object */
    const ana_thresholds *thresholds;
    link_rates link;
    bool failed;
    obj_lives *out;
} watcher;

static bool is_longer_idle(double seconds, uint32_t calls, double than, uint32_t than_calls)
{
    return seconds >= 0 && than >= 0 ? seconds > than : calls > than_calls;
}

/* Long enough for copies out and in again, where that is known; else for many calls. */
static bool is_long_gap(const watcher *w, const obj_gap *gap)
{
    if (gap->calls < w->thresholds->idle_calls)
        return false;
    return gap->seconds > 0 ? gap->seconds >= gap->copies
                            : gap->calls >= w->thresholds->idle_calls_untimed;
}

/* Where an object has as many as are kept, the newest of them makes room for a longer one. */
static void keep_gap(watcher *w, const obj_gap *gap)
{
    last_access *last = &w->last[gap->object];
    obj_gap *gaps = w->out->gaps.data;
    if (last->ngaps < w->most_gaps) {
        w->failed |= !wl_push(&w->out->gaps, *gap);
        last->gap = (uint32_t)w->out->gaps.count - 1;
        last->ngaps++;
    } else if (is_longer_idle(gap->seconds, gap->calls, gaps[last->gap].seconds,
                              gaps[last->gap].calls)) {
        gaps[last->gap] = *gap;
    }
}

/* Those that end at one operation come by object. */
static void put_gap(obj_gap *rows, uint32_t first, uint32_t at, const obj_gap *gap)
{
    for (; at > first && rows[at - 1].object > gap->object; at--)
        rows[at] = rows[at - 1];
    rows[at] = *gap;
}

/* Gaps by `to`: there are millions, which are counted rather than compared. */
static bool sort_gaps(const watcher *w)
{
    obj_gap *gaps = w->out->gaps.data;
    size_t n = w->out->gaps.count;
    uint32_t *first = calloc(w->trace->ops.count + 1, sizeof *first);
    uint32_t *put = calloc(w->trace->ops.count + 1, sizeof *put);
    obj_gap *rows = calloc(n + 1, sizeof *rows);
    bool good = first && put && rows;
    for (size_t i = 0; good && i < n; i++)
        first[gaps[i].to + 1]++;
    for (size_t i = 1; good && i < w->trace->ops.count; i++)
        first[i] += first[i - 1];
    for (size_t i = 0; good && i < n; i++)
        put_gap(rows, first[gaps[i].to], first[gaps[i].to] + put[gaps[i].to]++, &gaps[i]);
    free(first);
    free(put);
    if (good) {
        wl_vec_free(&w->out->gaps);
        w->out->gaps.data = rows;
        w->out->gaps.count = w->out->gaps.capacity = n;
    } else {
        free(rows);
    }
    return good;
}

static void note_longest(obj_life *life, const obj_gap *gap)
{
    if (gap->calls && (!life->idle_calls || is_longer_idle(gap->seconds, gap->calls,
                                                           life->idle_seconds, life->idle_calls))) {
        life->idle_calls = gap->calls;
        life->idle_seconds = gap->seconds;
    }
}

/* Since the object's last access. */
static void note_gap(watcher *w, uint32_t object, const moment *to)
{
    const last_access *last = &w->last[object];
    double bytes = (double)w->trace->objects.data[object].bytes;
    uint32_t level = w->levels[to->op];
    bool measured = last->after.unmeasured == to->before.unmeasured;
    obj_gap gap = {.object = object,
                   .from = last->op,
                   .to = to->op,
                   .calls = level > last->level + 1 ? level - last->level - 1 : 0,
                   .seconds = measured ? to->before.seconds - last->after.seconds : -1,
                   .copies = bytes / w->link.out + bytes / w->link.in};
    note_longest(&w->out->rows[object], &gap);
    if (is_long_gap(w, &gap)) {
        obj_life *life = &w->out->rows[object];
        life->idle_first |= life->used == OBJ_NONE || life->used == to->op;
        keep_gap(w, &gap);
    }
}

static clock clock_after(const watcher *w, const moment *m)
{
    const obj_op *op = &w->trace->ops.data[m->op];
    clock after = m->before;
    if (obj_accesses_objects(op->kind)) {
        after.seconds += op->seconds >= 0 ? op->seconds : 0;
        after.unmeasured += !(op->seconds >= 0);
    }
    return after;
}

static void set_last(watcher *w, uint32_t object, const moment *m)
{
    last_access *last = &w->last[object];
    w->out->rows[object].last = last->op = m->op;
    last->level = w->levels[m->op];
    last->after = clock_after(w, m);
}

static void touch_object(watcher *w, uint32_t object, const moment *m)
{
    obj_life *life = &w->out->rows[object];
    const last_access *last = &w->last[object];
    if (last->op != OBJ_NONE && last->op != m->op)
        note_gap(w, object, m);
    if (life->first == OBJ_NONE)
        life->first = m->op;
    set_last(w, object, m);
}

static void note_certain(watcher *w, uint32_t object, uint32_t op)
{
    obj_life *life = &w->out->rows[object];
    uint32_t level = w->levels[op], queue = w->trace->ops.data[op].queue;
    bool first = life->accesses == 0;
    life->accesses += life->accesses < OBJ_MOST_ACCESSES;
    life->soonest = first || level < life->soonest ? level : life->soonest;
    life->latest = first || level > life->latest ? level : life->latest;
    life->queue = first || life->queue == queue ? queue : OBJ_NONE;
}

static void note_first_use(watcher *w, uint32_t object, uint32_t op)
{
    obj_life *life = &w->out->rows[object];
    life->used = life->used == OBJ_NONE ? op : life->used;
}

/* The unknown operations since the object was last looked at: the first and the last of them. Gaps
 * in between are left out. */
static void catch_up(watcher *w, uint32_t object)
{
    last_access *last = &w->last[object];
    uint32_t end = (uint32_t)w->unknown.count;
    if (last->seen >= end)
        return;
    w->out->rows[object].possibly = true;
    bool same = w->unknown.data[last->seen].op == last->op; /* it names the object as well */
    if (last->seen + same < end)
        note_first_use(w, object, w->unknown.data[last->seen + same].op);
    if (last->seen + same < end)
        touch_object(w, object, &w->unknown.data[last->seen + same]);
    set_last(w, object, &w->unknown.data[end - 1]);
    last->write = OBJ_NONE;
    last->seen = end;
}

static bool is_write_by_host(const obj_op *op, const obj_access *a)
{
    return (op->kind == OBJ_COPY || op->kind == OBJ_SET) && a->how == OBJ_WRITE;
}

static bool covers(const obj_range *next, const obj_range *before)
{
    if (next->apart || before->apart)
        return next->shape == before->shape && next->offset == before->offset &&
               next->bytes == before->bytes;
    return next->offset <= before->offset &&
           next->offset + next->bytes >= before->offset + before->bytes;
}

static bool note_write(watcher *w, uint32_t at, const obj_op *op, const obj_access *a)
{
    last_access *last = &w->last[a->object];
    const obj_range *ranges = w->trace->ranges.data;
    bool writes = is_write_by_host(op, a),
         dead = writes && last->write != OBJ_NONE && covers(&ranges[a->part], &ranges[last->to]);
    obj_dead_write row = {a->object, last->write, at, dead ? ranges[last->to].bytes : 0};
    if (dead && !wl_push(&w->out->dead, row))
        return false;
    last->write = writes ? at : OBJ_NONE;
    last->to = writes ? a->part : 0;
    return true;
}

/* Is it done for the sake of this object alone, which a copy or set by the host names? */
static bool fills_alone(const watcher *w, const obj_op *op, const obj_access *a)
{
    uint32_t count;
    const obj_access *all = obj_accesses(w->trace, op, &count);
    return is_write_by_host(op, a) && a == all && obj_is_one_way(all, count) && !op->unknown &&
           !w->trace->objects.data[a->object].divided;
}

static bool watch_access(watcher *w, const moment *m, const obj_op *op, const obj_access *a)
{
    catch_up(w, a->object);
    bool fills = fills_alone(w, op, a);
    if (!fills)
        note_first_use(w, a->object, m->op);
    touch_object(w, a->object, m);
    if (fills && w->out->rows[a->object].used == OBJ_NONE)
        w->out->rows[a->object].filled = m->op;
    if (a->possible) {
        w->out->rows[a->object].possibly = true;
        w->last[a->object].write = OBJ_NONE;
        return true;
    }
    note_certain(w, a->object, m->op);
    return note_write(w, m->op, op, a);
}

static bool watch_accesses(watcher *w, const moment *m)
{
    const obj_op *op = &w->trace->ops.data[m->op];
    uint32_t count;
    const obj_access *a = obj_accesses(w->trace, op, &count);
    for (uint32_t i = 0; i < count; i++)
        if (!watch_access(w, m, op, &a[i]))
            return false;
    return true;
}

static bool watch_op(watcher *w, uint32_t at)
{
    const obj_op *op = &w->trace->ops.data[at];
    const moment m = {at, w->now};
    if (op->kind == OBJ_ALLOCATE)
        w->last[op->about].seen = (uint32_t)w->unknown.count;
    if (op->kind == OBJ_FREE) {
        catch_up(w, op->about);
        w->last[op->about].seen = UINT32_MAX; /* what follows is none of its */
    }
    w->now = clock_after(w, &m);
    return watch_accesses(w, &m) && (!op->unknown || wl_push(&w->unknown, m));
}

static bool begin_lives(watcher *w)
{
    size_t n = w->trace->objects.count;
    w->last = calloc(n + 1, sizeof *w->last);
    w->out->rows = calloc(n + 1, sizeof *w->out->rows);
    if (!w->last || !w->out->rows)
        return false;
    for (size_t i = 0; i < n; i++) {
        w->last[i] = (last_access){.op = OBJ_NONE, .write = OBJ_NONE};
        w->out->rows[i] = (obj_life){.first = OBJ_NONE,
                                     .last = OBJ_NONE,
                                     .filled = OBJ_NONE,
                                     .used = OBJ_NONE,
                                     .queue = OBJ_NONE,
                                     .idle_seconds = -1};
    }
    return true;
}

typedef struct moved_bytes {
    double bytes, seconds;
} moved_bytes;

static void add_measured(moved_bytes *sum, double bytes, double seconds)
{
    sum->bytes += bytes;
    sum->seconds += seconds;
}

static double rate_of_link(const moved_bytes *sum, double otherwise)
{
    return sum->seconds > 0 ? sum->bytes / sum->seconds : otherwise;
}

static link_rates measure_link(const obj_trace *trace, double otherwise)
{
    enum { LARGE = 1 << 20 };
    moved_bytes out = {0}, in = {0};
    for (uint32_t i = 0; i < trace->ops.count; i++) {
        const obj_op *op = &trace->ops.data[i];
        uint32_t count;
        const obj_access *a = obj_accesses(trace, op, &count);
        bool copies = op->kind == OBJ_COPY && obj_is_one_way(a, count);
        uint64_t bytes = copies ? trace->ranges.data[a->part].bytes : 0;
        if (op->seconds > 0 && bytes >= LARGE)
            add_measured(a->how == OBJ_READ ? &out : &in, (double)bytes, (double)op->seconds);
    }
    return (link_rates){rate_of_link(&out, otherwise), rate_of_link(&in, otherwise)};
}

static uint32_t most_gaps_of(size_t objects)
{
    size_t most = OBJ_MOST_GAPS / (objects + 1);
    return most > OBJ_LEAST_GAPS ? (uint32_t)most : OBJ_LEAST_GAPS;
}

/* The objects of a long trace do not fit into caches: those that come soon are asked for. */
static void fetch_lives(const watcher *w, uint32_t at)
{
    enum { AHEAD = 8 };
    uint32_t count = 0;
    const obj_access *a = NULL;
    if (at + AHEAD < w->trace->ops.count)
        a = obj_accesses(w->trace, &w->trace->ops.data[at + AHEAD], &count);
    for (uint32_t i = 0; i < count; i++) {
        __builtin_prefetch(&w->last[a[i].object]);
        __builtin_prefetch(&w->out->rows[a[i].object]);
        __builtin_prefetch(&w->trace->objects.data[a[i].object]);
    }
}

bool obj_lives_of(const obj_trace *trace, const uint32_t *levels, const ana_thresholds *thresholds,
                  obj_lives *out)
{
    *out = (obj_lives){0};
    watcher w = {.trace = trace,
                 .levels = levels,
                 .thresholds = thresholds,
                 .most_gaps = most_gaps_of(trace->objects.count),
                 .link = measure_link(trace, thresholds->link_rate),
                 .out = out};
    bool good = begin_lives(&w);
    for (uint32_t i = 0; good && i < trace->ops.count; i++) {
        fetch_lives(&w, i);
        good = watch_op(&w, i);
    }
    for (uint32_t o = 0; good && o < trace->objects.count; o++)
        catch_up(&w, o);
    good = good && sort_gaps(&w);
    free(w.last);
    wl_vec_free(&w.unknown);
    return good && !w.failed;
}

void obj_lives_forget_gaps(obj_lives *lives)
{
    wl_vec_free(&lives->gaps);
}

void obj_lives_free(obj_lives *lives)
{
    free(lives->rows);
    wl_vec_free(&lives->dead);
    wl_vec_free(&lives->gaps);
}
