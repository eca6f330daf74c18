/* Copies in the driver interface: of bytes of arrays, of rows and slices; descriptions of
 * arrays. */
#include "api/both/copy.h"
#include "api/both/array.h"
#include "api/driver/driver.h"

/* ---- arrays ---- */

static CUDA_ARRAY3D_DESCRIPTOR flat(const CUDA_ARRAY_DESCRIPTOR *d)
{
    return (CUDA_ARRAY3D_DESCRIPTOR){
        .Width = d->Width, .Height = d->Height, .Format = d->Format, .NumChannels = d->NumChannels};
}

dev_result dr_new_flat_array(dev_call *call, CUarray *out, const CUDA_ARRAY_DESCRIPTOR *d)
{
    if (!d)
        return DEV_INVALID_VALUE;
    CUDA_ARRAY3D_DESCRIPTOR whole = flat(d);
    return api_new_array(call, out, &whole, 0);
}

dev_result dr_flat_descriptor(CUarray handle, CUDA_ARRAY_DESCRIPTOR *out)
{
    CUDA_ARRAY3D_DESCRIPTOR d;
    dev_result r = out ? api_array_descriptor(handle, &d) : DEV_INVALID_VALUE;
    if (r == DEV_OK)
        *out = (CUDA_ARRAY_DESCRIPTOR){
            .Width = d.Width, .Height = d.Height, .Format = d.Format, .NumChannels = d.NumChannels};
    return r;
}

/* ---- bytes of arrays: those of the first row ---- */

static dev_place place_in_array(CUarray array, size_t offset)
{
    return (dev_place){.array = api_array_of(array), .x = offset};
}

dev_result dr_copy_to_array(dev_call *call, CUstream stream, bool per_thread, CUarray to,
                            size_t offset, dev_place from, size_t bytes, bool blocking)
{
    dev_place place = place_in_array(to, offset);
    return place.array ? api_copy_bytes(call, stream, per_thread, place, from, bytes, blocking)
                       : DEV_INVALID_HANDLE;
}

dev_result dr_copy_from_array(dev_call *call, CUstream stream, bool per_thread, dev_place to,
                              CUarray from, size_t offset, size_t bytes, bool blocking)
{
    dev_place place = place_in_array(from, offset);
    return place.array ? api_copy_bytes(call, stream, per_thread, to, place, bytes, blocking)
                       : DEV_INVALID_HANDLE;
}

dev_result dr_copy_arrays(dev_call *call, bool per_thread, CUarray to, size_t to_offset,
                          CUarray from, size_t from_offset, size_t bytes)
{
    dev_place source = place_in_array(from, from_offset);
    return source.array
               ? dr_copy_to_array(call, NULL, per_thread, to, to_offset, source, bytes, true)
               : DEV_INVALID_HANDLE;
}

/* ---- rows and slices ---- */

typedef struct pitched { /* one side of a CUDA_MEMCPY2D or CUDA_MEMCPY3D */
    CUmemorytype type;
    const void *host;
    CUdeviceptr device;
    CUarray array;
    size_t pitch, height, x, y, z;
} pitched;

static dev_result read_pitched_place(const pitched *p, dev_place *out)
{
    switch (p->type) {
    case CU_MEMORYTYPE_HOST: *out = api_place(ON_HOST, (uint64_t)p->host); break;
    case CU_MEMORYTYPE_DEVICE: *out = api_place(ON_DEVICE, p->device); break;
    case CU_MEMORYTYPE_UNIFIED: *out = api_place(ANYWHERE, p->device); break;
    case CU_MEMORYTYPE_ARRAY: *out = place_in_array(p->array, 0); break;
    default: return DEV_INVALID_VALUE;
    }
    if (p->type == CU_MEMORYTYPE_ARRAY && !out->array)
        return DEV_INVALID_HANDLE;
    out->pitch = p->pitch;
    out->height = p->height;
    out->x = p->x;
    out->y = p->y;
    out->z = p->z;
    return DEV_OK;
}

dev_result dr_read_copy(const CUDA_MEMCPY3D *c, dev_copy *copy)
{
    pitched from = {c->srcMemoryType, c->srcHost,     c->srcDevice, c->srcArray, c->srcPitch,
                    c->srcHeight,     c->srcXInBytes, c->srcY,      c->srcZ};
    pitched to = {c->dstMemoryType, c->dstHost,     c->dstDevice, c->dstArray, c->dstPitch,
                  c->dstHeight,     c->dstXInBytes, c->dstY,      c->dstZ};
    *copy = (dev_copy){.width = c->WidthInBytes, .height = c->Height, .depth = c->Depth};
    if (c->srcLOD || c->dstLOD)
        return DEV_INVALID_VALUE;
    dev_result r = read_pitched_place(&from, &copy->from);
    return r ? r : read_pitched_place(&to, &copy->to);
}

dev_result dr_copy_slices(dev_call *call, CUstream stream, bool per_thread, const CUDA_MEMCPY3D *c,
                          bool blocking)
{
    dev_copy copy;
    dev_result r = c ? dr_read_copy(c, &copy) : DEV_INVALID_VALUE;
    return r ? r : api_copy(call, stream, per_thread, &copy, blocking);
}

dev_result dr_copy_rows(dev_call *call, CUstream stream, bool per_thread, const CUDA_MEMCPY2D *c,
                        bool blocking)
{
    if (!c)
        return DEV_INVALID_VALUE;
    CUDA_MEMCPY3D slice = {.srcXInBytes = c->srcXInBytes,
                           .srcY = c->srcY,
                           .srcMemoryType = c->srcMemoryType,
                           .srcHost = c->srcHost,
                           .srcDevice = c->srcDevice,
                           .srcArray = c->srcArray,
                           .srcPitch = c->srcPitch,
                           .dstXInBytes = c->dstXInBytes,
                           .dstY = c->dstY,
                           .dstMemoryType = c->dstMemoryType,
                           .dstHost = c->dstHost,
                           .dstDevice = c->dstDevice,
                           .dstArray = c->dstArray,
                           .dstPitch = c->dstPitch,
                           .WidthInBytes = c->WidthInBytes,
                           .Height = c->Height,
                           .Depth = 1};
    return dr_copy_slices(call, stream, per_thread, &slice, blocking);
}
