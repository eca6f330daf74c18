/* Memory of the runtime: allocation, what is known of pointers and variables, arrays and their
 * channels. */
#include "api/both/array.h"
#include "api/runtime/runtime.h"
#include "cuda/args.h"

#include <string.h>

/* ---- allocation: nothing asked for is NULL, and so is what could not be had ---- */

static void give(void **data, dev_result r, uint64_t address)
{
    if (r == DEV_OK)
        *data = (void *)address;
}

bool rt_clear(void **data)
{
    if (data)
        *data = NULL;
    return data;
}

dev_result rt_malloc(dev_call *call, void **data, size_t size)
{
    uint64_t address = 0;
    if (!rt_clear(data))
        return DEV_INVALID_VALUE;
    dev_result r = size ? dev_malloc(call, size, &address) : DEV_OK;
    give(data, r, address);
    return r;
}

dev_result rt_malloc_host(dev_call *call, void **data, size_t size, unsigned flags)
{
    const unsigned known = cudaHostAllocPortable | cudaHostAllocMapped | cudaHostAllocWriteCombined;
    if (!data || flags & ~known)
        return DEV_INVALID_VALUE;
    *data = NULL;
    return size ? dev_malloc_pinned(call, size, flags, data) : DEV_OK;
}

dev_result rt_malloc_managed(dev_call *call, void **data, size_t size, unsigned flags)
{
    uint64_t address = 0;
    bool known = flags == cudaMemAttachGlobal || flags == cudaMemAttachHost;
    if (!data || !known)
        return DEV_INVALID_VALUE;
    *data = NULL;
    dev_result r = size ? dev_malloc_managed(call, size, flags, &address) : DEV_OK;
    give(data, r, address);
    return r;
}

dev_result rt_malloc_pitch(dev_call *call, void **data, size_t *pitch, size_t width, size_t height)
{
    uint64_t address = 0;
    if (!data || !pitch)
        return DEV_INVALID_VALUE;
    *data = NULL;
    *pitch = 0;
    dev_result r = width && height ? dev_malloc_pitch(call, width, height, &address, pitch)
                                   : DEV_OK;
    give(data, r, address);
    return r;
}

dev_result rt_malloc_3d(dev_call *call, struct cudaPitchedPtr *out, struct cudaExtent extent)
{
    void *data;
    size_t pitch, rows;
    if (!out || __builtin_mul_overflow(extent.height, extent.depth, &rows))
        return DEV_INVALID_VALUE;
    dev_result r = rt_malloc_pitch(call, &data, &pitch, extent.width, rows);
    if (r == DEV_OK)
        *out = (struct cudaPitchedPtr){
            .ptr = data, .pitch = pitch, .xsize = extent.width, .ysize = extent.height};
    return r;
}

/* ---- the host's memory ---- */

dev_result rt_register(dev_call *call, void *data, size_t size, unsigned flags)
{
    const unsigned known = cudaHostRegisterPortable | cudaHostRegisterMapped |
                           cudaHostRegisterIoMemory | cudaHostRegisterReadOnly;
    return flags & ~known ? DEV_INVALID_VALUE : dev_register(call, data, size, flags);
}

dev_result rt_device_pointer(void **device, void *host, unsigned flags)
{
    dev_memory memory;
    if (!device || flags || !dev_memory_find((uint64_t)host, &memory) ||
        memory.type != DEV_MEMORY_HOST)
        return DEV_INVALID_VALUE;
    *device = host;
    return DEV_OK;
}

dev_result rt_host_flags(unsigned *flags, void *host)
{
    dev_memory memory;
    if (!flags || !dev_memory_find((uint64_t)host, &memory) || memory.type != DEV_MEMORY_HOST ||
        memory.registered)
        return DEV_INVALID_VALUE;
    *flags = memory.flags | cudaHostAllocMapped | cudaHostAllocPortable;
    return DEV_OK;
}

/* ---- pointers ---- */

