/* How long launches, copies and sets take on the device, and when they begin: an event on either
 * side, read when the application waits for the device anyway. Nothing here waits.
 *
 * The two events take some microseconds of the stream's time. So not every launch is timed, but of
 * each *kind* (kernel, shape, with or without recording; function that copies) the first two, and
 * more of them as long as that takes no more than 0.2 % of the time that launches of the kind have
 * taken by then: long ones always. */
#include "shim/hooks/hook.h"

#include <stdlib.h>
#include <string.h>

enum {
    MAX_PENDING = 4096,  /* of a stream; further launches have no time until some are known */
    RESOLVE_EVERY = 256, /* launches of a stream that the application does not wait for */
    BATCH = 256          /* times in a record */
};

enum {
    FIRST = 2,       /* of a kind, timed in any case */
    MAX_SHAPES = 16, /* of a kernel; further ones are one kind */
    CALLS = 2,       /* in a kind, for calls; launches have 0 or 1 there */
    SHARE = 500      /* timing takes at most the one SHARE-th part */
};
enum {
    FAR_MS = 4000
}; /* from the base: then another one, so that what is near is told apart to a microsecond */
#define COST 5e-6 /* seconds that two events take, on an H200 */

typedef struct kind_key {
    uint32_t grid[3], block[3];
    uint32_t shared, records; /* records: CALLS for a call */
} kind_key;

typedef struct hook_kind {           /* stays for good: pending launches point to it */
    kind_key key;                    /* all 0 but for `records`: of every shape */
    uint64_t launches, timed, known; /* known: times of the timed ones that are */
    double seconds;                  /* their sum */
    const char *api;                 /* of a call; a constant */
    struct hook_kind *next;          /* of the same kernel, or the next call */
} hook_kind;

typedef struct pending {
    CUevent begin, end;
    hook_kind *kind;
    uint32_t id; /* of the note, or of the call */
} pending;

typedef struct known { /* times on their way to records */
    cap_time launches[BATCH];
    cap_call_time calls[BATCH];
    cap_start begun[BATCH];
    cap_times launch_times;
    cap_call_times call_times;
    cap_starts starts;
} known;

typedef struct queue_key {
    CUcontext context;
    uint64_t stream;
} queue_key;

typedef struct queue { /* of a stream, oldest first */
    queue_key key;
    pending *items;               /* ring of MAX_PENDING */
    uint32_t first, count, since; /* since: launches since it was last looked at */
    UT_hash_handle hh;
} queue;

/* Events of a context: those that are not in use, and the one that beginnings are measured from. */
typedef struct pool {
    CUcontext context;
    wl_vec(CUevent) events;
    CUevent first; /* before the first work that was timed: all beginnings count from there */
    CUevent base;  /* a later one: the driver tells distances as floats, and only short ones well */
    double base_seconds; /* from first to base */
    UT_hash_handle hh;
} pool;

static hook_kind *call_kinds;
static queue *queues, *latest_queue; /* latest: that was asked for; NULL: none */
static pool *pools, *latest_pool;
static uint32_t total; /* pending in all; read without the lock as a hint */

/* ---- which launches ---- */

/* `count`: how many there are of other shapes. */
static hook_kind *find_kind(hook_kind *list, const kind_key *key, uint32_t *count)
{
    *count = 0;
    for (hook_kind *k = list; k; k = k->next, ++*count)
        if (memcmp(&k->key, key, sizeof *key) == 0)
            return k;
    return NULL;
}

/* To the end of the list: those that came first are found first. */
static hook_kind *append_kind(hook_kind **list, const kind_key *key)
{
    hook_kind *k = calloc(1, sizeof *k);
    if (!k)
        return NULL;
    k->key = *key;
    while (*list)
        list = &(*list)->next;
    return *list = k;
}

/* NULL without memory. */
static hook_kind *kind_of_launch(drv_function *f, const drv_shape *shape, bool records)
{
    uint32_t count;
    kind_key key = {.shared = shape->shared, .records = records};
    memcpy(key.grid, shape->grid, sizeof key.grid);
    memcpy(key.block, shape->block, sizeof key.block);
    hook_kind *k = find_kind(f->kinds, &key, &count);
    if (k || count < MAX_SHAPES)
        return k ? k : append_kind(&f->kinds, &key);
    key = (kind_key){.records = records};
    k = find_kind(f->kinds, &key, &count);
    return k ? k : append_kind(&f->kinds, &key);
}

