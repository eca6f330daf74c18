/* Work on streams. Operations run when they are enqueued, on the caller's thread. Only host functions run on threads of
 * their own, as the driver's do; while one is busy, what must come after it waits in the list of pending work, in program
 * order, and whoever finishes the function carries on. */
#include "collect/graph.h"
#include "collect/impl.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum {
    HOST_PATIENCE_MS = 500, /* a host function that takes longer goes on beside the application */
    POLL_US = 500
};

enum { STREAM_NON_BLOCKING = 1 };
enum { EVENT_DISABLE_TIMING = 2 };
enum { WAIT_GEQ, WAIT_EQ, WAIT_AND, WAIT_NOR };

/* ---- operations ---- */

collect_op *collect_op_new(collect_op_kind kind, collect_context *context)
{
    collect_op *op = calloc(1, sizeof *op);
    if (op) {
        op->kind = kind;
        op->references = 1;
        op->context = context;
    }
    return op;
}

collect_op *collect_op_ref(collect_op *op)
{
    op->references++;
    return op;
}

void collect_op_unref(collect_op *op)
{
    if (!op || --op->references)
        return;
    if (op->kind == OP_LAUNCH)
        free(op->launch.params);
    free(op);
}

static void write_value(const collect_op_value *v)
{
    uint32_t low = (uint32_t)v->value;
    memcpy((void *)v->address, v->bytes == 8 ? (const void *)&v->value : &low, v->bytes);
}

static bool value_reached(const collect_op_value *v)
{
    uint64_t seen = 0;
    memcpy(&seen, (void *)v->address, v->bytes);
    switch (v->flags & 3) {
    case WAIT_GEQ:
        return v->bytes == 8 ? (int64_t)(seen - v->value) >= 0
                             : (int32_t)((uint32_t)seen - (uint32_t)v->value) >= 0;
    case WAIT_EQ: return seen == v->value;
    case WAIT_AND: return (seen & v->value) != 0;
    default: return ~(seen | v->value) != 0;
    }
}

static void record_event(collect_op_event *e)
{
    if (!collect_is(e->event, COLLECT_EVENT))
        return;
    if (e->version > e->event->completed)
        e->event->completed = e->version;
    e->event->time_ns = collect_now();
}

/* A copy or set of memory that no run of a graph allocated. */
static bool is_missing(const collect_op *op)
{
    return (op->kind == OP_COPY && collect_copy_missing(&op->copy)) ||
           (op->kind == OP_SET && collect_set_missing(&op->set));
}

void collect_op_run(collect_op *op, collect_stream *stream, uint32_t call)
{
    if (op->context && op->context->error && op->kind != OP_RECORD)
        return;
    if (is_missing(op)) {
        collect_lose(op->context, COLLECT_ILLEGAL_ADDRESS);
        return;
    }
    switch (op->kind) {
    case OP_COPY: collect_copy_run(&op->copy); break;
    case OP_SET: collect_set_run(&op->set); break;
    case OP_LAUNCH: collect_launch_run(op, stream, call); break;
    case OP_RECORD: record_event(&op->event); break;
    case OP_WRITE_VALUE: write_value(&op->value); break;
    case OP_ALLOC:
    case OP_FREE: collect_graph_memory_run(op, call); break;
    case OP_EMPTY:
    case OP_WAIT:
    case OP_WAIT_VALUE:
    case OP_HOST: break;
    }
}

/* ---- order ---- */

static bool blocking(const collect_stream *stream)
{
    return !stream->is_legacy && !(stream->flags & STREAM_NON_BLOCKING);
}

/* The legacy default stream and the blocking streams of its context wait for one another. */
static bool ordered(const collect_stream *a, const collect_stream *b)
{
    return a == b || (a->context == b->context &&
                      ((a->is_legacy && blocking(b)) || (b->is_legacy && blocking(a))));
}

static bool must_wait(const collect_stream *stream, const collect_pending *before)
{
    for (collect_pending *p = collect_g.pending; p && p != before; p = p->next)
        if (ordered(p->stream, stream))
            return true;
    return false;
}

/* Could the operation run now, its stream's turn given? */
static bool ready(const collect_op *op)
{
    const collect_event *event = op->event.event;
    if (op->kind == OP_WAIT)
        return !collect_is(event, COLLECT_EVENT) || event->completed >= op->event.version;
    return op->kind != OP_WAIT_VALUE || value_reached(&op->value);
}

bool collect_is_idle(const collect_stream *stream)
{
    return !must_wait(stream, NULL);
}

void collect_wait_idle(collect_stream *stream, collect_context *context)
{
    for (;;) {
        bool busy = false;
        for (collect_pending *p = collect_g.pending; p; p = p->next)
            busy |= stream ? ordered(p->stream, stream) : !context || p->op->context == context;
        if (!busy)
            return;
        pthread_cond_wait(&collect_g.changed, &collect_g.lock);
    }
}

/* ---- pending work ---- */

static void start(collect_pending *p);

