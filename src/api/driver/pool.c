/* Memory pools, stream-ordered allocation and virtual memory in the driver interface. */
#include "api/driver/driver.h"

#include <string.h>

static dev_pool *pool_of(CUmemoryPool handle)
{
    return dev_is(handle, DEV_POOL) ? (dev_pool *)handle : NULL;
}

/* ---- pools ---- */

WL_DRIVER(CUresult, cuMemPoolCreate, (CUmemoryPool * out, const CUmemPoolProps *props))
{
    DR_FREE("cuMemPoolCreate");
    dev_pool *pool;
    if (!out || !props || props->allocType != CU_MEM_ALLOCATION_TYPE_PINNED ||
        props->location.type != CU_MEM_LOCATION_TYPE_DEVICE)
        DR_END(DEV_INVALID_VALUE);
    if (props->handleTypes)
        DR_END(dev_unsupported_part("cuMemPoolCreate of a pool to be shared"));
    dev_gpu *device = dev_gpu_get(props->location.id);
    if (!device)
        DR_END(DEV_INVALID_DEVICE);
    result = dev_pool_new(device, props->maxSize, &pool);
    if (result == DEV_OK)
        *out = (CUmemoryPool)pool;
    DR_END(result);
}

WL_DRIVER(CUresult, cuMemPoolDestroy, (CUmemoryPool handle))
{
    DR_FREE("cuMemPoolDestroy");
    dev_pool *pool = pool_of(handle);
    DR_END(pool ? dev_pool_destroy(pool) : DEV_INVALID_VALUE);
}

WL_DRIVER(CUresult, cuMemPoolTrimTo, (CUmemoryPool handle, size_t keep))
{
    DR_FREE("cuMemPoolTrimTo");
    dev_pool *pool = pool_of(handle);
    DR_END(pool ? dev_pool_trim(pool, keep) : DEV_INVALID_VALUE);
}

WL_DRIVER(CUresult, cuMemPoolGetAttribute, (CUmemoryPool handle, int attribute, void *value))
{
    DR_FREE("cuMemPoolGetAttribute");
    dev_pool *pool = pool_of(handle);
    DR_END(pool && value ? dev_pool_get(pool, attribute, value) : DEV_INVALID_VALUE);
}

WL_DRIVER(CUresult, cuMemPoolSetAttribute, (CUmemoryPool handle, int attribute, void *value))
{
    DR_FREE("cuMemPoolSetAttribute");
    dev_pool *pool = pool_of(handle);
    DR_END(pool && value ? dev_pool_set(pool, attribute, value) : DEV_INVALID_VALUE);
}

WL_DRIVER(CUresult, cuMemPoolSetAccess,
          (CUmemoryPool handle, const CUmemAccessDesc *access, size_t count))
{
    DR_FREE("cuMemPoolSetAccess");
    dev_pool *pool = pool_of(handle);
    if (!pool || (count && !access))
        DR_END(DEV_INVALID_VALUE);
    for (size_t i = 0; i < count && result == DEV_OK; i++)
        result = dev_pool_access_set(pool, access[i].location.id, (int)access[i].flags);
    DR_END(result);
}

WL_DRIVER(CUresult, cuMemPoolGetAccess, (int *flags, CUmemoryPool handle, CUmemLocation *location))
{
    DR_FREE("cuMemPoolGetAccess");
    dev_pool *pool = pool_of(handle);
    DR_END(pool && flags && location ? dev_pool_access_get(pool, location->id, flags)
                                     : DEV_INVALID_VALUE);
}

/* ---- stream-ordered allocation ---- */

static CUresult alloc_async(const char *api, bool per_thread, CUdeviceptr *out, size_t size,
                            dev_pool *pool, bool pool_is_bad, CUstream handle)
{
    DR_BEGIN(api, CAP_CALL_ALLOC, DEV_CURRENT);
    dev_stream *stream;
    uint64_t address = 0;
    result = out && !pool_is_bad ? dev_stream_get(call, handle, per_thread, &stream)
                                 : DEV_INVALID_VALUE;
    if (result == DEV_OK && size) /* nothing asked for is nothing given */
        result = dev_malloc_async(call, size, pool, stream, &address);
    if (result == DEV_OK)
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
    if (!dev_lock())
        return CUDA_ERROR_NOT_INITIALIZED;
    dev_pool *known = pool_of(pool);
    dev_unlock();
    return alloc_async(api, per_thread, out, size, known, !known, stream);
}

WL_DRIVER_STREAM(ptsz, cuMemFreeAsync, (CUdeviceptr address, CUstream handle), (address, handle))
{
    DR_BEGIN(api, CAP_CALL_FREE, DEV_CURRENT);
    dev_stream *stream;
    result = dev_stream_get(call, handle, per_thread, &stream);
    if (result == DEV_OK && address)
        result = dev_free_async(call, address, stream);
    DR_END(result);
}

/* ---- virtual memory ---- */

static dev_physical *physical_of(CUmemGenericAllocationHandle handle)
{
    return dev_is((void *)handle, DEV_PHYSICAL) ? (dev_physical *)handle : NULL;
}

