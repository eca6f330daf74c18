/* Streams, events, host functions and capture in the driver interface. */
#include "collect/driver.h"
#include "collect/graph.h"

#include <string.h>

static collect_stream *own_stream(CUstream handle)
{
    return collect_is(handle, COLLECT_STREAM) ? (collect_stream *)handle : NULL;
}

static collect_event *event_of(CUevent handle)
{
    return collect_is(handle, COLLECT_EVENT) ? (collect_event *)handle : NULL;
}

/* ---- streams ---- */

static CUresult new_stream(const char *api, CUstream *out, unsigned flags, int priority)
{
    DR_QUIET(api);
    collect_stream *stream;
    result = out ? collect_stream_new(call.context, flags, priority, &stream)
                 : COLLECT_INVALID_VALUE;
    if (result == COLLECT_OK)
        *out = (CUstream)stream;
    DR_END(result);
}

WL_DRIVER(CUresult, cuStreamCreate, (CUstream * stream, unsigned flags))
{
    return new_stream("cuStreamCreate", stream, flags, 0);
}

WL_DRIVER(CUresult, cuStreamCreateWithPriority, (CUstream * stream, unsigned flags, int priority))
{
    return new_stream("cuStreamCreateWithPriority", stream, flags, priority);
}

WL_DRIVER(CUresult, cuStreamDestroy_v2, (CUstream handle))
{
    DR_BEGIN("cuStreamDestroy_v2", CAP_CALL_OTHER, COLLECT_QUIET);
    DR_END(own_stream(handle) ? collect_stream_destroy(own_stream(handle))
                              : COLLECT_INVALID_HANDLE);
}
WL_DRIVER_ALSO(cuStreamDestroy, cuStreamDestroy_v2);

WL_DRIVER_STREAM(ptsz, cuStreamSynchronize, (CUstream handle), (handle))
{
    DR_BEGIN(api, CAP_CALL_SYNC, COLLECT_CURRENT);
    collect_stream *stream;
    result = collect_stream_get(&call, handle, per_thread, &stream);
    DR_END(result ? result : collect_stream_synchronize(&call, stream));
}

WL_DRIVER_STREAM(ptsz, cuStreamQuery, (CUstream handle), (handle))
{
    DR_QUIET(api);
    collect_stream *stream;
    result = collect_stream_get(&call, handle, per_thread, &stream);
    DR_END(result ? result : collect_stream_query(stream));
}

WL_DRIVER_STREAM(ptsz, cuStreamWaitEvent, (CUstream handle, CUevent event, unsigned flags),
                 (handle, event, flags))
{
    DR_BEGIN(api, CAP_CALL_OTHER, COLLECT_CURRENT);
    collect_stream *stream;
    result = collect_stream_get(&call, handle, per_thread, &stream);
    if (result == COLLECT_OK && !event_of(event))
        result = COLLECT_INVALID_HANDLE;
    DR_END(result ? result : collect_do_wait(&call, stream, event_of(event), flags));
}

/* One of the stream's properties into *value. */
static CUresult property(const char *api, bool per_thread, CUstream handle, void *value,
                         void (*get)(const collect_stream *stream, void *value))
{
    DR_QUIET(api);
    collect_stream *stream;
    result = collect_stream_get(&call, handle, per_thread, &stream);
    if (result == COLLECT_OK && !value)
        result = COLLECT_INVALID_VALUE;
    if (result == COLLECT_OK)
        get(stream, value);
    DR_END(result);
}

static void get_flags(const collect_stream *stream, void *value)
{
    *(unsigned *)value = collect_stream_flags(stream);
}

static void get_priority(const collect_stream *stream, void *value)
{
    *(int *)value = collect_stream_priority(stream);
}

/* The capture's number plus one: 0 is no id. */
static void get_id(const collect_stream *stream, void *value)
{
    *(unsigned long long *)value = collect_stream_id(stream) + 1;
}

static void get_context(const collect_stream *stream, void *value)
{
    *(CUcontext *)value = (CUcontext)collect_stream_context(stream);
}

static void get_device(const collect_stream *stream, void *value)
{
    *(CUdevice *)value =
        collect_device_ordinal(collect_context_device(collect_stream_context(stream)));
}

WL_DRIVER_STREAM(ptsz, cuStreamGetFlags, (CUstream stream, unsigned *flags), (stream, flags))
{
    return property(api, per_thread, stream, flags, get_flags);
}

WL_DRIVER_STREAM(ptsz, cuStreamGetPriority, (CUstream stream, int *priority), (stream, priority))
{
    return property(api, per_thread, stream, priority, get_priority);
}

WL_DRIVER_STREAM(ptsz, cuStreamGetId, (CUstream stream, unsigned long long *id), (stream, id))
{
    return property(api, per_thread, stream, id, get_id);
}

