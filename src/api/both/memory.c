/* What both interfaces ask of memory: stream-ordered allocation, pools, managed memory. */
#include "api/both/memory.h"

#include <string.h>

/* ---- stream-ordered allocation ---- */

static dev_pool *pool_of_handle(CUmemoryPool handle)
{
    return dev_is(handle, DEV_POOL) ? (dev_pool *)handle : NULL;
}

static dev_result malloc_async(dev_call *call, CUstream handle, bool per_thread, dev_pool *pool,
                               void *out, size_t size)
{
    dev_stream *stream;
    uint64_t address = 0;
    dev_result r = dev_stream_get(call, handle, per_thread, &stream);
    if (r == DEV_OK && size)
        r = dev_malloc_async(call, size, pool, stream, &address);
    if (r == DEV_OK)
        memcpy(out, &address, sizeof address);
    return r;
}

dev_result api_malloc_async(dev_call *call, CUstream stream, bool per_thread, void *out,
                            size_t size)
{
    return out ? malloc_async(call, stream, per_thread, NULL, out, size) : DEV_INVALID_VALUE;
}

dev_result api_malloc_from(dev_call *call, CUstream stream, bool per_thread, CUmemoryPool pool,
                           void *out, size_t size)
{
    return out && pool_of_handle(pool)
               ? malloc_async(call, stream, per_thread, pool_of_handle(pool), out, size)
               : DEV_INVALID_VALUE;
}

dev_result api_free_async(dev_call *call, CUstream handle, bool per_thread, CUdeviceptr address)
{
    dev_stream *stream;
    dev_result r = dev_stream_get(call, handle, per_thread, &stream);
    return r || !address ? r : dev_free_async(call, address, stream);
}

/* ---- pools ---- */

dev_result api_new_pool(CUmemoryPool *out, const CUmemPoolProps *props)
{
    if (!out || !props || props->allocType != CU_MEM_ALLOCATION_TYPE_PINNED)
        return DEV_INVALID_VALUE;
    if (props->location.type != CU_MEM_LOCATION_TYPE_DEVICE)
        return dev_unsupported_part("memory pools outside of device memory");
    if (props->handleTypes)
        return dev_unsupported_part("memory pools to be shared");
    dev_gpu *device = dev_gpu_get(props->location.id);
    dev_pool *pool;
    dev_result r = device ? dev_pool_new(device, props->maxSize, &pool) : DEV_INVALID_DEVICE;
    if (r == DEV_OK)
        *out = (CUmemoryPool)pool;
    return r;
}

dev_result api_destroy_pool(CUmemoryPool pool)
{
    return pool_of_handle(pool) ? dev_pool_destroy(pool_of_handle(pool)) : DEV_INVALID_VALUE;
}

dev_result api_trim_pool(CUmemoryPool pool, size_t keep)
{
    return pool_of_handle(pool) ? dev_pool_trim(pool_of_handle(pool), keep) : DEV_INVALID_VALUE;
}

dev_result api_pool_attribute(CUmemoryPool pool, int attribute, void *value)
{
    return pool_of_handle(pool) && value ? dev_pool_get(pool_of_handle(pool), attribute, value)
                                         : DEV_INVALID_VALUE;
}

dev_result api_set_pool_attribute(CUmemoryPool pool, int attribute, const void *value)
{
    return pool_of_handle(pool) && value ? dev_pool_set(pool_of_handle(pool), attribute, value)
                                         : DEV_INVALID_VALUE;
}

dev_result api_pool_access(CUmemoryPool pool, const CUmemLocation *location, int *flags)
{
    bool good = pool_of_handle(pool) && flags && location &&
                location->type == CU_MEM_LOCATION_TYPE_DEVICE;
    return good ? dev_pool_access_get(pool_of_handle(pool), location->id, flags)
                : DEV_INVALID_VALUE;
}

