/* Streams, events and their capture in the runtime. */
#include "api/both/ask.h"
#include "api/runtime/runtime.h"

/* ---- streams ---- */

static int new_stream(const char *api, cudaStream_t *out, unsigned flags, int priority)
{
    RT_QUIET(api);
    dev_stream *stream;
    if (!out)
        RT_END(DEV_INVALID_VALUE);
    result = dev_stream_new(call.context, flags, priority, &stream);
    if (result == DEV_OK)
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
    RT_END(dev_is(handle, DEV_STREAM) ? dev_stream_destroy((dev_stream *)handle)
                                      : DEV_INVALID_HANDLE);
}

WL_RUNTIME_STREAM(ptsz, cudaStreamSynchronize, (cudaStream_t stream), (stream))
{
    RT_BEGIN(api, CAP_CALL_SYNC, DEV_PRIMARY);
    RT_END(api_synchronize(&call, stream, per_thread));
}

WL_RUNTIME_STREAM(ptsz, cudaStreamQuery, (cudaStream_t stream), (stream))
{
    RT_BEGIN(api, CAP_CALL_SYNC, DEV_PRIMARY | DEV_QUIET);
    RT_END(api_query(&call, stream, per_thread));
}

WL_RUNTIME_STREAM(ptsz, cudaStreamWaitEvent,
                  (cudaStream_t stream, cudaEvent_t event, unsigned flags), (stream, event, flags))
{
    RT_BEGIN(api, CAP_CALL_OTHER, DEV_PRIMARY);
    RT_END(api_wait(&call, stream, per_thread, event, flags));
}

#define PROPERTY(name, type, fact)                                                      \
    WL_RUNTIME_STREAM(ptsz, name, (cudaStream_t stream, type * value), (stream, value)) \
    {                                                                                   \
        RT_QUIET(api);                                                                  \
        RT_END(api_stream(&call, stream, per_thread, fact, value));                     \
    }
PROPERTY(cudaStreamGetFlags, unsigned, API_STREAM_FLAGS)
PROPERTY(cudaStreamGetPriority, int, API_STREAM_PRIORITY)
PROPERTY(cudaStreamGetId, unsigned long long, API_STREAM_ID)
PROPERTY(cudaStreamGetDevice, int, API_STREAM_DEVICE)

WL_RUNTIME_STREAM(ptsz, cudaStreamSetAttribute,
                  (cudaStream_t stream, int attribute, const cudaLaunchAttributeValue *value),
                  (stream, attribute, value))
{
    RT_QUIET(api);
    RT_END(api_set_attribute(&call, stream, per_thread, attribute, value));
}

WL_RUNTIME_STREAM(ptsz, cudaStreamGetAttribute,
                  (cudaStream_t stream, int attribute, cudaLaunchAttributeValue *value),
                  (stream, attribute, value))
{
    RT_QUIET(api);
    RT_END(api_attribute(&call, stream, per_thread, attribute, value));
}

WL_RUNTIME_STREAM(ptsz, cudaStreamCopyAttributes, (cudaStream_t to, cudaStream_t from), (to, from))
{
    RT_QUIET(api);
    RT_END(api_copy_attributes(&call, to, from, per_thread));
}

/* ---- host functions ---- */

static int do_host(const char *api, bool per_thread, cudaStream_t stream, dev_host *work)
{
    RT_BEGIN(api, CAP_CALL_OTHER, DEV_PRIMARY);
    RT_END(api_host(&call, stream, per_thread, work));
}

WL_RUNTIME_STREAM(ptsz, cudaLaunchHostFunc,
                  (cudaStream_t stream, cudaHostFn_t function, void *data),
                  (stream, function, data))
{
    dev_host work = {.kind = DEV_HOST_FUNCTION, .function = function, .data = data};
    return do_host(api, per_thread, stream, &work);
}

WL_RUNTIME_STREAM(ptsz, cudaStreamAddCallback,
                  (cudaStream_t stream, cudaStreamCallback_t callback, void *data, unsigned flags),
                  (stream, callback, data, flags))
{
    dev_host work = {.kind = DEV_HOST_CALLBACK,
                     .callback = (void (*)(void *, int, void *))(void *)callback,
                     .data = data};
    return flags ? rt_fail(cudaErrorInvalidValue) : do_host(api, per_thread, stream, &work);
}

/* ---- events ---- */

static int new_event(const char *api, cudaEvent_t *out, unsigned flags)
{
    RT_QUIET(api);
    dev_event *event;
    if (!out)
        RT_END(DEV_INVALID_VALUE);
    result = dev_event_new(call.context, flags, &event);
    if (result == DEV_OK)
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
    RT_END(api_event_of(event) ? dev_event_destroy(api_event_of(event)) : DEV_INVALID_HANDLE);
}

static int record(const char *api, bool per_thread, cudaEvent_t event, cudaStream_t stream,
                  unsigned flags)
{
    RT_BEGIN(api, CAP_CALL_OTHER, DEV_PRIMARY);
    RT_END(api_record(&call, stream, per_thread, event, flags));
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
    RT_END(api_event_of(event) ? dev_event_query(api_event_of(event)) : DEV_INVALID_HANDLE);
}

WL_RUNTIME(int, cudaEventSynchronize, (cudaEvent_t event))
{
    RT_BEGIN("cudaEventSynchronize", CAP_CALL_SYNC, DEV_PRIMARY);
    RT_END(api_event_of(event) ? dev_event_synchronize(&call, api_event_of(event))
                               : DEV_INVALID_HANDLE);
}

