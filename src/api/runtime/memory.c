/* Memory of the runtime: allocation, registration, pools, questions about pointers. */
#include "api/runtime/runtime.h"

#include <string.h>

/* ---- allocation ---- */

WL_RUNTIME(int, cudaMalloc, (void **data, size_t size))
{
    RT_BEGIN("cudaMalloc", CAP_CALL_ALLOC, DEV_PRIMARY);
    uint64_t address = 0;
    if (!data)
        RT_END(DEV_INVALID_VALUE);
    *data = NULL;
    if (size)
        result = dev_malloc(call, size, &address);
    if (result == DEV_OK)
        *data = (void *)address;
    RT_END(result);
}

WL_RUNTIME(int, cudaFree, (void *data))
{
    RT_BEGIN("cudaFree", CAP_CALL_FREE, DEV_PRIMARY);
    RT_END(data ? dev_free(call, (uint64_t)data) : DEV_OK);
}

static int host_alloc(const char *api, void **data, size_t size, unsigned flags)
{
    RT_BEGIN(api, CAP_CALL_ALLOC, DEV_PRIMARY);
    if (!data || flags & ~7U)
        RT_END(DEV_INVALID_VALUE);
    *data = NULL;
    RT_END(size ? dev_malloc_pinned(call, size, flags, data) : DEV_OK);
}

WL_RUNTIME(int, cudaHostAlloc, (void **data, size_t size, unsigned flags))
{
    return host_alloc("cudaHostAlloc", data, size, flags);
}

WL_RUNTIME(int, cudaMallocHost, (void **data, size_t size))
{
    return host_alloc("cudaMallocHost", data, size, 0);
}

WL_RUNTIME(int, cudaFreeHost, (void *data))
{
    RT_BEGIN("cudaFreeHost", CAP_CALL_FREE, DEV_PRIMARY);
    RT_END(data ? dev_free_pinned(call, data) : DEV_OK);
}

WL_RUNTIME(int, cudaMallocManaged, (void **data, size_t size, unsigned flags))
{
    RT_BEGIN("cudaMallocManaged", CAP_CALL_ALLOC, DEV_PRIMARY);
    uint64_t address;
    bool attach = flags == cudaMemAttachGlobal || flags == cudaMemAttachHost;
    if (!data || !attach)
        RT_END(DEV_INVALID_VALUE);
    *data = NULL;
    if (!size)
        RT_END(DEV_OK);
    result = dev_malloc_managed(call, size, flags, &address);
    if (result == DEV_OK)
        *data = (void *)address;
    RT_END(result);
}

WL_RUNTIME(int, cudaMallocPitch, (void **data, size_t *pitch, size_t width, size_t height))
{
    RT_BEGIN("cudaMallocPitch", CAP_CALL_ALLOC, DEV_PRIMARY);
    uint64_t address = 0;
    if (!data || !pitch)
        RT_END(DEV_INVALID_VALUE);
    *data = NULL;
    *pitch = 0;
    if (width && height)
        result = dev_malloc_pitch(call, width, height, &address, pitch);
    if (result == DEV_OK)
        *data = (void *)address;
    RT_END(result);
}

WL_RUNTIME(int, cudaMalloc3D, (struct cudaPitchedPtr * pitched, struct cudaExtent extent))
{
    RT_BEGIN("cudaMalloc3D", CAP_CALL_ALLOC, DEV_PRIMARY);
    uint64_t address = 0;
    size_t pitch = 0, rows;
    if (!pitched || __builtin_mul_overflow(extent.height, extent.depth, &rows))
        RT_END(DEV_INVALID_VALUE);
    if (extent.width && rows)
        result = dev_malloc_pitch(call, extent.width, rows, &address, &pitch);
    if (result == DEV_OK)
        *pitched = (struct cudaPitchedPtr){
            .ptr = (void *)address, .pitch = pitch, .xsize = extent.width, .ysize = extent.height};
    RT_END(result);
}

/* ---- the application's own memory ---- */

