/* Devices, versions and errors of the runtime. */
#include "api/both/device.h"
#include "api/runtime/runtime.h"
#include "cuda/errors.h"

/* ---- errors ---- */

WL_RUNTIME(int, cudaGetLastError, (void))
{
    dev_thread *self = dev_self();
    int error = self ? self->last_error : cudaErrorMemoryAllocation;
    if (self)
        self->last_error = cudaSuccess;
    return error;
}

WL_RUNTIME(int, cudaPeekAtLastError, (void))
{
    dev_thread *self = dev_self();
    return self ? self->last_error : cudaErrorMemoryAllocation;
}

WL_RUNTIME(const char *, cudaGetErrorString, (int error))
{
    return cuda_runtime_error_text(error);
}

WL_RUNTIME(const char *, cudaGetErrorName, (int error))
{
    return cuda_runtime_error_name(error);
}

/* ---- versions ---- */

static int version(int *out, int value)
{
    if (!out)
        return rt_fail(cudaErrorInvalidValue);
    *out = value;
    return cudaSuccess;
}

enum { DRIVER_VERSION = 13000 };

WL_RUNTIME(int, cudaDriverGetVersion, (int *out))
{
    return version(out, DRIVER_VERSION);
}

WL_RUNTIME_FOR(11, 11, int, cudaRuntimeGetVersion, (int *out))
{
    return version(out, 11080);
}

WL_RUNTIME_FOR(12, 12, int, cudaRuntimeGetVersion, (int *out))
{
    return version(out, 12090);
}

WL_RUNTIME_FOR(13, 13, int, cudaRuntimeGetVersion, (int *out))
{
    return version(out, 13000);
}

/* ---- devices ---- */

static dev_gpu *current_device(void)
{
    return dev_gpu_get(dev_self()->device);
}

dev_context *rt_device_context(int ordinal)
{
    dev_context *context = NULL;
    dev_gpu *device = dev_initialize() == DEV_OK ? dev_gpu_get(ordinal) : NULL;
    if (device)
        dev_primary_get(device, &context);
    return context;
}

/* Tells that there are none where that is so. */
dev_result rt_device_count(int *count)
{
    if (!count)
        return DEV_INVALID_VALUE;
    dev_result r = dev_initialize();
    *count = dev_gpu_count();
    return r;
}

dev_result rt_set_device(int device)
{
    dev_context *context = rt_device_context(device);
    if (!context)
        return DEV_INVALID_DEVICE;
    dev_self()->device = device;
    dev_self()->device_set = true;
    dev_set_current(context);
    return DEV_OK;
}

dev_result rt_init_device(int device, unsigned device_flags, unsigned flags)
{
    enum { FLAGS_ARE_GIVEN = 1 };
    if (flags & FLAGS_ARE_GIVEN && dev_gpu_get(device))
        dev_primary_flags(dev_gpu_get(device), device_flags);
    return rt_device_context(device) ? DEV_OK : DEV_INVALID_DEVICE;
}

dev_result rt_get_device(int *device)
{
    if (device)
        *device = dev_self()->device;
    return device ? DEV_OK : DEV_INVALID_VALUE;
}

/* With one kind of device there is little to choose: the first. */
dev_result rt_choose_device(int *device, const void *prop)
{
    if (!device || !prop)
        return DEV_INVALID_VALUE;
    *device = 0;
    return DEV_OK;
}

dev_result rt_set_valid_devices(const int *devices, int count)
{
    for (int i = 0; devices && i < count; i++)
        if (!dev_gpu_get(devices[i]))
            return DEV_INVALID_DEVICE;
    return DEV_OK;
}

#define PROPERTIES(layout)                                                                 \
    dev_result rt_properties_##layout(cudaDeviceProp_##layout *prop, int device)           \
    {                                                                                      \
        if (!prop || !dev_gpu_get(device))                                                 \
            return prop ? DEV_INVALID_DEVICE : DEV_INVALID_VALUE;                          \
        cuda_device_prop_##layout(dev_gpu_description(dev_gpu_get(device)), device, prop); \
        return DEV_OK;                                                                     \
    }
PROPERTIES(v11)
PROPERTIES(v12)
PROPERTIES(v13)

dev_result rt_set_flags(unsigned flags)
{
    return flags & ~(unsigned)cudaDeviceMask ? DEV_INVALID_VALUE
                                             : dev_primary_flags(current_device(), flags);
}

dev_result rt_get_flags(unsigned *flags)
{
    bool active;
    if (!flags)
        return DEV_INVALID_VALUE;
    dev_primary_state(current_device(), flags, &active);
    *flags |= cudaDeviceMapHost;
    return DEV_OK;
}

dev_result rt_reset(dev_call *call)
{
    call->context = NULL;
    return dev_primary_reset(current_device());
}