static enum { NONE, AUTO, ALL } asked; /* stays as it is from hook_times_start() on */

void hook_times_start(void)
{
    const char *which = prog_options_get()->device_times;
    asked = strcmp(which, "none") == 0 ? NONE : strcmp(which, "all") == 0 ? ALL : AUTO;
}

/* Whether the next launch of the kind is timed. `look`: earlier ones may be over by now, which
 * nobody asked. */
static bool is_timed(const hook_kind *k, bool *look)
{
    *look = k->known < k->timed && (k->launches & (k->launches - 1)) == 0;
    if (asked == ALL || k->timed < FIRST)
        return true;
    if (!k->known)
        return false;
    double mean = k->seconds / (double)k->known;
    return (double)(k->timed + 1) * COST * SHARE <= mean * (double)(k->launches + 1);
}

/* ---- events ---- */

static pool *event_pool_of(CUcontext context)
{
    pool *p = latest_pool;
    if (p && p->context == context)
        return p;
    HASH_FIND_PTR(pools, &context, p);
    if (!p && (p = calloc(1, sizeof *p))) {
        p->context = context;
        HASH_ADD_PTR(pools, context, p);
    }
    return latest_pool = p;
}

static CUevent get_event(pool *p)
{
    CUevent event = NULL;
    if (p->events.count)
        return p->events.data[--p->events.count];
    DRIVER(CUDA_ERROR_NOT_SUPPORTED, cuEventCreate, (CUevent *, unsigned), &event,
           CU_EVENT_DEFAULT);
    return event;
}

static void put_event(pool *p, CUevent event)
{
    if (event && (!p || !wl_push(&p->events, event)))
        DRIVER(CUDA_ERROR_NOT_SUPPORTED, cuEventDestroy_v2, (CUevent), event);
}

static bool record(CUevent event, uint64_t stream)
{
    return event && DRIVER(CUDA_ERROR_NOT_SUPPORTED, cuEventRecord, (CUevent, CUstream), event,
                           drv_stream_handle(stream)) == CUDA_SUCCESS;
}

/* ---- around a launch ---- */

static queue *new_queue(const queue_key *key)
{
    queue *q = calloc(1, sizeof *q);
    if (!q)
        return NULL;
    q->items = malloc(MAX_PENDING * sizeof *q->items);
    if (!q->items) {
        free(q);
        return NULL;
    }
    q->key = *key;
    HASH_ADD(hh, queues, key, sizeof *key, q);
    return q;
}

/* NULL without memory. */
static queue *queue_of(CUcontext context, uint64_t stream)
{
    queue_key key = {context, stream};
    queue *q = latest_queue;
    if (q && q->key.context == context && q->key.stream == stream)
        return q;
    /* The key is hashed bytewise. */
    /* NOLINTNEXTLINE(clang-analyzer-core.UndefinedBinaryOperatorResult) */
    HASH_FIND(hh, queues, &key, sizeof key, q);
    return latest_queue = q ? q : new_queue(&key);
}

static void resolve_queue(queue *q, known *times);
static void write_times(known *times);

/* Looks at the queue where the application has not waited for long. */
static void look_at_queue(queue *q)
{
    known times;
    q->since = 0;
    times.launch_times.count = times.call_times.count = times.starts.count = 0;
    resolve_queue(q, &times);
    write_times(&times);
}

/* With the lock held. */
static void prepare_timing(hook_time *t)
{
    bool late, timed = is_timed(t->kind, &late);
    if ((!timed && !late) || drv_in_capture(t->stream))
        return;
    t->context = drv_current().handle;
    pool *p = t->context ? event_pool_of(t->context) : NULL;
    queue *q = p ? queue_of(t->context, t->stream) : NULL;
    if (q && (late || ++q->since >= RESOLVE_EVERY))
        look_at_queue(q);
    if (timed && q && q->count < MAX_PENDING) {
        t->begin = get_event(p);
        t->end = get_event(p);
        t->kind->timed += t->end != NULL;
    }
}