WL_RUNTIME(int, cudaHostRegister, (void *data, size_t size, unsigned flags))
{
    RT_BEGIN("cudaHostRegister", CAP_CALL_ALLOC, DEV_PRIMARY);
    RT_END(flags & ~15U ? DEV_INVALID_VALUE : dev_register(call, data, size, flags));
}

WL_RUNTIME(int, cudaHostUnregister, (void *data))
{
    RT_BEGIN("cudaHostUnregister", CAP_CALL_FREE, DEV_PRIMARY);
    RT_END(data ? dev_unregister(call, data) : DEV_INVALID_VALUE);
}

WL_RUNTIME(int, cudaHostGetDevicePointer, (void **device, void *host, unsigned flags))
{
    RT_QUIET("cudaHostGetDevicePointer");
    dev_memory memory;
    if (!device || flags || !dev_memory_find((uint64_t)host, &memory) ||
        memory.type != DEV_MEMORY_HOST)
        RT_END(DEV_INVALID_VALUE);
    *device = host;
    RT_END(DEV_OK);
}

WL_RUNTIME(int, cudaHostGetFlags, (unsigned *flags, void *host))
{
    RT_QUIET("cudaHostGetFlags");
    dev_memory memory;
    if (!flags || !dev_memory_find((uint64_t)host, &memory) || memory.type != DEV_MEMORY_HOST ||
        memory.registered)
        RT_END(DEV_INVALID_VALUE);
    *flags = memory.flags | cudaHostAllocMapped | cudaHostAllocPortable;
    RT_END(DEV_OK);
}

/* ---- pointers ---- */

/* The fields up to hostPointer lie alike in all releases; 13 has reserved ones behind. */
static int pointer_attributes(struct cudaPointerAttributes_v12 *out, const void *data)
{
    RT_QUIET("cudaPointerGetAttributes");
    dev_memory memory;
    if (!out)
        RT_END(DEV_INVALID_VALUE);
    *out = (struct cudaPointerAttributes_v12){.device = cudaInvalidDeviceId};
    if (!dev_memory_find((uint64_t)data, &memory)) {
        out->hostPointer = (void *)(uintptr_t)data;
        RT_END(DEV_OK);
    }
    out->type = (enum cudaMemoryType)memory.type;
    out->device = memory.device;
    out->devicePointer = (void *)(uintptr_t)data;
    if (memory.type != DEV_MEMORY_DEVICE)
        out->hostPointer = (void *)(uintptr_t)data;
    RT_END(DEV_OK);
}

WL_RUNTIME_FOR(11, 12, int, cudaPointerGetAttributes,
               (struct cudaPointerAttributes_v12 * out, const void *data))
{
    return pointer_attributes(out, data);
}

WL_RUNTIME_FOR(13, 13, int, cudaPointerGetAttributes,
               (struct cudaPointerAttributes_v13 * out, const void *data))
{
    if (out)
        memset(out->reserved, 0, sizeof out->reserved);
    return pointer_attributes((struct cudaPointerAttributes_v12 *)out, data);
}

/* ---- managed memory: hints change nothing that can be observed here ---- */

static bool is_managed(const void *data, size_t count)
{
    dev_memory memory;
    return dev_memory_find((uint64_t)data, &memory) && memory.type == DEV_MEMORY_MANAGED &&
           dev_range_valid((uint64_t)data, count);
}

static bool is_location(struct cudaMemLocation location)
{
    if (location.type == cudaMemLocationTypeDevice)
        return dev_gpu_get(location.id) != NULL;
    return location.type >= cudaMemLocationTypeHost &&
           location.type <= cudaMemLocationTypeHostNumaCurrent;
}

static struct cudaMemLocation location_of(int device)
{
    return device == cudaCpuDeviceId ? (struct cudaMemLocation){cudaMemLocationTypeHost, 0}
                                     : (struct cudaMemLocation){cudaMemLocationTypeDevice, device};
}

