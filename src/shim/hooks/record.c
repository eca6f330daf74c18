/* Calls, and the process's life. */
#include "shim/probe/probe.h"

#include "base/log.h"
#include "inject/stack.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

shim_state shim_g = {.lock = PTHREAD_MUTEX_INITIALIZER};

static __thread uint32_t thread_number;
static __thread uint32_t depth; /* of hooks within hooks */

static int64_t since_start(void)
{
    return rec_now() - shim_g.start_ns;
}

static uint32_t self(void)
{
    if (!thread_number)
        thread_number = __atomic_add_fetch(&shim_g.next_thread, 1, __ATOMIC_RELAXED);
    return thread_number;
}

uint64_t shim_stream(CUstream stream, bool per_thread)
{
    enum { LEGACY = 1, PER_THREAD = 2, THREAD_SHIFT = 48 };
    uint64_t value = (uint64_t)(uintptr_t)stream;
    if (value == PER_THREAD || (value == 0 && per_thread))
        return PER_THREAD | (uint64_t)self() << THREAD_SHIFT;
    return value == LEGACY ? 0 : value;
}

/* ---- writing ---- */

void shim_recorded(wl_status status)
{
    static bool said;
    wl_error err = {0};
    if (status == WL_OK || said)
        return;
    said = true;
    if (cap_state(shim_g.writer, &err) != WL_OK)
        wl_log(WL_LOG_ERROR, "Recording ends here: %s", err.text);
    else
        wl_log(WL_LOG_ERROR, "Something could not be recorded (%s).", wl_status_text(status));
}

void shim_message(wl_log_level level, const char *format, ...)
{
    char text[1024];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    wl_log(level, "%s", text);
    cap_message message = {.level = level, .text = text};
    SHIM_WRITE(message, &message);
}

void shim_remark(const char *format, ...)
{
    char text[1024];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    cap_message message = {.level = WL_LOG_INFO, .text = text};
    SHIM_WRITE(message, &message);
}

void shim_skipped(uint32_t call, const char *kernel, const char *format, ...)
{
    char text[1024];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    cap_skipped record = {.kernel = kernel, .reason = text, .call = call};
    SHIM_WRITE(skipped, &record);
}

static void write_maps(void)
{
    cap_maps maps;
    if (!inj_maps_changed() || inj_maps_read(&maps) != WL_OK)
        return;
    SHIM_WRITE(maps, &maps);
    inj_maps_free(&maps);
}

/* ---- holding ----
 *
 * A launch costs the application two records, an event of its own one, and what we do between the two passes on the device's
 * time line while it waits. As long as the application does nothing but put work on streams, records gather in memory; the
 * next call of another kind, and so any that waits for the device, first writes them. A process that dies without one loses
 * those of HOLD_NS at most. */

enum { HOLD_NS = 50000000 };

static int64_t held_since; /* since_start(); 0: nothing is held */

static void release_held(void)
{
    if (!__atomic_load_n(&held_since, __ATOMIC_RELAXED) &&
        !__atomic_load_n(&shim_g.late, __ATOMIC_RELAXED))
        return;
    pthread_mutex_lock(&shim_g.lock);
    if (shim_g.late)
        shim_write_late();
    if (held_since && shim_g.writer)
        shim_recorded(cap_hold(shim_g.writer, false));
    __atomic_store_n(&held_since, 0, __ATOMIC_RELAXED);
    pthread_mutex_unlock(&shim_g.lock);
}

/* With the lock held, before the records of a launch. `now`: since_start(). */
static void hold(int64_t now)
{
    if (held_since && now - held_since > HOLD_NS)
        shim_recorded(cap_hold(shim_g.writer, false));
    else if (held_since)
        return;
    cap_hold(shim_g.writer, true);
    __atomic_store_n(&held_since, now, __ATOMIC_RELAXED);
}

/* ---- calls ---- */

/* Kept out of line: its frame is this library's, which the stack leaves out. */
static __attribute__((noinline)) void walk(shim_call *call)
{
    call->record.stack.pcs = call->pcs;
    call->record.stack.count = inj_stack(call->pcs, CAP_MAX_STACK);
}

static void begin(shim_call *call, const char *api, cap_call_kind kind, bool held)
{
    call->id = 0;
    call->launched = shim_probes_launched();
    call->active = depth++ == 0 && shim_g.writer && !shim_g.forked;
    if (!call->active)
        return;
    call->held = held;
    memset(&call->record, 0, sizeof call->record);
    call->record.api = api;
    call->record.kind = kind;
    call->record.thread = self();
    call->record.start_ns = since_start();
}

void shim_begin(shim_call *call, const char *api, cap_call_kind kind)
{
    begin(call, api, kind, false);
    if (!call->active)
        return;
    release_held();
    walk(call);
}

