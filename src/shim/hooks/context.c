/* The start of CUDA, contexts, and what waits for the device. */
#include "shim/hooks/hook.h"

/* With the lock held: what is of the context's streams. The driver may give the handle out
 * again. */
static void streams_gone(CUcontext handle)
{
    hook_times_gone(handle);
    probe_context_gone(handle);
    patch_context_gone(handle);
    hook_events_unknown(handle);
    drv_context_gone(handle);
}

static void context_gone(CUcontext handle)
{
    streams_gone(handle);
    hook_modules_gone(handle);
    drv_objects_gone(handle);
    hook_arrays_gone(handle);
}

/* After a call that may have ended the device's primary context. */
static void check_primary(CUdevice device)
{
    pthread_mutex_lock(&rec_g.lock);
    CUcontext primary = drv_primary_ended(device);
    if (primary)
        context_gone(primary);
    pthread_mutex_unlock(&rec_g.lock);
}

HOOK(cuInit, (unsigned int flags), (flags))
{
    if (!__atomic_load_n(&rec_g.started, __ATOMIC_ACQUIRE))
        patch_start();
    CUresult result = real_cuInit(flags);
    if (result == CUDA_SUCCESS && !__atomic_load_n(&rec_g.started, __ATOMIC_ACQUIRE))
        hook_start();
    return result;
}

HOOK(cuDevicePrimaryCtxRetain, (CUcontext * context, CUdevice device), (context, device))
{
    CUresult result = real_cuDevicePrimaryCtxRetain(context, device);
    if (result == CUDA_SUCCESS) {
        pthread_mutex_lock(&rec_g.lock);
        drv_primary_retained(device, *context);
        pthread_mutex_unlock(&rec_g.lock);
    }
    return result;
}

static CUresult destroy_context(const char *api, CUcontext context, CUresult (*real)(CUcontext))
{
    hook_call call;
    hook_begin(&call, api, CAP_CALL_OTHER);
    hook_times_resolve(0, true);
    probe_context_ends();
    CUresult result = real(context);
    if (result == CUDA_SUCCESS && rec_g.writer) {
        pthread_mutex_lock(&rec_g.lock);
        hook_write_call(&call, result);
        context_gone(context);
        pthread_mutex_unlock(&rec_g.lock);
    }
    return hook_end(&call, result);
}

HOOK(cuCtxDestroy, (CUcontext context), (context))
{
    return destroy_context("cuCtxDestroy", context, real_cuCtxDestroy);
}

HOOK(cuCtxDestroy_v2, (CUcontext context), (context))
{
    return destroy_context("cuCtxDestroy_v2", context, real_cuCtxDestroy_v2);
}

/* A part of a device: its memory and modules are the primary context's, its streams are its own. */
HOOK(cuGreenCtxDestroy, (CUgreenCtx part), (part))
{
    hook_call call;
    CUcontext context = NULL, previous;
    hook_begin(&call, "cuGreenCtxDestroy", CAP_CALL_OTHER);
    if (DRIVER(CUDA_ERROR_NOT_SUPPORTED, cuCtxFromGreenCtx, (CUcontext *, CUgreenCtx), &context,
               part) == CUDA_SUCCESS &&
        DRIVER(CUDA_ERROR_NOT_SUPPORTED, cuCtxPushCurrent_v2, (CUcontext), context) ==
            CUDA_SUCCESS) {
        hook_times_resolve(0, true);
        probe_context_ends();
        DRIVER(CUDA_ERROR_NOT_SUPPORTED, cuCtxPopCurrent_v2, (CUcontext *), &previous);
    }
    CUresult result = real_cuGreenCtxDestroy(part);
    if (result == CUDA_SUCCESS && rec_g.writer && context) {
        pthread_mutex_lock(&rec_g.lock);
        streams_gone(context);
        pthread_mutex_unlock(&rec_g.lock);
    }
    return hook_end(&call, result);
}

static CUresult end_primary(const char *api, CUdevice device, CUresult (*real)(CUdevice))
{
    hook_call call;
    hook_begin(&call, api, CAP_CALL_OTHER);
    hook_times_resolve(0, true);
    probe_context_ends();
    CUresult result = real(device);
    if (result == CUDA_SUCCESS && rec_g.writer)
        check_primary(device);
    return hook_end(&call, result);
}

HOOK(cuDevicePrimaryCtxReset, (CUdevice device), (device))
{
    return end_primary("cuDevicePrimaryCtxReset", device, real_cuDevicePrimaryCtxReset);
}

HOOK(cuDevicePrimaryCtxReset_v2, (CUdevice device), (device))
{
    return end_primary("cuDevicePrimaryCtxReset_v2", device, real_cuDevicePrimaryCtxReset_v2);
}

HOOK(cuDevicePrimaryCtxRelease, (CUdevice device), (device))
{
    return end_primary("cuDevicePrimaryCtxRelease", device, real_cuDevicePrimaryCtxRelease);
}