static int prefetch(bool per_thread, const void *data, size_t count,
                    struct cudaMemLocation location, unsigned flags, cudaStream_t handle)
{
    RT_BEGIN("cudaMemPrefetchAsync", CAP_CALL_OTHER, DEV_PRIMARY);
    dev_stream *stream;
    result = dev_stream_get(call, handle, per_thread, &stream);
    if (result)
        RT_END(result);
    if (flags || !count || !is_managed(data, count))
        RT_END(DEV_INVALID_VALUE);
    RT_END(is_location(location) ? DEV_OK : DEV_INVALID_DEVICE);
}

WL_RUNTIME_STREAM_FOR(11, 12, ptsz, cudaMemPrefetchAsync,
                      (const void *data, size_t count, int device, cudaStream_t stream),
                      (data, count, device, stream))
{
    (void)api;
    return prefetch(per_thread, data, count, location_of(device), 0, stream);
}

#define PREFETCH(first, last, name)                                                         \
    WL_RUNTIME_STREAM_FOR(first, last, ptsz, name,                                          \
                          (const void *data, size_t count, struct cudaMemLocation location, \
                           unsigned flags, cudaStream_t stream),                            \
                          (data, count, location, flags, stream))                           \
    {                                                                                       \
        (void)api;                                                                          \
        return prefetch(per_thread, data, count, location, flags, stream);                  \
    }
PREFETCH(13, 13, cudaMemPrefetchAsync)
PREFETCH(12, 12, cudaMemPrefetchAsync_v2)

static int advise(const void *data, size_t count, int advice, struct cudaMemLocation location)
{
    RT_QUIET("cudaMemAdvise");
    if (advice < cudaMemAdviseSetReadMostly || advice > cudaMemAdviseUnsetAccessedBy ||
        !is_managed(data, count))
        RT_END(DEV_INVALID_VALUE);
    bool needs_location = advice > cudaMemAdviseUnsetReadMostly &&
                          advice != cudaMemAdviseUnsetPreferredLocation;
    RT_END(!needs_location || is_location(location) ? DEV_OK : DEV_INVALID_DEVICE);
}

WL_RUNTIME_FOR(11, 12, int, cudaMemAdvise, (const void *data, size_t count, int advice, int device))
{
    return advise(data, count, advice, location_of(device));
}

WL_RUNTIME_FOR(13, 13, int, cudaMemAdvise,
               (const void *data, size_t count, int advice, struct cudaMemLocation location))
{
    return advise(data, count, advice, location);
}

WL_RUNTIME_FOR(12, 12, int, cudaMemAdvise_v2,
               (const void *data, size_t count, int advice, struct cudaMemLocation location))
{
    return advise(data, count, advice, location);
}

WL_RUNTIME_STREAM(ptsz, cudaStreamAttachMemAsync,
                  (cudaStream_t handle, void *data, size_t length, unsigned flags),
                  (handle, data, length, flags))
{
    RT_BEGIN(api, CAP_CALL_OTHER, DEV_PRIMARY);
    dev_stream *stream;
    (void)length;
    result = dev_stream_get(call, handle, per_thread, &stream);
    if (result == DEV_OK &&
        (!is_managed(data, 1) || (flags != cudaMemAttachGlobal && flags != cudaMemAttachHost &&
                                  flags != cudaMemAttachSingle)))
        result = DEV_INVALID_VALUE;
    RT_END(result);
}

/* ---- pools ---- */

static dev_pool *pool_of(cudaMemPool_t handle)
{
    return dev_is(handle, DEV_POOL) ? (dev_pool *)handle : NULL;
}

WL_RUNTIME_STREAM(ptsz, cudaMallocAsync, (void **data, size_t size, cudaStream_t handle),
                  (data, size, handle))
{
    RT_BEGIN(api, CAP_CALL_ALLOC, DEV_PRIMARY);
    dev_stream *stream;
    uint64_t address = 0;
    if (!data)
        RT_END(DEV_INVALID_VALUE);
    *data = NULL;
    result = dev_stream_get(call, handle, per_thread, &stream);
    if (result == DEV_OK && size)
        result = dev_malloc_async(call, size, NULL, stream, &address);
    if (result == DEV_OK)
        *data = (void *)address;
    RT_END(result);
}