static int elapsed(float *milliseconds, cudaEvent_t start, cudaEvent_t end)
{
    RT_QUIET("cudaEventElapsedTime");
    RT_END(api_elapsed(start, end, milliseconds));
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

WL_RUNTIME_STREAM(ptsz, cudaStreamBeginCapture, (cudaStream_t stream, int mode), (stream, mode))
{
    RT_QUIET(api);
    RT_END(api_begin_capture(&call, stream, per_thread, mode));
}

WL_RUNTIME_STREAM(ptsz, cudaStreamBeginCaptureToGraph,
                  (cudaStream_t stream, cudaGraph_t graph, const cudaGraphNode_t *needs,
                   const cudaGraphEdgeData *edges, size_t count, int mode),
                  (stream, graph, needs, edges, count, mode))
{
    (void)edges;
    RT_QUIET(api);
    RT_END(api_capture_to(&call, stream, per_thread, graph, (dev_node *const *)needs, count, mode));
}

WL_RUNTIME_STREAM(ptsz, cudaStreamEndCapture, (cudaStream_t stream, cudaGraph_t *out),
                  (stream, out))
{
    RT_QUIET(api);
    RT_END(api_end_capture(&call, stream, per_thread, (dev_graph **)out));
}

static int capture_info(const char *api, bool per_thread, cudaStream_t stream,
                        const api_capture_out *out)
{
    RT_QUIET(api);
    RT_END(api_capture(&call, stream, per_thread, out));
}

static api_capture_out capture_out(int *status, unsigned long long *id, cudaGraph_t *graph,
                                   const cudaGraphNode_t **needs, const cudaGraphEdgeData **edges,
                                   size_t *count)
{
    return (api_capture_out){.status = status,
                             .id = id,
                             .graph = (dev_graph **)graph,
                             .needs = (dev_node *const **)needs,
                             .edges = (const void **)edges,
                             .count = count};
}

WL_RUNTIME_STREAM(ptsz, cudaStreamIsCapturing, (cudaStream_t stream, int *status), (stream, status))
{
    return capture_info(api, per_thread, stream, &(api_capture_out){.status = status});
}

WL_RUNTIME_STREAM_FOR(11, 12, ptsz, cudaStreamGetCaptureInfo,
                      (cudaStream_t stream, int *status, unsigned long long *id),
                      (stream, status, id))
{
    api_capture_out out = capture_out(status, id, NULL, NULL, NULL, NULL);
    return capture_info(api, per_thread, stream, &out);
}

WL_RUNTIME_STREAM_FOR(11, 12, ptsz, cudaStreamGetCaptureInfo_v2,
                      (cudaStream_t stream, int *status, unsigned long long *id, cudaGraph_t *graph,
                       const cudaGraphNode_t **needs, size_t *count),
                      (stream, status, id, graph, needs, count))
{
    api_capture_out out = capture_out(status, id, graph, needs, NULL, count);
    return capture_info(api, per_thread, stream, &out);
}

#define CAPTURE_INFO(first, last, name)                                              \
    WL_RUNTIME_STREAM_FOR(first, last, ptsz, name,                                   \
                          (cudaStream_t stream, int *status, unsigned long long *id, \
                           cudaGraph_t *graph, const cudaGraphNode_t **needs,        \
                           const cudaGraphEdgeData **edges, size_t *count),          \
                          (stream, status, id, graph, needs, edges, count))          \
    {                                                                                \
        api_capture_out out = capture_out(status, id, graph, needs, edges, count);   \
        return capture_info(api, per_thread, stream, &out);                          \
    }
CAPTURE_INFO(13, 13, cudaStreamGetCaptureInfo)
CAPTURE_INFO(12, 12, cudaStreamGetCaptureInfo_v3)

static int depend(const char *api, bool per_thread, cudaStream_t stream, cudaGraphNode_t *needs,
                  size_t count, unsigned flags)
{
    RT_QUIET(api);
    RT_END(api_depend(&call, stream, per_thread, (dev_node *const *)needs, count, flags));
}

WL_RUNTIME_STREAM_FOR(11, 12, ptsz, cudaStreamUpdateCaptureDependencies,
                      (cudaStream_t stream, cudaGraphNode_t *needs, size_t count, unsigned flags),
                      (stream, needs, count, flags))
{
    return depend(api, per_thread, stream, needs, count, flags);
}

#define DEPEND(first, last, name)                                                         \
    WL_RUNTIME_STREAM_FOR(first, last, ptsz, name,                                        \
                          (cudaStream_t stream, cudaGraphNode_t * needs,                  \
                           const cudaGraphEdgeData *edges, size_t count, unsigned flags), \
                          (stream, needs, edges, count, flags))                           \
    {                                                                                     \
        (void)edges;                                                                      \
        return depend(api, per_thread, stream, needs, count, flags);                      \
    }
DEPEND(13, 13, cudaStreamUpdateCaptureDependencies)
DEPEND(12, 12, cudaStreamUpdateCaptureDependencies_v2)

WL_RUNTIME(int, cudaThreadExchangeStreamCaptureMode, (int *mode))
{
    return api_capture_mode(mode) ? rt_fail(cudaErrorInvalidValue) : cudaSuccess;
}
