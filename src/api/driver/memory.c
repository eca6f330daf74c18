/* Memory in the driver interface: allocation, registration, what is known of an address. */
#include "api/driver/driver.h"

#include <string.h>

/* ---- allocation ---- */

dev_result dr_malloc(dev_call *call, CUdeviceptr *out, size_t size)
{
    uint64_t address;
    dev_result r = out ? dev_malloc(call, size, &address) : DEV_INVALID_VALUE;
    if (r == DEV_OK)
        *out = address;
    return r;
}

dev_result dr_malloc_managed(dev_call *call, CUdeviceptr *out, size_t size, unsigned flags)
{
    uint64_t address;
    bool known = flags == CU_MEM_ATTACH_GLOBAL || flags == CU_MEM_ATTACH_HOST;
    dev_result r = out && known ? dev_malloc_managed(call, size, flags, &address)
                                : DEV_INVALID_VALUE;
    if (r == DEV_OK)
        *out = address;
    return r;
}

dev_result dr_malloc_pitch(dev_call *call, CUdeviceptr *out, size_t *pitch, size_t width,
                           size_t height, unsigned element)
{
    uint64_t address;
    bool known = element == 4 || element == 8 || element == 16;
    dev_result r = out && pitch && width && height && known
                       ? dev_malloc_pitch(call, width, height, &address, pitch)
                       : DEV_INVALID_VALUE;
    if (r == DEV_OK)
        *out = address;
    return r;
}

dev_result dr_malloc_host(dev_call *call, void **out, size_t size, unsigned flags)
{
    const unsigned known = CU_MEMHOSTALLOC_PORTABLE | CU_MEMHOSTALLOC_DEVICEMAP |
                           CU_MEMHOSTALLOC_WRITECOMBINED;
    if (!out || (flags & ~known))
        return DEV_INVALID_VALUE;
    if (size)
        return dev_malloc_pinned(call, size, flags | CU_MEMHOSTALLOC_DEVICEMAP, out);
    *out = NULL;
    return DEV_OK;
}

dev_result dr_register(dev_call *call, void *data, size_t size, unsigned flags)
{
    const unsigned known = CU_MEMHOSTREGISTER_PORTABLE | CU_MEMHOSTREGISTER_DEVICEMAP |
                           CU_MEMHOSTREGISTER_READ_ONLY;
    if (flags & CU_MEMHOSTREGISTER_IOMEMORY)
        return DEV_NOT_SUPPORTED;
    return flags & ~known ? DEV_INVALID_VALUE : dev_register(call, data, size, flags);
}

/* ---- what is known of memory ---- */

dev_result dr_device_pointer(CUdeviceptr *out, void *data, unsigned flags)
{
    dev_memory memory;
    if (!out || flags || !dev_memory_find((uint64_t)data, &memory) ||
        memory.type == DEV_MEMORY_DEVICE)
        return DEV_INVALID_VALUE;
    *out = (CUdeviceptr)data;
    return DEV_OK;
}

dev_result dr_host_flags(unsigned *flags, void *data)
{
    dev_memory memory;
    if (!flags || !dev_memory_find((uint64_t)data, &memory) || memory.type != DEV_MEMORY_HOST)
        return DEV_INVALID_VALUE;
    *flags = memory.flags | CU_MEMHOSTALLOC_DEVICEMAP;
    return DEV_OK;
}

