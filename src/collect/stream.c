/* Streams, events, and the calls that put work on them. */
#include "collect/impl.h"

#include <stdlib.h>
#include <string.h>

enum { EVENT_DISABLE_TIMING = 2 };
enum { STREAM_NON_BLOCKING = 1 };

/* ---- streams ---- */

collect_result collect_stream_get(collect_call *call, void *handle, bool per_thread,
                                  collect_stream **stream)
{
    uintptr_t value = (uintptr_t)handle;
    if (value == 1 || (value == 0 && !per_thread))
        *stream = call->context->legacy;
    else if (value == 2 || value == 0)
        *stream = call->context->per_thread;
    else if (collect_is(handle, COLLECT_STREAM))
        *stream = handle;
    else
        return COLLECT_INVALID_HANDLE;
    call->record.stream = (*stream)->id;
    return (*stream)->context->error;
}

collect_result collect_stream_new(collect_context *context, unsigned flags, int priority,
                                  collect_stream **out)
{
    if (flags & ~(unsigned)STREAM_NON_BLOCKING)
        return COLLECT_INVALID_VALUE;
    collect_stream *stream = calloc(1, sizeof *stream);
    if (!stream)
        return COLLECT_NOMEM;
    stream->context = context;
    stream->flags = flags;
    stream->priority = priority > 0 ? 0 : priority < -5 ? -5 : priority;
    stream->id = ++collect_g.next_stream;
    collect_handle_add(&stream->handle, COLLECT_STREAM, stream);
    *out = stream;
    return COLLECT_OK;
}

collect_result collect_stream_destroy(collect_stream *stream)
{
    if (stream->is_legacy || stream->is_per_thread)
        return COLLECT_INVALID_HANDLE;
    collect_capture_leave(stream);
    collect_wait_idle(stream, NULL);
    collect_handle_remove(&stream->handle);
    free(stream);
    return COLLECT_OK;
}

collect_result collect_stream_synchronize(collect_call *call, collect_stream *stream)
{
    (void)call;
    if (stream->capturing)
        return collect_capture_invalidate(stream, COLLECT_CAPTURE_UNSUPPORTED);
    if (stream->is_legacy && collect_capture_forbid())
        return COLLECT_CAPTURE_IMPLICIT;
    collect_wait_idle(stream, NULL);
    collect_flush_printed(stream->context);
    return stream->context->error;
}

collect_result collect_stream_query(collect_stream *stream)
{
    if (stream->capturing)
        return collect_capture_invalidate(stream, COLLECT_CAPTURE_UNSUPPORTED);
    if (stream->context->error)
        return stream->context->error;
    return collect_is_idle(stream) ? COLLECT_OK : COLLECT_NOT_READY;
}

unsigned collect_stream_flags(const collect_stream *stream)
{
    return stream->is_per_thread ? STREAM_NON_BLOCKING : stream->flags;
}

int collect_stream_priority(const collect_stream *stream)
{
    return stream->priority;
}

uint64_t collect_stream_id(const collect_stream *stream)
{
    return stream->id;
}

collect_context *collect_stream_context(const collect_stream *stream)
{
    return stream->context;
}

/* ---- events ---- */

collect_result collect_event_new(collect_context *context, unsigned flags, collect_event **out)
{
    if (flags & ~7U)
        return COLLECT_INVALID_VALUE;
    if ((flags & 4) && !(flags & EVENT_DISABLE_TIMING)) /* for other processes */
        return COLLECT_INVALID_VALUE;
    collect_event *event = calloc(1, sizeof *event);
    if (!event)
        return COLLECT_NOMEM;
    event->context = context;
    event->flags = flags;
    collect_handle_add(&event->handle, COLLECT_EVENT, event);
    *out = event;
    return COLLECT_OK;
}

collect_result collect_event_destroy(collect_event *event)
{
    collect_handle_remove(&event->handle);
    wl_vec_free(&event->nodes);
    free(event);
    return COLLECT_OK;
}

/* What asks for an event that was captured is refused, and ends the capture as invalid. */
static collect_result check_not_captured(collect_event *event)
{
    if (event->lost || (event->capturing && collect_capturing_lost(event->capturing)))
        return COLLECT_INVALID_VALUE;
    if (!event->capturing)
        return COLLECT_OK;
    collect_capturing_lose(event->capturing);
    return COLLECT_CAPTURED_EVENT;
}

collect_result collect_event_query(collect_event *event)
{
    collect_result captured = check_not_captured(event);
    if (captured)
        return captured;
    if (event->context->error)
        return event->context->error;
    return event->completed >= event->recorded ? COLLECT_OK : COLLECT_NOT_READY;
}

collect_result collect_event_synchronize(collect_call *call, collect_event *event)
{
    (void)call;
    collect_result captured = check_not_captured(event);
    if (captured)
        return captured;
    uint64_t version = event->recorded;
    while (collect_is(event, COLLECT_EVENT) && event->completed < version)
        pthread_cond_wait(&collect_g.changed, &collect_g.lock);
    if (!collect_is(event, COLLECT_EVENT))
        return COLLECT_OK;
    collect_flush_printed(event->context);
    return event->context->error;
}

collect_result collect_event_elapsed(const collect_event *start, const collect_event *end,
                                     float *milliseconds)
{
    if ((start->flags | end->flags) & EVENT_DISABLE_TIMING || !start->recorded || !end->recorded)
        return COLLECT_INVALID_HANDLE;
    if (start->completed < start->recorded || end->completed < end->recorded)
        return COLLECT_NOT_READY;
    *milliseconds = (float)((double)(end->time_ns - start->time_ns) * 1e-6);
    return COLLECT_OK;
}

/* ---- work ---- */

