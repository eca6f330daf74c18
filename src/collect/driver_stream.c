/* Streams, events, host functions and capture in the driver interface. */
#include "collect/ask.h"
#include "collect/driver.h"

#include <string.h>

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
    DR_END(collect_is(handle, COLLECT_STREAM) ? collect_stream_destroy((collect_stream *)handle)
                                              : COLLECT_INVALID_HANDLE);
}
WL_DRIVER_ALSO(cuStreamDestroy, cuStreamDestroy_v2);

WL_DRIVER_STREAM(ptsz, cuStreamSynchronize, (CUstream stream), (stream))
{
    DR_BEGIN(api, CAP_CALL_SYNC, COLLECT_CURRENT);
    DR_END(collect_ask_synchronize(&call, stream, per_thread));
}

WL_DRIVER_STREAM(ptsz, cuStreamQuery, (CUstream stream), (stream))
{
    DR_QUIET(api);
    DR_END(collect_ask_query(&call, stream, per_thread));
}

WL_DRIVER_STREAM(ptsz, cuStreamWaitEvent, (CUstream stream, CUevent event, unsigned flags),
                 (stream, event, flags))
{
    DR_BEGIN(api, CAP_CALL_OTHER, COLLECT_CURRENT);
    DR_END(collect_ask_wait(&call, stream, per_thread, event, flags));
}

static CUresult property(const char *api, bool per_thread, CUstream stream,
                         collect_stream_fact fact, void *value)
{
    DR_QUIET(api);
    DR_END(collect_ask_stream(&call, stream, per_thread, fact, value));
}

#define PROPERTY(name, type, fact)                                                 \
    WL_DRIVER_STREAM(ptsz, name, (CUstream stream, type * value), (stream, value)) \
    {                                                                              \
        return property(api, per_thread, stream, fact, value);                     \
    }
PROPERTY(cuStreamGetFlags, unsigned, COLLECT_STREAM_FLAGS)
PROPERTY(cuStreamGetPriority, int, COLLECT_STREAM_PRIORITY)
PROPERTY(cuStreamGetId, unsigned long long, COLLECT_STREAM_ID)
PROPERTY(cuStreamGetCtx, CUcontext, COLLECT_STREAM_CONTEXT)
PROPERTY(cuStreamGetDevice, CUdevice, COLLECT_STREAM_DEVICE)

WL_DRIVER_STREAM(ptsz, cuStreamGetCtx_v2, (CUstream stream, CUcontext *context, CUgreenCtx *green),
                 (stream, context, green))
{
    if (green)
        *green = NULL;
    return property(api, per_thread, stream, COLLECT_STREAM_CONTEXT, context);
}

WL_DRIVER_STREAM(ptsz, cuStreamSetAttribute,
                 (CUstream stream, int attribute, const CUstreamAttrValue *value),
                 (stream, attribute, value))
{
    DR_QUIET(api);
    DR_END(collect_ask_set_attribute(&call, stream, per_thread, attribute, value));
}

WL_DRIVER_STREAM(ptsz, cuStreamGetAttribute,
                 (CUstream stream, int attribute, CUstreamAttrValue *value),
                 (stream, attribute, value))
{
    DR_QUIET(api);
    DR_END(collect_ask_attribute(&call, stream, per_thread, attribute, value));
}