static void unlink_pending(collect_pending *p)
{
    collect_pending **at = &collect_g.pending;
    while (*at != p)
        at = &(*at)->next;
    *at = p->next;
    collect_op_unref(p->op);
    free(p);
    pthread_cond_broadcast(&collect_g.changed);
}

static bool own_thread(const collect_op *op)
{
    return op->kind == OP_HOST || op->kind == OP_WAIT_VALUE;
}

/* Runs all that has become ready, in program order. */
static void carry_on(void)
{
    for (collect_pending *p = collect_g.pending, *next; p; p = next) {
        next = p->next;
        if (p->running || must_wait(p->stream, p))
            continue;
        if (own_thread(p->op)) {
            start(p);
            continue;
        }
        if (!ready(p->op))
            continue;
        p->running = true;
        collect_op_run(p->op, p->stream, p->call);
        unlink_pending(p);
        next = collect_g.pending; /* an event may have freed another stream */
    }
}

static void run_host(const collect_host *host, int status)
{
    collect_thread *t = collect_self();
    if (t)
        t->in_host_function = true;
    if (host->kind == COLLECT_HOST_FUNCTION)
        host->function(host->data);
    else
        host->callback(host->stream, status, host->data);
    if (t)
        t->in_host_function = false;
}

static void await_value(const collect_op_value *value)
{
    for (;;) {
        pthread_mutex_lock(&collect_g.lock);
        bool done = !collect_range_valid(value->address, value->bytes) || value_reached(value);
        pthread_mutex_unlock(&collect_g.lock);
        if (done)
            return;
        usleep(POLL_US);
    }
}

static void *helper(void *data)
{
    collect_pending *p = data;
    int status = p->op->context->error;
    if (p->op->kind == OP_WAIT_VALUE)
        await_value(&p->op->value);
    else if (p->op->host.kind == COLLECT_HOST_CALLBACK || !status)
        run_host(&p->op->host, status);
    pthread_mutex_lock(&collect_g.lock);
    unlink_pending(p);
    carry_on();
    pthread_mutex_unlock(&collect_g.lock);
    return NULL;
}

/* The application's signals are not for our threads. */
static int spawn(void *(*function)(void *), void *data)
{
    sigset_t all, old;
    pthread_t thread;
    pthread_attr_t attr;
    sigfillset(&all);
    pthread_attr_init(&attr);
    pthread_attr_setdetachstate(&attr, PTHREAD_CREATE_DETACHED);
    pthread_sigmask(SIG_SETMASK, &all, &old);
    int code = pthread_create(&thread, &attr, function, data);
    pthread_sigmask(SIG_SETMASK, &old, NULL);
    pthread_attr_destroy(&attr);
    return code;
}

static void start(collect_pending *p)
{
    p->running = true;
    if (spawn(helper, p) == 0)
        return;
    collect_message(WL_LOG_ERROR,
                    "No thread could be started for a host function; it did not run.");
    unlink_pending(p);
}

static bool append(collect_stream *stream, collect_op *op, uint32_t call, uint64_t *ticket)
{
    static uint64_t tickets;
    collect_pending *p = calloc(1, sizeof *p), **at = &collect_g.pending;
    if (!p)
        return false;
    *p = (collect_pending){.op = op, .stream = stream, .call = call, .ticket = ++tickets};
    while (*at)
        at = &(*at)->next;
    *at = p;
    *ticket = p->ticket;
    return true;
}

static bool still_pending(uint64_t ticket)
{
    for (collect_pending *p = collect_g.pending; p; p = p->next)
        if (p->ticket == ticket)
            return true;
    return false;
}

/* Zero milliseconds: however long it takes. */
static void wait_for(uint64_t ticket, int milliseconds)
{
    struct timespec until;
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_nsec += (milliseconds % 1000) * 1000000L;
    until.tv_sec += milliseconds / 1000 + until.tv_nsec / 1000000000L;
    until.tv_nsec %= 1000000000L;
    while (still_pending(ticket)) {
        if (!milliseconds)
            pthread_cond_wait(&collect_g.changed, &collect_g.lock);
        else if (pthread_cond_timedwait(&collect_g.changed, &collect_g.lock, &until) == ETIMEDOUT)
            return;
    }
}

collect_result collect_submit(collect_call *call, collect_stream *stream, collect_op *op, bool wait)
{
    bool host = op->kind == OP_HOST;
    uint64_t ticket;
    if (!host && !must_wait(stream, NULL) && ready(op)) {
        if (op->kind == OP_LAUNCH) /* what the launch records comes behind its call */
            collect_call_write(call, COLLECT_OK);
        collect_op_run(op, stream, call->id);
        collect_op_unref(op);
        return COLLECT_OK;
    }
    if (!append(stream, op, call->id, &ticket)) {
        collect_op_unref(op);
        return COLLECT_NOMEM;
    }
    collect_call_write(call, COLLECT_OK);
    carry_on();
    if (wait || host)
        wait_for(ticket, wait ? 0 : HOST_PATIENCE_MS);
    return COLLECT_OK;
}