void hook_time_begin(hook_time *t, void *function, const drv_shape *shape, uint64_t stream,
                     bool records)
{
    *t = (hook_time){.stream = stream};
    if (asked == NONE || !function)
        return;
    pthread_mutex_lock(&rec_g.lock);
    drv_function *f = drv_function_of(function);
    t->kind = f ? kind_of_launch(f, shape, records) : NULL;
    if (t->kind)
        prepare_timing(t);
    pthread_mutex_unlock(&rec_g.lock);
    t->taken = t->end && record(t->begin, stream);
}

static hook_kind *calls_of(const char *api)
{
    hook_kind *k = call_kinds;
    while (k && k->api != api)
        k = k->next;
    if (!k && (k = append_kind(&call_kinds, &(kind_key){.records = CALLS})))
        k->api = api;
    return k;
}

void hook_time_call_begin(hook_time *t, const char *api, uint64_t stream)
{
    *t = (hook_time){.stream = stream};
    if (asked == NONE)
        return;
    pthread_mutex_lock(&rec_g.lock);
    t->kind = calls_of(api);
    if (t->kind)
        prepare_timing(t);
    pthread_mutex_unlock(&rec_g.lock);
    t->taken = t->end && record(t->begin, stream);
}

void hook_time_end(hook_time *t, CUresult result)
{
    if (t->taken && (result != CUDA_SUCCESS || !record(t->end, t->stream)))
        t->taken = false;
}

/* An event that was before some work. */
static void put_begin(pool *p, CUevent event)
{
    if (!p || (event != p->first && event != p->base))
        put_event(p, event);
}

static void give_back(const hook_time *t)
{
    pool *p = t->context ? event_pool_of(t->context) : NULL;
    put_event(p, t->begin);
    put_event(p, t->end);
}

void hook_time_keep(const hook_time *t, uint32_t id)
{
    if (t->kind && id)
        t->kind->launches++;
    queue *q = t->taken && id ? queue_of(t->context, t->stream) : NULL;
    if (!q || q->count == MAX_PENDING) {
        give_back(t);
        return;
    }
    q->items[(q->first + q->count++) % MAX_PENDING] = (pending){t->begin, t->end, t->kind, id};
    pool *p = event_pool_of(t->context);
    if (p && !p->first)
        p->first = p->base = t->begin;
    __atomic_add_fetch(&total, 1, __ATOMIC_RELAXED);
}

/* ---- reading ---- */

static bool elapsed(CUevent from, CUevent to, float *milliseconds)
{
    CUresult result = DRIVER(CUDA_ERROR_NOT_SUPPORTED, cuEventElapsedTime_v2,
                             (float *, CUevent, CUevent), milliseconds, from, to);
    if (result == CUDA_ERROR_NOT_SUPPORTED)
        result = DRIVER(CUDA_ERROR_NOT_SUPPORTED, cuEventElapsedTime, (float *, CUevent, CUevent),
                        milliseconds, from, to);
    return result == CUDA_SUCCESS;
}

/* False where the work began before what it is measured from, or that is not over. */
static bool find_start(pool *p, CUevent begin, double *seconds)
{
    float milliseconds = 0;
    if (!p || !p->base || (begin != p->base && !elapsed(p->base, begin, &milliseconds)))
        return false;
    *seconds = p->base_seconds + (double)milliseconds * 1e-3;
    if (milliseconds > FAR_MS) {
        CUevent old = p->base;
        p->base = begin;
        p->base_seconds = *seconds;
        put_begin(p, old);
    }
    return *seconds >= 0;
}

static void write_times(known *times)
{
    times->launch_times.times = times->launches;
    times->call_times.times = times->calls;
    if (times->launch_times.count)
        REC_WRITE(times, &times->launch_times);
    if (times->call_times.count)
        REC_WRITE(call_times, &times->call_times);
    times->starts.starts = times->begun;
    if (times->starts.count)
        REC_WRITE(starts, &times->starts);
    times->launch_times.count = times->call_times.count = times->starts.count = 0;
}

static void keep_start(const pending *p, double seconds, known *times)
{
    bool call = p->kind->key.records == CALLS;
    times->begun[times->starts.count++] = (cap_start){call ? 0 : p->id, call ? p->id : 0, seconds};
    if (times->starts.count == BATCH)
        write_times(times);
}