dev_result dr_address_range(CUdeviceptr *base, size_t *size, CUdeviceptr address)
{
    dev_memory memory;
    if (!dev_memory_find(address, &memory))
        return DEV_NOT_FOUND;
    if (base)
        *base = memory.base;
    if (size)
        *size = memory.size;
    return DEV_OK;
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

static answer answer_of_u32(uint32_t value)
{
    return (answer){value, 4};
}

static answer answer_of_u64(uint64_t value)
{
    return (answer){value, 8};
}

static answer pointer_attribute(int attribute, const dev_memory *memory, CUdeviceptr address)
{
    bool host = memory->type != DEV_MEMORY_DEVICE;
    switch (attribute) {
    case CU_POINTER_ATTRIBUTE_CONTEXT: return answer_of_u64((uint64_t)memory->context);
    case CU_POINTER_ATTRIBUTE_DEVICE_POINTER: return answer_of_u64(address);
    case CU_POINTER_ATTRIBUTE_HOST_POINTER: return host ? answer_of_u64(address) : (answer){0};
    case CU_POINTER_ATTRIBUTE_BUFFER_ID:
    case CU_POINTER_ATTRIBUTE_MEMORY_BLOCK_ID: return answer_of_u64(memory->object);
    case CU_POINTER_ATTRIBUTE_RANGE_START_ADDR:
    case CU_POINTER_ATTRIBUTE_MAPPING_BASE_ADDR: return answer_of_u64(memory->base);
    case CU_POINTER_ATTRIBUTE_RANGE_SIZE:
    case CU_POINTER_ATTRIBUTE_MAPPING_SIZE: return answer_of_u64(memory->size);
    case CU_POINTER_ATTRIBUTE_MEMPOOL_HANDLE: return answer_of_u64((uint64_t)memory->pool);
    case CU_POINTER_ATTRIBUTE_ALLOWED_HANDLE_TYPES: return answer_of_u64(0);
    case CU_POINTER_ATTRIBUTE_MEMORY_TYPE: return answer_of_u32(memory_type(memory));
    case CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL: return answer_of_u32((uint32_t)memory->device);
    case CU_POINTER_ATTRIBUTE_IS_MANAGED: return answer_of_u32(memory->type == DEV_MEMORY_MANAGED);
    case CU_POINTER_ATTRIBUTE_MAPPED: return answer_of_u32(1);
    case CU_POINTER_ATTRIBUTE_ACCESS_FLAGS:
        return answer_of_u32(CU_MEM_ACCESS_FLAGS_PROT_READWRITE);
    case CU_POINTER_ATTRIBUTE_SYNC_MEMOPS:
    case CU_POINTER_ATTRIBUTE_IS_LEGACY_CUDA_IPC_CAPABLE:
    case CU_POINTER_ATTRIBUTE_IS_GPU_DIRECT_RDMA_CAPABLE:
    case CU_POINTER_ATTRIBUTE_IS_HW_DECOMPRESS_CAPABLE: return answer_of_u32(0);
    default: return (answer){0};
    }
}

dev_result dr_pointer_attribute(void *out, int attribute, CUdeviceptr address)
{
    dev_memory memory;
    answer a = {0};
    if (out && dev_memory_find(address, &memory))
        a = pointer_attribute(attribute, &memory, address);
    if (a.bytes)
        memcpy(out, &a.value, a.bytes);
    return a.bytes ? DEV_OK : DEV_INVALID_VALUE;
}

/* What the query of several attributes gives for an address that CUDA does not know. */
static answer unknown_address(int attribute)
{
    dev_memory none = {0};
    answer a = pointer_attribute(attribute, &none, 0);
    a.value = attribute == CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL ? (uint32_t)-2 : 0;
    return a;
}

dev_result dr_pointer_attributes(unsigned count, const CUpointer_attribute *attributes, void **data,
                                 CUdeviceptr address)
{
    dev_memory memory;
    if (!attributes || !data || !count)
        return DEV_INVALID_VALUE;
    bool known = dev_memory_find(address, &memory);
    for (unsigned i = 0; i < count; i++) {
        int number = (int)attributes[i];
        answer a = known ? pointer_attribute(number, &memory, address) : unknown_address(number);
        if (!a.bytes && number == CU_POINTER_ATTRIBUTE_HOST_POINTER)
            a.bytes = 8;
        if (!a.bytes || !data[i])
            return DEV_INVALID_VALUE;
        memcpy(data[i], &a.value, a.bytes);
    }
    return DEV_OK;
}

/* Of those that can be set there is one, and all memory operations are synchronous here. */
dev_result dr_set_pointer_attribute(const void *value, int attribute, CUdeviceptr address)
{
    dev_memory memory;
    return value && attribute == CU_POINTER_ATTRIBUTE_SYNC_MEMOPS &&
                   dev_memory_find(address, &memory)
               ? DEV_OK
               : DEV_INVALID_VALUE;
}
