/* The process: start, devices, the capture file, fork and end. */
#include "collect/impl.h"

#include "base/log.h"
#include "base/names.h"
#include "collect/patch.h"
#include "collect/process.h"
#include "collect/stack.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

collect_state collect_g = {.lock = PTHREAD_MUTEX_INITIALIZER, .changed = PTHREAD_COND_INITIALIZER};

int64_t collect_since_start(void)
{
    return collect_now() - collect_g.start_ns;
}

/* ---- handles ---- */

void collect_handle_add(collect_handle *handle, collect_kind kind, void *self)
{
    handle->kind = kind;
    handle->self = self;
    HASH_ADD_PTR(collect_g.handles, self, handle);
}

void collect_handle_remove(collect_handle *handle)
{
    HASH_DEL(collect_g.handles, handle);
}

bool collect_is(const void *handle, collect_kind kind)
{
    collect_handle *found = NULL;
    if (handle)
        HASH_FIND_PTR(collect_g.handles, &handle, found);
    return found && found->kind == kind;
}

/* ---- the capture ---- */

static int attribute(const cuda_device *device, int number)
{
    int value = 0;
    cuda_device_attribute(device, number, &value);
    return value;
}

static void write_device(const collect_device *device)
{
    const cuda_device *d = &device->description;
    cap_device record = {
        .ordinal = (uint32_t)device->ordinal,
        .name = d->name,
        .cc_major = d->sm / 10,
        .cc_minor = d->sm % 10,
        .num_sms = (uint32_t)attribute(d, CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT),
        .global_bytes = d->global_bytes,
        .file = d->id};
    COLLECT_WRITE(device, &record);
}

/* Where WARPLENS_DRIVER names this library, the one that stands before a driver records, and two would be one too many. */
static void open_capture(void)
{
    if (*collect_options_get()->driver)
        return;
    collect_g.writer = collect_process_capture("emulate", collect_g.start_ns);
    collect_g.observe = collect_g.writer != NULL;
}

/* A record that is too large or finds no memory is lost alone; other failures end the recording. */
void collect_recorded(wl_status status)
{
    static bool said_lost;
    wl_error err = {0};
    if (status == WL_OK)
        return;
    if (cap_state(collect_g.writer, &err) != WL_OK) {
        if (collect_g.observe)
            wl_log(WL_LOG_ERROR, "Recording ends here: %s", err.text);
        collect_g.observe = false;
    } else if (!said_lost) {
        said_lost = true;
        wl_log(WL_LOG_ERROR, "Something could not be recorded (%s).", wl_status_text(status));
    }
}

/* A program with C++ kernels has the demangler of its own C++ library; without one names stay as they are. */
void collect_say(wl_log_level level, const char *text)
{
    wl_demangle *demangle = (wl_demangle *)dlsym(RTLD_DEFAULT, "__cxa_demangle");
    char *plain = demangle && strstr(text, "_Z") ? wl_demangle_words(text, demangle) : NULL;
    wl_log(level, "%s", plain ? plain : text);
    free(plain);
}

void collect_message(wl_log_level level, const char *format, ...)
{
    char text[1024];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    collect_say(level, text);
    cap_message message = {.level = level, .text = text};
    COLLECT_WRITE(message, &message);
}

void collect_stop_observing(const char *format, ...)
{
    if (!collect_g.observe)
        return;
    collect_g.observe = false;
    char text[900];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    collect_message(WL_LOG_ERROR, "Launches are no longer observed: %s", text);
}

void collect_skipped(uint32_t call, const char *kernel, const char *format, ...)
{
    char text[1200];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    cap_skipped record = {.kernel = kernel, .reason = text, .call = call};
    COLLECT_WRITE(skipped, &record);
}

/* ---- devices ---- */

static emu_device machine_of(const cuda_device *d)
{
    return (emu_device){
        .sm = d->sm,
        .num_sms = (uint32_t)attribute(d, CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT),
        .max_threads_per_block = (uint32_t)attribute(d, CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK),
        .max_shared_per_block = d->limits.shared_per_block_optin,
        .max_blocks_per_sm = d->limits.blocks,
        .max_threads_per_sm = d->limits.threads,
        .shared_per_sm = d->limits.shared,
        .global_bytes = d->global_bytes,
        .clock_khz = (uint32_t)attribute(d, CU_DEVICE_ATTRIBUTE_CLOCK_RATE)};
}

