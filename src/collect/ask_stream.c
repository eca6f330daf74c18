#include "collect/ask.h"

#include <string.h>

enum { ATTRIBUTES = 8, ATTRIBUTE_BYTES = 64, LAST_CAPTURE_MODE = 2 };

collect_event *collect_event_of(void *handle)
{
    return collect_is(handle, COLLECT_EVENT) ? handle : NULL;
}

static void read_fact(const collect_stream *stream, collect_stream_fact fact, void *value)
{
    collect_context *context = collect_stream_context(stream);
    switch (fact) {
    case COLLECT_STREAM_FLAGS: *(unsigned *)value = collect_stream_flags(stream); break;
    case COLLECT_STREAM_PRIORITY: *(int *)value = collect_stream_priority(stream); break;
    case COLLECT_STREAM_ID: *(unsigned long long *)value = collect_stream_id(stream) + 1; break;
    case COLLECT_STREAM_DEVICE:
        *(int *)value = collect_device_ordinal(collect_context_device(context));
        break;
    default: *(collect_context **)value = context;
    }
}

collect_result collect_ask_stream(collect_call *call, void *handle, bool per_thread,
                                  collect_stream_fact fact, void *value)
{
    collect_stream *stream;
    collect_result r = collect_stream_get(call, handle, per_thread, &stream);
    if (r == COLLECT_OK && !value)
        r = COLLECT_INVALID_VALUE;
    if (r == COLLECT_OK)
        read_fact(stream, fact, value);
    return r;
}

static collect_result attribute_of(collect_call *call, void *handle, bool per_thread, int attribute,
                                   const void *value, void **place)
{
    collect_stream *stream;
    collect_result r = collect_stream_get(call, handle, per_thread, &stream);
    if (r == COLLECT_OK && (!value || attribute < 0 || attribute >= ATTRIBUTES))
        r = COLLECT_INVALID_VALUE;
    if (r == COLLECT_OK)
        *place = stream->attributes[attribute];
    return r;
}

collect_result collect_ask_attribute(collect_call *call, void *stream, bool per_thread,
                                     int attribute, void *value)
{
    void *place;
    collect_result r = attribute_of(call, stream, per_thread, attribute, value, &place);
    if (r == COLLECT_OK)
        memcpy(value, place, ATTRIBUTE_BYTES);
    return r;
}

collect_result collect_ask_set_attribute(collect_call *call, void *stream, bool per_thread,
                                         int attribute, const void *value)
{
    void *place;
    collect_result r = attribute_of(call, stream, per_thread, attribute, value, &place);
    if (r == COLLECT_OK)
        memcpy(place, value, ATTRIBUTE_BYTES);
    return r;
}

collect_result collect_ask_copy_attributes(collect_call *call, void *to, void *from,
                                           bool per_thread)
{
    collect_stream *target, *source;
    collect_result r = collect_stream_get(call, to, per_thread, &target);
    if (r == COLLECT_OK)
        r = collect_stream_get(call, from, per_thread, &source);
    if (r == COLLECT_OK)
        memcpy(target->attributes, source->attributes, sizeof target->attributes);
    return r;
}

collect_result collect_ask_synchronize(collect_call *call, void *handle, bool per_thread)
{
    collect_stream *stream;
    collect_result r = collect_stream_get(call, handle, per_thread, &stream);
    return r ? r : collect_stream_synchronize(call, stream);
}

collect_result collect_ask_query(collect_call *call, void *handle, bool per_thread)
{
    collect_stream *stream;
    collect_result r = collect_stream_get(call, handle, per_thread, &stream);
    return r ? r : collect_stream_query(stream);
}

collect_result collect_ask_wait(collect_call *call, void *handle, bool per_thread, void *event,
                                unsigned flags)
{
    collect_stream *stream;
    collect_result r = collect_stream_get(call, handle, per_thread, &stream);
    if (r == COLLECT_OK && !collect_event_of(event))
        r = COLLECT_INVALID_HANDLE;
    return r ? r : collect_do_wait(call, stream, event, flags);
}

