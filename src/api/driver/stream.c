/* Streams, events, host functions and capture in the driver interface. */
#include "api/both/ask.h"
#include "api/driver/driver.h"

#include <string.h>

/* ---- streams ---- */

static CUresult new_stream(const char *api, CUstream *out, unsigned flags, int priority)
{
    DR_QUIET(api);
    dev_stream *stream;
    result = out ? dev_stream_new(call.context, flags, priority, &stream) : DEV_INVALID_VALUE;
    if (result == DEV_OK)
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
    DR_BEGIN("cuStreamDestroy_v2", CAP_CALL_OTHER, DEV_QUIET);
    DR_END(dev_is(handle, DEV_STREAM) ? dev_stream_destroy((dev_stream *)handle)
                                      : DEV_INVALID_HANDLE);
}
WL_DRIVER_ALSO(cuStreamDestroy, cuStreamDestroy_v2);

WL_DRIVER_STREAM(ptsz, cuStreamSynchronize, (CUstream stream), (stream))
{
    DR_BEGIN(api, CAP_CALL_SYNC, DEV_CURRENT);
    DR_END(api_synchronize(&call, stream, per_thread));
}

WL_DRIVER_STREAM(ptsz, cuStreamQuery, (CUstream stream), (stream))
{
    DR_QUIET(api);
    DR_END(api_query(&call, stream, per_thread));
}

WL_DRIVER_STREAM(ptsz, cuStreamWaitEvent, (CUstream stream, CUevent event, unsigned flags),
                 (stream, event, flags))
{
    DR_BEGIN(api, CAP_CALL_OTHER, DEV_CURRENT);
    DR_END(api_wait(&call, stream, per_thread, event, flags));
}

static CUresult property(const char *api, bool per_thread, CUstream stream, api_stream_fact fact,
                         void *value)
{
    DR_QUIET(api);
    DR_END(api_stream(&call, stream, per_thread, fact, value));
}

#define PROPERTY(name, type, fact)                                                 \
    WL_DRIVER_STREAM(ptsz, name, (CUstream stream, type * value), (stream, value)) \
    {                                                                              \
        return property(api, per_thread, stream, fact, value);                     \
    }
PROPERTY(cuStreamGetFlags, unsigned, API_STREAM_FLAGS)
PROPERTY(cuStreamGetPriority, int, API_STREAM_PRIORITY)
PROPERTY(cuStreamGetId, unsigned long long, API_STREAM_ID)
PROPERTY(cuStreamGetCtx, CUcontext, API_STREAM_CONTEXT)
PROPERTY(cuStreamGetDevice, CUdevice, API_STREAM_DEVICE)

WL_DRIVER_STREAM(ptsz, cuStreamGetCtx_v2, (CUstream stream, CUcontext *context, CUgreenCtx *green),
                 (stream, context, green))
{
    if (green)
        *green = NULL;
    return property(api, per_thread, stream, API_STREAM_CONTEXT, context);
}

WL_DRIVER_STREAM(ptsz, cuStreamSetAttribute,
                 (CUstream stream, int attribute, const CUstreamAttrValue *value),
                 (stream, attribute, value))
{
    DR_QUIET(api);
    DR_END(api_set_attribute(&call, stream, per_thread, attribute, value));
}

WL_DRIVER_STREAM(ptsz, cuStreamGetAttribute,
                 (CUstream stream, int attribute, CUstreamAttrValue *value),
                 (stream, attribute, value))
{
    DR_QUIET(api);
    DR_END(api_attribute(&call, stream, per_thread, attribute, value));
}

WL_DRIVER_STREAM(ptsz, cuStreamCopyAttributes, (CUstream to, CUstream from), (to, from))
{
    DR_QUIET(api);
    DR_END(api_copy_attributes(&call, to, from, per_thread));
}

/* ---- values ---- */

static CUresult value_operation(const char *api, bool per_thread, CUstream handle,
                                CUdeviceptr address, uint64_t value, unsigned bytes, bool wait,
                                unsigned flags)
{
    DR_BEGIN(api, CAP_CALL_OTHER, DEV_CURRENT);
    dev_stream *stream;
    result = dev_stream_get(&call, handle, per_thread, &stream);
    if (result == DEV_OK)
        result = wait ? dev_do_wait_value(&call, stream, address, value, bytes, flags)
                      : dev_do_write_value(&call, stream, address, value, bytes);
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
    dev_event *event;
    result = out ? dev_event_new(call.context, flags, &event) : DEV_INVALID_VALUE;
    if (result == DEV_OK)
        *out = (CUevent)event;
    DR_END(result);
}

WL_DRIVER(CUresult, cuEventDestroy_v2, (CUevent event))
{
    DR_BEGIN("cuEventDestroy_v2", CAP_CALL_OTHER, DEV_QUIET);
    DR_END(api_event_of(event) ? dev_event_destroy(api_event_of(event)) : DEV_INVALID_HANDLE);
}
WL_DRIVER_ALSO(cuEventDestroy, cuEventDestroy_v2);

