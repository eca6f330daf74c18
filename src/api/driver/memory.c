/* Memory in the driver interface: allocation, registration, what is known of an address. */
#include "api/driver/driver.h"

#include <string.h>

/* ---- allocation ---- */

WL_DRIVER(CUresult, cuMemAlloc_v2, (CUdeviceptr * out, size_t size))
{
    DR_BEGIN("cuMemAlloc_v2", CAP_CALL_ALLOC, DEV_CURRENT);
    uint64_t address;
    result = out ? dev_malloc(call, size, &address) : DEV_INVALID_VALUE;
    if (result == DEV_OK)
        *out = address;
    DR_END(result);
}

WL_DRIVER(CUresult, cuMemAllocManaged, (CUdeviceptr * out, size_t size, unsigned flags))
{
    DR_BEGIN("cuMemAllocManaged", CAP_CALL_ALLOC, DEV_CURRENT);
    uint64_t address;
    if (!out || (flags != CU_MEM_ATTACH_GLOBAL && flags != CU_MEM_ATTACH_HOST))
        DR_END(DEV_INVALID_VALUE);
    result = dev_malloc_managed(call, size, flags, &address);
    if (result == DEV_OK)
        *out = address;
    DR_END(result);
}

WL_DRIVER(CUresult, cuMemAllocPitch_v2,
          (CUdeviceptr * out, size_t *pitch, size_t width, size_t height, unsigned element))
{
    DR_BEGIN("cuMemAllocPitch_v2", CAP_CALL_ALLOC, DEV_CURRENT);
    uint64_t address;
    if (!out || !pitch || !width || !height || (element != 4 && element != 8 && element != 16))
        DR_END(DEV_INVALID_VALUE);
    result = dev_malloc_pitch(call, width, height, &address, pitch);
    if (result == DEV_OK)
        *out = address;
    DR_END(result);
}

WL_DRIVER(CUresult, cuMemFree_v2, (CUdeviceptr address))
{
    DR_BEGIN("cuMemFree_v2", CAP_CALL_FREE, DEV_CURRENT);
    DR_END(address ? dev_free(call, address) : DEV_OK);
}

static CUresult alloc_host(const char *api, void **out, size_t size, unsigned flags)
{
    DR_BEGIN(api, CAP_CALL_ALLOC, DEV_CURRENT);
    const unsigned known = CU_MEMHOSTALLOC_PORTABLE | CU_MEMHOSTALLOC_DEVICEMAP |
                           CU_MEMHOSTALLOC_WRITECOMBINED;
    if (!out || (flags & ~known))
        DR_END(DEV_INVALID_VALUE);
    if (!size) {
        *out = NULL;
        DR_END(DEV_OK);
    }
    DR_END(dev_malloc_pinned(call, size, flags | CU_MEMHOSTALLOC_DEVICEMAP, out));
}

WL_DRIVER(CUresult, cuMemHostAlloc, (void **out, size_t size, unsigned flags))
{
    return alloc_host("cuMemHostAlloc", out, size, flags);
}

WL_DRIVER(CUresult, cuMemAllocHost_v2, (void **out, size_t size))
{
    return alloc_host("cuMemAllocHost_v2", out, size, 0);
}

WL_DRIVER(CUresult, cuMemFreeHost, (void *data))
{
    DR_BEGIN("cuMemFreeHost", CAP_CALL_FREE, DEV_CURRENT);
    DR_END(data ? dev_free_pinned(call, data) : DEV_OK);
}

WL_DRIVER(CUresult, cuMemHostRegister_v2, (void *data, size_t size, unsigned flags))
{
    DR_BEGIN("cuMemHostRegister_v2", CAP_CALL_ALLOC, DEV_CURRENT);
    const unsigned known = CU_MEMHOSTREGISTER_PORTABLE | CU_MEMHOSTREGISTER_DEVICEMAP |
                           CU_MEMHOSTREGISTER_READ_ONLY;
    if (flags & CU_MEMHOSTREGISTER_IOMEMORY)
        DR_END(DEV_NOT_SUPPORTED);
    if (flags & ~known)
        DR_END(DEV_INVALID_VALUE);
    DR_END(dev_register(call, data, size, flags));
}
WL_DRIVER_ALSO(cuMemHostRegister, cuMemHostRegister_v2);

WL_DRIVER(CUresult, cuMemHostUnregister, (void *data))
{
    DR_BEGIN("cuMemHostUnregister", CAP_CALL_FREE, DEV_CURRENT);
    DR_END(data ? dev_unregister(call, data) : DEV_INVALID_VALUE);
}

