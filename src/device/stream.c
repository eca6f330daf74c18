/* Streams, events, and the calls that put work on them. */
#include "device/impl.h"

#include <stdlib.h>
#include <string.h>

enum { EVENT_DISABLE_TIMING = 2 };
enum { STREAM_NON_BLOCKING = 1 };

/* ---- streams ---- */

void dev_stream_write(dev_stream *stream)
{
    cap_stream record = {.kind = stream->is_legacy       ? CAP_STREAM_LEGACY
                                 : stream->is_per_thread ? CAP_STREAM_PER_THREAD
                                                         : CAP_STREAM_CREATED,
                         .device = (uint32_t)stream->context->device->ordinal,
                         .context = stream->context->id,
                         .flags = dev_stream_flags(stream),
                         .priority = stream->priority};
    stream->number = rec_stream(&record);
}

dev_result dev_stream_get(dev_call *call, void *handle, bool per_thread, dev_stream **stream)
{
    uintptr_t value = (uintptr_t)handle;
    if (value == 1 || (value == 0 && !per_thread))
        *stream = call->context->legacy;
    else if (value == 2 || value == 0)
        *stream = call->context->per_thread;
    else if (dev_is(handle, DEV_STREAM))
        *stream = handle;
    else
        return DEV_INVALID_HANDLE;
    call->rec.record.stream = (*stream)->number;
    return (*stream)->context->error;
}

dev_result dev_stream_new(dev_context *context, unsigned flags, int priority, dev_stream **out)
{
    if (flags & ~(unsigned)STREAM_NON_BLOCKING)
        return DEV_INVALID_VALUE;
    dev_stream *stream = calloc(1, sizeof *stream);
    if (!stream)
        return DEV_NOMEM;
    stream->context = context;
    stream->flags = flags;
    stream->priority = priority > 0 ? 0 : priority < -5 ? -5 : priority;
    stream->id = ++dev_g.next_stream;
    dev_stream_write(stream);
    dev_handle_add(&stream->handle, DEV_STREAM, stream);
    *out = stream;
    return DEV_OK;
}

dev_result dev_stream_destroy(dev_stream *stream)
{
    if (stream->is_legacy || stream->is_per_thread)
        return DEV_INVALID_HANDLE;
    dev_capture_leave(stream);
    dev_wait_idle(stream, NULL);
    dev_handle_remove(&stream->handle);
    free(stream);
    return DEV_OK;
}

dev_result dev_stream_synchronize(dev_call *call, dev_stream *stream)
{
    (void)call;
    if (stream->capturing)
        return dev_capture_invalidate(stream, DEV_CAPTURE_UNSUPPORTED);
    if (stream->is_legacy && dev_capture_forbid())
        return DEV_CAPTURE_IMPLICIT;
    dev_wait_idle(stream, NULL);
    dev_flush_printed(stream->context);
    return stream->context->error;
}

dev_result dev_stream_query(dev_stream *stream)
{
    if (stream->capturing)
        return dev_capture_invalidate(stream, DEV_CAPTURE_UNSUPPORTED);
    if (stream->context->error)
        return stream->context->error;
    return dev_is_idle(stream) ? DEV_OK : DEV_NOT_READY;
}

unsigned dev_stream_flags(const dev_stream *stream)
{
    return stream->is_per_thread ? STREAM_NON_BLOCKING : stream->flags;
}

int dev_stream_priority(const dev_stream *stream)
{
    return stream->priority;
}

uint64_t dev_stream_id(const dev_stream *stream)
{
    return stream->id;
}

dev_context *dev_stream_context(const dev_stream *stream)
{
    return stream->context;
}

void *dev_stream_attribute(dev_stream *stream, int attribute)
{
    bool known = attribute >= 0 && attribute < DEV_STREAM_ATTRIBUTES;
    return known ? stream->attributes[attribute] : NULL;
}

/* ---- events ---- */

dev_result dev_event_new(dev_context *context, unsigned flags, dev_event **out)
{
    if (flags & ~7U)
        return DEV_INVALID_VALUE;
    if ((flags & 4) && !(flags & EVENT_DISABLE_TIMING)) /* for other processes */
        return DEV_INVALID_VALUE;
    dev_event *event = calloc(1, sizeof *event);
    if (!event)
        return DEV_NOMEM;
    event->context = context;
    event->flags = flags;
    event->number = ++rec_g.next_event;
    dev_handle_add(&event->handle, DEV_EVENT, event);
    *out = event;
    return DEV_OK;
}