HOOK(cuDevicePrimaryCtxRelease_v2, (CUdevice device), (device))
{
    return end_primary("cuDevicePrimaryCtxRelease_v2", device, real_cuDevicePrimaryCtxRelease_v2);
}

/* ---- waiting ---- */

/* Where the program waits, pools give back what they keep beyond their thresholds. */
static void record_pools(void)
{
    pthread_mutex_lock(&rec_g.lock);
    drv_pools_record(0);
    pthread_mutex_unlock(&rec_g.lock);
}

/* After the application's wait its own record may be held: those of what it waited for are
 * written. */
static CUresult resolved(hook_call *call, const probe_wait *wait)
{
    hook_times_resolve(wait->stream, wait->over != PROBE_OVER_STREAM);
    probe_resolve(wait);
    call->rec.held = true;
    record_pools();
    return hook_end(call, CUDA_SUCCESS);
}

/* The work of the stream (or of the whole context) is done and its times are known. `context`: NULL
 * for the current one. */
static CUresult waited(hook_call *call, CUresult result, probe_over over, CUcontext context)
{
    if (result != CUDA_SUCCESS)
        return hook_end(call, result);
    return resolved(call, &(probe_wait){over, context, call->stream, call->launched});
}

HOOK(cuCtxSynchronize, (void), ())
{
    hook_call call;
    hook_begin(&call, "cuCtxSynchronize", CAP_CALL_SYNC);
    call.stream = 0;
    return waited(&call, real_cuCtxSynchronize(), PROBE_OVER_CONTEXT, NULL);
}

HOOK(cuCtxSynchronize_v2, (CUcontext context), (context))
{
    hook_call call;
    hook_begin(&call, "cuCtxSynchronize_v2", CAP_CALL_SYNC);
    call.stream = 0;
    return waited(&call, real_cuCtxSynchronize_v2(context), PROBE_OVER_CONTEXT, context);
}

HOOK(cuStreamSynchronize, (CUstream stream), (stream))
{
    hook_call call;
    hook_begin(&call, "cuStreamSynchronize", CAP_CALL_SYNC);
    call.stream = drv_stream(stream, false);
    return waited(&call, real_cuStreamSynchronize(stream), PROBE_OVER_STREAM, NULL);
}

HOOK(cuStreamSynchronize_ptsz, (CUstream stream), (stream))
{
    hook_call call;
    hook_begin(&call, "cuStreamSynchronize_ptsz", CAP_CALL_SYNC);
    call.stream = drv_stream(stream, true);
    return waited(&call, real_cuStreamSynchronize_ptsz(stream), PROBE_OVER_STREAM, NULL);
}

HOOK(cuEventSynchronize, (CUevent event), (event))
{
    hook_call call;
    hook_event known, now;
    hook_begin(&call, "cuEventSynchronize", CAP_CALL_SYNC);
    call.stream = 0;
    hook_event_wait(&call, event);
    bool found = hook_event_find(event, &known);
    CUresult result = real_cuEventSynchronize(event);
    if (result != CUDA_SUCCESS)
        return hook_end(&call, result);
    found = found && hook_event_find(event, &now) && now.begun == known.begun;
    probe_wait wait = {.over = PROBE_OVER_NOTHING};
    if (found)
        wait = (probe_wait){PROBE_OVER_STREAM, known.context, known.stream, known.launched};
    return resolved(&call, &wait);
}

/* ---- calls that order streams: noted, no more ---- */

static CUresult ordered(hook_call *call, CUresult result)
{
    hook_async(call);
    if (call->rec.active && drv_is_captured(call->stream))
        call->rec.record.flags |= CAP_CALL_CAPTURED;
    return hook_end(call, result);
}

/* The stream that a call made has its number from then on, as the call's own. */
static CUresult stream_created(hook_call *call, CUresult result, const CUstream *stream)
{
    if (call->rec.active && result == CUDA_SUCCESS)
        call->stream = drv_stream(*stream, false);
    return hook_end(call, result);
}