WL_DRIVER_STREAM(ptsz, cuStreamGetCtx, (CUstream stream, CUcontext *context), (stream, context))
{
    return property(api, per_thread, stream, context, get_context);
}

WL_DRIVER_STREAM(ptsz, cuStreamGetCtx_v2, (CUstream stream, CUcontext *context, CUgreenCtx *green),
                 (stream, context, green))
{
    if (green)
        *green = NULL;
    return property(api, per_thread, stream, context, get_context);
}

WL_DRIVER_STREAM(ptsz, cuStreamGetDevice, (CUstream stream, CUdevice *device), (stream, device))
{
    return property(api, per_thread, stream, device, get_device);
}

enum { ATTRIBUTES = 8, ATTRIBUTE_BYTES = 64 };

WL_DRIVER_STREAM(ptsz, cuStreamSetAttribute,
                 (CUstream handle, int attribute, const CUstreamAttrValue *value),
                 (handle, attribute, value))
{
    DR_QUIET(api);
    collect_stream *stream;
    result = collect_stream_get(&call, handle, per_thread, &stream);
    if (result == COLLECT_OK && (!value || attribute < 0 || attribute >= ATTRIBUTES))
        result = COLLECT_INVALID_VALUE;
    if (result == COLLECT_OK)
        memcpy(stream->attributes[attribute], value, ATTRIBUTE_BYTES);
    DR_END(result);
}

WL_DRIVER_STREAM(ptsz, cuStreamGetAttribute,
                 (CUstream handle, int attribute, CUstreamAttrValue *value),
                 (handle, attribute, value))
{
    DR_QUIET(api);
    collect_stream *stream;
    result = collect_stream_get(&call, handle, per_thread, &stream);
    if (result == COLLECT_OK && (!value || attribute < 0 || attribute >= ATTRIBUTES))
        result = COLLECT_INVALID_VALUE;
    if (result == COLLECT_OK)
        memcpy(value, stream->attributes[attribute], ATTRIBUTE_BYTES);
    DR_END(result);
}

WL_DRIVER_STREAM(ptsz, cuStreamCopyAttributes, (CUstream to, CUstream from), (to, from))
{
    DR_QUIET(api);
    collect_stream *target, *source;
    result = collect_stream_get(&call, to, per_thread, &target);
    if (result == COLLECT_OK)
        result = collect_stream_get(&call, from, per_thread, &source);
    if (result == COLLECT_OK)
        memcpy(target->attributes, source->attributes, sizeof target->attributes);
    DR_END(result);
}

/* ---- values ---- */

static CUresult value_operation(const char *api, bool per_thread, CUstream handle,
                                CUdeviceptr address, uint64_t value, unsigned bytes, bool wait,
                                unsigned flags)
{
    DR_BEGIN(api, CAP_CALL_OTHER, COLLECT_CURRENT);
    collect_stream *stream;
    result = collect_stream_get(&call, handle, per_thread, &stream);
    if (result == COLLECT_OK)
        result = wait ? collect_do_wait_value(&call, stream, address, value, bytes, flags)
                      : collect_do_write_value(&call, stream, address, value, bytes);
    DR_END(result);
}

#define VALUES(bits, version)                                                                      \
    WL_DRIVER_STREAM(ptsz, cuStreamWaitValue##bits##version,                                       \
                     (CUstream stream, CUdeviceptr address, cuuint##bits##_t value,                \
                      unsigned flags),                                                             \
                     (stream, address, value, flags))                                              \
    {                                                                                              \
        return value_operation(api, per_thread, stream, address, value, (bits) / 8, true, flags);  \
    }                                                                                              \
    WL_DRIVER_STREAM(ptsz, cuStreamWriteValue##bits##version,                                      \
                     (CUstream stream, CUdeviceptr address, cuuint##bits##_t value,                \
                      unsigned flags),                                                             \
                     (stream, address, value, flags))                                              \
    {                                                                                              \
        return value_operation(api, per_thread, stream, address, value, (bits) / 8, false, flags); \
    }
VALUES(32, _v2)
VALUES(64, _v2)
VALUES(32, )
VALUES(64, )

/* ---- events ---- */

WL_DRIVER(CUresult, cuEventCreate, (CUevent * out, unsigned flags))
{
    DR_QUIET("cuEventCreate");
    collect_event *event;
    result = out ? collect_event_new(call.context, flags, &event) : COLLECT_INVALID_VALUE;
    if (result == COLLECT_OK)
        *out = (CUevent)event;
    DR_END(result);
}

WL_DRIVER(CUresult, cuEventDestroy_v2, (CUevent handle))
{
    DR_BEGIN("cuEventDestroy_v2", CAP_CALL_OTHER, COLLECT_QUIET);
    DR_END(event_of(handle) ? collect_event_destroy(event_of(handle)) : COLLECT_INVALID_HANDLE);
}
WL_DRIVER_ALSO(cuEventDestroy, cuEventDestroy_v2);