dev_result dev_event_destroy(dev_event *event)
{
    dev_handle_remove(&event->handle);
    wl_vec_free(&event->nodes);
    free(event);
    return DEV_OK;
}

/* What asks for an event that was captured is refused, and ends the capture as invalid. */
static dev_result check_not_captured(dev_event *event)
{
    if (event->lost || (event->capturing && dev_capturing_lost(event->capturing)))
        return DEV_INVALID_VALUE;
    if (!event->capturing)
        return DEV_OK;
    dev_capturing_lose(event->capturing);
    return DEV_CAPTURED_EVENT;
}

dev_result dev_event_query(dev_event *event)
{
    dev_result captured = check_not_captured(event);
    if (captured)
        return captured;
    if (event->context->error)
        return event->context->error;
    return event->completed >= event->recorded ? DEV_OK : DEV_NOT_READY;
}

dev_result dev_event_synchronize(dev_call *call, dev_event *event)
{
    call->rec.record.event = event->number;
    call->rec.record.version = event->recorded;
    dev_result captured = check_not_captured(event);
    if (captured)
        return captured;
    uint64_t version = event->recorded;
    while (dev_is(event, DEV_EVENT) && event->completed < version)
        pthread_cond_wait(&dev_g.changed, &rec_g.lock);
    if (!dev_is(event, DEV_EVENT))
        return DEV_OK;
    dev_flush_printed(event->context);
    return event->context->error;
}

dev_result dev_event_elapsed(const dev_event *start, const dev_event *end, float *milliseconds)
{
    if ((start->flags | end->flags) & EVENT_DISABLE_TIMING || !start->recorded || !end->recorded)
        return DEV_INVALID_HANDLE;
    if (start->completed < start->recorded || end->completed < end->recorded)
        return DEV_NOT_READY;
    *milliseconds = (float)((double)(end->time_ns - start->time_ns) * 1e-6);
    return DEV_OK;
}

/* ---- work ---- */

/* While a stream is captured, what would wait for it (all of the legacy stream) may not be used. */
static dev_result enter_stream(dev_stream *stream)
{
    if (stream->is_legacy && dev_capture_forbids_legacy(stream))
        return DEV_CAPTURE_IMPLICIT;
    return stream->context->error;
}

/* In a capture it has no version: the graph's launches record it. */
static void note_event(dev_call *call, const dev_stream *stream, const dev_event *event,
                       uint64_t version)
{
    call->rec.record.event = event->number;
    call->rec.record.version = stream->capturing ? 0 : version;
}

static void note_work(dev_call *call, const dev_stream *stream, bool blocking)
{
    if (stream->capturing)
        call->rec.record.flags |= CAP_CALL_CAPTURED;
    if (!blocking)
        call->rec.record.flags |= CAP_CALL_ASYNC;
}

static dev_result put_on_stream(dev_call *call, dev_stream *stream, dev_op *op, bool wait)
{
    if (!op)
        return DEV_NOMEM;
    if (op->kind == OP_RECORD || op->kind == OP_WAIT)
        note_event(call, stream, op->event.event, op->event.version);
    if (stream->capturing)
        return dev_capture_add(call, stream, op);
    return dev_submit(call, stream, op, wait);
}

/* A call that blocks waits for a captured stream for ever: it is refused. */
static dev_result enter_waiting(dev_stream *stream, bool blocking)
{
    dev_result r = enter_stream(stream);
    if (r == DEV_OK && blocking && stream->capturing)
        r = dev_capture_invalidate(stream, DEV_CAPTURE_UNSUPPORTED);
    return r;
}

dev_result dev_do_copy(dev_call *call, dev_stream *stream, const dev_copy *copy, bool blocking)
{
    note_work(call, stream, blocking);
    dev_result r = enter_waiting(stream, blocking);
    if (r || !copy->width || !copy->height || !copy->depth)
        return r;
    r = dev_copy_check(copy);
    if (r == DEV_OK && !stream->capturing && dev_copy_missing(copy))
        return DEV_INVALID_VALUE;
    if (!stream->capturing) /* else the graph copies */
        dev_copy_describe(copy, &call->rec);
    if (r)
        return r;
    dev_op *op = dev_op_new(OP_COPY, stream->context);
    if (op)
        op->copy = *copy;
    if (blocking)
        dev_flush_printed(stream->context);
    r = put_on_stream(call, stream, op, blocking || dev_copy_pageable(copy));
    return r == DEV_OK && blocking ? stream->context->error : r;
}