/* The fields up to hostPointer lie alike in all releases; 13 has reserved ones after them. */
dev_result rt_pointer_attributes(struct cudaPointerAttributes_v12 *out, const void *data)
{
    dev_memory memory;
    if (!out)
        return DEV_INVALID_VALUE;
    *out = (struct cudaPointerAttributes_v12){.device = cudaInvalidDeviceId};
    if (!dev_memory_find((uint64_t)data, &memory)) {
        out->hostPointer = (void *)(uintptr_t)data;
        return DEV_OK;
    }
    out->type = (enum cudaMemoryType)memory.type;
    out->device = memory.device;
    out->devicePointer = (void *)(uintptr_t)data;
    if (memory.type != DEV_MEMORY_DEVICE)
        out->hostPointer = (void *)(uintptr_t)data;
    return DEV_OK;
}

dev_result rt_pointer_attributes_13(struct cudaPointerAttributes_v13 *out, const void *data)
{
    if (out)
        memset(out->reserved, 0, sizeof out->reserved);
    return rt_pointer_attributes((struct cudaPointerAttributes_v12 *)out, data);
}

dev_result rt_symbol_address(dev_call *call, void **address, const void *symbol)
{
    uint64_t base;
    size_t size;
    dev_result r = address ? rt_symbol(call->context, symbol, &base, &size) : DEV_INVALID_VALUE;
    if (r == DEV_OK)
        *address = (void *)base;
    return r;
}

dev_result rt_symbol_size(dev_call *call, size_t *size, const void *symbol)
{
    uint64_t base;
    return size ? rt_symbol(call->context, symbol, &base, size) : DEV_INVALID_VALUE;
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

dev_result rt_new_array(dev_call *call, void *out, const struct cudaChannelFormatDesc *desc,
                        struct cudaExtent extent, unsigned flags, unsigned levels)
{
    unsigned channels;
    if (!out || !desc)
        return DEV_INVALID_VALUE;
    int format = rt_format_of(desc, &channels);
    CUDA_ARRAY3D_DESCRIPTOR d = {.Width = extent.width,
                                 .Height = extent.height,
                                 .Depth = extent.depth,
                                 .Format = (CUarray_format)format,
                                 .NumChannels = channels,
                                 .Flags = flags};
    return format ? api_new_array(call, out, &d, levels) : DEV_INVALID_CHANNEL;
}

static struct cudaChannelFormatDesc channels_of(const CUDA_ARRAY3D_DESCRIPTOR *d)
{
    int bits = (int)cuda_format_bytes((int)d->Format) * 8;
    struct cudaChannelFormatDesc desc = {.x = bits};
    desc.y = d->NumChannels > 1 ? bits : 0;
    desc.z = d->NumChannels > 2 ? bits : 0;
    desc.w = d->NumChannels > 3 ? bits : 0;
    if (d->Format == CU_AD_FORMAT_HALF || d->Format == CU_AD_FORMAT_FLOAT)
        desc.f = cudaChannelFormatKindFloat;
    else if (d->Format >= CU_AD_FORMAT_SIGNED_INT8)
        desc.f = cudaChannelFormatKindSigned;
    else
        desc.f = cudaChannelFormatKindUnsigned;
    return desc;
}

dev_result rt_array_info(struct cudaChannelFormatDesc *desc, struct cudaExtent *extent,
                         unsigned *flags, cudaArray_const_t array)
{
    CUDA_ARRAY3D_DESCRIPTOR d;
    dev_result r = api_array_descriptor(array, &d);
    if (r)
        return r;
    if (desc)
        *desc = channels_of(&d);
    if (extent)
        *extent = (struct cudaExtent){d.Width, d.Height, d.Depth};
    if (flags)
        *flags = d.Flags;
    return DEV_OK;
}

WL_RUNTIME(struct cudaChannelFormatDesc, cudaCreateChannelDesc, (int x, int y, int z, int w, int f))
{
    return (struct cudaChannelFormatDesc){x, y, z, w, (enum cudaChannelFormatKind)f};
}
