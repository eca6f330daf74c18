/* Devices, limits, versions and errors of the runtime. */
#include "collect/impl.h"
#include "collect/runtime.h"

#include "cuda/errors.h"

#include <stdio.h>
#include <string.h>

/* ---- errors ---- */

WL_RUNTIME(int, cudaGetLastError, (void))
{
    collect_thread *self = collect_self();
    int error = self ? self->last_error : cudaErrorMemoryAllocation;
    if (self)
        self->last_error = cudaSuccess;
    return error;
}

WL_RUNTIME(int, cudaPeekAtLastError, (void))
{
    collect_thread *self = collect_self();
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
        RT_END(COLLECT_INVALID_VALUE);
    result = collect_initialize();
    *count = collect_device_count();
    RT_END(result);
}

static int select_device(int device)
{
    collect_context *context = rt_device_context(device);
    if (!context)
        return cudaErrorInvalidDevice;
    collect_self()->device = device;
    collect_self()->device_set = true;
    collect_set_current(context);
    return cudaSuccess;
}

collect_context *rt_device_context(int ordinal)
{
    collect_context *context = NULL;
    if (collect_initialize() != COLLECT_OK || !collect_device_get(ordinal))
        return NULL;
    collect_device *device = collect_device_get(ordinal);
    if (device->primary)
        return device->primary;
    collect_primary_retain(device, &context);
    return context;
}

bool rt_device_exists(int device)
{
    collect_call call;
    collect_begin(&call, "", CAP_CALL_OTHER, COLLECT_QUIET);
    bool exists = collect_initialize() == COLLECT_OK && collect_device_get(device);
    collect_end(&call, COLLECT_OK);
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
    if (flags & 1U && collect_initialize() == COLLECT_OK && collect_device_get(device))
        collect_primary_flags(collect_device_get(device), device_flags);
    RT_END(rt_device_context(device) ? COLLECT_OK : COLLECT_INVALID_DEVICE);
}

WL_RUNTIME(int, cudaGetDevice, (int *device))
{
    RT_FREE("cudaGetDevice");
    if (!device)
        RT_END(COLLECT_INVALID_VALUE);
    result = collect_initialize();
    *device = collect_self()->device;
    RT_END(result);
}

WL_RUNTIME(int, cudaDeviceGetAttribute, (int *value, int attribute, int device))
{
    RT_FREE("cudaDeviceGetAttribute");
    result = value ? collect_initialize() : COLLECT_INVALID_VALUE;
    if (result)
        RT_END(result);
    if (!collect_device_get(device))
        RT_END(COLLECT_INVALID_DEVICE);
    const cuda_device *d = collect_device_description(collect_device_get(device));
    RT_END(cuda_device_attribute(d, attribute, value) ? COLLECT_OK : COLLECT_INVALID_VALUE);
}

