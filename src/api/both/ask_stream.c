#include "api/both/ask.h"

#include <string.h>

enum { ATTRIBUTES = 8, ATTRIBUTE_BYTES = 64, LAST_CAPTURE_MODE = 2 };

dev_event *api_event_of(void *handle)
{
    return dev_is(handle, DEV_EVENT) ? handle : NULL;
}

static void read_fact(const dev_stream *stream, api_stream_fact fact, void *value)
{
    dev_context *context = dev_stream_context(stream);
    switch (fact) {
    case API_STREAM_FLAGS: *(unsigned *)value = dev_stream_flags(stream); break;
    case API_STREAM_PRIORITY: *(int *)value = dev_stream_priority(stream); break;
    case API_STREAM_ID: *(unsigned long long *)value = dev_stream_id(stream) + 1; break;
    case API_STREAM_DEVICE: *(int *)value = dev_gpu_ordinal(dev_context_device(context)); break;
    default: *(dev_context **)value = context;
    }
}

dev_result api_stream(dev_call *call, void *handle, bool per_thread, api_stream_fact fact,
                      void *value)
{
    dev_stream *stream;
    dev_result r = dev_stream_get(call, handle, per_thread, &stream);
    if (r == DEV_OK && !value)
        r = DEV_INVALID_VALUE;
    if (r == DEV_OK)
        read_fact(stream, fact, value);
    return r;
}

static dev_result attribute_of(dev_call *call, void *handle, bool per_thread, int attribute,
                               const void *value, void **place)
{
    dev_stream *stream;
    dev_result r = dev_stream_get(call, handle, per_thread, &stream);
    if (r == DEV_OK && (!value || attribute < 0 || attribute >= ATTRIBUTES))
        r = DEV_INVALID_VALUE;
    if (r == DEV_OK)
        *place = stream->attributes[attribute];
    return r;
}

dev_result api_attribute(dev_call *call, void *stream, bool per_thread, int attribute, void *value)
{
    void *place;
    dev_result r = attribute_of(call, stream, per_thread, attribute, value, &place);
    if (r == DEV_OK)
        memcpy(value, place, ATTRIBUTE_BYTES);
    return r;
}

dev_result api_set_attribute(dev_call *call, void *stream, bool per_thread, int attribute,
                             const void *value)
{
    void *place;
    dev_result r = attribute_of(call, stream, per_thread, attribute, value, &place);
    if (r == DEV_OK)
        memcpy(place, value, ATTRIBUTE_BYTES);
    return r;
}

dev_result api_copy_attributes(dev_call *call, void *to, void *from, bool per_thread)
{
    dev_stream *target, *source;
    dev_result r = dev_stream_get(call, to, per_thread, &target);
    if (r == DEV_OK)
        r = dev_stream_get(call, from, per_thread, &source);
    if (r == DEV_OK)
        memcpy(target->attributes, source->attributes, sizeof target->attributes);
    return r;
}

dev_result api_synchronize(dev_call *call, void *handle, bool per_thread)
{
    dev_stream *stream;
    dev_result r = dev_stream_get(call, handle, per_thread, &stream);
    return r ? r : dev_stream_synchronize(call, stream);
}

dev_result api_query(dev_call *call, void *handle, bool per_thread)
{
    dev_stream *stream;
    dev_result r = dev_stream_get(call, handle, per_thread, &stream);
    return r ? r : dev_stream_query(stream);
}

dev_result api_wait(dev_call *call, void *handle, bool per_thread, void *event, unsigned flags)
{
    dev_stream *stream;
    dev_result r = dev_stream_get(call, handle, per_thread, &stream);
    if (r == DEV_OK && !api_event_of(event))
        r = DEV_INVALID_HANDLE;
    return r ? r : dev_do_wait(call, stream, event, flags);
}

dev_result api_record(dev_call *call, void *handle, bool per_thread, void *event, unsigned flags)
{
    dev_stream *stream;
    dev_result r = api_event_of(event) ? dev_stream_get(call, handle, per_thread, &stream)
                                       : DEV_INVALID_HANDLE;
    return r ? r : dev_do_record(call, stream, event, flags);
}

dev_result api_elapsed(void *start, void *end, float *milliseconds)
{
    if (!milliseconds)
        return DEV_INVALID_VALUE;
    return api_event_of(start) && api_event_of(end) ? dev_event_elapsed(start, end, milliseconds)
                                                    : DEV_INVALID_HANDLE;
}

dev_result api_host(dev_call *call, void *handle, bool per_thread, dev_host *work)
{
    dev_stream *stream;
    work->stream = handle;
    dev_result r = work->function || work->callback
                       ? dev_stream_get(call, handle, per_thread, &stream)
                       : DEV_INVALID_VALUE;
    return r ? r : dev_do_host(call, stream, work);
}

/* ---- capture ---- */

dev_result api_begin_capture(dev_call *call, void *handle, bool per_thread, int mode)
{
    dev_stream *stream;
    dev_result r = dev_stream_get(call, handle, per_thread, &stream);
    return r ? r : dev_capture_begin(stream, mode, NULL, NULL, 0);
}

dev_result api_capture_to(dev_call *call, void *handle, bool per_thread, void *graph,
                          dev_node *const *needs, size_t count, int mode)
{
    dev_stream *stream;
    dev_result r = dev_stream_get(call, handle, per_thread, &stream);
    if (r == DEV_OK && (!api_graph_of(graph) || (count && !needs)))
        r = DEV_INVALID_VALUE;
    return r ? r : dev_capture_begin(stream, mode, graph, needs, count);
}

dev_result api_end_capture(dev_call *call, void *handle, bool per_thread, dev_graph **out)
{
    dev_stream *stream;
    if (!out)
        return DEV_INVALID_VALUE;
    *out = NULL;
    dev_result r = dev_stream_get(call, handle, per_thread, &stream);
    return r ? r : dev_capture_end(stream, out);
}

dev_result api_capture(dev_call *call, void *handle, bool per_thread, const api_capture_out *out)
{
    dev_stream *stream;
    dev_capture_info info;
    dev_result r = out->status ? dev_stream_get(call, handle, per_thread, &stream)
                               : DEV_INVALID_VALUE;
    if (r)
        return r;
    dev_capture_describe(stream, &info);
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
    return DEV_OK;
}

dev_result api_depend(dev_call *call, void *handle, bool per_thread, dev_node *const *needs,
                      size_t count, unsigned flags)
{
    dev_stream *stream;
    dev_result r = (count && !needs) || flags > 1
                       ? DEV_INVALID_VALUE
                       : dev_stream_get(call, handle, per_thread, &stream);
    return r ? r : dev_capture_depend(stream, needs, count, flags == 1);
}

dev_result api_capture_mode(int *mode)
{
    dev_thread *self = dev_self();
    if (!mode || !self || *mode < 0 || *mode > LAST_CAPTURE_MODE)
        return DEV_INVALID_VALUE;
    int old = self->capture_mode;
    self->capture_mode = *mode;
    *mode = old;
    return DEV_OK;
}