dev_result dev_do_set(dev_call *call, dev_stream *stream, const dev_set *set, bool blocking)
{
    note_work(call, stream, blocking);
    dev_result r = enter_waiting(stream, blocking);
    if (r || !set->width || !set->height || !set->depth)
        return r;
    r = dev_set_check(set);
    if (r == DEV_OK && !stream->capturing && dev_set_missing(set))
        return DEV_INVALID_VALUE;
    if (!stream->capturing)
        dev_set_describe(set, &call->rec);
    if (r)
        return r;
    dev_op *op = dev_op_new(OP_SET, stream->context);
    if (op)
        op->set = *set;
    return put_on_stream(call, stream, op, false);
}

dev_result dev_do_launch(dev_call *call, dev_stream *stream, const dev_launch *launch)
{
    note_work(call, stream, false);
    dev_op *op = NULL;
    dev_result r = enter_stream(stream);
    if (r == DEV_OK)
        r = dev_launch_prepare(call, stream->context, launch, &op);
    return r ? r : put_on_stream(call, stream, op, false);
}

dev_result dev_do_host(dev_call *call, dev_stream *stream, const dev_host *host)
{
    note_work(call, stream, false);
    dev_result r = enter_stream(stream);
    if (r)
        return r;
    dev_op *op = dev_op_new(OP_HOST, stream->context);
    if (op)
        op->host = *host;
    return put_on_stream(call, stream, op, false);
}

dev_result dev_do_record(dev_call *call, dev_stream *stream, dev_event *event, unsigned flags)
{
    note_work(call, stream, false);
    dev_result r = enter_stream(stream);
    if (r)
        return r;
    if (flags & ~1U || event->context->device != stream->context->device)
        return flags & ~1U ? DEV_INVALID_VALUE : DEV_INVALID_HANDLE;
    bool external = flags & 1; /* a node of the graph rather than a mark in the capture */
    if (stream->capturing && !external) {
        note_event(call, stream, event, 0);
        return dev_capture_record(stream, event);
    }
    dev_op *op = dev_op_new(OP_RECORD, stream->context);
    if (op)
        op->event = (dev_op_event){.event = event, .version = event->recorded + 1};
    if (op && !stream->capturing) {
        event->recorded++;
        event->capturing = NULL;
        event->lost = false;
    }
    return put_on_stream(call, stream, op, false);
}

dev_result dev_do_wait(dev_call *call, dev_stream *stream, dev_event *event, unsigned flags)
{
    note_work(call, stream, false);
    dev_result r = enter_stream(stream);
    if (r || flags & ~1U)
        return r ? r : DEV_INVALID_VALUE;
    bool external = flags & 1;
    if (!external && (event->capturing || stream->capturing)) {
        call->rec.record.flags |= CAP_CALL_CAPTURED;
        call->rec.record.event = event->number;
        return dev_capture_wait(stream, event);
    }
    dev_op *op = dev_op_new(OP_WAIT, stream->context);
    if (op)
        op->event = (dev_op_event){.event = event, .version = event->recorded};
    return put_on_stream(call, stream, op, false);
}

static dev_result do_value(dev_call *call, dev_stream *stream, dev_op_kind kind,
                           const dev_op_value *value)
{
    note_work(call, stream, false);
    dev_result r = enter_stream(stream);
    if (r)
        return r;
    if (value->address % value->bytes || !dev_range_valid(value->address, value->bytes))
        return DEV_INVALID_VALUE;
    dev_op *op = dev_op_new(kind, stream->context);
    if (op)
        op->value = *value;
    return put_on_stream(call, stream, op, false);
}

dev_result dev_do_write_value(dev_call *call, dev_stream *stream, uint64_t address, uint64_t value,
                              unsigned bytes)
{
    dev_op_value v = {.address = address, .value = value, .bytes = bytes};
    return do_value(call, stream, OP_WRITE_VALUE, &v);
}

dev_result dev_do_wait_value(dev_call *call, dev_stream *stream, uint64_t address, uint64_t value,
                             unsigned bytes, unsigned flags)
{
    dev_op_value v = {.address = address, .value = value, .bytes = bytes, .flags = flags};
    return do_value(call, stream, OP_WAIT_VALUE, &v);
}
