/* The process: its start, handles and devices. */
#include "device/impl.h"

#include <stdlib.h>
#include <string.h>

dev_state dev_g = {.changed = PTHREAD_COND_INITIALIZER};

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

static void record_emulated_device(const dev_gpu *device)
{
    const cuda_device *d = &device->description;
    cap_device record = {
        .ordinal = (uint32_t)device->ordinal,
        .name = d->name,
        .cc_major = d->sm / 10,
        .cc_minor = d->sm % 10,
        .num_sms = (uint32_t)cuda_attribute_of(d, CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT),
        .global_bytes = d->global_bytes,
        .file = d->id};
    REC_WRITE(device, &record);
}

/* ---- devices ---- */

static emu_device machine_of(const cuda_device *d)
{
    return (emu_device){
        .sm = d->sm,
        .num_sms = (uint32_t)cuda_attribute_of(d, CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT),
        .max_threads_per_block = (uint32_t)
            cuda_attribute_of(d, CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK),
        .registers_per_thread = d->limits.registers_per_thread,
        .max_shared_per_block = d->limits.shared_per_block_optin,
        .max_blocks_per_sm = d->limits.blocks,
        .max_threads_per_sm = d->limits.threads,
        .shared_per_sm = d->limits.shared,
        .global_bytes = d->global_bytes,
        .clock_khz = (uint32_t)cuda_attribute_of(d, CU_DEVICE_ATTRIBUTE_CLOCK_RATE)};
}

static bool add_emulated_device(const char *name)
{
    dev_gpu *device = &dev_g.devices[dev_g.ndevices];
    wl_error err = {0};
    *device = (dev_gpu){.ordinal = dev_g.ndevices};
    if (cuda_device_load(name, &device->description, &err) != WL_OK) {
        rec_message(WL_LOG_ERROR, "%s", err.text);
        return false;
    }
    emu_device machine = machine_of(&device->description);
    if (emu_machine_new(&machine, &device->machine, &err) != WL_OK) {
        rec_message(WL_LOG_ERROR, "No device could be emulated: %s", err.text);
        return false;
    }
    dev_g.ndevices++;
    record_emulated_device(device);
    return true;
}

static void add_devices(void)
{
    char *names = strdup(prog_options_get()->device), *rest = names;
    for (char *name; names && (name = strsep(&rest, ","));)
        if (*name && dev_g.ndevices < DEV_MAX_DEVICES && !add_emulated_device(name))
            break;
    free(names);
}

/* Where WARPLENS_DRIVER names this library, the one that stands before a driver records. */
void dev_start_recording(void)
{
    if (!rec_g.started)
        rec_start(!*prog_options_get()->driver);
}

dev_result dev_initialize(void)
{
    if (!dev_g.initialized) {
        dev_g.initialized = true;
        dev_g.settings = replay_settings_of(prog_options_get());
        dev_start_recording();
        add_devices();
    }
    return dev_g.ndevices ? DEV_OK : DEV_NO_DEVICE;
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

static void renew_condition_in_child(void)
{
    pthread_cond_init(&dev_g.changed, NULL);
}

void dev_process_begins(void)
{
    static const rec_collector emulator = {.name = "emulate", .in_child = renew_condition_in_child};
    prog_options_get();
    dev_parts_start();
    rec_process_begins(&emulator);
}