static dev_result check_prop(const CUmemAllocationProp *prop)
{
    if (!prop || prop->type != CU_MEM_ALLOCATION_TYPE_PINNED)
        return DEV_INVALID_VALUE;
    if (prop->location.type != CU_MEM_LOCATION_TYPE_DEVICE)
        return dev_unsupported_part("cuMemCreate outside of device memory");
    if (prop->requestedHandleTypes)
        return dev_unsupported_part("cuMemCreate of memory to be shared");
    return dev_gpu_get(prop->location.id) ? DEV_OK : DEV_INVALID_DEVICE;
}

WL_DRIVER(CUresult, cuMemGetAllocationGranularity,
          (size_t *granularity, const CUmemAllocationProp *prop, int option))
{
    DR_FREE("cuMemGetAllocationGranularity");
    if (!granularity || option < 0 || option > CU_MEM_ALLOC_GRANULARITY_RECOMMENDED)
        DR_END(DEV_INVALID_VALUE);
    *granularity = DEV_GRANULARITY;
    DR_END(check_prop(prop));
}

WL_DRIVER(CUresult, cuMemCreate,
          (CUmemGenericAllocationHandle * out, size_t size, const CUmemAllocationProp *prop,
           unsigned long long flags))
{
    DR_FREE("cuMemCreate");
    dev_physical *physical;
    result = out && !flags ? check_prop(prop) : DEV_INVALID_VALUE;
    if (result == DEV_OK)
        result = dev_physical_new(dev_gpu_get(prop->location.id), size, &physical);
    if (result == DEV_OK)
        *out = (CUmemGenericAllocationHandle)physical;
    DR_END(result);
}

WL_DRIVER(CUresult, cuMemRelease, (CUmemGenericAllocationHandle handle))
{
    DR_FREE("cuMemRelease");
    dev_physical *physical = physical_of(handle);
    DR_END(physical ? dev_physical_release(physical) : DEV_INVALID_VALUE);
}

WL_DRIVER(CUresult, cuMemRetainAllocationHandle,
          (CUmemGenericAllocationHandle * out, void *address))
{
    DR_FREE("cuMemRetainAllocationHandle");
    dev_physical *physical;
    result = out ? dev_physical_retain((uint64_t)address, &physical) : DEV_INVALID_VALUE;
    if (result == DEV_OK)
        *out = (CUmemGenericAllocationHandle)physical;
    DR_END(result);
}

WL_DRIVER(CUresult, cuMemGetAllocationPropertiesFromHandle,
          (CUmemAllocationProp * prop, CUmemGenericAllocationHandle handle))
{
    DR_FREE("cuMemGetAllocationPropertiesFromHandle");
    dev_physical *physical = physical_of(handle);
    if (!prop || !physical)
        DR_END(DEV_INVALID_VALUE);
    memset(prop, 0, sizeof *prop);
    prop->type = CU_MEM_ALLOCATION_TYPE_PINNED;
    prop->location.type = CU_MEM_LOCATION_TYPE_DEVICE;
    prop->location.id = dev_gpu_ordinal(dev_physical_device(physical));
    DR_END(DEV_OK);
}

WL_DRIVER(CUresult, cuMemAddressReserve,
          (CUdeviceptr * out, size_t size, size_t align, CUdeviceptr hint,
           unsigned long long flags))
{
    DR_FREE("cuMemAddressReserve");
    uint64_t address;
    (void)hint;
    result = out && !flags ? dev_reserve(size, align, &address) : DEV_INVALID_VALUE;
    if (result == DEV_OK)
        *out = address;
    DR_END(result);
}

WL_DRIVER(CUresult, cuMemAddressFree, (CUdeviceptr address, size_t size))
{
    DR_FREE("cuMemAddressFree");
    DR_END(dev_unreserve(address, size));
}

WL_DRIVER(CUresult, cuMemMap,
          (CUdeviceptr address, size_t size, size_t offset, CUmemGenericAllocationHandle handle,
           unsigned long long flags))
{
    DR_BEGIN("cuMemMap", CAP_CALL_ALLOC, 0);
    dev_physical *physical = physical_of(handle);
    DR_END(physical && !flags ? dev_map(call, address, size, offset, physical) : DEV_INVALID_VALUE);
}

WL_DRIVER(CUresult, cuMemUnmap, (CUdeviceptr address, size_t size))
{
    DR_BEGIN("cuMemUnmap", CAP_CALL_FREE, 0);
    DR_END(dev_unmap(call, address, size));
}

WL_DRIVER(CUresult, cuMemSetAccess,
          (CUdeviceptr address, size_t size, const CUmemAccessDesc *access, size_t count))
{
    DR_FREE("cuMemSetAccess");
    if (!access || !count)
        DR_END(DEV_INVALID_VALUE);
    for (size_t i = 0; i < count && result == DEV_OK; i++)
        if (access[i].location.type == CU_MEM_LOCATION_TYPE_DEVICE)
            result = dev_access_set(address, size, access[i].location.id, (int)access[i].flags);
    DR_END(result);
}

WL_DRIVER(CUresult, cuMemGetAccess,
          (unsigned long long *flags, const CUmemLocation *location, CUdeviceptr address))
{
    DR_FREE("cuMemGetAccess");
    int value;
    result = flags && location ? dev_access_get(address, location->id, &value) : DEV_INVALID_VALUE;
    if (result == DEV_OK)
        *flags = (unsigned long long)value;
    DR_END(result);
}