void shim_begin_work(shim_call *call, const char *api, cap_call_kind kind)
{
    begin(call, api, kind, true);
    if (call->active)
        walk(call);
}

void shim_begin_launch(shim_call *call, const char *api)
{
    begin(call, api, CAP_CALL_LAUNCH, true);
}

void shim_stack(shim_call *call)
{
    if (call->active && !call->record.stack.pcs)
        walk(call);
}

static void write_call(cap_call *record, bool held)
{
    write_maps();
    if (held)
        hold(record->end_ns);
    record->id = ++shim_g.next_call;
    SHIM_WRITE(call, record);
}

void shim_write_call(shim_call *call, CUresult result)
{
    if (!call->active || call->id || !shim_g.writer)
        return;
    shim_stack(call);
    if (shim_g.late)
        shim_write_late();
    call->record.end_ns = since_start();
    call->record.result = (int32_t)result;
    write_call(&call->record, call->held);
    call->id = call->record.id;
}

CUresult shim_end(shim_call *call, CUresult result)
{
    depth--;
    if (call->active && !call->id) {
        shim_stack(call);
        pthread_mutex_lock(&shim_g.lock);
        shim_write_call(call, result);
        pthread_mutex_unlock(&shim_g.lock);
    }
    return result;
}

/* ---- the call that is written late ---- */

static shim_call late;

void shim_write_late(void)
{
    __atomic_store_n(&shim_g.late, false, __ATOMIC_RELAXED);
    if (shim_g.writer)
        write_call(&late.record, true);
}

CUresult shim_end_late(shim_call *call, CUresult result)
{
    depth--;
    if (!call->active)
        return result;
    pthread_mutex_lock(&shim_g.lock);
    if (shim_g.late)
        shim_write_late();
    late.record = call->record;
    late.record.end_ns = since_start();
    late.record.result = (int32_t)result;
    late.record.stack.pcs = late.pcs;
    memcpy(late.pcs, call->pcs, call->record.stack.count * sizeof *late.pcs);
    __atomic_store_n(&shim_g.late, true, __ATOMIC_RELAXED);
    pthread_mutex_unlock(&shim_g.lock);
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

static int attribute(CUdevice device, int number)
{
    int value = 0;
    DRIVER(CUDA_ERROR_NOT_SUPPORTED, cuDeviceGetAttribute, (int *, int, CUdevice), &value, number,
           device);
    return value;
}

static void write_device(int ordinal)
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
        .cc_major = (uint32_t)attribute(device, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR),
        .cc_minor = (uint32_t)attribute(device, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR),
        .num_sms = (uint32_t)attribute(device, CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT),
        .global_bytes = bytes,
        .file = file};
    if (!shim_g.sm)
        shim_g.sm = record.cc_major * 10 + record.cc_minor;
    SHIM_WRITE(device, &record);
}

/* ---- the process's life ---- */

static void write_end(void)
{
    if (!shim_g.writer || shim_g.forked)
        return;
    if (shim_g.late)
        shim_write_late();
    shim_times_finish();
    shim_probes_finish();
    cap_end end = {.end_ns = since_start(), .records = cap_written(shim_g.writer)};
    SHIM_WRITE(end, &end);
    cap_close(shim_g.writer);
    shim_g.writer = NULL;
}

/* The lock is not waited for: a thread that still runs may hold it, and the process must end. */
static void process_ends(void)
{
    bool locked = pthread_mutex_trylock(&shim_g.lock) == 0;
    write_end();
    if (locked)
        pthread_mutex_unlock(&shim_g.lock);
}

void shim_start(void)
{
    int count = 0;
    pthread_mutex_lock(&shim_g.lock);
    if (!shim_g.started && !shim_g.forked) {
        shim_g.started = true;
        wl_log_set_level((wl_log_level)prog_options_get()->verbosity);
        shim_g.writer = rec_open_capture("inline", shim_g.start_ns);
        DRIVER(CUDA_ERROR_NOT_SUPPORTED, cuDeviceGetCount, (int *), &count);
        for (int i = 0; i < count; i++)
            write_device(i);
        atexit(process_ends); /* registered behind the driver's handlers, so it runs before them */
    }
    pthread_mutex_unlock(&shim_g.lock);
}

/* As with the driver itself, CUDA is lost to the child where the parent has used it. */
static void in_child(void)
{
    pthread_mutex_init(&shim_g.lock, NULL);
    if (!shim_g.started)
        return;
    cap_abandon(shim_g.writer);
    shim_g.writer = NULL;
    shim_g.late = false;
    shim_g.forked = true;
}

__attribute__((constructor)) static void process_begins(void)
{
    shim_g.start_ns = rec_now();
    inj_stack_start();
    pthread_atfork(NULL, NULL, in_child);
    at_quick_exit(process_ends);
}