dev_result api_set_pool_access(CUmemoryPool pool, const CUmemAccessDesc *list, size_t count)
{
    dev_result r = pool_of_handle(pool) && (!count || list) ? DEV_OK : DEV_INVALID_VALUE;
    for (size_t i = 0; i < count && r == DEV_OK; i++)
        r = list[i].location.type == CU_MEM_LOCATION_TYPE_DEVICE
                ? dev_pool_access_set(pool_of_handle(pool), list[i].location.id, (int)list[i].flags)
                : DEV_INVALID_VALUE;
    return r;
}

dev_result api_device_pool(CUmemoryPool *out, int device, dev_pool *(*which)(dev_gpu *device))
{
    dev_gpu *gpu = dev_gpu_get(device);
    if (!out || !gpu)
        return out ? DEV_INVALID_DEVICE : DEV_INVALID_VALUE;
    *out = (CUmemoryPool)which(gpu);
    return *out ? DEV_OK : DEV_NOMEM;
}

dev_result api_set_device_pool(int device, CUmemoryPool pool)
{
    dev_gpu *gpu = dev_gpu_get(device);
    if (!gpu || !pool_of_handle(pool))
        return gpu ? DEV_INVALID_VALUE : DEV_INVALID_DEVICE;
    return dev_pool_set_current(gpu, pool_of_handle(pool));
}

/* ---- managed memory ---- */

CUmemLocation api_location(int device)
{
    enum { HOST = -1 }; /* CU_DEVICE_CPU, cudaCpuDeviceId */
    return device == HOST ? (CUmemLocation){CU_MEM_LOCATION_TYPE_HOST, 0}
                          : (CUmemLocation){CU_MEM_LOCATION_TYPE_DEVICE, device};
}

static bool is_location(CUmemLocation location)
{
    if (location.type == CU_MEM_LOCATION_TYPE_DEVICE)
        return dev_gpu_get(location.id);
    return location.type >= CU_MEM_LOCATION_TYPE_HOST &&
           location.type <= CU_MEM_LOCATION_TYPE_HOST_NUMA_CURRENT;
}

static bool is_managed(CUdeviceptr address, size_t bytes)
{
    dev_memory memory;
    return bytes && dev_memory_find(address, &memory) && memory.type == DEV_MEMORY_MANAGED &&
           dev_range_valid(address, bytes);
}

dev_result api_advise(CUdeviceptr address, size_t bytes, int advice, CUmemLocation location)
{
    if (advice < CU_MEM_ADVISE_SET_READ_MOSTLY || advice > CU_MEM_ADVISE_UNSET_ACCESSED_BY ||
        !is_managed(address, bytes))
        return DEV_INVALID_VALUE;
    bool needs_location = advice > CU_MEM_ADVISE_UNSET_READ_MOSTLY &&
                          advice != CU_MEM_ADVISE_UNSET_PREFERRED_LOCATION;
    return !needs_location || is_location(location) ? DEV_OK : DEV_INVALID_DEVICE;
}

dev_result api_prefetch(dev_call *call, CUstream handle, bool per_thread, CUdeviceptr address,
                        size_t bytes, CUmemLocation location, unsigned flags)
{
    dev_stream *stream;
    dev_result r = dev_stream_get(call, handle, per_thread, &stream);
    if (r)
        return r;
    if (flags || !is_managed(address, bytes))
        return DEV_INVALID_VALUE;
    return is_location(location) ? DEV_OK : DEV_INVALID_DEVICE;
}

dev_result api_attach(dev_call *call, CUstream handle, bool per_thread, CUdeviceptr address,
                      unsigned flags)
{
    dev_stream *stream;
    bool known = flags == CU_MEM_ATTACH_GLOBAL || flags == CU_MEM_ATTACH_HOST ||
                 flags == CU_MEM_ATTACH_SINGLE;
    dev_result r = dev_stream_get(call, handle, per_thread, &stream);
    if (r == DEV_OK && (!known || !is_managed(address, 1)))
        r = DEV_INVALID_VALUE;
    return r;
}

dev_result api_memory_info(dev_call *call, size_t *free_bytes, size_t *total)
{
    uint64_t unused, all;
    dev_gpu_memory(dev_context_device(call->context), &unused, &all);
    if (free_bytes)
        *free_bytes = unused;
    if (total)
        *total = all;
    return DEV_OK;
}
