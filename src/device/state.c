/* The process: start, devices, the capture file, fork and end. */
#include "device/impl.h"

#include "base/log.h"
#include "base/names.h"
#include "inject/stack.h"
#include "record/process.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

dev_state dev_g = {.lock = PTHREAD_MUTEX_INITIALIZER, .changed = PTHREAD_COND_INITIALIZER};

int64_t dev_since_start(void)
{
    return rec_now() - dev_g.start_ns;
}

/* ---- handles ---- */

void dev_handle_add(dev_handle *handle, dev_kind kind, void *self)
{
    handle->kind = kind;
    handle->self = self;
    HASH_ADD_PTR(dev_g.handles, self, handle);
}

void dev_handle_remove(dev_handle *handle)
{
    HASH_DEL(dev_g.handles, handle);
}

bool dev_is(const void *handle, dev_kind kind)
{
    dev_handle *found = NULL;
    if (handle)
        HASH_FIND_PTR(dev_g.handles, &handle, found);
    return found && found->kind == kind;
}

/* ---- the capture ---- */

static int attribute(const cuda_device *device, int number)
{
    int value = 0;
    cuda_device_attribute(device, number, &value);
    return value;
}

static void write_device(const dev_gpu *device)
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
    DEV_WRITE(device, &record);
}

/* Where WARPLENS_DRIVER names this library, the one that stands before a driver records, and two would be one too many. */
static void open_capture(void)
{
    if (*prog_options_get()->driver)
        return;
    dev_g.writer = rec_open_capture("emulate", dev_g.start_ns);
    dev_g.observe = dev_g.writer != NULL;
}

/* A record that is too large or finds no memory is lost alone; other failures end the recording. */
void dev_recorded(wl_status status)
{
    static bool said_lost;
    wl_error err = {0};
    if (status == WL_OK)
        return;
    if (cap_state(dev_g.writer, &err) != WL_OK) {
        if (dev_g.observe)
            wl_log(WL_LOG_ERROR, "Recording ends here: %s", err.text);
        dev_g.observe = false;
    } else if (!said_lost) {
        said_lost = true;
        wl_log(WL_LOG_ERROR, "Something could not be recorded (%s).", wl_status_text(status));
    }
}

/* A program with C++ kernels has the demangler of its own C++ library; without one names stay as they are. */
void dev_say(wl_log_level level, const char *text)
{
    wl_demangle *demangle = (wl_demangle *)dlsym(RTLD_DEFAULT, "__cxa_demangle");
    char *plain = demangle && strstr(text, "_Z") ? wl_demangle_words(text, demangle) : NULL;
    wl_log(level, "%s", plain ? plain : text);
    free(plain);
}

void dev_message(wl_log_level level, const char *format, ...)
{
    char text[1024];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    dev_say(level, text);
    cap_message message = {.level = level, .text = text};
    DEV_WRITE(message, &message);
}

void dev_stop_observing(const char *format, ...)
{
    if (!dev_g.observe)
        return;
    dev_g.observe = false;
    char text[900];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    dev_message(WL_LOG_ERROR, "Launches are no longer observed: %s", text);
}

void dev_skipped(uint32_t call, const char *kernel, const char *format, ...)
{
    char text[1200];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    cap_skipped record = {.kernel = kernel, .reason = text, .call = call};
    DEV_WRITE(skipped, &record);
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
    dev_gpu *device = &dev_g.devices[dev_g.ndevices];
    wl_error err = {0};
    *device = (dev_gpu){.ordinal = dev_g.ndevices};
    if (cuda_device_load(name, &device->description, &err) != WL_OK) {
        dev_message(WL_LOG_ERROR, "%s", err.text);
        return false;
    }
    emu_device machine = machine_of(&device->description);
    if (emu_machine_new(&machine, &device->machine, &err) != WL_OK) {
        dev_message(WL_LOG_ERROR, "No device could be emulated: %s", err.text);
        return false;
    }
    dev_g.ndevices++;
    write_device(device);
    return true;
}

static void add_devices(void)
{
    char *names = strdup(prog_options_get()->device), *rest = names;
    for (char *name; names && (name = strsep(&rest, ","));)
        if (*name && dev_g.ndevices < DEV_MAX_DEVICES && !add_device(name))
            break;
    free(names);
}

dev_result dev_initialize(void)
{
    if (!dev_g.initialized) {
        dev_g.initialized = true;
        dev_g.pid = getpid();
        wl_log_set_level((wl_log_level)prog_options_get()->verbosity);
        open_capture();
        add_devices();
    }
    return dev_g.ndevices ? DEV_OK : DEV_NO_DEVICE;
}

bool dev_initialized(void)
{
    return dev_g.initialized;
}

int dev_gpu_count(void)
{
    return dev_g.ndevices;
}

dev_gpu *dev_gpu_get(int ordinal)
{
    return ordinal >= 0 && ordinal < dev_g.ndevices ? &dev_g.devices[ordinal] : NULL;
}

int dev_gpu_ordinal(const dev_gpu *device)
{
    return device->ordinal;
}

const cuda_device *dev_gpu_description(const dev_gpu *device)
{
    return &device->description;
}

void dev_gpu_memory(const dev_gpu *device, uint64_t *free, uint64_t *total)
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
    pthread_mutex_init(&dev_g.lock, NULL);
    pthread_cond_init(&dev_g.changed, NULL);
    if (!dev_g.initialized)
        return;
    cap_abandon(dev_g.writer);
    dev_g.writer = NULL;
    dev_g.observe = false;
    dev_g.forked = true;
}

void dev_mark_forked(void)
{
    static bool marked;
    if (__atomic_exchange_n(&marked, true, __ATOMIC_RELAXED))
        return;
    open_capture();
    dev_message(WL_LOG_WARN,
                "Process %ld was forked by one that had used CUDA: as with a GPU, its own CUDA "
                "calls fail with cudaErrorInitializationError.",
                (long)getpid());
    dev_g.observe = false;
    cap_close(dev_g.writer);
    dev_g.writer = NULL;
}

static void write_end(void)
{
    if (!dev_g.writer || dev_g.forked)
        return;
    cap_end end = {.end_ns = dev_since_start(), .records = cap_written(dev_g.writer)};
    DEV_WRITE(end, &end);
    cap_close(dev_g.writer);
    dev_g.writer = NULL;
    dev_g.observe = false;
}

void dev_process_begins(void)
{
    dev_g.start_ns = rec_now();
    pthread_atfork(NULL, NULL, in_child);
    at_quick_exit(write_end);
    prog_options_get();
    inj_stack_start();
}

void dev_process_ends(void)
{
    bool locked = pthread_mutex_trylock(&dev_g.lock) == 0;
    write_end();
    if (locked)
        pthread_mutex_unlock(&dev_g.lock);
}
