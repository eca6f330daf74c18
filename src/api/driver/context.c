/* Contexts in the driver interface. */
#include "api/driver/driver.h"

#include <stddef.h>

enum { API_VERSION = 3020, LEAST_PRIORITY = 0, GREATEST_PRIORITY = -5, MAX_LIMIT = 10 };

static dev_context *context_of(CUcontext handle)
{
    return dev_is(handle, DEV_CONTEXT) ? (dev_context *)handle : NULL;
}

/* ---- making, destroying, stacking ---- */

static CUresult create(const char *api, CUcontext *out, unsigned flags, CUdevice device)
{
    DR_FREE(api);
    dev_gpu *d = dev_gpu_get(device);
    dev_context *context;
    if (!out || (flags & ~(unsigned)CU_CTX_FLAGS_MASK))
        DR_END(DEV_INVALID_VALUE);
    if (!d)
        DR_END(DEV_INVALID_DEVICE);
    result = dev_context_new(d, flags | CU_CTX_MAP_HOST, &context);
    if (result == DEV_OK)
        result = dev_push_current(context);
    if (result == DEV_OK)
        *out = (CUcontext)context;
    DR_END(result);
}

WL_DRIVER(CUresult, cuCtxCreate_v2, (CUcontext * context, unsigned flags, CUdevice device))
{
    return create("cuCtxCreate_v2", context, flags, device);
}
WL_DRIVER_ALSO(cuCtxCreate, cuCtxCreate_v2);

WL_DRIVER(CUresult, cuCtxCreate_v3,
          (CUcontext * context, CUexecAffinityParam *params, int count, unsigned flags,
           CUdevice device))
{
    if (params && count)
        return (CUresult)dev_unsupported("cuCtxCreate_v3 with an execution affinity");
    return create("cuCtxCreate_v3", context, flags, device);
}

WL_DRIVER(CUresult, cuCtxCreate_v4,
          (CUcontext * context, CUctxCreateParams *params, unsigned flags, CUdevice device))
{
    if (params && (params->numExecAffinityParams || params->cigParams))
        return (CUresult)dev_unsupported("cuCtxCreate_v4 with parameters");
    return create("cuCtxCreate_v4", context, flags, device);
}

WL_DRIVER(CUresult, cuCtxDestroy_v2, (CUcontext handle))
{
    DR_FREE("cuCtxDestroy_v2");
    dev_context *context = context_of(handle), *popped;
    if (!handle)
        DR_END(DEV_INVALID_VALUE);
    if (!context)
        DR_END(DEV_INVALID_CONTEXT);
    if (context == dev_current())
        dev_pop_current(&popped);
    DR_END(dev_context_destroy(context));
}
WL_DRIVER_ALSO(cuCtxDestroy, cuCtxDestroy_v2);

WL_DRIVER(CUresult, cuCtxPushCurrent_v2, (CUcontext handle))
{
    DR_FREE("cuCtxPushCurrent_v2");
    dev_context *context = context_of(handle);
    DR_END(context ? dev_push_current(context) : DEV_INVALID_CONTEXT);
}
WL_DRIVER_ALSO(cuCtxPushCurrent, cuCtxPushCurrent_v2);

WL_DRIVER(CUresult, cuCtxPopCurrent_v2, (CUcontext * out))
{
    DR_FREE("cuCtxPopCurrent_v2");
    dev_context *context;
    result = dev_pop_current(&context);
    if (result == DEV_OK && out)
        *out = (CUcontext)context;
    DR_END(result);
}
WL_DRIVER_ALSO(cuCtxPopCurrent, cuCtxPopCurrent_v2);

WL_DRIVER(CUresult, cuCtxSetCurrent, (CUcontext handle))
{
    DR_FREE("cuCtxSetCurrent");
    if (handle && !context_of(handle))
        DR_END(DEV_INVALID_CONTEXT);
    dev_set_current(context_of(handle));
    DR_END(DEV_OK);
}

WL_DRIVER(CUresult, cuCtxGetCurrent, (CUcontext * out))
{
    DR_FREE("cuCtxGetCurrent");
    if (out)
        *out = (CUcontext)dev_current();
    DR_END(out ? DEV_OK : DEV_INVALID_VALUE);
}

/* ---- properties ---- */

static CUresult device_of(const char *api, CUdevice *out, CUcontext handle)
{
    DR_BEGIN(api, CAP_CALL_OTHER, DEV_QUIET | (handle ? 0 : DEV_CURRENT));
    dev_context *context = handle ? context_of(handle) : call->context;
    if (!out || !context)
        DR_END(out ? DEV_INVALID_CONTEXT : DEV_INVALID_VALUE);
    *out = dev_gpu_ordinal(dev_context_device(context));
    DR_END(DEV_OK);
}

WL_DRIVER(CUresult, cuCtxGetDevice, (CUdevice * device))
{
    return device_of("cuCtxGetDevice", device, NULL);
}

WL_DRIVER(CUresult, cuCtxGetDevice_v2, (CUdevice * device, CUcontext context))
{
    return device_of("cuCtxGetDevice_v2", device, context);
}

WL_DRIVER(CUresult, cuCtxGetFlags, (unsigned *flags))
{
    DR_QUIET("cuCtxGetFlags");
    if (flags)
        *flags = dev_context_flags(call->context) | CU_CTX_MAP_HOST;
    DR_END(flags ? DEV_OK : DEV_INVALID_VALUE);
}

WL_DRIVER(CUresult, cuCtxSetFlags, (unsigned flags))
{
    DR_QUIET("cuCtxSetFlags"); /* how the host waits: of no effect here */
    DR_END(flags & ~(unsigned)CU_CTX_FLAGS_MASK ? DEV_INVALID_VALUE : DEV_OK);
}