static bool add_device(const char *name)
{
    collect_device *device = &collect_g.devices[collect_g.ndevices];
    wl_error err = {0};
    *device = (collect_device){.ordinal = collect_g.ndevices};
    if (cuda_device_load(name, &device->description, &err) != WL_OK) {
        collect_message(WL_LOG_ERROR, "%s", err.text);
        return false;
    }
    emu_device machine = machine_of(&device->description);
    if (emu_machine_new(&machine, &device->machine, &err) != WL_OK) {
        collect_message(WL_LOG_ERROR, "No device could be emulated: %s", err.text);
        return false;
    }
    collect_g.ndevices++;
    write_device(device);
    return true;
}

static void add_devices(void)
{
    char *names = strdup(collect_options_get()->device), *rest = names;
    for (char *name; names && (name = strsep(&rest, ","));)
        if (*name && collect_g.ndevices < COLLECT_MAX_DEVICES && !add_device(name))
            break;
    free(names);
}

collect_result collect_initialize(void)
{
    if (!collect_g.initialized) {
        collect_g.initialized = true;
        collect_g.pid = getpid();
        wl_log_set_level((wl_log_level)collect_options_get()->verbosity);
        open_capture();
        add_devices();
    }
    return collect_g.ndevices ? COLLECT_OK : COLLECT_NO_DEVICE;
}

bool collect_initialized(void)
{
    return collect_g.initialized;
}

int collect_device_count(void)
{
    return collect_g.ndevices;
}

collect_device *collect_device_get(int ordinal)
{
    return ordinal >= 0 && ordinal < collect_g.ndevices ? &collect_g.devices[ordinal] : NULL;
}

int collect_device_ordinal(const collect_device *device)
{
    return device->ordinal;
}

const cuda_device *collect_device_description(const collect_device *device)
{
    return &device->description;
}

void collect_device_memory(const collect_device *device, uint64_t *free, uint64_t *total)
{
    uint64_t used;
    emu_mem_usage(device->machine, &used, total);
    *free = *total > used ? *total - used : 0;
}

/* ---- the process's life ---- */

/* The child has the parent's memory but none of its threads: what the parent did with CUDA is lost to it, as with the
 * real driver. A child of a parent that had not yet used CUDA starts afresh. */
static void in_child(void)
{
    pthread_mutex_init(&collect_g.lock, NULL);
    pthread_cond_init(&collect_g.changed, NULL);
    if (!collect_g.initialized)
        return;
    cap_abandon(collect_g.writer);
    collect_g.writer = NULL;
    collect_g.observe = false;
    collect_g.forked = true;
}

void collect_mark_forked(void)
{
    static bool marked;
    if (__atomic_exchange_n(&marked, true, __ATOMIC_RELAXED))
        return;
    open_capture();
    collect_message(WL_LOG_WARN,
                    "Process %ld was forked by one that had used CUDA: as with a GPU, its own CUDA "
                    "calls fail with cudaErrorInitializationError.",
                    (long)getpid());
    collect_g.observe = false;
    cap_close(collect_g.writer);
    collect_g.writer = NULL;
}

static void write_end(void)
{
    if (!collect_g.writer || collect_g.forked)
        return;
    cap_end end = {.end_ns = collect_since_start(), .records = cap_written(collect_g.writer)};
    COLLECT_WRITE(end, &end);
    cap_close(collect_g.writer);
    collect_g.writer = NULL;
    collect_g.observe = false;
}

/* Runs before the constructors of all other libraries, even libc's (-z initfirst): some of them may use CUDA. Of what libc
 * sets up only the environment is needed. */
__attribute__((constructor)) static void process_begins(int argc, char **argv, char **envp)
{
    (void)argc, (void)argv;
    if (!environ)
        environ = envp;
    collect_g.start_ns = collect_now();
    pthread_atfork(NULL, NULL, in_child);
    at_quick_exit(write_end);
    collect_options_get();
    collect_stack_start();
    collect_patch_start();
}

/* Runs after the application's own exit handlers. The lock is not taken: a thread that still runs may hold it, and the
 * process must end. */
__attribute__((destructor)) static void process_ends(void)
{
    bool locked = pthread_mutex_trylock(&collect_g.lock) == 0;
    write_end();
    if (locked)
        pthread_mutex_unlock(&collect_g.lock);
}