#define CREATE(symbol, params, args)                              \
    HOOK(symbol, params, args)                                    \
    {                                                             \
        hook_call call;                                           \
        hook_begin_work(&call, #symbol, CAP_CALL_OTHER);          \
        return stream_created(&call, real_##symbol args, stream); \
    }

CREATE(cuStreamCreate, (CUstream * stream, unsigned int flags), (stream, flags))
CREATE(cuStreamCreateWithPriority, (CUstream * stream, unsigned int flags, int priority),
       (stream, flags, priority))

#define WAIT(symbol, per_thread)                                                               \
    HOOK(symbol, (CUstream stream, CUevent event, unsigned int flags), (stream, event, flags)) \
    {                                                                                          \
        hook_call call;                                                                        \
        hook_begin_work(&call, #symbol, CAP_CALL_OTHER);                                       \
        call.stream = drv_stream(stream, per_thread);                                          \
        hook_event_wait(&call, event);                                                         \
        return ordered(&call, real_##symbol(stream, event, flags));                            \
    }

WAIT(cuStreamWaitEvent, false)
WAIT(cuStreamWaitEvent_ptsz, true)

#define ORDER(symbol, per_thread, of, params, args)      \
    HOOK(symbol, params, args)                           \
    {                                                    \
        hook_call call;                                  \
        hook_begin_work(&call, #symbol, CAP_CALL_OTHER); \
        call.stream = drv_stream(of, per_thread);        \
        return ordered(&call, real_##symbol args);       \
    }
ORDER(cuLaunchHostFunc, false, stream, (CUstream stream, CUhostFn function, void *data),
      (stream, function, data))
ORDER(cuLaunchHostFunc_ptsz, true, stream, (CUstream stream, CUhostFn function, void *data),
      (stream, function, data))
ORDER(cuStreamAddCallback, false, stream,
      (CUstream stream, CUstreamCallback callback, void *data, unsigned int flags),
      (stream, callback, data, flags))
ORDER(cuStreamAddCallback_ptsz, true, stream,
      (CUstream stream, CUstreamCallback callback, void *data, unsigned int flags),
      (stream, callback, data, flags))

ORDER(cuLaunchHostFunc_v2, false, stream,
      (CUstream stream, CUhostFn function, void *data, unsigned int mode),
      (stream, function, data, mode))
ORDER(cuLaunchHostFunc_v2_ptsz, true, stream,
      (CUstream stream, CUhostFn function, void *data, unsigned int mode),
      (stream, function, data, mode))

#define VALUE(symbol, bits)                                                             \
    ORDER(symbol, false, stream,                                                        \
          (CUstream stream, CUdeviceptr address, cuuint##bits##_t value, unsigned how), \
          (stream, address, value, how))                                                \
    ORDER(symbol##_ptsz, true, stream,                                                  \
          (CUstream stream, CUdeviceptr address, cuuint##bits##_t value, unsigned how), \
          (stream, address, value, how))

VALUE(cuStreamWriteValue32, 32)
VALUE(cuStreamWriteValue32_v2, 32)
VALUE(cuStreamWriteValue64, 64)
VALUE(cuStreamWriteValue64_v2, 64)
VALUE(cuStreamWaitValue32, 32)
VALUE(cuStreamWaitValue32_v2, 32)
VALUE(cuStreamWaitValue64, 64)
VALUE(cuStreamWaitValue64_v2, 64)

#define VALUES(symbol, per_thread)                                              \
    ORDER(symbol, per_thread, stream,                                           \
          (CUstream stream, unsigned int count, CUstreamBatchMemOpParams *list, \
           unsigned int flags),                                                 \
          (stream, count, list, flags))

VALUES(cuStreamBatchMemOp, false)
VALUES(cuStreamBatchMemOp_ptsz, true)
VALUES(cuStreamBatchMemOp_v2, false)
VALUES(cuStreamBatchMemOp_v2_ptsz, true)

#define RECORD(symbol, per_thread, params, args)                   \
    HOOK(symbol, params, args)                                     \
    {                                                              \
        hook_call call;                                            \
        hook_begin_work(&call, #symbol, CAP_CALL_OTHER);           \
        call.stream = drv_stream(stream, per_thread);              \
        hook_async(&call);                                         \
        hook_event_begin(&call, event);                            \
        CUresult result = real_##symbol args;                      \
        hook_event_end(event, call.stream, call.launched, result); \
        return hook_end_late(&call, result);                       \
    }

RECORD(cuEventRecord, false, (CUevent event, CUstream stream), (event, stream))
RECORD(cuEventRecord_ptsz, true, (CUevent event, CUstream stream), (event, stream))
RECORD(cuEventRecordWithFlags, false, (CUevent event, CUstream stream, unsigned int flags),
       (event, stream, flags))
RECORD(cuEventRecordWithFlags_ptsz, true, (CUevent event, CUstream stream, unsigned int flags),
       (event, stream, flags))

static CUresult destroy_stream(const char *api, CUstream stream, CUresult (*real)(CUstream))
{
    hook_call call;
    hook_begin_work(&call, api, CAP_CALL_OTHER);
    call.stream = drv_stream(stream, false);
    if (call.rec.active) {
        pthread_mutex_lock(&rec_g.lock);
        hook_place(&call, drv_current());
        drv_stream_gone(call.stream);
        pthread_mutex_unlock(&rec_g.lock);
    }
    probe_mark(call.stream);
    drv_capture_ended(call.stream);
    return hook_end(&call, real(stream));
}

HOOK(cuStreamDestroy, (CUstream stream), (stream))
{
    return destroy_stream("cuStreamDestroy", stream, real_cuStreamDestroy);
}

HOOK(cuStreamDestroy_v2, (CUstream stream), (stream))
{
    return destroy_stream("cuStreamDestroy_v2", stream, real_cuStreamDestroy_v2);
}
