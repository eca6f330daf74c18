/* Contexts in the driver interface. */
#include "api/both/device.h"
#include "api/driver/driver.h"

enum { API_VERSION = 3020, MAX_LIMIT = 10 };

static dev_context *context_of(CUcontext handle)
{
    return dev_is(handle, DEV_CONTEXT) ? (dev_context *)handle : NULL;
}

/* ---- making, destroying, stacking ---- */

dev_result dr_new_context(CUcontext *out, unsigned flags, CUdevice device)
{
    dev_gpu *gpu = dev_gpu_get(device);
    dev_context *context;
    if (!out || (flags & ~(unsigned)CU_CTX_FLAGS_MASK))
        return DEV_INVALID_VALUE;
    if (!gpu)
        return DEV_INVALID_DEVICE;
    dev_result r = dev_context_new(gpu, flags | CU_CTX_MAP_HOST, &context);
    if (r == DEV_OK)
        r = dev_push_current(context);
    if (r == DEV_OK)
        *out = (CUcontext)context;
    return r;
}

dev_result dr_new_context_3(CUcontext *out, const CUexecAffinityParam *params, int count,
                            unsigned flags, CUdevice device)
{
    return params && count ? dev_unsupported_part("cuCtxCreate_v3 with an execution affinity")
                           : dr_new_context(out, flags, device);
}

dev_result dr_new_context_4(CUcontext *out, const CUctxCreateParams *params, unsigned flags,
                            CUdevice device)
{
    return params && (params->numExecAffinityParams || params->cigParams)
               ? dev_unsupported_part("cuCtxCreate_v4 with parameters")
               : dr_new_context(out, flags, device);
}

dev_result dr_destroy_context(CUcontext handle)
{
    dev_context *context = context_of(handle), *popped;
    if (!context)
        return handle ? DEV_INVALID_CONTEXT : DEV_INVALID_VALUE;
    if (context == dev_current())
        dev_pop_current(&popped);
    return dev_context_destroy(context);
}

dev_result dr_push_context(CUcontext handle)
{
    return context_of(handle) ? dev_push_current(context_of(handle)) : DEV_INVALID_CONTEXT;
}

dev_result dr_pop_context(CUcontext *out)
{
    dev_context *context;
    dev_result r = dev_pop_current(&context);
    if (r == DEV_OK && out)
        *out = (CUcontext)context;
    return r;
}

dev_result dr_set_current(CUcontext handle)
{
    if (handle && !context_of(handle))
        return DEV_INVALID_CONTEXT;
    dev_set_current(context_of(handle));
    return DEV_OK;
}

dev_result dr_get_current(CUcontext *out)
{
    if (out)
        *out = (CUcontext)dev_current();
    return out ? DEV_OK : DEV_INVALID_VALUE;
}

/* ---- questions; newer functions name the context, or give NULL for the current one ---- */

/* `gone`: the result where there is no such context. */
static dev_result named_or_current(CUcontext handle, dev_result gone, dev_context **out)
{
    *out = handle ? context_of(handle) : dev_current();
    if (handle || !*out)
        return *out ? DEV_OK : handle ? gone : DEV_INVALID_CONTEXT;
    return dev_is(*out, DEV_CONTEXT) ? dev_context_error(*out) : DEV_CONTEXT_DESTROYED;
}

dev_result dr_context_device(CUdevice *out, CUcontext handle)
{
    dev_context *context;
    dev_result r = out ? named_or_current(handle, DEV_INVALID_CONTEXT, &context)
                       : DEV_INVALID_VALUE;
    if (r == DEV_OK)
        *out = dev_gpu_ordinal(dev_context_device(context));
    return r;
}

dev_result dr_context_id(CUcontext handle, unsigned long long *id)
{
    dev_context *context;
    dev_result r = id ? named_or_current(handle, DEV_CONTEXT_DESTROYED, &context)
                      : DEV_INVALID_VALUE;
    if (r == DEV_OK)
        *id = dev_context_id(context);
    return r;
}

dev_result dr_context_version(CUcontext handle, unsigned *version)
{
    dev_context *context;
    dev_result r = named_or_current(handle, DEV_INVALID_CONTEXT, &context);
    if (r)
        return r;
    if (version)
        *version = API_VERSION;
    return version ? DEV_OK : DEV_INVALID_VALUE;
}

dev_result dr_synchronize(CUcontext handle)
{
    dev_context *context;
    dev_result r = named_or_current(handle, DEV_CONTEXT_DESTROYED, &context);
    return r ? r : dev_context_synchronize(context);
}

dev_result dr_context_flags(dev_call *call, unsigned *flags)
{
    if (flags)
        *flags = dev_context_flags(call->context) | CU_CTX_MAP_HOST;
    return flags ? DEV_OK : DEV_INVALID_VALUE;
}

/* How the host waits: of no effect here. */
dev_result dr_set_context_flags(unsigned flags)
{
    return flags & ~(unsigned)CU_CTX_FLAGS_MASK ? DEV_INVALID_VALUE : DEV_OK;
}

/* ---- limits and peers ---- */

/* The depth at which device code may wait for its children went with CUDA 12. */
static dev_result known_limit(int limit)
{
    if (limit == CU_LIMIT_DEV_RUNTIME_SYNC_DEPTH)
        return (dev_result)CUDA_ERROR_UNSUPPORTED_LIMIT;
    return limit >= 0 && limit < MAX_LIMIT ? DEV_OK : DEV_INVALID_VALUE;
}

dev_result dr_limit(dev_call *call, size_t *value, int limit)
{
    dev_result r = value ? known_limit(limit) : DEV_INVALID_VALUE;
    return r ? r : dev_limit_get(call->context, limit, value);
}

dev_result dr_set_limit(dev_call *call, int limit, size_t value)
{
    dev_result r = known_limit(limit);
    return r ? r : dev_limit_set(call->context, limit, value);
}

dev_result dr_enable_peer(dev_call *call, CUcontext peer, unsigned flags)
{
    return api_enable_peer(call, context_of(peer), flags, DEV_INVALID_CONTEXT);
}

dev_result dr_disable_peer(dev_call *call, CUcontext peer)
{
    return api_disable_peer(call, context_of(peer), DEV_INVALID_CONTEXT);
}
