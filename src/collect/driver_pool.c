/* Memory pools, stream-ordered allocation and virtual memory in the driver interface. */
#include "collect/driver.h"

#include <string.h>

static collect_pool *pool_of(CUmemoryPool handle)
{
    return collect_is(handle, COLLECT_POOL) ? (collect_pool *)handle : NULL;
}

/* ---- pools ---- */

WL_DRIVER(CUresult, cuMemPoolCreate, (CUmemoryPool * out, const CUmemPoolProps *props))
{
    DR_FREE("cuMemPoolCreate");
    collect_pool *pool;
    if (!out || !props || props->allocType != CU_MEM_ALLOCATION_TYPE_PINNED ||
        props->location.type != CU_MEM_LOCATION_TYPE_DEVICE)
        DR_END(COLLECT_INVALID_VALUE);
    if (props->handleTypes)
        DR_END(collect_unsupported_part("cuMemPoolCreate of a pool to be shared"));
    collect_device *device = collect_device_get(props->location.id);
    if (!device)
        DR_END(COLLECT_INVALID_DEVICE);
    result = collect_pool_new(device, props->maxSize, &pool);
    if (result == COLLECT_OK)
        *out = (CUmemoryPool)pool;
    DR_END(result);
}

WL_DRIVER(CUresult, cuMemPoolDestroy, (CUmemoryPool handle))
{
    DR_FREE("cuMemPoolDestroy");
    collect_pool *pool = pool_of(handle);
    DR_END(pool ? collect_pool_destroy(pool) : COLLECT_INVALID_VALUE);
}

WL_DRIVER(CUresult, cuMemPoolTrimTo, (CUmemoryPool handle, size_t keep))
{
    DR_FREE("cuMemPoolTrimTo");
    collect_pool *pool = pool_of(handle);
    DR_END(pool ? collect_pool_trim(pool, keep) : COLLECT_INVALID_VALUE);
}

WL_DRIVER(CUresult, cuMemPoolGetAttribute, (CUmemoryPool handle, int attribute, void *value))
{
    DR_FREE("cuMemPoolGetAttribute");
    collect_pool *pool = pool_of(handle);
    DR_END(pool && value ? collect_pool_get(pool, attribute, value) : COLLECT_INVALID_VALUE);
}

WL_DRIVER(CUresult, cuMemPoolSetAttribute, (CUmemoryPool handle, int attribute, void *value))
{
    DR_FREE("cuMemPoolSetAttribute");
    collect_pool *pool = pool_of(handle);
    DR_END(pool && value ? collect_pool_set(pool, attribute, value) : COLLECT_INVALID_VALUE);
}

WL_DRIVER(CUresult, cuMemPoolSetAccess,
          (CUmemoryPool handle, const CUmemAccessDesc *access, size_t count))
{
    DR_FREE("cuMemPoolSetAccess");
    collect_pool *pool = pool_of(handle);
    if (!pool || (count && !access))
        DR_END(COLLECT_INVALID_VALUE);
    for (size_t i = 0; i < count && result == COLLECT_OK; i++)
        result = collect_pool_access_set(pool, access[i].location.id, (int)access[i].flags);
    DR_END(result);
}

WL_DRIVER(CUresult, cuMemPoolGetAccess, (int *flags, CUmemoryPool handle, CUmemLocation *location))
{
    DR_FREE("cuMemPoolGetAccess");
    collect_pool *pool = pool_of(handle);
    DR_END(pool && flags && location ? collect_pool_access_get(pool, location->id, flags)
                                     : COLLECT_INVALID_VALUE);
}

/* ---- stream-ordered allocation ---- */

static CUresult alloc_async(const char *api, bool per_thread, CUdeviceptr *out, size_t size,
                            collect_pool *pool, bool pool_is_bad, CUstream handle)
{
    DR_BEGIN(api, CAP_CALL_ALLOC, COLLECT_CURRENT);
    collect_stream *stream;
    uint64_t address = 0;
    result = out && !pool_is_bad ? collect_stream_get(&call, handle, per_thread, &stream)
                                 : COLLECT_INVALID_VALUE;
    if (result == COLLECT_OK && size) /* nothing asked for is nothing given */
        result = collect_malloc_async(&call, size, pool, stream, &address);
    if (result == COLLECT_OK)
        *out = address;
    DR_END(result);
}

WL_DRIVER_STREAM(ptsz, cuMemAllocAsync, (CUdeviceptr * out, size_t size, CUstream stream),
                 (out, size, stream))
{
    return alloc_async(api, per_thread, out, size, NULL, false, stream);
}

WL_DRIVER_STREAM(ptsz, cuMemAllocFromPoolAsync,
                 (CUdeviceptr * out, size_t size, CUmemoryPool pool, CUstream stream),
                 (out, size, pool, stream))
{
    collect_call call;
    collect_begin(&call, api, CAP_CALL_OTHER, COLLECT_QUIET);
    collect_pool *known = pool_of(pool);
    collect_end(&call, COLLECT_OK);
    return alloc_async(api, per_thread, out, size, known, !known, stream);
}

WL_DRIVER_STREAM(ptsz, cuMemFreeAsync, (CUdeviceptr address, CUstream handle), (address, handle))
{
    DR_BEGIN(api, CAP_CALL_FREE, COLLECT_CURRENT);
    collect_stream *stream;
    result = collect_stream_get(&call, handle, per_thread, &stream);
    if (result == COLLECT_OK && address)
        result = collect_free_async(&call, address, stream);
    DR_END(result);
}

/* ---- virtual memory ---- */

static collect_physical *physical_of(CUmemGenericAllocationHandle handle)
{
    return collect_is((void *)handle, COLLECT_PHYSICAL) ? (collect_physical *)handle : NULL;
}