WL_DRIVER(CUresult, cuMemHostGetDevicePointer_v2, (CUdeviceptr * out, void *data, unsigned flags))
{
    DR_QUIET("cuMemHostGetDevicePointer_v2");
    dev_memory memory;
    if (!out || flags || !dev_memory_find((uint64_t)data, &memory) ||
        memory.type == DEV_MEMORY_DEVICE)
        DR_END(DEV_INVALID_VALUE);
    *out = (CUdeviceptr)data;
    DR_END(DEV_OK);
}

WL_DRIVER(CUresult, cuMemHostGetFlags, (unsigned *flags, void *data))
{
    DR_QUIET("cuMemHostGetFlags");
    dev_memory memory;
    if (!flags || !dev_memory_find((uint64_t)data, &memory) || memory.type != DEV_MEMORY_HOST)
        DR_END(DEV_INVALID_VALUE);
    *flags = memory.flags | CU_MEMHOSTALLOC_DEVICEMAP;
    DR_END(DEV_OK);
}

WL_DRIVER(CUresult, cuMemGetInfo_v2, (size_t *free_bytes, size_t *total))
{
    DR_QUIET("cuMemGetInfo_v2");
    uint64_t unused, all;
    dev_gpu_memory(dev_context_device(call->context), &unused, &all);
    if (free_bytes)
        *free_bytes = unused;
    if (total)
        *total = all;
    DR_END(DEV_OK);
}

WL_DRIVER(CUresult, cuMemGetAddressRange_v2,
          (CUdeviceptr * base, size_t *size, CUdeviceptr address))
{
    DR_QUIET("cuMemGetAddressRange_v2");
    dev_memory memory;
    if (!dev_memory_find(address, &memory))
        DR_END(DEV_NOT_FOUND);
    if (base)
        *base = memory.base;
    if (size)
        *size = memory.size;
    DR_END(DEV_OK);
}

/* ---- attributes of addresses ---- */

static unsigned memory_type(const dev_memory *memory)
{
    return memory->type == DEV_MEMORY_HOST ? CU_MEMORYTYPE_HOST : CU_MEMORYTYPE_DEVICE;
}

typedef struct answer {
    uint64_t value;
    size_t bytes; /* 4 or 8; 0: no such attribute */
} answer;

static answer narrow(uint32_t value)
{
    return (answer){value, 4};
}

static answer wide(uint64_t value)
{
    return (answer){value, 8};
}

static answer attribute_of(int attribute, const dev_memory *memory, CUdeviceptr address)
{
    bool host = memory->type != DEV_MEMORY_DEVICE;
    switch (attribute) {
    case CU_POINTER_ATTRIBUTE_CONTEXT: return wide((uint64_t)memory->context);
    case CU_POINTER_ATTRIBUTE_DEVICE_POINTER: return wide(address);
    case CU_POINTER_ATTRIBUTE_HOST_POINTER: return host ? wide(address) : (answer){0};
    case CU_POINTER_ATTRIBUTE_BUFFER_ID:
    case CU_POINTER_ATTRIBUTE_MEMORY_BLOCK_ID: return wide(memory->object);
    case CU_POINTER_ATTRIBUTE_RANGE_START_ADDR:
    case CU_POINTER_ATTRIBUTE_MAPPING_BASE_ADDR: return wide(memory->base);
    case CU_POINTER_ATTRIBUTE_RANGE_SIZE:
    case CU_POINTER_ATTRIBUTE_MAPPING_SIZE: return wide(memory->size);
    case CU_POINTER_ATTRIBUTE_MEMPOOL_HANDLE: return wide((uint64_t)memory->pool);
    case CU_POINTER_ATTRIBUTE_ALLOWED_HANDLE_TYPES: return wide(0);
    case CU_POINTER_ATTRIBUTE_MEMORY_TYPE: return narrow(memory_type(memory));
    case CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL: return narrow((uint32_t)memory->device);
    case CU_POINTER_ATTRIBUTE_IS_MANAGED: return narrow(memory->type == DEV_MEMORY_MANAGED);
    case CU_POINTER_ATTRIBUTE_MAPPED: return narrow(1);
    case CU_POINTER_ATTRIBUTE_ACCESS_FLAGS: return narrow(CU_MEM_ACCESS_FLAGS_PROT_READWRITE);
    case CU_POINTER_ATTRIBUTE_SYNC_MEMOPS:
    case CU_POINTER_ATTRIBUTE_IS_LEGACY_CUDA_IPC_CAPABLE:
    case CU_POINTER_ATTRIBUTE_IS_GPU_DIRECT_RDMA_CAPABLE:
    case CU_POINTER_ATTRIBUTE_IS_HW_DECOMPRESS_CAPABLE: return narrow(0);
    default: return (answer){0};
    }
}

