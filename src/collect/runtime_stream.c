/* Streams, events and their capture in the runtime. */
#include "collect/graph.h"
#include "collect/runtime.h"

#include <string.h>

static collect_event *event_of(cudaEvent_t handle)
{
    return collect_is(handle, COLLECT_EVENT) ? (collect_event *)handle : NULL;
}

/* ---- streams ---- */

static int new_stream(const char *api, cudaStream_t *out, unsigned flags, int priority)
{
    RT_QUIET(api);
    collect_stream *stream;
    if (!out)
        RT_END(COLLECT_INVALID_VALUE);
    result = collect_stream_new(call.context, flags, priority, &stream);
    if (result == COLLECT_OK)
        *out = (cudaStream_t)stream;
    RT_END(result);
}

WL_RUNTIME(int, cudaStreamCreate, (cudaStream_t * stream))
{
    return new_stream("cudaStreamCreate", stream, 0, 0);
}

WL_RUNTIME(int, cudaStreamCreateWithFlags, (cudaStream_t * stream, unsigned flags))
{
    return new_stream("cudaStreamCreateWithFlags", stream, flags, 0);
}

WL_RUNTIME(int, cudaStreamCreateWithPriority, (cudaStream_t * stream, unsigned flags, int priority))
{
    return new_stream("cudaStreamCreateWithPriority", stream, flags, priority);
}

WL_RUNTIME(int, cudaStreamDestroy, (cudaStream_t handle))
{
    RT_QUIET("cudaStreamDestroy");
    RT_END(collect_is(handle, COLLECT_STREAM) ? collect_stream_destroy((collect_stream *)handle)
                                              : COLLECT_INVALID_HANDLE);
}

WL_RUNTIME_STREAM(ptsz, cudaStreamSynchronize, (cudaStream_t handle), (handle))
{
    RT_BEGIN(api, CAP_CALL_SYNC, COLLECT_PRIMARY);
    collect_stream *stream;
    result = collect_stream_get(&call, handle, per_thread, &stream);
    RT_END(result ? result : (int)collect_stream_synchronize(&call, stream));
}

WL_RUNTIME_STREAM(ptsz, cudaStreamQuery, (cudaStream_t handle), (handle))
{
    RT_BEGIN(api, CAP_CALL_SYNC, COLLECT_PRIMARY | COLLECT_QUIET);
    collect_stream *stream;
    result = collect_stream_get(&call, handle, per_thread, &stream);
    RT_END(result ? result : (int)collect_stream_query(stream));
}

WL_RUNTIME_STREAM(ptsz, cudaStreamWaitEvent,
                  (cudaStream_t handle, cudaEvent_t event, unsigned flags), (handle, event, flags))
{
    RT_BEGIN(api, CAP_CALL_OTHER, COLLECT_PRIMARY);
    collect_stream *stream;
    result = collect_stream_get(&call, handle, per_thread, &stream);
    if (result == COLLECT_OK && !event_of(event))
        result = COLLECT_INVALID_HANDLE;
    RT_END(result ? result : (int)collect_do_wait(&call, stream, event_of(event), flags));
}