static collect_result check_prop(const CUmemAllocationProp *prop)
{
    if (!prop || prop->type != CU_MEM_ALLOCATION_TYPE_PINNED)
        return COLLECT_INVALID_VALUE;
    if (prop->location.type != CU_MEM_LOCATION_TYPE_DEVICE)
        return collect_unsupported_part("cuMemCreate outside of device memory");
    if (prop->requestedHandleTypes)
        return collect_unsupported_part("cuMemCreate of memory to be shared");
    return collect_device_get(prop->location.id) ? COLLECT_OK : COLLECT_INVALID_DEVICE;
}

WL_DRIVER(CUresult, cuMemGetAllocationGranularity,
          (size_t *granularity, const CUmemAllocationProp *prop, int option))
{
    DR_FREE("cuMemGetAllocationGranularity");
    if (!granularity || option < 0 || option > CU_MEM_ALLOC_GRANULARITY_RECOMMENDED)
        DR_END(COLLECT_INVALID_VALUE);
    *granularity = COLLECT_GRANULARITY;
    DR_END(check_prop(prop));
}

WL_DRIVER(CUresult, cuMemCreate,
          (CUmemGenericAllocationHandle * out, size_t size, const CUmemAllocationProp *prop,
           unsigned long long flags))
{
    DR_FREE("cuMemCreate");
    collect_physical *physical;
    result = out && !flags ? check_prop(prop) : COLLECT_INVALID_VALUE;
    if (result == COLLECT_OK)
        result = collect_physical_new(collect_device_get(prop->location.id), size, &physical);
    if (result == COLLECT_OK)
        *out = (CUmemGenericAllocationHandle)physical;
    DR_END(result);
}

WL_DRIVER(CUresult, cuMemRelease, (CUmemGenericAllocationHandle handle))
{
    DR_FREE("cuMemRelease");
    collect_physical *physical = physical_of(handle);
    DR_END(physical ? collect_physical_release(physical) : COLLECT_INVALID_VALUE);
}

WL_DRIVER(CUresult, cuMemRetainAllocationHandle,
          (CUmemGenericAllocationHandle * out, void *address))
{
    DR_FREE("cuMemRetainAllocationHandle");
    collect_physical *physical;
    result = out ? collect_physical_retain((uint64_t)address, &physical) : COLLECT_INVALID_VALUE;
    if (result == COLLECT_OK)
        *out = (CUmemGenericAllocationHandle)physical;
    DR_END(result);
}

WL_DRIVER(CUresult, cuMemGetAllocationPropertiesFromHandle,
          (CUmemAllocationProp * prop, CUmemGenericAllocationHandle handle))
{
    DR_FREE("cuMemGetAllocationPropertiesFromHandle");
    collect_physical *physical = physical_of(handle);
    if (!prop || !physical)
        DR_END(COLLECT_INVALID_VALUE);
    memset(prop, 0, sizeof *prop);
    prop->type = CU_MEM_ALLOCATION_TYPE_PINNED;
    prop->location.type = CU_MEM_LOCATION_TYPE_DEVICE;
    prop->location.id = collect_device_ordinal(collect_physical_device(physical));
    DR_END(COLLECT_OK);
}

WL_DRIVER(CUresult, cuMemAddressReserve,
          (CUdeviceptr * out, size_t size, size_t align, CUdeviceptr hint,
           unsigned long long flags))
{
    DR_FREE("cuMemAddressReserve");
    uint64_t address;
    (void)hint;
    result = out && !flags ? collect_reserve(size, align, &address) : COLLECT_INVALID_VALUE;
    if (result == COLLECT_OK)
        *out = address;
    DR_END(result);
}

WL_DRIVER(CUresult, cuMemAddressFree, (CUdeviceptr address, size_t size))
{
    DR_FREE("cuMemAddressFree");
    DR_END(collect_unreserve(address, size));
}

WL_DRIVER(CUresult, cuMemMap,
          (CUdeviceptr address, size_t size, size_t offset, CUmemGenericAllocationHandle handle,
           unsigned long long flags))
{
    DR_BEGIN("cuMemMap", CAP_CALL_ALLOC, 0);
    collect_physical *physical = physical_of(handle);
    DR_END(physical && !flags ? collect_map(&call, address, size, offset, physical)
                              : COLLECT_INVALID_VALUE);
}

WL_DRIVER(CUresult, cuMemUnmap, (CUdeviceptr address, size_t size))
{
    DR_BEGIN("cuMemUnmap", CAP_CALL_FREE, 0);
    DR_END(collect_unmap(&call, address, size));
}

WL_DRIVER(CUresult, cuMemSetAccess,
          (CUdeviceptr address, size_t size, const CUmemAccessDesc *access, size_t count))
{
    DR_FREE("cuMemSetAccess");
    if (!access || !count)
        DR_END(COLLECT_INVALID_VALUE);
    for (size_t i = 0; i < count && result == COLLECT_OK; i++)
        if (access[i].location.type == CU_MEM_LOCATION_TYPE_DEVICE)
            result = collect_access_set(address, size, access[i].location.id, (int)access[i].flags);
    DR_END(result);
}

WL_DRIVER(CUresult, cuMemGetAccess,
          (unsigned long long *flags, const CUmemLocation *location, CUdeviceptr address))
{
    DR_FREE("cuMemGetAccess");
    int value;
    result = flags && location ? collect_access_get(address, location->id, &value)
                               : COLLECT_INVALID_VALUE;
    if (result == COLLECT_OK)
        *flags = (unsigned long long)value;
    DR_END(result);
}