static CUresult record(const char *api, bool per_thread, CUevent event, CUstream handle,
                       unsigned flags)
{
    DR_BEGIN(api, CAP_CALL_OTHER, COLLECT_CURRENT);
    collect_stream *stream;
    result = event_of(event) ? collect_stream_get(&call, handle, per_thread, &stream)
                             : COLLECT_INVALID_HANDLE;
    DR_END(result ? result : collect_do_record(&call, stream, event_of(event), flags));
}

WL_DRIVER_STREAM(ptsz, cuEventRecord, (CUevent event, CUstream stream), (event, stream))
{
    return record(api, per_thread, event, stream, 0);
}

WL_DRIVER_STREAM(ptsz, cuEventRecordWithFlags, (CUevent event, CUstream stream, unsigned flags),
                 (event, stream, flags))
{
    return record(api, per_thread, event, stream, flags);
}

WL_DRIVER(CUresult, cuEventQuery, (CUevent event))
{
    DR_BEGIN("cuEventQuery", CAP_CALL_OTHER, COLLECT_QUIET);
    DR_END(event_of(event) ? collect_event_query(event_of(event)) : COLLECT_INVALID_HANDLE);
}

WL_DRIVER(CUresult, cuEventSynchronize, (CUevent event))
{
    DR_BEGIN("cuEventSynchronize", CAP_CALL_SYNC, 0);
    DR_END(event_of(event) ? collect_event_synchronize(&call, event_of(event))
                           : COLLECT_INVALID_HANDLE);
}

static CUresult elapsed(const char *api, float *milliseconds, CUevent start, CUevent end)
{
    DR_BEGIN(api, CAP_CALL_OTHER, COLLECT_QUIET);
    if (!milliseconds)
        DR_END(COLLECT_INVALID_VALUE);
    DR_END(event_of(start) && event_of(end)
               ? collect_event_elapsed(event_of(start), event_of(end), milliseconds)
               : COLLECT_INVALID_HANDLE);
}

WL_DRIVER(CUresult, cuEventElapsedTime, (float *milliseconds, CUevent start, CUevent end))
{
    return elapsed("cuEventElapsedTime", milliseconds, start, end);
}

WL_DRIVER(CUresult, cuEventElapsedTime_v2, (float *milliseconds, CUevent start, CUevent end))
{
    return elapsed("cuEventElapsedTime_v2", milliseconds, start, end);
}

/* ---- functions of the host ---- */

static CUresult host(const char *api, bool per_thread, CUstream handle, collect_host *work)
{
    DR_BEGIN(api, CAP_CALL_OTHER, COLLECT_CURRENT);
    collect_stream *stream;
    work->stream = handle;
    result = work->function || work->callback
                 ? collect_stream_get(&call, handle, per_thread, &stream)
                 : COLLECT_INVALID_VALUE;
    DR_END(result ? result : collect_do_host(&call, stream, work));
}

WL_DRIVER_STREAM(ptsz, cuLaunchHostFunc, (CUstream stream, CUhostFn function, void *data),
                 (stream, function, data))
{
    collect_host work = {.kind = COLLECT_HOST_FUNCTION, .function = function, .data = data};
    return host(api, per_thread, stream, &work);
}

WL_DRIVER_STREAM(ptsz, cuStreamAddCallback,
                 (CUstream stream, CUstreamCallback callback, void *data, unsigned flags),
                 (stream, callback, data, flags))
{
    collect_host work = {.kind = COLLECT_HOST_CALLBACK, .data = data};
    memcpy(&work.callback, &callback, sizeof callback);
    return flags ? CUDA_ERROR_INVALID_VALUE : host(api, per_thread, stream, &work);
}

/* ---- capture ---- */

WL_DRIVER_STREAM(ptsz, cuStreamBeginCapture_v2, (CUstream handle, int mode), (handle, mode))
{
    DR_QUIET(api);
    collect_stream *stream;
    result = collect_stream_get(&call, handle, per_thread, &stream);
    DR_END(result ? result : collect_capture_begin(stream, mode, NULL, NULL, 0));
}

WL_DRIVER_STREAM(ptsz, cuStreamBeginCaptureToGraph,
                 (CUstream handle, CUgraph graph, const CUgraphNode *needs,
                  const CUgraphEdgeData *edges, size_t count, int mode),
                 (handle, graph, needs, edges, count, mode))
{
    DR_QUIET(api);
    collect_stream *stream;
    (void)edges;
    result = collect_stream_get(&call, handle, per_thread, &stream);
    if (result == COLLECT_OK && (!collect_is(graph, COLLECT_GRAPH) || (count && !needs)))
        result = COLLECT_INVALID_VALUE;
    if (result == COLLECT_OK)
        result = collect_capture_begin(stream, mode, (collect_graph *)graph,
                                       (collect_node *const *)needs, count);
    DR_END(result);
}