static void keep_time(const pending *p, double seconds, known *times)
{
    p->kind->known++;
    p->kind->seconds += seconds;
    if (p->kind->key.records == CALLS)
        times->calls[times->call_times.count++] = (cap_call_time){p->id, seconds};
    else
        times->launches[times->launch_times.count++] = (cap_time){p->id, seconds};
    if (times->call_times.count == BATCH || times->launch_times.count == BATCH)
        write_times(times);
}

static void read_pending(const pending *p, pool *events, known *times)
{
    float milliseconds = 0;
    double start;
    if (elapsed(p->begin, p->end, &milliseconds))
        keep_time(p, (double)milliseconds * 1e-3, times);
    if (find_start(events, p->begin, &start))
        keep_start(p, start, times);
}

/* Takes what is over; with the lock held. A failure that is not "not yet" (a lost context) gives
 * the launch no time. */
static void resolve_queue(queue *q, known *times)
{
    pool *events = event_pool_of(q->key.context);
    while (q->count) {
        const pending *p = &q->items[q->first];
        CUresult result = DRIVER(CUDA_ERROR_NOT_SUPPORTED, cuEventQuery, (CUevent), p->end);
        if (result == CUDA_ERROR_NOT_READY)
            break;
        if (result == CUDA_SUCCESS)
            read_pending(p, events, times);
        put_begin(events, p->begin);
        put_event(events, p->end);
        q->first = (q->first + 1) % MAX_PENDING;
        q->count--;
        __atomic_sub_fetch(&total, 1, __ATOMIC_RELAXED);
    }
}

/* Asking after an event is not allowed to a thread while a stream is captured in the strict mode; a
 * thread in the relaxed mode may. */
static void resolve_some(CUcontext context, uint64_t stream, bool all)
{
    known times;
    times.launch_times.count = times.call_times.count = times.starts.count = 0;
    CUstreamCaptureMode mode = CU_STREAM_CAPTURE_MODE_RELAXED;
    CUresult exchanged = DRIVER(CUDA_ERROR_NOT_SUPPORTED, cuThreadExchangeStreamCaptureMode,
                                (CUstreamCaptureMode *), &mode);
    for (queue *q = queues; q; q = q->hh.next)
        if (q->count && q->key.context == context && (all || q->key.stream == stream)) {
            q->since = 0;
            resolve_queue(q, &times);
        }
    if (exchanged == CUDA_SUCCESS)
        DRIVER(CUDA_ERROR_NOT_SUPPORTED, cuThreadExchangeStreamCaptureMode, (CUstreamCaptureMode *),
               &mode);
    write_times(&times);
}

void hook_times_resolve(uint64_t stream, bool all)
{
    if (!__atomic_load_n(&total, __ATOMIC_RELAXED) || rec_g.forked)
        return;
    pthread_mutex_lock(&rec_g.lock);
    CUcontext context = drv_current().handle;
    if (rec_g.writer && context)
        resolve_some(context, stream, all);
    pthread_mutex_unlock(&rec_g.lock);
}

void hook_times_gone(CUcontext context)
{
    queue *q, *next;
    latest_queue = NULL;
    latest_pool = NULL;
    HASH_ITER (hh, queues, q, next) {
        if (q->key.context != context)
            continue;
        __atomic_sub_fetch(&total, q->count, __ATOMIC_RELAXED);
        HASH_DEL(queues, q);
        free(q->items);
        free(q);
    }
    pool *p = NULL;
    HASH_FIND_PTR(pools, &context, p);
    if (p) {
        HASH_DEL(pools, p);
        wl_vec_free(&p->events);
        free(p);
    }
}

void hook_times_finish(void)
{
    for (queue *q = queues; q; q = q->hh.next) {
        CUcontext previous;
        if (!q->count || DRIVER(CUDA_ERROR_NOT_SUPPORTED, cuCtxPushCurrent_v2, (CUcontext),
                                q->key.context) != CUDA_SUCCESS)
            continue;
        resolve_some(q->key.context, q->key.stream, false);
        DRIVER(CUDA_ERROR_NOT_SUPPORTED, cuCtxPopCurrent_v2, (CUcontext *), &previous);
    }
}
