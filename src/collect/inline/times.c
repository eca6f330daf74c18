/* How long launches take on the device: an event on either side of each, read when the application waits for the device
 * anyway. Nothing here waits. */
#include "collect/inline/shim.h"

#include <stdlib.h>

enum {
    MAX_PENDING = 4096,  /* of a stream; further launches have no time until some are known */
    RESOLVE_EVERY = 256, /* launches of a stream that the application does not wait for */
    BATCH = 256,         /* times in a record */
    PER_THREAD = 2       /* CU_STREAM_PER_THREAD */
};

typedef struct pending {
    CUevent begin, end;
    uint32_t note;
} pending;

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

typedef struct pool { /* events not in use */
    CUcontext context;
    wl_vec(CUevent) events;
    UT_hash_handle hh;
} pool;

static queue *queues;
static pool *pools;
static uint32_t total; /* pending in all; read without the lock as a hint */

/* ---- events ---- */

static pool *pool_of(CUcontext context)
{
    pool *p = NULL;
    HASH_FIND_PTR(pools, &context, p);
    if (!p && (p = calloc(1, sizeof *p))) {
        p->context = context;
        HASH_ADD_PTR(pools, context, p);
    }
    return p;
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

static CUstream handle_of(uint64_t stream)
{
    return (CUstream)(uintptr_t)((stream & PER_THREAD && stream >> 48) ? PER_THREAD : stream);
}

/* Into a graph that is being captured nothing of ours may go. */
static bool capturing(uint64_t stream)
{
    CUstreamCaptureStatus status = CU_STREAM_CAPTURE_STATUS_NONE;
    CUresult result = DRIVER(CUDA_SUCCESS, cuStreamIsCapturing, (CUstream, CUstreamCaptureStatus *),
                             handle_of(stream), &status);
    return result != CUDA_SUCCESS || status != CU_STREAM_CAPTURE_STATUS_NONE;
}

static bool record(CUevent event, uint64_t stream)
{
    return event && DRIVER(CUDA_ERROR_NOT_SUPPORTED, cuEventRecord, (CUevent, CUstream), event,
                           handle_of(stream)) == CUDA_SUCCESS;
}

/* ---- around a launch ---- */

static queue *queue_of(CUcontext context, uint64_t stream)
{
    queue_key key = {context, stream};
    queue *q = NULL;
    /* NOLINTNEXTLINE(clang-analyzer-core.UndefinedBinaryOperatorResult): the key is hashed bytewise */
    HASH_FIND(hh, queues, &key, sizeof key, q);
    if (q || !(q = calloc(1, sizeof *q)))
        return q;
    q->items = malloc(MAX_PENDING * sizeof *q->items);
    if (!q->items) {
        free(q);
        return NULL;
    }
    q->key = key;
    HASH_ADD(hh, queues, key, sizeof key, q);
    return q;
}

static void resolve(queue *q, cap_times *times);
static void write_times(cap_times *times);

/* Looks at the queue where the application has not waited for long. */
static void look(queue *q)
{
    cap_time room[BATCH];
    cap_times times = {.times = room};
    q->since = 0;
    resolve(q, &times);
    write_times(&times);
}

void shim_time_begin(shim_time *t, uint64_t stream)
{
    *t = (shim_time){.stream = stream};
    if (!collect_options_get()->device_times || capturing(stream))
        return;
    pthread_mutex_lock(&shim_g.lock);
    t->context = shim_current().handle;
    pool *p = t->context ? pool_of(t->context) : NULL;
    queue *q = p ? queue_of(t->context, stream) : NULL;
    if (q && ++q->since >= RESOLVE_EVERY)
        look(q);
    if (q && q->count < MAX_PENDING) {
        t->begin = get_event(p);
        t->end = get_event(p);
    }
    pthread_mutex_unlock(&shim_g.lock);
    t->taken = t->end && record(t->begin, stream);
}

void shim_time_end(shim_time *t, CUresult result)
{
    if (t->taken && (result != CUDA_SUCCESS || !record(t->end, t->stream)))
        t->taken = false;
}

static void give_back(const shim_time *t)
{
    pool *p = t->context ? pool_of(t->context) : NULL;
    put_event(p, t->begin);
    put_event(p, t->end);
}

void shim_time_keep(const shim_time *t, uint32_t note)
{
    queue *q = t->taken && note ? queue_of(t->context, t->stream) : NULL;
    if (!q || q->count == MAX_PENDING) {
        give_back(t);
        return;
    }
    q->items[(q->first + q->count++) % MAX_PENDING] = (pending){t->begin, t->end, note};
    __atomic_add_fetch(&total, 1, __ATOMIC_RELAXED);
}

/* ---- reading ---- */

static CUresult elapsed(const pending *p, float *milliseconds)
{
    CUresult result = DRIVER(CUDA_ERROR_NOT_SUPPORTED, cuEventElapsedTime_v2,
                             (float *, CUevent, CUevent), milliseconds, p->begin, p->end);
    return result != CUDA_ERROR_NOT_SUPPORTED
               ? result
               : DRIVER(CUDA_ERROR_NOT_SUPPORTED, cuEventElapsedTime, (float *, CUevent, CUevent),
                        milliseconds, p->begin, p->end);
}

static void write_times(cap_times *times)
{
    if (times->count)
        SHIM_WRITE(times, times);
    times->count = 0;
}

/* Takes what is over; with the lock held. A failure that is not "not yet" (a lost context) gives the launch no time. */
static void resolve(queue *q, cap_times *times)
{
    pool *events = pool_of(q->key.context);
    while (q->count) {
        const pending *p = &q->items[q->first];
        float milliseconds = 0;
        CUresult result = DRIVER(CUDA_ERROR_NOT_SUPPORTED, cuEventQuery, (CUevent), p->end);
        if (result == CUDA_ERROR_NOT_READY)
            break;
        if (result == CUDA_SUCCESS && elapsed(p, &milliseconds) == CUDA_SUCCESS) {
            times->times[times->count++] = (cap_time){p->note, (double)milliseconds * 1e-3};
            if (times->count == BATCH)
                write_times(times);
        }
        put_event(events, p->begin);
        put_event(events, p->end);
        q->first = (q->first + 1) % MAX_PENDING;
        q->count--;
        __atomic_sub_fetch(&total, 1, __ATOMIC_RELAXED);
    }
}

/* Asking after an event is not allowed to a thread while a stream is captured in the strict mode; a thread in the relaxed
 * mode may. */
static void resolve_some(CUcontext context, uint64_t stream, bool all)
{
    cap_time room[BATCH];
    cap_times times = {.times = room};
    CUstreamCaptureMode mode = CU_STREAM_CAPTURE_MODE_RELAXED;
    CUresult exchanged = DRIVER(CUDA_ERROR_NOT_SUPPORTED, cuThreadExchangeStreamCaptureMode,
                                (CUstreamCaptureMode *), &mode);
    for (queue *q = queues; q; q = q->hh.next)
        if (q->count && q->key.context == context && (all || q->key.stream == stream)) {
            q->since = 0;
            resolve(q, &times);
        }
    if (exchanged == CUDA_SUCCESS)
        DRIVER(CUDA_ERROR_NOT_SUPPORTED, cuThreadExchangeStreamCaptureMode, (CUstreamCaptureMode *),
               &mode);
    write_times(&times);
}

void shim_times_resolve(uint64_t stream, bool all)
{
    if (!__atomic_load_n(&total, __ATOMIC_RELAXED) || shim_g.forked)
        return;
    pthread_mutex_lock(&shim_g.lock);
    CUcontext context = shim_current().handle;
    if (shim_g.writer && context)
        resolve_some(context, stream, all);
    pthread_mutex_unlock(&shim_g.lock);
}

void shim_times_gone(CUcontext context)
{
    queue *q, *next;
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

void shim_times_finish(void)
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