collect_result collect_ask_record(collect_call *call, void *handle, bool per_thread, void *event,
                                  unsigned flags)
{
    collect_stream *stream;
    collect_result r = collect_event_of(event)
                           ? collect_stream_get(call, handle, per_thread, &stream)
                           : COLLECT_INVALID_HANDLE;
    return r ? r : collect_do_record(call, stream, event, flags);
}

collect_result collect_ask_elapsed(void *start, void *end, float *milliseconds)
{
    if (!milliseconds)
        return COLLECT_INVALID_VALUE;
    return collect_event_of(start) && collect_event_of(end)
               ? collect_event_elapsed(start, end, milliseconds)
               : COLLECT_INVALID_HANDLE;
}

collect_result collect_ask_host(collect_call *call, void *handle, bool per_thread,
                                collect_host *work)
{
    collect_stream *stream;
    work->stream = handle;
    collect_result r = work->function || work->callback
                           ? collect_stream_get(call, handle, per_thread, &stream)
                           : COLLECT_INVALID_VALUE;
    return r ? r : collect_do_host(call, stream, work);
}

/* ---- capture ---- */

collect_result collect_ask_begin_capture(collect_call *call, void *handle, bool per_thread,
                                         int mode)
{
    collect_stream *stream;
    collect_result r = collect_stream_get(call, handle, per_thread, &stream);
    return r ? r : collect_capture_begin(stream, mode, NULL, NULL, 0);
}

collect_result collect_ask_capture_to(collect_call *call, void *handle, bool per_thread,
                                      void *graph, collect_node *const *needs, size_t count,
                                      int mode)
{
    collect_stream *stream;
    collect_result r = collect_stream_get(call, handle, per_thread, &stream);
    if (r == COLLECT_OK && (!collect_graph_of(graph) || (count && !needs)))
        r = COLLECT_INVALID_VALUE;
    return r ? r : collect_capture_begin(stream, mode, graph, needs, count);
}

collect_result collect_ask_end_capture(collect_call *call, void *handle, bool per_thread,
                                       collect_graph **out)
{
    collect_stream *stream;
    if (!out)
        return COLLECT_INVALID_VALUE;
    *out = NULL;
    collect_result r = collect_stream_get(call, handle, per_thread, &stream);
    return r ? r : collect_capture_end(stream, out);
}

collect_result collect_ask_capture(collect_call *call, void *handle, bool per_thread,
                                   const collect_capture_out *out)
{
    collect_stream *stream;
    collect_capture_info info;
    collect_result r = out->status ? collect_stream_get(call, handle, per_thread, &stream)
                                   : COLLECT_INVALID_VALUE;
    if (r)
        return r;
    collect_capture_describe(stream, &info);
    *out->status = (int)info.status;
    if (out->id)
        *out->id = info.id;
    if (out->graph)
        *out->graph = info.graph;
    if (out->needs)
        *out->needs = info.needs;
    if (out->edges)
        *out->edges = NULL;
    if (out->count)
        *out->count = info.count;
    return COLLECT_OK;
}

collect_result collect_ask_depend(collect_call *call, void *handle, bool per_thread,
                                  collect_node *const *needs, size_t count, unsigned flags)
{
    collect_stream *stream;
    collect_result r = (count && !needs) || flags > 1
                           ? COLLECT_INVALID_VALUE
                           : collect_stream_get(call, handle, per_thread, &stream);
    return r ? r : collect_capture_depend(stream, needs, count, flags == 1);
}

collect_result collect_ask_capture_mode(int *mode)
{
    collect_thread *self = collect_self();
    if (!mode || !self || *mode < 0 || *mode > LAST_CAPTURE_MODE)
        return COLLECT_INVALID_VALUE;
    int old = self->capture_mode;
    self->capture_mode = *mode;
    *mode = old;
    return COLLECT_OK;
}
