/* Virtual memory in the driver interface: addresses, memory without an address, and the two
 * joined. */
#include "api/driver/driver.h"

#include <string.h>

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

dev_result dr_granularity(size_t *granularity, const CUmemAllocationProp *prop, int option)
{
    if (!granularity || option < 0 || option > CU_MEM_ALLOC_GRANULARITY_RECOMMENDED)
        return DEV_INVALID_VALUE;
    *granularity = DEV_GRANULARITY;
    return check_prop(prop);
}

dev_result dr_new_physical(CUmemGenericAllocationHandle *out, size_t size,
                           const CUmemAllocationProp *prop, unsigned long long flags)
{
    dev_physical *physical;
    dev_result r = out && !flags ? check_prop(prop) : DEV_INVALID_VALUE;
    if (r == DEV_OK)
        r = dev_physical_new(dev_gpu_get(prop->location.id), size, &physical);
    if (r == DEV_OK)
        *out = (CUmemGenericAllocationHandle)physical;
    return r;
}

dev_result dr_release_physical(CUmemGenericAllocationHandle handle)
{
    return physical_of(handle) ? dev_physical_release(physical_of(handle)) : DEV_INVALID_VALUE;
}

dev_result dr_retain_physical(CUmemGenericAllocationHandle *out, void *address)
{
    dev_physical *physical;
    dev_result r = out ? dev_physical_retain((uint64_t)address, &physical) : DEV_INVALID_VALUE;
    if (r == DEV_OK)
        *out = (CUmemGenericAllocationHandle)physical;
    return r;
}

dev_result dr_physical_properties(CUmemAllocationProp *prop, CUmemGenericAllocationHandle handle)
{
    dev_physical *physical = physical_of(handle);
    if (!prop || !physical)
        return DEV_INVALID_VALUE;
    memset(prop, 0, sizeof *prop);
    prop->type = CU_MEM_ALLOCATION_TYPE_PINNED;
    prop->location.type = CU_MEM_LOCATION_TYPE_DEVICE;
    prop->location.id = dev_gpu_ordinal(dev_physical_device(physical));
    return DEV_OK;
}

dev_result dr_reserve(CUdeviceptr *out, size_t size, size_t align, unsigned long long flags)
{
    uint64_t address;
    dev_result r = out && !flags ? dev_reserve(size, align, &address) : DEV_INVALID_VALUE;
    if (r == DEV_OK)
        *out = address;
    return r;
}

dev_result dr_map(dev_call *call, CUdeviceptr address, size_t size, size_t offset,
                  CUmemGenericAllocationHandle handle, unsigned long long flags)
{
    dev_physical *physical = physical_of(handle);
    return physical && !flags ? dev_map(call, address, size, offset, physical) : DEV_INVALID_VALUE;
}

dev_result dr_set_access(CUdeviceptr address, size_t size, const CUmemAccessDesc *access,
                         size_t count)
{
    dev_result r = access && count ? DEV_OK : DEV_INVALID_VALUE;
    for (size_t i = 0; i < count && r == DEV_OK; i++)
        if (access[i].location.type == CU_MEM_LOCATION_TYPE_DEVICE)
            r = dev_access_set(address, size, access[i].location.id, (int)access[i].flags);
    return r;
}

dev_result dr_access(unsigned long long *flags, const CUmemLocation *location, CUdeviceptr address)
{
    int value;
    dev_result r = flags && location ? dev_access_get(address, location->id, &value)
                                     : DEV_INVALID_VALUE;
    if (r == DEV_OK)
        *flags = (unsigned long long)value;
    return r;
}
