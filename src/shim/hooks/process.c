/* Calls, and the process's life. */
#include "shim/probe/probe.h"

#include <stdlib.h>
#include <string.h>

shim_state shim_g;

uint64_t shim_stream(CUstream stream, bool per_thread)
{
    enum { LEGACY = 1, PER_THREAD = 2, THREAD_SHIFT = 48 };
    uint64_t value = (uint64_t)(uintptr_t)stream;
    if (value == PER_THREAD || (value == 0 && per_thread))
        return PER_THREAD | (uint64_t)rec_thread() << THREAD_SHIFT;
    return value == LEGACY ? 0 : value;
}

/* ---- calls ---- */

void shim_stack(shim_call *call)
{
    if (call->rec.active)
        rec_call_stack(&call->rec);
}

void shim_begin(shim_call *call, const char *api, cap_call_kind kind)
{
    call->placed = false;
    call->stream = 0;
    call->launched = shim_probes_launched();
    rec_call_enter(&call->rec, api, kind, REC_NOW);
    shim_stack(call);
}

void shim_begin_work(shim_call *call, const char *api, cap_call_kind kind)
{
    call->placed = false;
    call->stream = 0;
    call->launched = shim_probes_launched();
    rec_call_enter(&call->rec, api, kind, REC_HELD);
    shim_stack(call);
}

void shim_begin_launch(shim_call *call, const char *api)
{
    call->placed = false;
    call->stream = 0;
    call->launched = shim_probes_launched();
    rec_call_enter(&call->rec, api, CAP_CALL_LAUNCH, REC_HELD);
    shim_async(call);
}

void shim_async(shim_call *call)
{
    if (call->rec.active)
        call->rec.record.flags |= CAP_CALL_ASYNC;
}

void shim_place(shim_call *call, shim_context current)
{
    if (call->placed || !call->rec.active)
        return;
    call->placed = true;
    call->rec.record.device = current.device;
    call->rec.record.context = current.id;
    call->rec.record.stream = shim_stream_number(call->stream, current);
}

void shim_write_call(shim_call *call, CUresult result)
{
    if (!call->rec.active || call->rec.written)
        return;
    shim_place(call, call->placed ? (shim_context){0} : shim_current());
    rec_call_write(&call->rec, (int32_t)result);
}

CUresult shim_end(shim_call *call, CUresult result)
{
    if (call->rec.active && !call->rec.written) {
        shim_stack(call);
        pthread_mutex_lock(&rec_g.lock);
        shim_write_call(call, result);
        pthread_mutex_unlock(&rec_g.lock);
    }
    rec_call_leave(&call->rec, (int32_t)result);
    return result;
}

CUresult shim_end_late(shim_call *call, CUresult result)
{
    rec_call_leave_late(&call->rec, (int32_t)result);
    return result;
}

/* ---- devices ---- */

/* "NVIDIA H200" to "h200", "NVIDIA A100-SXM4-80GB" to "a100", "NVIDIA GeForce RTX 4090" to "rtx4090": the names of the
 * files in devices/, of which there may be none. */
static void file_of_device(const char *name, char *file, size_t size)
{
    static const char *const brands[] = {"NVIDIA ", "Tesla ", "GeForce "};
    size_t length = 0;
    for (size_t i = 0; i < sizeof brands / sizeof *brands; i++)
        if (strncmp(name, brands[i], strlen(brands[i])) == 0)
            name += strlen(brands[i]);
    bool series = strncmp(name, "RTX ", 4) == 0 || strncmp(name, "GTX ", 4) == 0;
    for (size_t i = 0; name[i] && name[i] != '-' && length + 1 < size; i++) {
        if (name[i] == ' ' && !(series && i == 3))
            break;
        if (name[i] != ' ')
            file[length++] = (char)(name[i] >= 'A' && name[i] <= 'Z' ? name[i] + 32 : name[i]);
    }
    file[length] = '\0';
}

static int driver_device_attribute(CUdevice device, int number)
{
    int value = 0;
    DRIVER(CUDA_ERROR_NOT_SUPPORTED, cuDeviceGetAttribute, (int *, int, CUdevice), &value, number,
           device);
    return value;
}

static void record_driver_device(int ordinal)
{
    char name[256] = "", file[64];
    CUdevice device;
    size_t bytes = 0;
    if (DRIVER(CUDA_ERROR_NOT_SUPPORTED, cuDeviceGet, (CUdevice *, int), &device, ordinal) ||
        DRIVER(CUDA_ERROR_NOT_SUPPORTED, cuDeviceGetName, (char *, int, CUdevice), name,
               (int)sizeof name, device))
        return;
    DRIVER(CUDA_ERROR_NOT_SUPPORTED, cuDeviceTotalMem_v2, (size_t *, CUdevice), &bytes, device);
    file_of_device(name, file, sizeof file);
    cap_device record = {
        .ordinal = (uint32_t)ordinal,
        .name = name,
        .cc_major = (uint32_t)driver_device_attribute(device,
                                                      CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR),
        .cc_minor = (uint32_t)driver_device_attribute(device,
                                                      CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR),
        .num_sms = (uint32_t)driver_device_attribute(device,
                                                     CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT),
        .global_bytes = bytes,
        .file = file};
    if (!shim_g.sm)
        shim_g.sm = record.cc_major * 10 + record.cc_minor;
    REC_WRITE(device, &record);
}

/* ---- the process's life ---- */

/* Before the last record. */
static void finish_times_and_probes(void)
{
    shim_times_finish();
    shim_probes_finish();
}

void shim_start(void)
{
    int count = 0;
    pthread_mutex_lock(&rec_g.lock);
    if (!rec_g.started && !rec_g.forked) {
        rec_start(true);
        DRIVER(CUDA_ERROR_NOT_SUPPORTED, cuDeviceGetCount, (int *), &count);
        for (int i = 0; i < count; i++)
            record_driver_device(i);
        atexit(
            rec_process_ends); /* registered after the driver's handlers, so it runs before them */
    }
    pthread_mutex_unlock(&rec_g.lock);
}

__attribute__((constructor)) static void process_begins(void)
{
    static const rec_collector shim = {.name = "inline", .last = finish_times_and_probes};
    rec_process_begins(&shim);
}