WL_DRIVER(CUresult, cuPointerGetAttribute, (void *out, int attribute, CUdeviceptr address))
{
    DR_QUIET("cuPointerGetAttribute");
    dev_memory memory;
    answer a = {0};
    if (out && dev_memory_find(address, &memory))
        a = attribute_of(attribute, &memory, address);
    if (a.bytes)
        memcpy(out, &a.value, a.bytes);
    DR_END(a.bytes ? DEV_OK : DEV_INVALID_VALUE);
}

/* What the query of several attributes gives for an address that CUDA does not know. */
static answer unknown_address(int attribute)
{
    dev_memory none = {0};
    answer a = attribute_of(attribute, &none, 0);
    a.value = attribute == CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL ? (uint32_t)-2 : 0;
    return a;
}

WL_DRIVER(CUresult, cuPointerGetAttributes,
          (unsigned count, CUpointer_attribute *attributes, void **data, CUdeviceptr address))
{
    DR_QUIET("cuPointerGetAttributes");
    dev_memory memory;
    if (!attributes || !data || !count)
        DR_END(DEV_INVALID_VALUE);
    bool known = dev_memory_find(address, &memory);
    for (unsigned i = 0; i < count; i++) {
        int number = (int)attributes[i];
        answer a = known ? attribute_of(number, &memory, address) : unknown_address(number);
        if (!a.bytes && number == CU_POINTER_ATTRIBUTE_HOST_POINTER)
            a.bytes = 8;
        if (!a.bytes || !data[i])
            DR_END(DEV_INVALID_VALUE);
        memcpy(data[i], &a.value, a.bytes);
    }
    DR_END(DEV_OK);
}

WL_DRIVER(CUresult, cuPointerSetAttribute, (const void *value, int attribute, CUdeviceptr address))
{
    DR_QUIET("cuPointerSetAttribute"); /* all memory operations are synchronous here */
    dev_memory memory;
    DR_END(value && attribute == CU_POINTER_ATTRIBUTE_SYNC_MEMOPS &&
                   dev_memory_find(address, &memory)
               ? DEV_OK
               : DEV_INVALID_VALUE);
}

/* ---- managed memory: where it lies is of no effect here ---- */

static dev_result check_managed(CUdeviceptr address, size_t size)
{
    dev_memory memory;
    if (!size || !dev_memory_find(address, &memory) || memory.type != DEV_MEMORY_MANAGED)
        return DEV_INVALID_VALUE;
    return size <= memory.base + memory.size - address ? DEV_OK : DEV_INVALID_VALUE;
}

static CUresult advise(const char *api, CUdeviceptr address, size_t size, int advice)
{
    DR_QUIET(api);
    if (advice < CU_MEM_ADVISE_SET_READ_MOSTLY || advice > CU_MEM_ADVISE_UNSET_ACCESSED_BY)
        DR_END(DEV_INVALID_VALUE);
    DR_END(check_managed(address, size));
}

WL_DRIVER(CUresult, cuMemAdvise, (CUdeviceptr address, size_t size, int advice, CUdevice device))
{
    (void)device;
    return advise("cuMemAdvise", address, size, advice);
}

WL_DRIVER(CUresult, cuMemAdvise_v2,
          (CUdeviceptr address, size_t size, int advice, CUmemLocation location))
{
    (void)location;
    return advise("cuMemAdvise_v2", address, size, advice);
}

static CUresult prefetch(const char *api, bool per_thread, CUdeviceptr address, size_t size,
                         CUstream handle)
{
    DR_QUIET(api);
    dev_stream *stream;
    result = dev_stream_get(call, handle, per_thread, &stream);
    DR_END(result ? result : check_managed(address, size));
}

WL_DRIVER_STREAM(ptsz, cuMemPrefetchAsync,
                 (CUdeviceptr address, size_t size, CUdevice device, CUstream stream),
                 (address, size, device, stream))
{
    (void)device;
    return prefetch(api, per_thread, address, size, stream);
}

WL_DRIVER_STREAM(ptsz, cuMemPrefetchAsync_v2,
                 (CUdeviceptr address, size_t size, CUmemLocation location, unsigned flags,
                  CUstream stream),
                 (address, size, location, flags, stream))
{
    (void)location;
    (void)flags;
    return prefetch(api, per_thread, address, size, stream);
}

WL_DRIVER_STREAM(ptsz, cuStreamAttachMemAsync,
                 (CUstream stream, CUdeviceptr address, size_t size, unsigned flags),
                 (stream, address, size, flags))
{
    (void)size;
    (void)flags;
    return prefetch(api, per_thread, address, 1, stream);
}