WL_DRIVER_STREAM(ptsz, cuStreamEndCapture, (CUstream handle, CUgraph *out), (handle, out))
{
    DR_QUIET(api);
    collect_stream *stream;
    collect_graph *graph = NULL;
    if (!out)
        DR_END(COLLECT_INVALID_VALUE);
    *out = NULL;
    result = collect_stream_get(&call, handle, per_thread, &stream);
    if (result == COLLECT_OK)
        result = collect_capture_end(stream, &graph);
    *out = (CUgraph)graph;
    DR_END(result);
}

typedef struct capture_out {
    int *status;
    cuuint64_t *id;
    CUgraph *graph;
    const CUgraphNode **needs;
    const CUgraphEdgeData **edges;
    size_t *count;
} capture_out;

static CUresult capture_info(const char *api, bool per_thread, CUstream handle,
                             const capture_out *out)
{
    DR_QUIET(api);
    collect_stream *stream;
    collect_capture_info info;
    result = out->status ? collect_stream_get(&call, handle, per_thread, &stream)
                         : COLLECT_INVALID_VALUE;
    if (result)
        DR_END(result);
    collect_capture_describe(stream, &info);
    *out->status = (int)info.status;
    if (out->id)
        *out->id = info.id;
    if (out->graph)
        *out->graph = (CUgraph)info.graph;
    if (out->needs)
        *out->needs = (const CUgraphNode *)info.needs;
    if (out->edges)
        *out->edges = NULL;
    if (out->count)
        *out->count = info.count;
    DR_END(COLLECT_OK);
}

WL_DRIVER_STREAM(ptsz, cuStreamIsCapturing, (CUstream stream, int *status), (stream, status))
{
    return capture_info(api, per_thread, stream, &(capture_out){.status = status});
}

WL_DRIVER_STREAM(ptsz, cuStreamGetCaptureInfo, (CUstream stream, int *status, cuuint64_t *id),
                 (stream, status, id))
{
    return capture_info(api, per_thread, stream, &(capture_out){.status = status, .id = id});
}

WL_DRIVER_STREAM(ptsz, cuStreamGetCaptureInfo_v2,
                 (CUstream stream, int *status, cuuint64_t *id, CUgraph *graph,
                  const CUgraphNode **needs, size_t *count),
                 (stream, status, id, graph, needs, count))
{
    return capture_info(api, per_thread, stream,
                        &(capture_out){status, id, graph, needs, NULL, count});
}

WL_DRIVER_STREAM(ptsz, cuStreamGetCaptureInfo_v3,
                 (CUstream stream, int *status, cuuint64_t *id, CUgraph *graph,
                  const CUgraphNode **needs, const CUgraphEdgeData **edges, size_t *count),
                 (stream, status, id, graph, needs, edges, count))
{
    return capture_info(api, per_thread, stream,
                        &(capture_out){status, id, graph, needs, edges, count});
}

static CUresult depend(const char *api, bool per_thread, CUstream handle, CUgraphNode *needs,
                       size_t count, unsigned flags)
{
    DR_QUIET(api);
    collect_stream *stream;
    result = (count && !needs) || flags > 1
                 ? COLLECT_INVALID_VALUE
                 : collect_stream_get(&call, handle, per_thread, &stream);
    if (result == COLLECT_OK)
        result = collect_capture_depend(stream, (collect_node *const *)needs, count, flags == 1);
    DR_END(result);
}

WL_DRIVER_STREAM(ptsz, cuStreamUpdateCaptureDependencies,
                 (CUstream stream, CUgraphNode *needs, size_t count, unsigned flags),
                 (stream, needs, count, flags))
{
    return depend(api, per_thread, stream, needs, count, flags);
}

WL_DRIVER_STREAM(ptsz, cuStreamUpdateCaptureDependencies_v2,
                 (CUstream stream, CUgraphNode *needs, const CUgraphEdgeData *edges, size_t count,
                  unsigned flags),
                 (stream, needs, edges, count, flags))
{
    (void)edges;
    return depend(api, per_thread, stream, needs, count, flags);
}

WL_DRIVER(CUresult, cuThreadExchangeStreamCaptureMode, (int *mode))
{
    collect_thread *self = collect_self();
    if (!mode || !self || *mode < 0 || *mode > CU_STREAM_CAPTURE_MODE_RELAXED)
        return CUDA_ERROR_INVALID_VALUE;
    int old = self->capture_mode;
    self->capture_mode = *mode;
    *mode = old;
    return CUDA_SUCCESS;
}