/* While a stream is captured, what would wait for it (all of the legacy stream) may not be used. */
static collect_result enter(collect_stream *stream)
{
    if (stream->is_legacy && collect_capture_forbids_legacy(stream))
        return COLLECT_CAPTURE_IMPLICIT;
    return stream->context->error;
}

static collect_result dispatch(collect_call *call, collect_stream *stream, collect_op *op,
                               bool wait)
{
    if (!op)
        return COLLECT_NOMEM;
    if (stream->capturing)
        return collect_capture_add(call, stream, op);
    return collect_submit(call, stream, op, wait);
}

/* A call that blocks waits for a captured stream for ever: it is refused. */
static collect_result enter_blocking(collect_stream *stream, bool blocking)
{
    collect_result r = enter(stream);
    if (r == COLLECT_OK && blocking && stream->capturing)
        r = collect_capture_invalidate(stream, COLLECT_CAPTURE_UNSUPPORTED);
    return r;
}

collect_result collect_do_copy(collect_call *call, collect_stream *stream, const collect_copy *copy,
                               bool blocking)
{
    collect_result r = enter_blocking(stream, blocking);
    if (r || !copy->width || !copy->height || !copy->depth)
        return r;
    r = collect_copy_check(copy);
    if (r == COLLECT_OK && !stream->capturing && collect_copy_missing(copy))
        return COLLECT_INVALID_VALUE;
    if (!stream->capturing) /* else the graph copies */
        collect_copy_describe(copy, &call->record);
    if (r)
        return r;
    collect_op *op = collect_op_new(OP_COPY, stream->context);
    if (op)
        op->copy = *copy;
    if (blocking)
        collect_flush_printed(stream->context);
    r = dispatch(call, stream, op, blocking || collect_copy_pageable(copy));
    return r == COLLECT_OK && blocking ? stream->context->error : r;
}

collect_result collect_do_set(collect_call *call, collect_stream *stream, const collect_set *set,
                              bool blocking)
{
    collect_result r = enter_blocking(stream, blocking);
    if (r || !set->width || !set->height || !set->depth)
        return r;
    r = collect_set_check(set);
    if (r == COLLECT_OK && !stream->capturing && collect_set_missing(set))
        return COLLECT_INVALID_VALUE;
    if (!stream->capturing)
        collect_set_describe(set, &call->record);
    if (r)
        return r;
    collect_op *op = collect_op_new(OP_SET, stream->context);
    if (op)
        op->set = *set;
    return dispatch(call, stream, op, false);
}

collect_result collect_do_launch(collect_call *call, collect_stream *stream,
                                 const collect_launch *launch)
{
    collect_op *op = NULL;
    collect_result r = enter(stream);
    if (r == COLLECT_OK)
        r = collect_launch_prepare(call, stream->context, launch, &op);
    return r ? r : dispatch(call, stream, op, false);
}

collect_result collect_do_host(collect_call *call, collect_stream *stream, const collect_host *host)
{
    collect_result r = enter(stream);
    if (r)
        return r;
    collect_op *op = collect_op_new(OP_HOST, stream->context);
    if (op)
        op->host = *host;
    return dispatch(call, stream, op, false);
}

collect_result collect_do_record(collect_call *call, collect_stream *stream, collect_event *event,
                                 unsigned flags)
{
    collect_result r = enter(stream);
    if (r)
        return r;
    if (flags & ~1U || event->context->device != stream->context->device)
        return flags & ~1U ? COLLECT_INVALID_VALUE : COLLECT_INVALID_HANDLE;
    bool external = flags & 1; /* a node of the graph rather than a mark in the capture */
    if (stream->capturing && !external)
        return collect_capture_record(stream, event);
    collect_op *op = collect_op_new(OP_RECORD, stream->context);
    if (op)
        op->event = (collect_op_event){.event = event, .version = event->recorded + 1};
    if (op && !stream->capturing) {
        event->recorded++;
        event->capturing = NULL;
        event->lost = false;
    }
    return dispatch(call, stream, op, false);
}

collect_result collect_do_wait(collect_call *call, collect_stream *stream, collect_event *event,
                               unsigned flags)
{
    collect_result r = enter(stream);
    if (r || flags & ~1U)
        return r ? r : COLLECT_INVALID_VALUE;
    bool external = flags & 1;
    if (!external && (event->capturing || stream->capturing))
        return collect_capture_wait(stream, event);
    collect_op *op = collect_op_new(OP_WAIT, stream->context);
    if (op)
        op->event = (collect_op_event){.event = event, .version = event->recorded};
    return dispatch(call, stream, op, false);
}

static collect_result do_value(collect_call *call, collect_stream *stream, collect_op_kind kind,
                               const collect_op_value *value)
{
    collect_result r = enter(stream);
    if (r)
        return r;
    if (value->address % value->bytes || !collect_range_valid(value->address, value->bytes))
        return COLLECT_INVALID_VALUE;
    collect_op *op = collect_op_new(kind, stream->context);
    if (op)
        op->value = *value;
    return dispatch(call, stream, op, false);
}

collect_result collect_do_write_value(collect_call *call, collect_stream *stream, uint64_t address,
                                      uint64_t value, unsigned bytes)
{
    collect_op_value v = {.address = address, .value = value, .bytes = bytes};
    return do_value(call, stream, OP_WRITE_VALUE, &v);
}

collect_result collect_do_wait_value(collect_call *call, collect_stream *stream, uint64_t address,
                                     uint64_t value, unsigned bytes, unsigned flags)
{
    collect_op_value v = {.address = address, .value = value, .bytes = bytes, .flags = flags};
    return do_value(call, stream, OP_WAIT_VALUE, &v);
}
