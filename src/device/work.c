/* Work on streams. Operations run when they are enqueued, on the caller's thread. Only host
 * functions run on threads of their own, as the driver's do; while one is busy, what must come
 * after it waits in the list of pending work, in program order, and whoever finishes the function
 * carries on. */
#include "device/graph_impl.h"
#include "record/ranges.h"

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

dev_op *dev_op_new(dev_op_kind kind, dev_context *context)
{
    dev_op *op = calloc(1, sizeof *op);
    if (op) {
        op->kind = kind;
        op->references = 1;
        op->context = context;
    }
    return op;
}

dev_op *dev_op_ref(dev_op *op)
{
    op->references++;
    return op;
}

void dev_op_unref(dev_op *op)
{
    if (!op || --op->references)
        return;
    if (op->kind == OP_LAUNCH)
        free(op->launch.params);
    free(op);
}

static void write_value(const dev_op_value *v)
{
    uint32_t low = (uint32_t)v->value;
    memcpy((void *)v->address, v->bytes == 8 ? (const void *)&v->value : &low, v->bytes);
}

static bool value_reached(const dev_op_value *v)
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

static void record_event(dev_op_event *e)
{
    if (!dev_is(e->event, DEV_EVENT))
        return;
    if (e->version > e->event->completed)
        e->event->completed = e->version;
    e->event->time_ns = rec_now();
}

/* A copy or set of memory that no run of a graph allocated. */
static bool lacks_memory(const dev_op *op)
{
    return (op->kind == OP_COPY && dev_copy_missing(&op->copy)) ||
           (op->kind == OP_SET && dev_set_missing(&op->set));
}

/* Runs it now, on this thread, with the lock. */
static void run_op(dev_op *op, const dev_turn *turn)
{
    if (op->context && op->context->error && op->kind != OP_RECORD)
        return;
    if (lacks_memory(op)) {
        dev_lose(op->context, DEV_ILLEGAL_ADDRESS);
        return;
    }
    switch (op->kind) {
    case OP_COPY: dev_copy_run(&op->copy); break;
    case OP_SET: dev_set_run(&op->set); break;
    case OP_LAUNCH: dev_launch_run(op, turn); break;
    case OP_RECORD: record_event(&op->event); break;
    case OP_WRITE_VALUE: write_value(&op->value); break;
    case OP_ALLOC:
    case OP_FREE: dev_graph_memory_run(op, turn->call); break;
    case OP_EMPTY:
    case OP_WAIT:
    case OP_WAIT_VALUE:
    case OP_HOST: break;
    }
}

/* ---- order ---- */

static bool is_blocking(const dev_stream *stream)
{
    return !stream->is_legacy && !(stream->flags & STREAM_NON_BLOCKING);
}

/* The legacy default stream and the blocking streams of its context wait for one another. */
static bool are_ordered(const dev_stream *a, const dev_stream *b)
{
    return a == b || (a->context == b->context &&
                      ((a->is_legacy && is_blocking(b)) || (b->is_legacy && is_blocking(a))));
}

static bool must_wait(const dev_stream *stream, const dev_pending *before)
{
    for (dev_pending *p = dev_g.pending; p && p != before; p = p->next)
        if (are_ordered(p->turn.stream, stream))
            return true;
    return false;
}

/* Could the operation run now, its stream's turn given? */
static bool is_ready(const dev_op *op)
{
    const dev_event *event = op->event.event;
    if (op->kind == OP_WAIT)
        return !dev_is(event, DEV_EVENT) || event->completed >= op->event.version;
    return op->kind != OP_WAIT_VALUE || value_reached(&op->value);
}

bool dev_is_idle(const dev_stream *stream)
{
    return !must_wait(stream, NULL);
}

void dev_wait_idle(dev_stream *stream, dev_context *context)
{
    for (;;) {
        bool busy = false;
        for (dev_pending *p = dev_g.pending; p; p = p->next)
            busy |= stream ? are_ordered(p->turn.stream, stream)
                           : !context || p->op->context == context;
        if (!busy)
            return;
        pthread_cond_wait(&dev_g.changed, &rec_g.lock);
    }
}

/* ---- pending work ---- */

static void start_pending(dev_pending *p);

static void unlink_pending(dev_pending *p)
{
    dev_pending **at = &dev_g.pending;
    while (*at != p)
        at = &(*at)->next;
    *at = p->next;
    dev_op_unref(p->op);
    free(p);
    pthread_cond_broadcast(&dev_g.changed);
}