/* One of the stream's properties into *value. */
static int stream_property(const char *api, bool per_thread, cudaStream_t handle, void *value,
                           void (*get)(const collect_stream *stream, void *value))
{
    RT_QUIET(api);
    collect_stream *stream;
    result = collect_stream_get(&call, handle, per_thread, &stream);
    if (result == COLLECT_OK && !value)
        result = COLLECT_INVALID_VALUE;
    if (result == COLLECT_OK)
        get(stream, value);
    RT_END(result);
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

static void get_device(const collect_stream *stream, void *value)
{
    *(int *)value = collect_stream_context(stream)->device->ordinal;
}

WL_RUNTIME_STREAM(ptsz, cudaStreamGetFlags, (cudaStream_t stream, unsigned *flags), (stream, flags))
{
    return stream_property(api, per_thread, stream, flags, get_flags);
}

WL_RUNTIME_STREAM(ptsz, cudaStreamGetPriority, (cudaStream_t stream, int *priority),
                  (stream, priority))
{
    return stream_property(api, per_thread, stream, priority, get_priority);
}

WL_RUNTIME_STREAM(ptsz, cudaStreamGetId, (cudaStream_t stream, unsigned long long *id),
                  (stream, id))
{
    return stream_property(api, per_thread, stream, id, get_id);
}

WL_RUNTIME_STREAM(ptsz, cudaStreamGetDevice, (cudaStream_t stream, int *device), (stream, device))
{
    return stream_property(api, per_thread, stream, device, get_device);
}

enum { ATTRIBUTES = 8, ATTRIBUTE_BYTES = 64 };

WL_RUNTIME_STREAM(ptsz, cudaStreamSetAttribute,
                  (cudaStream_t handle, int attribute, const cudaLaunchAttributeValue *value),
                  (handle, attribute, value))
{
    RT_QUIET(api);
    collect_stream *stream;
    result = collect_stream_get(&call, handle, per_thread, &stream);
    if (result == COLLECT_OK && (!value || attribute < 0 || attribute >= ATTRIBUTES))
        result = COLLECT_INVALID_VALUE;
    if (result == COLLECT_OK)
        memcpy(stream->attributes[attribute], value, ATTRIBUTE_BYTES);
    RT_END(result);
}

WL_RUNTIME_STREAM(ptsz, cudaStreamGetAttribute,
                  (cudaStream_t handle, int attribute, cudaLaunchAttributeValue *value),
                  (handle, attribute, value))
{
    RT_QUIET(api);
    collect_stream *stream;
    result = collect_stream_get(&call, handle, per_thread, &stream);
    if (result == COLLECT_OK && (!value || attribute < 0 || attribute >= ATTRIBUTES))
        result = COLLECT_INVALID_VALUE;
    if (result == COLLECT_OK)
        memcpy(value, stream->attributes[attribute], ATTRIBUTE_BYTES);
    RT_END(result);
}

WL_RUNTIME_STREAM(ptsz, cudaStreamCopyAttributes, (cudaStream_t to, cudaStream_t from), (to, from))
{
    RT_QUIET(api);
    collect_stream *target, *source;
    result = collect_stream_get(&call, to, per_thread, &target);
    if (result == COLLECT_OK)
        result = collect_stream_get(&call, from, per_thread, &source);
    if (result == COLLECT_OK)
        memcpy(target->attributes, source->attributes, sizeof target->attributes);
    RT_END(result);
}

/* ---- host functions ---- */

static int do_host(const char *api, bool per_thread, cudaStream_t handle, const collect_host *host)
{
    RT_BEGIN(api, CAP_CALL_OTHER, COLLECT_PRIMARY);
    collect_stream *stream;
    result = collect_stream_get(&call, handle, per_thread, &stream);
    RT_END(result ? result : (int)collect_do_host(&call, stream, host));
}

WL_RUNTIME_STREAM(ptsz, cudaLaunchHostFunc,
                  (cudaStream_t stream, cudaHostFn_t function, void *data),
                  (stream, function, data))
{
    collect_host host = {.kind = COLLECT_HOST_FUNCTION, .function = function, .data = data};
    if (!function)
        return rt_fail(cudaErrorInvalidValue);
    return do_host(api, per_thread, stream, &host);
}

WL_RUNTIME_STREAM(ptsz, cudaStreamAddCallback,
                  (cudaStream_t stream, cudaStreamCallback_t callback, void *data, unsigned flags),
                  (stream, callback, data, flags))
{
    collect_host host = {.kind = COLLECT_HOST_CALLBACK,
                         .callback = (void (*)(void *, int, void *))(void *)callback,
                         .stream = stream,
                         .data = data};
    if (!callback || flags)
        return rt_fail(cudaErrorInvalidValue);
    return do_host(api, per_thread, stream, &host);
}

/* ---- events ---- */

static int new_event(const char *api, cudaEvent_t *out, unsigned flags)
{
    RT_QUIET(api);
    collect_event *event;
    if (!out)
        RT_END(COLLECT_INVALID_VALUE);
    result = collect_event_new(call.context, flags, &event);
    if (result == COLLECT_OK)
        *out = (cudaEvent_t)event;
    RT_END(result);
}

WL_RUNTIME(int, cudaEventCreate, (cudaEvent_t * event))
{
    return new_event("cudaEventCreate", event, 0);
}

WL_RUNTIME(int, cudaEventCreateWithFlags, (cudaEvent_t * event, unsigned flags))
{
    return new_event("cudaEventCreateWithFlags", event, flags);
}

WL_RUNTIME(int, cudaEventDestroy, (cudaEvent_t event))
{
    RT_QUIET("cudaEventDestroy");
    RT_END(event_of(event) ? collect_event_destroy(event_of(event)) : COLLECT_INVALID_HANDLE);
}

static int record(const char *api, bool per_thread, cudaEvent_t event, cudaStream_t handle,
                  unsigned flags)
{
    RT_BEGIN(api, CAP_CALL_OTHER, COLLECT_PRIMARY);
    collect_stream *stream;
    result = collect_stream_get(&call, handle, per_thread, &stream);
    if (result == COLLECT_OK && !event_of(event))
        result = COLLECT_INVALID_HANDLE;
    RT_END(result ? result : (int)collect_do_record(&call, stream, event_of(event), flags));
}

WL_RUNTIME_STREAM(ptsz, cudaEventRecord, (cudaEvent_t event, cudaStream_t stream), (event, stream))
{
    return record(api, per_thread, event, stream, 0);
}

WL_RUNTIME_STREAM(ptsz, cudaEventRecordWithFlags,
                  (cudaEvent_t event, cudaStream_t stream, unsigned flags), (event, stream, flags))
{
    return record(api, per_thread, event, stream, flags);
}

WL_RUNTIME(int, cudaEventQuery, (cudaEvent_t event))
{
    RT_QUIET("cudaEventQuery");
    RT_END(event_of(event) ? collect_event_query(event_of(event)) : COLLECT_INVALID_HANDLE);
}

WL_RUNTIME(int, cudaEventSynchronize, (cudaEvent_t event))
{
    RT_BEGIN("cudaEventSynchronize", CAP_CALL_SYNC, COLLECT_PRIMARY);
    RT_END(event_of(event) ? collect_event_synchronize(&call, event_of(event))
                           : COLLECT_INVALID_HANDLE);
}

static int elapsed(float *milliseconds, cudaEvent_t start, cudaEvent_t end)
{
    RT_QUIET("cudaEventElapsedTime");
    if (!milliseconds)
        RT_END(COLLECT_INVALID_VALUE);
    if (!event_of(start) || !event_of(end))
        RT_END(COLLECT_INVALID_HANDLE);
    RT_END(collect_event_elapsed(event_of(start), event_of(end), milliseconds));
}

WL_RUNTIME(int, cudaEventElapsedTime, (float *milliseconds, cudaEvent_t start, cudaEvent_t end))
{
    return elapsed(milliseconds, start, end);
}

WL_RUNTIME_FOR(12, 12, int, cudaEventElapsedTime_v2,
               (float *milliseconds, cudaEvent_t start, cudaEvent_t end))
{
    return elapsed(milliseconds, start, end);
}

/* ---- capture ---- */

WL_RUNTIME_STREAM(ptsz, cudaStreamBeginCapture, (cudaStream_t handle, int mode), (handle, mode))
{
    RT_QUIET(api);
    collect_stream *stream;
    result = collect_stream_get(&call, handle, per_thread, &stream);
    RT_END(result ? result : (int)collect_capture_begin(stream, mode, NULL, NULL, 0));
}

WL_RUNTIME_STREAM(ptsz, cudaStreamBeginCaptureToGraph,
                  (cudaStream_t handle, cudaGraph_t graph, const cudaGraphNode_t *needs,
                   const cudaGraphEdgeData *edges, size_t count, int mode),
                  (handle, graph, needs, edges, count, mode))
{
    RT_QUIET(api);
    collect_stream *stream;
    (void)edges;
    result = collect_stream_get(&call, handle, per_thread, &stream);
    if (result == COLLECT_OK && (!collect_is(graph, COLLECT_GRAPH) || (count && !needs)))
        result = COLLECT_INVALID_VALUE;
    if (result == COLLECT_OK)
        result = collect_capture_begin(stream, mode, (collect_graph *)graph,
                                       (collect_node *const *)needs, count);
    RT_END(result);
}

WL_RUNTIME_STREAM(ptsz, cudaStreamEndCapture, (cudaStream_t handle, cudaGraph_t *out),
                  (handle, out))
{
    RT_QUIET(api);
    collect_stream *stream;
    collect_graph *graph = NULL;
    if (!out)
        RT_END(COLLECT_INVALID_VALUE);
    *out = NULL;
    result = collect_stream_get(&call, handle, per_thread, &stream);
    if (result == COLLECT_OK)
        result = collect_capture_end(stream, &graph);
    *out = (cudaGraph_t)graph;
    RT_END(result);
}

WL_RUNTIME_STREAM(ptsz, cudaStreamIsCapturing, (cudaStream_t handle, int *status), (handle, status))
{
    RT_QUIET(api);
    collect_stream *stream;
    collect_capture_info info;
    if (!status)
        RT_END(COLLECT_INVALID_VALUE);
    result = collect_stream_get(&call, handle, per_thread, &stream);
    if (result)
        RT_END(result);
    collect_capture_describe(stream, &info);
    *status = info.status;
    RT_END(COLLECT_OK);
}

typedef struct capture_out {
    int *status;
    unsigned long long *id;
    cudaGraph_t *graph;
    const cudaGraphNode_t **needs;
    const cudaGraphEdgeData **edges;
    size_t *count;
} capture_out;

static int capture_info(bool per_thread, cudaStream_t handle, const capture_out *out)
{
    RT_QUIET("cudaStreamGetCaptureInfo");
    collect_stream *stream;
    collect_capture_info info;
    if (!out->status)
        RT_END(COLLECT_INVALID_VALUE);
    result = collect_stream_get(&call, handle, per_thread, &stream);
    if (result)
        RT_END(result);
    collect_capture_describe(stream, &info);
    *out->status = info.status;
    if (out->id)
        *out->id = info.id;
    if (out->graph)
        *out->graph = (cudaGraph_t)info.graph;
    if (out->needs)
        *out->needs = (const cudaGraphNode_t *)info.needs;
    if (out->edges)
        *out->edges = NULL;
    if (out->count)
        *out->count = info.count;
    RT_END(COLLECT_OK);
}

WL_RUNTIME_STREAM_FOR(11, 12, ptsz, cudaStreamGetCaptureInfo,
                      (cudaStream_t stream, int *status, unsigned long long *id),
                      (stream, status, id))
{
    (void)api;
    return capture_info(per_thread, stream, &(capture_out){.status = status, .id = id});
}

WL_RUNTIME_STREAM_FOR(11, 12, ptsz, cudaStreamGetCaptureInfo_v2,
                      (cudaStream_t stream, int *status, unsigned long long *id, cudaGraph_t *graph,
                       const cudaGraphNode_t **needs, size_t *count),
                      (stream, status, id, graph, needs, count))
{
    (void)api;
    return capture_info(per_thread, stream, &(capture_out){status, id, graph, needs, NULL, count});
}

#define CAPTURE_INFO(first, last, name)                                              \
    WL_RUNTIME_STREAM_FOR(first, last, ptsz, name,                                   \
                          (cudaStream_t stream, int *status, unsigned long long *id, \
                           cudaGraph_t *graph, const cudaGraphNode_t **needs,        \
                           const cudaGraphEdgeData **edges, size_t *count),          \
                          (stream, status, id, graph, needs, edges, count))          \
    {                                                                                \
        (void)api;                                                                   \
        return capture_info(per_thread, stream,                                      \
                            &(capture_out){status, id, graph, needs, edges, count}); \
    }
CAPTURE_INFO(13, 13, cudaStreamGetCaptureInfo)
CAPTURE_INFO(12, 12, cudaStreamGetCaptureInfo_v3)

static int depend(bool per_thread, cudaStream_t handle, cudaGraphNode_t *needs, size_t count,
                  unsigned flags)
{
    RT_QUIET("cudaStreamUpdateCaptureDependencies");
    collect_stream *stream;
    result = collect_stream_get(&call, handle, per_thread, &stream);
    if (result == COLLECT_OK && ((count && !needs) || flags > cudaStreamSetCaptureDependencies))
        result = COLLECT_INVALID_VALUE;
    if (result == COLLECT_OK)
        result = collect_capture_depend(stream, (collect_node *const *)needs, count,
                                        flags == cudaStreamSetCaptureDependencies);
    RT_END(result);
}

WL_RUNTIME_STREAM_FOR(11, 12, ptsz, cudaStreamUpdateCaptureDependencies,
                      (cudaStream_t stream, cudaGraphNode_t *needs, size_t count, unsigned flags),
                      (stream, needs, count, flags))
{
    (void)api;
    return depend(per_thread, stream, needs, count, flags);
}

#define DEPEND(first, last, name)                                                         \
    WL_RUNTIME_STREAM_FOR(first, last, ptsz, name,                                        \
                          (cudaStream_t stream, cudaGraphNode_t * needs,                  \
                           const cudaGraphEdgeData *edges, size_t count, unsigned flags), \
                          (stream, needs, edges, count, flags))                           \
    {                                                                                     \
        (void)api, (void)edges;                                                           \
        return depend(per_thread, stream, needs, count, flags);                           \
    }
DEPEND(13, 13, cudaStreamUpdateCaptureDependencies)
DEPEND(12, 12, cudaStreamUpdateCaptureDependencies_v2)

WL_RUNTIME(int, cudaThreadExchangeStreamCaptureMode, (int *mode))
{
    collect_thread *self = collect_self();
    if (!mode || !self || *mode < 0 || *mode > cudaStreamCaptureModeRelaxed)
        return rt_fail(cudaErrorInvalidValue);
    int old = self->capture_mode;
    self->capture_mode = *mode;
    *mode = old;
    return cudaSuccess;
}
