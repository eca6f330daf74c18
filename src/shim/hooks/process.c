/* Calls, and the process's life. */
#include "shim/hooks/hook.h"

#include <stdlib.h>

/* ---- calls ---- */

void hook_stack(hook_call *call)
{
    if (call->rec.active)
        rec_call_stack(&call->rec);
}

void hook_begin(hook_call *call, const char *api, cap_call_kind kind)
{
    call->placed = false;
    call->stream = 0;
    call->launched = probe_launched();
    rec_call_enter(&call->rec, api, kind, REC_NOW);
    hook_stack(call);
}

void hook_begin_work(hook_call *call, const char *api, cap_call_kind kind)
{
    call->placed = false;
    call->stream = 0;
    call->launched = probe_launched();
    rec_call_enter(&call->rec, api, kind, REC_HELD);
    hook_stack(call);
}

void hook_begin_launch(hook_call *call, const char *api)
{
    call->placed = false;
    call->stream = 0;
    call->launched = probe_launched();
    rec_call_enter(&call->rec, api, CAP_CALL_LAUNCH, REC_HELD);
    hook_async(call);
}

void hook_async(hook_call *call)
{
    if (call->rec.active)
        call->rec.record.flags |= CAP_CALL_ASYNC;
}

void hook_place(hook_call *call, drv_context current)
{
    if (call->placed || !call->rec.active)
        return;
    call->placed = true;
    call->rec.record.device = current.device;
    call->rec.record.context = current.id;
    call->rec.record.stream = drv_stream_number(call->stream, current);
}

void hook_write_call(hook_call *call, CUresult result)
{
    if (!call->rec.active || call->rec.written)
        return;
    hook_place(call, call->placed ? (drv_context){0} : drv_current());
    rec_call_write(&call->rec, (int32_t)result);
}

/* What the device has left where it refused memory; with the lock held. */
static void write_what_is_left(const hook_call *call)
{
    size_t unused = 0, all = 0;
    CUresult asked = DRIVER(CUDA_ERROR_NOT_SUPPORTED, cuMemGetInfo_v2, (size_t *, size_t *),
                            &unused, &all);
    if (asked == CUDA_SUCCESS && call->rec.id)
        rec_refused(call->rec.id, unused, all);
}

CUresult hook_end(hook_call *call, CUresult result)
{
    if (call->rec.active && !call->rec.written) {
        hook_stack(call);
        pthread_mutex_lock(&rec_g.lock);
        hook_write_call(call, result);
        if (result == CUDA_ERROR_OUT_OF_MEMORY && call->rec.record.kind == CAP_CALL_ALLOC)
            write_what_is_left(call);
        pthread_mutex_unlock(&rec_g.lock);
    }
    rec_call_leave(&call->rec, (int32_t)result);
    return result;
}

CUresult hook_end_late(hook_call *call, CUresult result)
{
    rec_call_leave_late(&call->rec, (int32_t)result);
    return result;
}

/* ---- the process's life ---- */

/* Before the last record. */
static void finish_times_and_probes(void)
{
    hook_times_finish();
    probe_finish();
    patch_finish();
}

void hook_start(void)
{
    pthread_mutex_lock(&rec_g.lock);
    if (!rec_g.started && !rec_g.forked) {
        probe_start();
        hook_times_start();
        rec_start(true);
        drv_devices_record();
        atexit(
            rec_process_ends); /* registered after the driver's handlers, so it runs before them */
    }
    pthread_mutex_unlock(&rec_g.lock);
}

__attribute__((constructor)) static void process_begins(void)
{
    static const rec_collector shim = {.name = "inline", .last = finish_times_and_probes};
    hook_parts_start();
    rec_process_begins(&shim);
}

/* NVIDIA's runtime calls these for cudaProfilerStart and cudaProfilerStop. */
HOOK(cuProfilerStart, (void), ())
{
    rec_profiler(true);
    return real_cuProfilerStart();
}

HOOK(cuProfilerStop, (void), ())
{
    rec_profiler(false);
    return real_cuProfilerStop();
}