WL_DRIVER_STREAM(ptsz, cuStreamCopyAttributes, (CUstream to, CUstream from), (to, from))
{
    DR_QUIET(api);
    DR_END(collect_ask_copy_attributes(&call, to, from, per_thread));
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

WL_DRIVER(CUresult, cuEventDestroy_v2, (CUevent event))
{
    DR_BEGIN("cuEventDestroy_v2", CAP_CALL_OTHER, COLLECT_QUIET);
    DR_END(collect_event_of(event) ? collect_event_destroy(collect_event_of(event))
                                   : COLLECT_INVALID_HANDLE);
}
WL_DRIVER_ALSO(cuEventDestroy, cuEventDestroy_v2);

static CUresult record(const char *api, bool per_thread, CUevent event, CUstream stream,
                       unsigned flags)
{
    DR_BEGIN(api, CAP_CALL_OTHER, COLLECT_CURRENT);
    DR_END(collect_ask_record(&call, stream, per_thread, event, flags));
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
    DR_END(collect_event_of(event) ? collect_event_query(collect_event_of(event))
                                   : COLLECT_INVALID_HANDLE);
}

WL_DRIVER(CUresult, cuEventSynchronize, (CUevent event))
{
    DR_BEGIN("cuEventSynchronize", CAP_CALL_SYNC, 0);
    DR_END(collect_event_of(event) ? collect_event_synchronize(&call, collect_event_of(event))
                                   : COLLECT_INVALID_HANDLE);
}

static CUresult elapsed(const char *api, float *milliseconds, CUevent start, CUevent end)
{
    DR_BEGIN(api, CAP_CALL_OTHER, COLLECT_QUIET);
    DR_END(collect_ask_elapsed(start, end, milliseconds));
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

static CUresult host(const char *api, bool per_thread, CUstream stream, collect_host *work)
{
    DR_BEGIN(api, CAP_CALL_OTHER, COLLECT_CURRENT);
    DR_END(collect_ask_host(&call, stream, per_thread, work));
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

WL_DRIVER_STREAM(ptsz, cuStreamBeginCapture_v2, (CUstream stream, int mode), (stream, mode))
{
    DR_QUIET(api);
    DR_END(collect_ask_begin_capture(&call, stream, per_thread, mode));
}

WL_DRIVER_STREAM(ptsz, cuStreamBeginCaptureToGraph,
                 (CUstream stream, CUgraph graph, const CUgraphNode *needs,
                  const CUgraphEdgeData *edges, size_t count, int mode),
                 (stream, graph, needs, edges, count, mode))
{
    (void)edges;
    DR_QUIET(api);
    DR_END(collect_ask_capture_to(&call, stream, per_thread, graph, (collect_node *const *)needs,
                                  count, mode));
}

WL_DRIVER_STREAM(ptsz, cuStreamEndCapture, (CUstream stream, CUgraph *out), (stream, out))
{
    DR_QUIET(api);
    DR_END(collect_ask_end_capture(&call, stream, per_thread, (collect_graph **)out));
}

static CUresult capture_info(const char *api, bool per_thread, CUstream stream,
                             const collect_capture_out *out)
{
    DR_QUIET(api);
    DR_END(collect_ask_capture(&call, stream, per_thread, out));
}

static collect_capture_out capture_out(int *status, cuuint64_t *id, CUgraph *graph,
                                       const CUgraphNode **needs, const CUgraphEdgeData **edges,
                                       size_t *count)
{
    return (collect_capture_out){.status = status,
                                 .id = (unsigned long long *)id,
                                 .graph = (collect_graph **)graph,
                                 .needs = (collect_node *const **)needs,
                                 .edges = (const void **)edges,
                                 .count = count};
}

WL_DRIVER_STREAM(ptsz, cuStreamIsCapturing, (CUstream stream, int *status), (stream, status))
{
    return capture_info(api, per_thread, stream, &(collect_capture_out){.status = status});
}

WL_DRIVER_STREAM(ptsz, cuStreamGetCaptureInfo, (CUstream stream, int *status, cuuint64_t *id),
                 (stream, status, id))
{
    collect_capture_out out = capture_out(status, id, NULL, NULL, NULL, NULL);
    return capture_info(api, per_thread, stream, &out);
}

WL_DRIVER_STREAM(ptsz, cuStreamGetCaptureInfo_v2,
                 (CUstream stream, int *status, cuuint64_t *id, CUgraph *graph,
                  const CUgraphNode **needs, size_t *count),
                 (stream, status, id, graph, needs, count))
{
    collect_capture_out out = capture_out(status, id, graph, needs, NULL, count);
    return capture_info(api, per_thread, stream, &out);
}

WL_DRIVER_STREAM(ptsz, cuStreamGetCaptureInfo_v3,
                 (CUstream stream, int *status, cuuint64_t *id, CUgraph *graph,
                  const CUgraphNode **needs, const CUgraphEdgeData **edges, size_t *count),
                 (stream, status, id, graph, needs, edges, count))
{
    collect_capture_out out = capture_out(status, id, graph, needs, edges, count);
    return capture_info(api, per_thread, stream, &out);
}

static CUresult depend(const char *api, bool per_thread, CUstream stream, CUgraphNode *needs,
                       size_t count, unsigned flags)
{
    DR_QUIET(api);
    DR_END(collect_ask_depend(&call, stream, per_thread, (collect_node *const *)needs, count,
                              flags));
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
    return (CUresult)collect_driver_result(collect_ask_capture_mode(mode));
}
