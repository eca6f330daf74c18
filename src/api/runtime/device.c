/* Devices, limits, versions and errors of the runtime. */
#include "api/runtime/runtime.h"

#include "cuda/errors.h"

#include <stdio.h>
#include <string.h>

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

WL_RUNTIME(int, cudaGetDeviceCount, (int *count))
{
    RT_FREE("cudaGetDeviceCount");
    if (!count)
        RT_END(DEV_INVALID_VALUE);
    result = dev_initialize();
    *count = dev_gpu_count();
    RT_END(result);
}

static int select_device(int device)
{
    dev_context *context = rt_device_context(device);
    if (!context)
        return cudaErrorInvalidDevice;
    dev_self()->device = device;
    dev_self()->device_set = true;
    dev_set_current(context);
    return cudaSuccess;
}

dev_context *rt_device_context(int ordinal)
{
    dev_context *context = NULL;
    dev_gpu *device = dev_initialize() == DEV_OK ? dev_gpu_get(ordinal) : NULL;
    if (device)
        dev_primary_get(device, &context);
    return context;
}

bool rt_device_exists(int device)
{
    if (!dev_lock())
        return false;
    bool exists = dev_initialize() == DEV_OK && dev_gpu_get(device);
    dev_unlock();
    return exists;
}

WL_RUNTIME(int, cudaSetDevice, (int device))
{
    RT_FREE("cudaSetDevice");
    RT_END(select_device(device));
}

WL_RUNTIME(int, cudaInitDevice, (int device, unsigned device_flags, unsigned flags))
{
    RT_FREE("cudaInitDevice");
    if (flags & 1U && dev_initialize() == DEV_OK && dev_gpu_get(device))
        dev_primary_flags(dev_gpu_get(device), device_flags);
    RT_END(rt_device_context(device) ? DEV_OK : DEV_INVALID_DEVICE);
}

WL_RUNTIME(int, cudaGetDevice, (int *device))
{
    RT_FREE("cudaGetDevice");
    if (!device)
        RT_END(DEV_INVALID_VALUE);
    result = dev_initialize();
    *device = dev_self()->device;
    RT_END(result);
}

WL_RUNTIME(int, cudaDeviceGetAttribute, (int *value, int attribute, int device))
{
    RT_FREE("cudaDeviceGetAttribute");
    result = value ? dev_initialize() : DEV_INVALID_VALUE;
    if (result)
        RT_END(result);
    if (!dev_gpu_get(device))
        RT_END(DEV_INVALID_DEVICE);
    const cuda_device *d = dev_gpu_description(dev_gpu_get(device));
    RT_END(cuda_device_attribute(d, attribute, value) ? DEV_OK : DEV_INVALID_VALUE);
}