WL_RUNTIME_STREAM(ptsz, cudaMallocFromPoolAsync,
                  (void **data, size_t size, cudaMemPool_t pool, cudaStream_t handle),
                  (data, size, pool, handle))
{
    RT_BEGIN(api, CAP_CALL_ALLOC, DEV_PRIMARY);
    dev_stream *stream;
    uint64_t address = 0;
    if (!data || !pool_of(pool))
        RT_END(DEV_INVALID_VALUE);
    *data = NULL;
    result = dev_stream_get(call, handle, per_thread, &stream);
    if (result == DEV_OK && size)
        result = dev_malloc_async(call, size, pool_of(pool), stream, &address);
    if (result == DEV_OK)
        *data = (void *)address;
    RT_END(result);
}

WL_RUNTIME_STREAM(ptsz, cudaFreeAsync, (void *data, cudaStream_t handle), (data, handle))
{
    RT_BEGIN(api, CAP_CALL_FREE, DEV_PRIMARY);
    dev_stream *stream;
    result = dev_stream_get(call, handle, per_thread, &stream);
    if (result == DEV_OK && data)
        result = dev_free_async(call, (uint64_t)data, stream);
    RT_END(result);
}

static int device_pool(const char *api, cudaMemPool_t *out, int device,
                       dev_pool *(*which)(dev_gpu *))
{
    RT_FREE(api);
    result = out ? dev_initialize() : DEV_INVALID_VALUE;
    if (result)
        RT_END(result);
    if (!dev_gpu_get(device))
        RT_END(DEV_INVALID_DEVICE);
    *out = (cudaMemPool_t)which(dev_gpu_get(device));
    RT_END(*out ? DEV_OK : DEV_NOMEM);
}

WL_RUNTIME(int, cudaDeviceGetDefaultMemPool, (cudaMemPool_t * pool, int device))
{
    return device_pool("cudaDeviceGetDefaultMemPool", pool, device, dev_pool_default);
}

WL_RUNTIME(int, cudaDeviceGetMemPool, (cudaMemPool_t * pool, int device))
{
    return device_pool("cudaDeviceGetMemPool", pool, device, dev_pool_current);
}

WL_RUNTIME(int, cudaDeviceSetMemPool, (int device, cudaMemPool_t pool))
{
    RT_FREE("cudaDeviceSetMemPool");
    if (!pool_of(pool))
        RT_END(DEV_INVALID_VALUE);
    if (!dev_gpu_get(device))
        RT_END(DEV_INVALID_DEVICE);
    RT_END(dev_pool_set_current(dev_gpu_get(device), pool_of(pool)));
}

WL_RUNTIME(int, cudaMemPoolCreate, (cudaMemPool_t * out, const struct cudaMemPoolProps *props))
{
    RT_FREE("cudaMemPoolCreate");
    result = out && props ? dev_initialize() : DEV_INVALID_VALUE;
    if (result)
        RT_END(result);
    if (props->allocType != 1 || props->location.type != cudaMemLocationTypeDevice)
        RT_END(dev_unsupported_part("cudaMemPoolCreate of memory that is not a device's"));
    if (props->handleTypes)
        RT_END(dev_unsupported_part("cudaMemPoolCreate with exported handles"));
    dev_gpu *device = dev_gpu_get(props->location.id);
    dev_pool *pool;
    result = device ? dev_pool_new(device, props->maxSize, &pool) : DEV_INVALID_DEVICE;
    if (result == DEV_OK)
        *out = (cudaMemPool_t)pool;
    RT_END(result);
}

WL_RUNTIME(int, cudaMemPoolDestroy, (cudaMemPool_t pool))
{
    RT_FREE("cudaMemPoolDestroy");
    RT_END(pool_of(pool) ? dev_pool_destroy(pool_of(pool)) : DEV_INVALID_VALUE);
}