WL_DRIVER(CUresult, cuCtxGetId, (CUcontext handle, unsigned long long *id))
{
    DR_BEGIN("cuCtxGetId", CAP_CALL_OTHER, DEV_QUIET | (handle ? 0 : DEV_CURRENT));
    dev_context *context = handle ? context_of(handle) : call->context;
    if (!id || !context)
        DR_END(id ? DEV_CONTEXT_DESTROYED : DEV_INVALID_VALUE);
    *id = dev_context_id(context);
    DR_END(DEV_OK);
}

WL_DRIVER(CUresult, cuCtxGetApiVersion, (CUcontext handle, unsigned *version))
{
    DR_BEGIN("cuCtxGetApiVersion", CAP_CALL_OTHER, DEV_QUIET | (handle ? 0 : DEV_CURRENT));
    if (handle && !context_of(handle))
        DR_END(DEV_INVALID_CONTEXT);
    if (version)
        *version = API_VERSION;
    DR_END(version ? DEV_OK : DEV_INVALID_VALUE);
}

WL_DRIVER(CUresult, cuCtxGetStreamPriorityRange, (int *least, int *greatest))
{
    DR_QUIET("cuCtxGetStreamPriorityRange");
    if (least)
        *least = LEAST_PRIORITY;
    if (greatest)
        *greatest = GREATEST_PRIORITY;
    DR_END(DEV_OK);
}

/* ---- synchronisation ---- */

static CUresult synchronize(const char *api, CUcontext handle)
{
    DR_BEGIN(api, CAP_CALL_SYNC, handle ? 0 : DEV_CURRENT);
    dev_context *context = handle ? context_of(handle) : call->context;
    DR_END(context ? dev_context_synchronize(context) : DEV_CONTEXT_DESTROYED);
}

WL_DRIVER(CUresult, cuCtxSynchronize, (void))
{
    return synchronize("cuCtxSynchronize", NULL);
}

WL_DRIVER(CUresult, cuCtxSynchronize_v2, (CUcontext context))
{
    return synchronize("cuCtxSynchronize_v2", context);
}

/* ---- limits and preferences ---- */

/* The depth at which device code may wait for its children went with CUDA 12. */
static dev_result known_limit(int limit)
{
    if (limit == CU_LIMIT_DEV_RUNTIME_SYNC_DEPTH)
        return (dev_result)CUDA_ERROR_UNSUPPORTED_LIMIT;
    return limit >= 0 && limit < MAX_LIMIT ? DEV_OK : DEV_INVALID_VALUE;
}

WL_DRIVER(CUresult, cuCtxGetLimit, (size_t *value, int limit))
{
    DR_QUIET("cuCtxGetLimit");
    result = value ? known_limit(limit) : DEV_INVALID_VALUE;
    DR_END(result ? result : dev_limit_get(call->context, limit, value));
}

WL_DRIVER(CUresult, cuCtxSetLimit, (int limit, size_t value))
{
    DR_QUIET("cuCtxSetLimit");
    result = known_limit(limit);
    DR_END(result ? result : dev_limit_set(call->context, limit, value));
}

WL_DRIVER(CUresult, cuCtxGetCacheConfig, (int *config))
{
    DR_QUIET("cuCtxGetCacheConfig");
    DR_END(config ? dev_cache_config(call->context, config, 0) : DEV_INVALID_VALUE);
}

WL_DRIVER(CUresult, cuCtxSetCacheConfig, (int config))
{
    DR_QUIET("cuCtxSetCacheConfig");
    DR_END(config >= CU_FUNC_CACHE_PREFER_NONE && config <= CU_FUNC_CACHE_PREFER_EQUAL
               ? dev_cache_config(call->context, NULL, config)
               : DEV_INVALID_VALUE);
}

WL_DRIVER(CUresult, cuCtxGetSharedMemConfig, (int *config))
{
    DR_QUIET("cuCtxGetSharedMemConfig"); /* banks are four bytes wide since Maxwell */
    if (config)
        *config = CU_SHARED_MEM_CONFIG_FOUR_BYTE_BANK_SIZE;
    DR_END(config ? DEV_OK : DEV_INVALID_VALUE);
}

WL_DRIVER(CUresult, cuCtxSetSharedMemConfig, (int config))
{
    DR_QUIET("cuCtxSetSharedMemConfig");
    DR_END(config >= CU_SHARED_MEM_CONFIG_DEFAULT_BANK_SIZE &&
                   config <= CU_SHARED_MEM_CONFIG_EIGHT_BYTE_BANK_SIZE
               ? DEV_OK
               : DEV_INVALID_VALUE);
}

WL_DRIVER(CUresult, cuCtxResetPersistingL2Cache, (void))
{
    DR_QUIET("cuCtxResetPersistingL2Cache");
    DR_END(DEV_OK);
}

/* ---- peers ---- */

WL_DRIVER(CUresult, cuCtxEnablePeerAccess, (CUcontext handle, unsigned flags))
{
    DR_QUIET("cuCtxEnablePeerAccess");
    dev_context *peer = context_of(handle);
    if (flags)
        DR_END(DEV_INVALID_VALUE);
    DR_END(peer ? dev_peer_enable(call->context, peer) : DEV_INVALID_CONTEXT);
}

WL_DRIVER(CUresult, cuCtxDisablePeerAccess, (CUcontext handle))
{
    DR_QUIET("cuCtxDisablePeerAccess");
    dev_context *peer = context_of(handle);
    DR_END(peer ? dev_peer_disable(call->context, peer) : DEV_INVALID_CONTEXT);
}