static bool needs_thread(const dev_op *op)
{
    return op->kind == OP_HOST || op->kind == OP_WAIT_VALUE;
}

/* Runs all that has become ready, in program order. */
static void carry_on(void)
{
    for (dev_pending *p = dev_g.pending, *next; p; p = next) {
        next = p->next;
        if (p->running || must_wait(p->turn.stream, p))
            continue;
        if (needs_thread(p->op)) {
            start_pending(p);
            continue;
        }
        if (!is_ready(p->op))
            continue;
        p->running = true;
        run_op(p->op, &p->turn);
        unlink_pending(p);
        next = dev_g.pending; /* an event may have freed another stream */
    }
}

static void run_host(const dev_host *host, int status)
{
    dev_thread *t = dev_self();
    if (t)
        t->in_host_function = true;
    if (host->kind == DEV_HOST_FUNCTION)
        host->function(host->data);
    else
        host->callback(host->stream, status, host->data);
    if (t)
        t->in_host_function = false;
}

static void await_value(const dev_op_value *value)
{
    for (;;) {
        pthread_mutex_lock(&rec_g.lock);
        bool done = !dev_range_valid(value->address, value->bytes) || value_reached(value);
        pthread_mutex_unlock(&rec_g.lock);
        if (done)
            return;
        usleep(POLL_US);
    }
}

static void *run_beside(void *data)
{
    dev_pending *p = data;
    int status = p->op->context->error;
    if (p->op->kind == OP_WAIT_VALUE)
        await_value(&p->op->value);
    else if (p->op->host.kind == DEV_HOST_CALLBACK || !status)
        run_host(&p->op->host, status);
    pthread_mutex_lock(&rec_g.lock);
    unlink_pending(p);
    carry_on();
    pthread_mutex_unlock(&rec_g.lock);
    return NULL;
}

/* The application's signals are not for our threads. */
static int start_thread(void *(*function)(void *), void *data)
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

static void start_pending(dev_pending *p)
{
    p->running = true;
    if (start_thread(run_beside, p) == 0)
        return;
    rec_message(WL_LOG_ERROR, "No thread could be started for a host function; it did not run.");
    unlink_pending(p);
}

static bool append_pending(const dev_turn *turn, dev_op *op, uint64_t *ticket)
{
    static uint64_t tickets;
    dev_pending *p = calloc(1, sizeof *p), **at = &dev_g.pending;
    if (!p)
        return false;
    *p = (dev_pending){.op = op, .turn = *turn, .ticket = ++tickets};
    while (*at)
        at = &(*at)->next;
    *at = p;
    *ticket = p->ticket;
    return true;
}

static bool still_pending(uint64_t ticket)
{
    for (dev_pending *p = dev_g.pending; p; p = p->next)
        if (p->ticket == ticket)
            return true;
    return false;
}

/* Zero milliseconds: however long it takes. */
static void wait_for_ticket(uint64_t ticket, int milliseconds)
{
    struct timespec until;
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_nsec += (milliseconds % 1000) * 1000000L;
    until.tv_sec += milliseconds / 1000 + until.tv_nsec / 1000000000L;
    until.tv_nsec %= 1000000000L;
    while (still_pending(ticket))
        if (!milliseconds)
            pthread_cond_wait(&dev_g.changed, &rec_g.lock);
        else if (pthread_cond_timedwait(&dev_g.changed, &rec_g.lock, &until) == ETIMEDOUT)
            return;
}

dev_result dev_submit(dev_call *call, dev_stream *stream, dev_op *op, bool wait)
{
    bool host = op->kind == OP_HOST;
    uint64_t ticket;
    dev_turn turn = {.stream = stream, .call = call->rec.id, .node = call->launches_graph};
    if (op->kind == OP_LAUNCH) /* after its call, before what is submitted next */
        turn.ordinal = rec_ordinal();
    if (op->kind == OP_LAUNCH)
        turn.in_ranges = rec_ranges_asked();
    if (!host && !must_wait(stream, NULL) && is_ready(op)) {
        if (op->kind == OP_LAUNCH) /* what the launch records comes behind its call */
            dev_call_write(call, DEV_OK);
        run_op(op, &turn);
        dev_op_unref(op);
        return DEV_OK;
    }
    if (!append_pending(&turn, op, &ticket)) {
        dev_op_unref(op);
        return DEV_NOMEM;
    }
    dev_call_write(call, DEV_OK);
    carry_on();
    if (wait || host)
        wait_for_ticket(ticket, wait ? 0 : HOST_PATIENCE_MS);
    return DEV_OK;
}