static CUresult record(const char *api, bool per_thread, CUevent event, CUstream stream,
                       unsigned flags)
{
    DR_BEGIN(api, CAP_CALL_OTHER, DEV_CURRENT);
    DR_END(api_record(&call, stream, per_thread, event, flags));
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
    DR_BEGIN("cuEventQuery", CAP_CALL_OTHER, DEV_QUIET);
    DR_END(api_event_of(event) ? dev_event_query(api_event_of(event)) : DEV_INVALID_HANDLE);
}

WL_DRIVER(CUresult, cuEventSynchronize, (CUevent event))
{
    DR_BEGIN("cuEventSynchronize", CAP_CALL_SYNC, 0);
    DR_END(api_event_of(event) ? dev_event_synchronize(&call, api_event_of(event))
                               : DEV_INVALID_HANDLE);
}

static CUresult elapsed(const char *api, float *milliseconds, CUevent start, CUevent end)
{
    DR_BEGIN(api, CAP_CALL_OTHER, DEV_QUIET);
    DR_END(api_elapsed(start, end, milliseconds));
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

static CUresult host(const char *api, bool per_thread, CUstream stream, dev_host *work)
{
    DR_BEGIN(api, CAP_CALL_OTHER, DEV_CURRENT);
    DR_END(api_host(&call, stream, per_thread, work));
}

WL_DRIVER_STREAM(ptsz, cuLaunchHostFunc, (CUstream stream, CUhostFn function, void *data),
                 (stream, function, data))
{
    dev_host work = {.kind = DEV_HOST_FUNCTION, .function = function, .data = data};
    return host(api, per_thread, stream, &work);
}

WL_DRIVER_STREAM(ptsz, cuStreamAddCallback,
                 (CUstream stream, CUstreamCallback callback, void *data, unsigned flags),
                 (stream, callback, data, flags))
{
    dev_host work = {.kind = DEV_HOST_CALLBACK, .data = data};
    memcpy(&work.callback, &callback, sizeof callback);
    return flags ? CUDA_ERROR_INVALID_VALUE : host(api, per_thread, stream, &work);
}

/* ---- capture ---- */

WL_DRIVER_STREAM(ptsz, cuStreamBeginCapture_v2, (CUstream stream, int mode), (stream, mode))
{
    DR_QUIET(api);
    DR_END(api_begin_capture(&call, stream, per_thread, mode));
}

WL_DRIVER_STREAM(ptsz, cuStreamBeginCaptureToGraph,
                 (CUstream stream, CUgraph graph, const CUgraphNode *needs,
                  const CUgraphEdgeData *edges, size_t count, int mode),
                 (stream, graph, needs, edges, count, mode))
{
    (void)edges;
    DR_QUIET(api);
    DR_END(api_capture_to(&call, stream, per_thread, graph, (dev_node *const *)needs, count, mode));
}

WL_DRIVER_STREAM(ptsz, cuStreamEndCapture, (CUstream stream, CUgraph *out), (stream, out))
{
    DR_QUIET(api);
    DR_END(api_end_capture(&call, stream, per_thread, (dev_graph **)out));
}

static CUresult capture_info(const char *api, bool per_thread, CUstream stream,
                             const api_capture_out *out)
{
    DR_QUIET(api);
    DR_END(api_capture(&call, stream, per_thread, out));
}

static api_capture_out capture_out(int *status, cuuint64_t *id, CUgraph *graph,
                                   const CUgraphNode **needs, const CUgraphEdgeData **edges,
                                   size_t *count)
{
    return (api_capture_out){.status = status,
                             .id = (unsigned long long *)id,
                             .graph = (dev_graph **)graph,
                             .needs = (dev_node *const **)needs,
                             .edges = (const void **)edges,
                             .count = count};
}

WL_DRIVER_STREAM(ptsz, cuStreamIsCapturing, (CUstream stream, int *status), (stream, status))
{
    return capture_info(api, per_thread, stream, &(api_capture_out){.status = status});
}

WL_DRIVER_STREAM(ptsz, cuStreamGetCaptureInfo, (CUstream stream, int *status, cuuint64_t *id),
                 (stream, status, id))
{
    api_capture_out out = capture_out(status, id, NULL, NULL, NULL, NULL);
    return capture_info(api, per_thread, stream, &out);
}

WL_DRIVER_STREAM(ptsz, cuStreamGetCaptureInfo_v2,
                 (CUstream stream, int *status, cuuint64_t *id, CUgraph *graph,
                  const CUgraphNode **needs, size_t *count),
                 (stream, status, id, graph, needs, count))
{
    api_capture_out out = capture_out(status, id, graph, needs, NULL, count);
    return capture_info(api, per_thread, stream, &out);
}

WL_DRIVER_STREAM(ptsz, cuStreamGetCaptureInfo_v3,
                 (CUstream stream, int *status, cuuint64_t *id, CUgraph *graph,
                  const CUgraphNode **needs, const CUgraphEdgeData **edges, size_t *count),
                 (stream, status, id, graph, needs, edges, count))
{
    api_capture_out out = capture_out(status, id, graph, needs, edges, count);
    return capture_info(api, per_thread, stream, &out);
}

static CUresult depend(const char *api, bool per_thread, CUstream stream, CUgraphNode *needs,
                       size_t count, unsigned flags)
{
    DR_QUIET(api);
    DR_END(api_depend(&call, stream, per_thread, (dev_node *const *)needs, count, flags));
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
    return (CUresult)dev_driver_result(api_capture_mode(mode));
}