WL_RUNTIME(int, cudaMemPoolGetAttribute, (cudaMemPool_t pool, int attribute, void *value))
{
    RT_FREE("cudaMemPoolGetAttribute");
    bool ok = pool_of(pool) && value;
    RT_END(ok ? dev_pool_get(pool_of(pool), attribute, value) : DEV_INVALID_VALUE);
}

WL_RUNTIME(int, cudaMemPoolSetAttribute, (cudaMemPool_t pool, int attribute, void *value))
{
    RT_FREE("cudaMemPoolSetAttribute");
    bool ok = pool_of(pool) && value;
    RT_END(ok ? dev_pool_set(pool_of(pool), attribute, value) : DEV_INVALID_VALUE);
}

WL_RUNTIME(int, cudaMemPoolTrimTo, (cudaMemPool_t pool, size_t keep))
{
    RT_FREE("cudaMemPoolTrimTo");
    RT_END(pool_of(pool) ? dev_pool_trim(pool_of(pool), keep) : DEV_INVALID_VALUE);
}

WL_RUNTIME(int, cudaMemPoolSetAccess,
           (cudaMemPool_t pool, const struct cudaMemAccessDesc *list, size_t count))
{
    RT_FREE("cudaMemPoolSetAccess");
    if (!pool_of(pool) || (count && !list))
        RT_END(DEV_INVALID_VALUE);
    for (size_t i = 0; i < count && result == DEV_OK; i++)
        result = list[i].location.type == cudaMemLocationTypeDevice
                     ? dev_pool_access_set(pool_of(pool), list[i].location.id, list[i].flags)
                     : DEV_INVALID_VALUE;
    RT_END(result);
}

WL_RUNTIME(int, cudaMemPoolGetAccess,
           (int *flags, cudaMemPool_t pool, struct cudaMemLocation *location))
{
    RT_FREE("cudaMemPoolGetAccess");
    bool ok = flags && pool_of(pool) && location && location->type == cudaMemLocationTypeDevice;
    RT_END(ok ? dev_pool_access_get(pool_of(pool), location->id, flags) : DEV_INVALID_VALUE);
}

/* ---- symbols ---- */

WL_RUNTIME(int, cudaGetSymbolAddress, (void **address, const void *symbol))
{
    RT_QUIET("cudaGetSymbolAddress");
    uint64_t base;
    size_t size;
    result = address ? rt_symbol(call->context, symbol, &base, &size) : DEV_INVALID_VALUE;
    if (result == DEV_OK)
        *address = (void *)base;
    RT_END(result);
}

WL_RUNTIME(int, cudaGetSymbolSize, (size_t *size, const void *symbol))
{
    RT_QUIET("cudaGetSymbolSize");
    uint64_t base;
    RT_END(size ? rt_symbol(call->context, symbol, &base, size) : DEV_INVALID_VALUE);
}

/* ---- arrays ---- */

int rt_format_of(const struct cudaChannelFormatDesc *desc, unsigned *channels)
{
    *channels = (desc->x > 0) + (desc->y > 0) + (desc->z > 0) + (desc->w > 0);
    switch (desc->x | (int)desc->f << 8) {
    case 8 | cudaChannelFormatKindSigned << 8: return CU_AD_FORMAT_SIGNED_INT8;
    case 16 | cudaChannelFormatKindSigned << 8: return CU_AD_FORMAT_SIGNED_INT16;
    case 32 | cudaChannelFormatKindSigned << 8: return CU_AD_FORMAT_SIGNED_INT32;
    case 8 | cudaChannelFormatKindUnsigned << 8: return CU_AD_FORMAT_UNSIGNED_INT8;
    case 16 | cudaChannelFormatKindUnsigned << 8: return CU_AD_FORMAT_UNSIGNED_INT16;
    case 32 | cudaChannelFormatKindUnsigned << 8: return CU_AD_FORMAT_UNSIGNED_INT32;
    case 16 | cudaChannelFormatKindFloat << 8: return CU_AD_FORMAT_HALF;
    case 32 | cudaChannelFormatKindFloat << 8: return CU_AD_FORMAT_FLOAT;
    default: return 0;
    }
}