#define PROPERTIES(first, last, name, layout)                                            \
    WL_RUNTIME_FOR(first, last, int, name, (cudaDeviceProp_##layout * prop, int device)) \
    {                                                                                    \
        RT_FREE("cudaGetDeviceProperties");                                              \
        result = prop ? dev_initialize() : DEV_INVALID_VALUE;                            \
        if (result)                                                                      \
            RT_END(result);                                                              \
        dev_gpu *d = dev_gpu_get(device);                                                \
        if (d)                                                                           \
            cuda_device_prop_##layout(dev_gpu_description(d), device, prop);             \
        RT_END(d ? DEV_OK : DEV_INVALID_DEVICE);                                         \
    }
PROPERTIES(11, 12, cudaGetDeviceProperties, v11)
PROPERTIES(12, 12, cudaGetDeviceProperties_v2, v12)
PROPERTIES(13, 13, cudaGetDeviceProperties, v13)

/* With one kind of device there is little to choose: the first. */
WL_RUNTIME(int, cudaChooseDevice, (int *device, const void *prop))
{
    RT_FREE("cudaChooseDevice");
    if (!device || !prop)
        RT_END(DEV_INVALID_VALUE);
    *device = 0;
    RT_END(dev_initialize());
}

WL_RUNTIME(int, cudaSetValidDevices, (int *devices, int count))
{
    RT_FREE("cudaSetValidDevices");
    for (int i = 0; devices && i < count; i++)
        if (dev_initialize() != DEV_OK || !dev_gpu_get(devices[i]))
            RT_END(DEV_INVALID_DEVICE);
    RT_END(DEV_OK);
}

WL_RUNTIME(int, cudaDeviceGetPCIBusId, (char *text, int length, int device))
{
    RT_FREE("cudaDeviceGetPCIBusId");
    result = text && length > 0 ? dev_initialize() : DEV_INVALID_VALUE;
    if (result)
        RT_END(result);
    if (!dev_gpu_get(device))
        RT_END(DEV_INVALID_DEVICE);
    snprintf(text, (size_t)length, "%04x:%02x:%02x.0", 0, device + 1, 0);
    RT_END(DEV_OK);
}

WL_RUNTIME(int, cudaDeviceGetByPCIBusId, (int *device, const char *text))
{
    RT_FREE("cudaDeviceGetByPCIBusId");
    unsigned domain = 0, bus = 0, slot = 0;
    result = device && text ? dev_initialize() : DEV_INVALID_VALUE;
    if (result)
        RT_END(result);
    bool parsed = sscanf(text, "%x:%x:%x", &domain, &bus, &slot) >= 2;
    if (!parsed || domain || !bus || !dev_gpu_get((int)bus - 1))
        RT_END(DEV_INVALID_DEVICE);
    *device = (int)bus - 1;
    RT_END(DEV_OK);
}

WL_RUNTIME(int, cudaSetDeviceFlags, (unsigned flags))
{
    RT_FREE("cudaSetDeviceFlags");
    if (flags & ~(unsigned)cudaDeviceMask)
        RT_END(DEV_INVALID_VALUE);
    result = dev_initialize();
    if (result == DEV_OK)
        result = dev_primary_flags(dev_gpu_get(dev_self()->device), flags);
    RT_END(result);
}

WL_RUNTIME(int, cudaGetDeviceFlags, (unsigned *flags))
{
    RT_FREE("cudaGetDeviceFlags");
    bool active;
    result = flags ? dev_initialize() : DEV_INVALID_VALUE;
    if (result)
        RT_END(result);
    dev_primary_state(dev_gpu_get(dev_self()->device), flags, &active);
    *flags |= cudaDeviceMapHost;
    RT_END(DEV_OK);
}

WL_RUNTIME(int, cudaDeviceSynchronize, (void))
{
    RT_BEGIN("cudaDeviceSynchronize", CAP_CALL_SYNC, DEV_PRIMARY);
    RT_END(dev_context_synchronize(call->context));
}

WL_RUNTIME_FOR(11, 12, int, cudaThreadSynchronize, (void))
{
    RT_BEGIN("cudaThreadSynchronize", CAP_CALL_SYNC, DEV_PRIMARY);
    RT_END(dev_context_synchronize(call->context));
}

static int reset(const char *api)
{
    RT_BEGIN(api, CAP_CALL_OTHER, DEV_UNSTICKY);
    result = dev_initialize();
    if (result == DEV_OK) {
        call->context = NULL;
        result = dev_primary_reset(dev_gpu_get(dev_self()->device));
    }
    RT_END(result);
}

WL_RUNTIME(int, cudaDeviceReset, (void))
{
    return reset("cudaDeviceReset");
}

WL_RUNTIME_FOR(11, 12, int, cudaThreadExit, (void))
{
    return reset("cudaThreadExit");
}

/* ---- limits and configuration ---- */

WL_RUNTIME(int, cudaDeviceGetLimit, (size_t *value, int limit))
{
    RT_QUIET("cudaDeviceGetLimit");
    RT_END(value ? dev_limit_get(call->context, limit, value) : DEV_INVALID_VALUE);
}

WL_RUNTIME(int, cudaDeviceSetLimit, (int limit, size_t value))
{
    RT_QUIET("cudaDeviceSetLimit");
    RT_END(dev_limit_set(call->context, limit, value));
}

WL_RUNTIME(int, cudaDeviceGetCacheConfig, (int *config))
{
    RT_QUIET("cudaDeviceGetCacheConfig");
    RT_END(config ? dev_cache_config(call->context, config, 0) : DEV_INVALID_VALUE);
}

WL_RUNTIME(int, cudaDeviceSetCacheConfig, (int config))
{
    RT_QUIET("cudaDeviceSetCacheConfig");
    bool known = config >= cudaFuncCachePreferNone && config <= cudaFuncCachePreferEqual;
    RT_END(known ? dev_cache_config(call->context, NULL, config) : DEV_INVALID_VALUE);
}

/* Banks have been four bytes wide since Maxwell. */
WL_RUNTIME(int, cudaDeviceGetSharedMemConfig, (int *config))
{
    RT_QUIET("cudaDeviceGetSharedMemConfig");
    if (config)
        *config = cudaSharedMemBankSizeFourByte;
    RT_END(config ? DEV_OK : DEV_INVALID_VALUE);
}

WL_RUNTIME(int, cudaDeviceSetSharedMemConfig, (int config))
{
    RT_QUIET("cudaDeviceSetSharedMemConfig");
    bool known = config >= cudaSharedMemBankSizeDefault && config <= cudaSharedMemBankSizeEightByte;
    RT_END(known ? DEV_OK : DEV_INVALID_VALUE);
}

WL_RUNTIME(int, cudaCtxResetPersistingL2Cache, (void))
{
    RT_QUIET("cudaCtxResetPersistingL2Cache");
    RT_END(DEV_OK);
}

WL_RUNTIME(int, cudaProfilerStart, (void))
{
    RT_QUIET("cudaProfilerStart");
    RT_END(DEV_OK);
}

WL_RUNTIME(int, cudaProfilerStop, (void))
{
    RT_QUIET("cudaProfilerStop");
    RT_END(DEV_OK);
}

/* ---- peers ---- */

static bool known(int device)
{
    return dev_initialize() == DEV_OK && dev_gpu_get(device);
}

WL_RUNTIME(int, cudaDeviceCanAccessPeer, (int *can, int device, int peer))
{
    RT_FREE("cudaDeviceCanAccessPeer");
    if (!can || !known(device) || !known(peer))
        RT_END(can ? DEV_INVALID_DEVICE : DEV_INVALID_VALUE);
    *can = device != peer;
    RT_END(DEV_OK);
}

WL_RUNTIME(int, cudaDeviceEnablePeerAccess, (int peer, unsigned flags))
{
    RT_QUIET("cudaDeviceEnablePeerAccess");
    dev_context *other = rt_device_context(peer);
    if (!other || flags)
        RT_END(other ? DEV_INVALID_VALUE : DEV_INVALID_DEVICE);
    RT_END(dev_peer_enable(call->context, other));
}

WL_RUNTIME(int, cudaDeviceDisablePeerAccess, (int peer))
{
    RT_QUIET("cudaDeviceDisablePeerAccess");
    dev_context *other = rt_device_context(peer);
    RT_END(other ? dev_peer_disable(call->context, other) : DEV_INVALID_DEVICE);
}

WL_RUNTIME(int, cudaDeviceGetP2PAttribute, (int *value, int attribute, int device, int peer))
{
    RT_FREE("cudaDeviceGetP2PAttribute");
    if (!value || attribute < cudaDevP2PAttrPerformanceRank ||
        attribute > cudaDevP2PAttrCudaArrayAccessSupported)
        RT_END(DEV_INVALID_VALUE);
    if (!known(device) || !known(peer) || device == peer)
        RT_END(DEV_INVALID_DEVICE);
    *value = attribute != cudaDevP2PAttrPerformanceRank;
    RT_END(DEV_OK);
}
