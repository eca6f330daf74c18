/* What both interfaces ask of streams, events and their capture. */
#include "api/both/stream.h"

#include "api/both/graph.h"

#include <string.h>

enum { LAST_CAPTURE_MODE = 2, LEAST_PRIORITY = 0, GREATEST_PRIORITY = -5 };

static dev_event *event_of(CUevent handle)
{
    return dev_is(handle, DEV_EVENT) ? (dev_event *)handle : NULL;
}

/* ---- streams ---- */

dev_result api_new_stream(dev_call *call, CUstream *out, unsigned flags, int priority)
{
    dev_stream *stream;
    dev_result r = out ? dev_stream_new(call->context, flags, priority, &stream)
                       : DEV_INVALID_VALUE;
    if (r == DEV_OK)
        *out = (CUstream)stream;
    return r;
}

dev_result api_destroy_stream(CUstream stream)
{
    return dev_is(stream, DEV_STREAM) ? dev_stream_destroy((dev_stream *)stream)
                                      : DEV_INVALID_HANDLE;
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

dev_result api_stream(dev_call *call, CUstream handle, bool per_thread, api_stream_fact fact,
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

static dev_result find_stream_attribute(dev_call *call, CUstream handle, bool per_thread,
                                        int attribute, const void *value, void **place)
{
    dev_stream *stream;
    dev_result r = dev_stream_get(call, handle, per_thread, &stream);
    if (r)
        return r;
    *place = dev_stream_attribute(stream, attribute);
    return value && *place ? DEV_OK : DEV_INVALID_VALUE;
}

dev_result api_attribute(dev_call *call, CUstream stream, bool per_thread, int attribute,
                         void *value)
{
    void *place;
    dev_result r = find_stream_attribute(call, stream, per_thread, attribute, value, &place);
    if (r == DEV_OK)
        memcpy(value, place, DEV_STREAM_ATTRIBUTE_BYTES);
    return r;
}

dev_result api_set_attribute(dev_call *call, CUstream stream, bool per_thread, int attribute,
                             const void *value)
{
    void *place;
    dev_result r = find_stream_attribute(call, stream, per_thread, attribute, value, &place);
    if (r == DEV_OK)
        memcpy(place, value, DEV_STREAM_ATTRIBUTE_BYTES);
    return r;
}

dev_result api_copy_attributes(dev_call *call, CUstream to, CUstream from, bool per_thread)
{
    dev_stream *target, *source;
    dev_result r = dev_stream_get(call, to, per_thread, &target);
    if (r == DEV_OK)
        r = dev_stream_get(call, from, per_thread, &source);
    for (int i = 0; r == DEV_OK && dev_stream_attribute(source, i); i++)
        memcpy(dev_stream_attribute(target, i), dev_stream_attribute(source, i),
               DEV_STREAM_ATTRIBUTE_BYTES);
    return r;
}

dev_result api_synchronize(dev_call *call, CUstream handle, bool per_thread)
{
    dev_stream *stream;
    dev_result r = dev_stream_get(call, handle, per_thread, &stream);
    return r ? r : dev_stream_synchronize(call, stream);
}

dev_result api_query(dev_call *call, CUstream handle, bool per_thread)
{
    dev_stream *stream;
    dev_result r = dev_stream_get(call, handle, per_thread, &stream);
    return r ? r : dev_stream_query(stream);
}

static dev_result enqueue_host(dev_call *call, CUstream handle, bool per_thread,
                               const dev_host *work)
{
    dev_stream *stream;
    dev_result r = work->function || work->callback
                       ? dev_stream_get(call, handle, per_thread, &stream)
                       : DEV_INVALID_VALUE;
    return r ? r : dev_do_host(call, stream, work);
}

dev_result api_host(dev_call *call, CUstream stream, bool per_thread, CUhostFn function, void *data)
{
    dev_host work = {
        .kind = DEV_HOST_FUNCTION, .function = function, .stream = stream, .data = data};
    return enqueue_host(call, stream, per_thread, &work);
}

dev_result api_callback(dev_call *call, CUstream stream, bool per_thread, void *callback,
                        void *data, unsigned flags)
{
    dev_host work = {.kind = DEV_HOST_CALLBACK,
                     .callback = (void (*)(void *, int, void *))callback,
                     .stream = stream,
                     .data = data};
    return flags ? DEV_INVALID_VALUE : enqueue_host(call, stream, per_thread, &work);
}

dev_result api_priorities(int *least, int *greatest)
{
    if (least)
        *least = LEAST_PRIORITY;
    if (greatest)
        *greatest = GREATEST_PRIORITY;
    return DEV_OK;
}

/* ---- events ---- */

dev_result api_new_event(dev_call *call, CUevent *out, unsigned flags)
{
    dev_event *event;
    dev_result r = out ? dev_event_new(call->context, flags, &event) : DEV_INVALID_VALUE;
    if (r == DEV_OK)
        *out = (CUevent)event;
    return r;
}

dev_result api_destroy_event(CUevent event)
{
    return event_of(event) ? dev_event_destroy(event_of(event)) : DEV_INVALID_HANDLE;
}

dev_result api_query_event(CUevent event)
{
    return event_of(event) ? dev_event_query(event_of(event)) : DEV_INVALID_HANDLE;
}

dev_result api_synchronize_event(dev_call *call, CUevent event)
{
    return event_of(event) ? dev_event_synchronize(call, event_of(event)) : DEV_INVALID_HANDLE;
}

dev_result api_wait(dev_call *call, CUstream handle, bool per_thread, CUevent event, unsigned flags)
{
    dev_stream *stream;
    dev_result r = dev_stream_get(call, handle, per_thread, &stream);
    if (r == DEV_OK && !event_of(event))
        r = DEV_INVALID_HANDLE;
    return r ? r : dev_do_wait(call, stream, event_of(event), flags);
}

dev_result api_record(dev_call *call, CUstream handle, bool per_thread, CUevent event,
                      unsigned flags)
{
    dev_stream *stream;
    dev_result r = event_of(event) ? dev_stream_get(call, handle, per_thread, &stream)
                                   : DEV_INVALID_HANDLE;
    return r ? r : dev_do_record(call, stream, event_of(event), flags);
}

dev_result api_elapsed(CUevent start, CUevent end, float *milliseconds)
{
    if (!milliseconds)
        return DEV_INVALID_VALUE;
    return event_of(start) && event_of(end)
               ? dev_event_elapsed(event_of(start), event_of(end), milliseconds)
               : DEV_INVALID_HANDLE;
}

/* ---- capture ---- */

dev_result api_begin_capture(dev_call *call, CUstream handle, bool per_thread, int mode)
{
    dev_stream *stream;
    dev_result r = dev_stream_get(call, handle, per_thread, &stream);
    return r ? r : dev_capture_begin(stream, mode, NULL, NULL, 0);
}

dev_result api_capture_to(dev_call *call, CUstream handle, bool per_thread, CUgraph graph,
                          const CUgraphNode *needs, size_t count, int mode)
{
    dev_stream *stream;
    dev_result r = dev_stream_get(call, handle, per_thread, &stream);
    if (r == DEV_OK && (!api_graph_of(graph) || (count && !needs)))
        r = DEV_INVALID_VALUE;
    return r ? r
             : dev_capture_begin(stream, mode, api_graph_of(graph), (dev_node *const *)needs,
                                 count);
}

dev_result api_end_capture(dev_call *call, CUstream handle, bool per_thread, CUgraph *out)
{
    dev_stream *stream;
    if (!out)
        return DEV_INVALID_VALUE;
    *out = NULL;
    dev_result r = dev_stream_get(call, handle, per_thread, &stream);
    return r ? r : dev_capture_end(stream, (dev_graph **)out);
}

dev_result api_capture_info(dev_call *call, CUstream handle, bool per_thread, int *status, void *id,
                            CUgraph *graph, const CUgraphNode **needs, const void **edges,
                            size_t *count)
{
    dev_stream *stream;
    dev_capture_info info;
    dev_result r = status ? dev_stream_get(call, handle, per_thread, &stream) : DEV_INVALID_VALUE;
    if (r)
        return r;
    dev_capture_describe(stream, &info);
    *status = (int)info.status;
    if (id)
        *(uint64_t *)id = info.id;
    if (graph)
        *graph = (CUgraph)info.graph;
    if (needs)
        *needs = (const CUgraphNode *)info.needs;
    if (edges)
        *edges = NULL;
    if (count)
        *count = info.count;
    return DEV_OK;
}

dev_result api_depend(dev_call *call, CUstream handle, bool per_thread, const CUgraphNode *needs,
                      size_t count, unsigned flags)
{
    dev_stream *stream;
    dev_result r = (count && !needs) || flags > 1
                       ? DEV_INVALID_VALUE
                       : dev_stream_get(call, handle, per_thread, &stream);
    return r ? r : dev_capture_depend(stream, (dev_node *const *)needs, count, flags == 1);
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