static int new_array(dev_call *call, cudaArray_t *out, const struct cudaChannelFormatDesc *desc,
                     struct cudaExtent extent, unsigned flags)
{
    dev_array *array;
    dev_array_desc d = {
        .width = extent.width, .height = extent.height, .depth = extent.depth, .flags = flags};
    if (!out || !desc)
        return DEV_INVALID_VALUE;
    d.format = rt_format_of(desc, &d.channels);
    if (!d.format)
        return DEV_INVALID_CHANNEL;
    int result = dev_array_new(call, &d, &array);
    if (result == DEV_OK)
        *out = (cudaArray_t)array;
    return result;
}

WL_RUNTIME(int, cudaMallocArray,
           (cudaArray_t * out, const struct cudaChannelFormatDesc *desc, size_t width,
            size_t height, unsigned flags))
{
    RT_BEGIN("cudaMallocArray", CAP_CALL_ALLOC, DEV_PRIMARY);
    RT_END(new_array(call, out, desc, (struct cudaExtent){width, height, 0}, flags));
}

WL_RUNTIME(int, cudaMalloc3DArray,
           (cudaArray_t * out, const struct cudaChannelFormatDesc *desc, struct cudaExtent extent,
            unsigned flags))
{
    RT_BEGIN("cudaMalloc3DArray", CAP_CALL_ALLOC, DEV_PRIMARY);
    RT_END(new_array(call, out, desc, extent, flags));
}

WL_RUNTIME(int, cudaFreeArray, (cudaArray_t array))
{
    RT_BEGIN("cudaFreeArray", CAP_CALL_FREE, DEV_PRIMARY);
    if (!array)
        RT_END(DEV_OK);
    RT_END(dev_is(array, DEV_ARRAY) ? dev_array_destroy(call, (dev_array *)array)
                                    : DEV_INVALID_HANDLE);
}

static struct cudaChannelFormatDesc channels_of(const dev_array_desc *d)
{
    int bits = (int)dev_format_bytes(d->format) * 8;
    struct cudaChannelFormatDesc desc = {.x = bits};
    desc.y = d->channels > 1 ? bits : 0;
    desc.z = d->channels > 2 ? bits : 0;
    desc.w = d->channels > 3 ? bits : 0;
    if (d->format == CU_AD_FORMAT_HALF || d->format == CU_AD_FORMAT_FLOAT)
        desc.f = cudaChannelFormatKindFloat;
    else if (d->format >= CU_AD_FORMAT_SIGNED_INT8)
        desc.f = cudaChannelFormatKindSigned;
    else
        desc.f = cudaChannelFormatKindUnsigned;
    return desc;
}

WL_RUNTIME(int, cudaArrayGetInfo,
           (struct cudaChannelFormatDesc * desc, struct cudaExtent *extent, unsigned *flags,
            cudaArray_t array))
{
    RT_QUIET("cudaArrayGetInfo");
    if (!dev_is(array, DEV_ARRAY))
        RT_END(DEV_INVALID_HANDLE);
    const dev_array_desc *d = dev_array_get((dev_array *)array);
    if (desc)
        *desc = channels_of(d);
    if (extent)
        *extent = (struct cudaExtent){d->width, d->height, d->depth};
    if (flags)
        *flags = d->flags;
    RT_END(DEV_OK);
}

WL_RUNTIME(int, cudaGetChannelDesc, (struct cudaChannelFormatDesc * desc, cudaArray_const_t array))
{
    RT_QUIET("cudaGetChannelDesc");
    if (!desc || !dev_is(array, DEV_ARRAY))
        RT_END(desc ? DEV_INVALID_HANDLE : DEV_INVALID_VALUE);
    *desc = channels_of(dev_array_get((const dev_array *)array));
    RT_END(DEV_OK);
}

WL_RUNTIME(struct cudaChannelFormatDesc, cudaCreateChannelDesc, (int x, int y, int z, int w, int f))
{
    return (struct cudaChannelFormatDesc){x, y, z, w, (enum cudaChannelFormatKind)f};
}