#define PROPERTIES(first, last, name, layout)                                            \
    WL_RUNTIME_FOR(first, last, int, name, (cudaDeviceProp_##layout * prop, int device)) \
    {                                                                                    \
        RT_FREE("cudaGetDeviceProperties");                                              \
        result = prop ? collect_initialize() : COLLECT_INVALID_VALUE;                    \
        if (result)                                                                      \
            RT_END(result);                                                              \
        collect_device *d = collect_device_get(device);                                  \
        if (d)                                                                           \
            cuda_device_prop_##layout(collect_device_description(d), device, prop);      \
        RT_END(d ? COLLECT_OK : COLLECT_INVALID_DEVICE);                                 \
    }
PROPERTIES(11, 12, cudaGetDeviceProperties, v11)
PROPERTIES(12, 12, cudaGetDeviceProperties_v2, v12)
PROPERTIES(13, 13, cudaGetDeviceProperties, v13)

/* With one kind of device there is little to choose: the first. */
WL_RUNTIME(int, cudaChooseDevice, (int *device, const void *prop))
{
    RT_FREE("cudaChooseDevice");
    if (!device || !prop)
        RT_END(COLLECT_INVALID_VALUE);
    *device = 0;
    RT_END(collect_initialize());
}

WL_RUNTIME(int, cudaSetValidDevices, (int *devices, int count))
{
    RT_FREE("cudaSetValidDevices");
    for (int i = 0; devices && i < count; i++)
        if (collect_initialize() != COLLECT_OK || !collect_device_get(devices[i]))
            RT_END(COLLECT_INVALID_DEVICE);
    RT_END(COLLECT_OK);
}

WL_RUNTIME(int, cudaDeviceGetPCIBusId, (char *text, int length, int device))
{
    RT_FREE("cudaDeviceGetPCIBusId");
    result = text && length > 0 ? collect_initialize() : COLLECT_INVALID_VALUE;
    if (result)
        RT_END(result);
    if (!collect_device_get(device))
        RT_END(COLLECT_INVALID_DEVICE);
    snprintf(text, (size_t)length, "%04x:%02x:%02x.0", 0, device + 1, 0);
    RT_END(COLLECT_OK);
}

WL_RUNTIME(int, cudaDeviceGetByPCIBusId, (int *device, const char *text))
{
    RT_FREE("cudaDeviceGetByPCIBusId");
    unsigned domain = 0, bus = 0, slot = 0;
    result = device && text ? collect_initialize() : COLLECT_INVALID_VALUE;
    if (result)
        RT_END(result);
    bool parsed = sscanf(text, "%x:%x:%x", &domain, &bus, &slot) >= 2;
    if (!parsed || domain || !bus || !collect_device_get((int)bus - 1))
        RT_END(COLLECT_INVALID_DEVICE);
    *device = (int)bus - 1;
    RT_END(COLLECT_OK);
}

WL_RUNTIME(int, cudaSetDeviceFlags, (unsigned flags))
{
    RT_FREE("cudaSetDeviceFlags");
    if (flags & ~(unsigned)cudaDeviceMask)
        RT_END(COLLECT_INVALID_VALUE);
    result = collect_initialize();
    if (result == COLLECT_OK)
        result = collect_primary_flags(collect_device_get(collect_self()->device), flags);
    RT_END(result);
}

WL_RUNTIME(int, cudaGetDeviceFlags, (unsigned *flags))
{
    RT_FREE("cudaGetDeviceFlags");
    bool active;
    result = flags ? collect_initialize() : COLLECT_INVALID_VALUE;
    if (result)
        RT_END(result);
    collect_primary_state(collect_device_get(collect_self()->device), flags, &active);
    *flags |= cudaDeviceMapHost;
    RT_END(COLLECT_OK);
}

WL_RUNTIME(int, cudaDeviceSynchronize, (void))
{
    RT_BEGIN("cudaDeviceSynchronize", CAP_CALL_SYNC, COLLECT_PRIMARY);
    RT_END(collect_context_synchronize(call.context));
}

WL_RUNTIME_FOR(11, 12, int, cudaThreadSynchronize, (void))
{
    RT_BEGIN("cudaThreadSynchronize", CAP_CALL_SYNC, COLLECT_PRIMARY);
    RT_END(collect_context_synchronize(call.context));
}

static int reset(const char *api)
{
    RT_BEGIN(api, CAP_CALL_OTHER, COLLECT_UNSTICKY);
    result = collect_initialize();
    if (result == COLLECT_OK) {
        call.context = NULL;
        result = collect_primary_reset(collect_device_get(collect_self()->device));
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

WL_RUNTIME(int, cudaMemGetInfo, (size_t *free_bytes, size_t *total))
{
    RT_QUIET("cudaMemGetInfo");
    uint64_t f, t;
    if (!free_bytes || !total)
        RT_END(COLLECT_INVALID_VALUE);
    collect_device_memory(call.context->device, &f, &t);
    *free_bytes = f;
    *total = t;
    RT_END(COLLECT_OK);
}

/* ---- limits and configuration ---- */

WL_RUNTIME(int, cudaDeviceGetLimit, (size_t *value, int limit))
{
    RT_QUIET("cudaDeviceGetLimit");
    RT_END(value ? collect_limit_get(call.context, limit, value) : COLLECT_INVALID_VALUE);
}

WL_RUNTIME(int, cudaDeviceSetLimit, (int limit, size_t value))
{
    RT_QUIET("cudaDeviceSetLimit");
    RT_END(collect_limit_set(call.context, limit, value));
}

WL_RUNTIME(int, cudaDeviceGetCacheConfig, (int *config))
{
    RT_QUIET("cudaDeviceGetCacheConfig");
    RT_END(config ? collect_cache_config(call.context, config, 0) : COLLECT_INVALID_VALUE);
}

WL_RUNTIME(int, cudaDeviceSetCacheConfig, (int config))
{
    RT_QUIET("cudaDeviceSetCacheConfig");
    bool known = config >= cudaFuncCachePreferNone && config <= cudaFuncCachePreferEqual;
    RT_END(known ? collect_cache_config(call.context, NULL, config) : COLLECT_INVALID_VALUE);
}

/* Banks have been four bytes wide since Maxwell. */
WL_RUNTIME(int, cudaDeviceGetSharedMemConfig, (int *config))
{
    RT_QUIET("cudaDeviceGetSharedMemConfig");
    if (config)
        *config = cudaSharedMemBankSizeFourByte;
    RT_END(config ? COLLECT_OK : COLLECT_INVALID_VALUE);
}

WL_RUNTIME(int, cudaDeviceSetSharedMemConfig, (int config))
{
    RT_QUIET("cudaDeviceSetSharedMemConfig");
    bool known = config >= cudaSharedMemBankSizeDefault && config <= cudaSharedMemBankSizeEightByte;
    RT_END(known ? COLLECT_OK : COLLECT_INVALID_VALUE);
}

WL_RUNTIME(int, cudaDeviceGetStreamPriorityRange, (int *least, int *greatest))
{
    RT_QUIET("cudaDeviceGetStreamPriorityRange");
    if (least)
        *least = 0;
    if (greatest)
        *greatest = -5;
    RT_END(COLLECT_OK);
}

WL_RUNTIME(int, cudaCtxResetPersistingL2Cache, (void))
{
    RT_QUIET("cudaCtxResetPersistingL2Cache");
    RT_END(COLLECT_OK);
}

WL_RUNTIME(int, cudaProfilerStart, (void))
{
    RT_QUIET("cudaProfilerStart");
    RT_END(COLLECT_OK);
}

WL_RUNTIME(int, cudaProfilerStop, (void))
{
    RT_QUIET("cudaProfilerStop");
    RT_END(COLLECT_OK);
}

/* ---- peers ---- */

static bool known(int device)
{
    return collect_initialize() == COLLECT_OK && collect_device_get(device);
}

WL_RUNTIME(int, cudaDeviceCanAccessPeer, (int *can, int device, int peer))
{
    RT_FREE("cudaDeviceCanAccessPeer");
    if (!can || !known(device) || !known(peer))
        RT_END(can ? COLLECT_INVALID_DEVICE : COLLECT_INVALID_VALUE);
    *can = device != peer;
    RT_END(COLLECT_OK);
}

WL_RUNTIME(int, cudaDeviceEnablePeerAccess, (int peer, unsigned flags))
{
    RT_QUIET("cudaDeviceEnablePeerAccess");
    collect_context *other = rt_device_context(peer);
    if (!other || flags)
        RT_END(other ? COLLECT_INVALID_VALUE : COLLECT_INVALID_DEVICE);
    RT_END(collect_peer_enable(call.context, other));
}

WL_RUNTIME(int, cudaDeviceDisablePeerAccess, (int peer))
{
    RT_QUIET("cudaDeviceDisablePeerAccess");
    collect_context *other = rt_device_context(peer);
    RT_END(other ? collect_peer_disable(call.context, other) : COLLECT_INVALID_DEVICE);
}

WL_RUNTIME(int, cudaDeviceGetP2PAttribute, (int *value, int attribute, int device, int peer))
{
    RT_FREE("cudaDeviceGetP2PAttribute");
    if (!value || attribute < cudaDevP2PAttrPerformanceRank ||
        attribute > cudaDevP2PAttrCudaArrayAccessSupported)
        RT_END(COLLECT_INVALID_VALUE);
    if (!known(device) || !known(peer) || device == peer)
        RT_END(COLLECT_INVALID_DEVICE);
    *value = attribute != cudaDevP2PAttrPerformanceRank;
    RT_END(COLLECT_OK);
}
