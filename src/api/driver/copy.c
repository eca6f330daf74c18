/* Copies, sets and arrays in the driver interface. */
#include "api/driver/driver.h"

#include <string.h>

/* ---- linear copies ---- */

typedef enum side { ANY, HOST, DEVICE } side;

static dev_place linear(uint64_t address, side where)
{
    return (dev_place){.address = address,
                       .given = where != ANY,
                       .expect = where == HOST ? DEV_MEMORY_HOST : DEV_MEMORY_DEVICE};
}

static CUresult run(const char *api, bool per_thread, CUstream handle, const dev_copy *copy,
                    bool blocking)
{
    DR_BEGIN(api, CAP_CALL_COPY, DEV_CURRENT);
    dev_stream *stream;
    result = dev_stream_get(call, handle, per_thread, &stream);
    if (result == DEV_OK)
        result = dev_do_copy(call, stream, copy, blocking);
    DR_END(result);
}

static CUresult copy_bytes(const char *api, bool per_thread, CUstream stream, dev_place to,
                           dev_place from, size_t bytes, bool blocking)
{
    dev_copy copy = {.from = from, .to = to, .width = bytes, .height = 1, .depth = 1};
    return run(api, per_thread, stream, &copy, blocking);
}

WL_DRIVER_STREAM(ptds, cuMemcpy, (CUdeviceptr to, CUdeviceptr from, size_t bytes),
                 (to, from, bytes))
{
    return copy_bytes(api, per_thread, NULL, linear(to, ANY), linear(from, ANY), bytes, true);
}

WL_DRIVER_STREAM(ptsz, cuMemcpyAsync,
                 (CUdeviceptr to, CUdeviceptr from, size_t bytes, CUstream stream),
                 (to, from, bytes, stream))
{
    return copy_bytes(api, per_thread, stream, linear(to, ANY), linear(from, ANY), bytes, false);
}

/* The host's side may be any address that the host can reach, device memory included. */
WL_DRIVER_STREAM(ptds, cuMemcpyHtoD_v2, (CUdeviceptr to, const void *from, size_t bytes),
                 (to, from, bytes))
{
    return copy_bytes(api, per_thread, NULL, linear(to, DEVICE), linear((uint64_t)from, ANY), bytes,
                      true);
}

WL_DRIVER_STREAM(ptsz, cuMemcpyHtoDAsync_v2,
                 (CUdeviceptr to, const void *from, size_t bytes, CUstream stream),
                 (to, from, bytes, stream))
{
    return copy_bytes(api, per_thread, stream, linear(to, DEVICE), linear((uint64_t)from, ANY),
                      bytes, false);
}

WL_DRIVER_STREAM(ptds, cuMemcpyDtoH_v2, (void *to, CUdeviceptr from, size_t bytes),
                 (to, from, bytes))
{
    return copy_bytes(api, per_thread, NULL, linear((uint64_t)to, ANY), linear(from, DEVICE), bytes,
                      true);
}

WL_DRIVER_STREAM(ptsz, cuMemcpyDtoHAsync_v2,
                 (void *to, CUdeviceptr from, size_t bytes, CUstream stream),
                 (to, from, bytes, stream))
{
    return copy_bytes(api, per_thread, stream, linear((uint64_t)to, ANY), linear(from, DEVICE),
                      bytes, false);
}

WL_DRIVER_STREAM(ptds, cuMemcpyDtoD_v2, (CUdeviceptr to, CUdeviceptr from, size_t bytes),
                 (to, from, bytes))
{
    return copy_bytes(api, per_thread, NULL, linear(to, DEVICE), linear(from, DEVICE), bytes, true);
}

WL_DRIVER_STREAM(ptsz, cuMemcpyDtoDAsync_v2,
                 (CUdeviceptr to, CUdeviceptr from, size_t bytes, CUstream stream),
                 (to, from, bytes, stream))
{
    return copy_bytes(api, per_thread, stream, linear(to, DEVICE), linear(from, DEVICE), bytes,
                      false);
}

/* Addresses are unique over all devices, so that the contexts add nothing. */
WL_DRIVER_STREAM(ptds, cuMemcpyPeer,
                 (CUdeviceptr to, CUcontext to_context, CUdeviceptr from, CUcontext from_context,
                  size_t bytes),
                 (to, to_context, from, from_context, bytes))
{
    (void)to_context;
    (void)from_context;
    return copy_bytes(api, per_thread, NULL, linear(to, DEVICE), linear(from, DEVICE), bytes, true);
}

WL_DRIVER_STREAM(ptsz, cuMemcpyPeerAsync,
                 (CUdeviceptr to, CUcontext to_context, CUdeviceptr from, CUcontext from_context,
                  size_t bytes, CUstream stream),
                 (to, to_context, from, from_context, bytes, stream))
{
    (void)to_context;
    (void)from_context;
    return copy_bytes(api, per_thread, stream, linear(to, DEVICE), linear(from, DEVICE), bytes,
                      false);
}

/* ---- arrays ---- */

static dev_array *array_of(CUarray handle)
{
    return dev_is(handle, DEV_ARRAY) ? (dev_array *)handle : NULL;
}

static CUresult new_array(const char *api, CUarray *out, const dev_array_desc *desc)
{
    DR_BEGIN(api, CAP_CALL_ALLOC, DEV_CURRENT);
    dev_array *array;
    result = out && desc ? dev_array_new(call, desc, &array) : DEV_INVALID_VALUE;
    if (result == DEV_OK)
        *out = (CUarray)array;
    DR_END(result);
}

WL_DRIVER(CUresult, cuArrayCreate_v2, (CUarray * out, const CUDA_ARRAY_DESCRIPTOR *d))
{
    dev_array_desc desc = {0};
    if (d)
        desc = (dev_array_desc){.width = d->Width,
                                .height = d->Height,
                                .channels = d->NumChannels,
                                .format = (int)d->Format};
    return new_array("cuArrayCreate_v2", out, d ? &desc : NULL);
}

WL_DRIVER(CUresult, cuArray3DCreate_v2, (CUarray * out, const CUDA_ARRAY3D_DESCRIPTOR *d))
{
    dev_array_desc desc = {0};
    if (d)
        desc = (dev_array_desc){.width = d->Width,
                                .height = d->Height,
                                .depth = d->Depth,
                                .channels = d->NumChannels,
                                .format = (int)d->Format,
                                .flags = d->Flags};
    return new_array("cuArray3DCreate_v2", out, d ? &desc : NULL);
}

WL_DRIVER(CUresult, cuArrayDestroy, (CUarray handle))
{
    DR_BEGIN("cuArrayDestroy", CAP_CALL_FREE, DEV_CURRENT);
    dev_array *array = array_of(handle);
    DR_END(array ? dev_array_destroy(call, array) : DEV_INVALID_HANDLE);
}

WL_DRIVER(CUresult, cuArray3DGetDescriptor_v2, (CUDA_ARRAY3D_DESCRIPTOR * out, CUarray handle))
{
    DR_QUIET("cuArray3DGetDescriptor_v2");
    dev_array *array = array_of(handle);
    if (!out || !array)
        DR_END(out ? DEV_INVALID_HANDLE : DEV_INVALID_VALUE);
    const dev_array_desc *d = dev_array_get(array);
    *out = (CUDA_ARRAY3D_DESCRIPTOR){.Width = d->width,
                                     .Height = d->height,
                                     .Depth = d->depth,
                                     .Format = (CUarray_format)d->format,
                                     .NumChannels = d->channels,
                                     .Flags = d->flags};
    DR_END(DEV_OK);
}

WL_DRIVER(CUresult, cuArrayGetDescriptor_v2, (CUDA_ARRAY_DESCRIPTOR * out, CUarray handle))
{
    DR_QUIET("cuArrayGetDescriptor_v2");
    dev_array *array = array_of(handle);
    if (!out || !array)
        DR_END(out ? DEV_INVALID_HANDLE : DEV_INVALID_VALUE);
    const dev_array_desc *d = dev_array_get(array);
    *out = (CUDA_ARRAY_DESCRIPTOR){.Width = d->width,
                                   .Height = d->height,
                                   .Format = (CUarray_format)d->format,
                                   .NumChannels = d->channels};
    DR_END(DEV_OK);
}

/* An array's side of a copy; the offset counts bytes of the first row. */
static CUresult copy_array(const char *api, bool per_thread, CUstream stream, CUarray to,
                           size_t to_offset, CUarray from, size_t from_offset, dev_place other,
                           size_t bytes, bool blocking)
{
    if (!dev_lock())
        return CUDA_ERROR_NOT_INITIALIZED;
    dev_place target = {.array = array_of(to), .x = to_offset};
    dev_place source = {.array = array_of(from), .x = from_offset};
    dev_unlock();
    if ((to && !target.array) || (from && !source.array))
        return CUDA_ERROR_INVALID_HANDLE;
    return copy_bytes(api, per_thread, stream, to ? target : other, from ? source : other, bytes,
                      blocking);
}

WL_DRIVER_STREAM(ptds, cuMemcpyHtoA_v2, (CUarray to, size_t offset, const void *from, size_t bytes),
                 (to, offset, from, bytes))
{
    return copy_array(api, per_thread, NULL, to, offset, NULL, 0, linear((uint64_t)from, HOST),
                      bytes, true);
}

WL_DRIVER_STREAM(ptsz, cuMemcpyHtoAAsync_v2,
                 (CUarray to, size_t offset, const void *from, size_t bytes, CUstream stream),
                 (to, offset, from, bytes, stream))
{
    return copy_array(api, per_thread, stream, to, offset, NULL, 0, linear((uint64_t)from, HOST),
                      bytes, false);
}

WL_DRIVER_STREAM(ptds, cuMemcpyAtoH_v2, (void *to, CUarray from, size_t offset, size_t bytes),
                 (to, from, offset, bytes))
{
    return copy_array(api, per_thread, NULL, NULL, 0, from, offset, linear((uint64_t)to, HOST),
                      bytes, true);
}

WL_DRIVER_STREAM(ptsz, cuMemcpyAtoHAsync_v2,
                 (void *to, CUarray from, size_t offset, size_t bytes, CUstream stream),
                 (to, from, offset, bytes, stream))
{
    return copy_array(api, per_thread, stream, NULL, 0, from, offset, linear((uint64_t)to, HOST),
                      bytes, false);
}

WL_DRIVER_STREAM(ptds, cuMemcpyDtoA_v2, (CUarray to, size_t offset, CUdeviceptr from, size_t bytes),
                 (to, offset, from, bytes))
{
    return copy_array(api, per_thread, NULL, to, offset, NULL, 0, linear(from, DEVICE), bytes,
                      true);
}

WL_DRIVER_STREAM(ptds, cuMemcpyAtoD_v2, (CUdeviceptr to, CUarray from, size_t offset, size_t bytes),
                 (to, from, offset, bytes))
{
    return copy_array(api, per_thread, NULL, NULL, 0, from, offset, linear(to, DEVICE), bytes,
                      true);
}

WL_DRIVER_STREAM(ptds, cuMemcpyAtoA_v2,
                 (CUarray to, size_t to_offset, CUarray from, size_t from_offset, size_t bytes),
                 (to, to_offset, from, from_offset, bytes))
{
    return copy_array(api, per_thread, NULL, to, to_offset, from, from_offset, (dev_place){0},
                      bytes, true);
}

/* ---- copies of rows and slices ---- */

typedef struct pitched { /* one side of a CUDA_MEMCPY2D or CUDA_MEMCPY3D */
    CUmemorytype type;
    const void *host;
    CUdeviceptr device;
    CUarray array;
    size_t pitch, height, x, y, z;
} pitched;

static dev_result place_of(const pitched *p, dev_place *out)
{
    uint64_t address = p->type == CU_MEMORYTYPE_HOST ? (uint64_t)p->host : p->device;
    switch (p->type) {
    case CU_MEMORYTYPE_HOST: *out = linear(address, HOST); break;
    case CU_MEMORYTYPE_DEVICE: *out = linear(address, DEVICE); break;
    case CU_MEMORYTYPE_UNIFIED: *out = linear(address, ANY); break;
    case CU_MEMORYTYPE_ARRAY:
        *out = (dev_place){.array = array_of(p->array)};
        if (!out->array)
            return DEV_INVALID_HANDLE;
        break;
    default: return DEV_INVALID_VALUE;
    }
    out->pitch = p->pitch;
    out->height = p->height;
    out->x = p->x;
    out->y = p->y;
    out->z = p->z;
    return DEV_OK;
}

dev_result dr_copy_3d(const CUDA_MEMCPY3D *params, dev_copy *copy)
{
    pitched from = {params->srcMemoryType, params->srcHost,  params->srcDevice,
                    params->srcArray,      params->srcPitch, params->srcHeight,
                    params->srcXInBytes,   params->srcY,     params->srcZ};
    pitched to = {params->dstMemoryType, params->dstHost,  params->dstDevice,
                  params->dstArray,      params->dstPitch, params->dstHeight,
                  params->dstXInBytes,   params->dstY,     params->dstZ};
    *copy = (dev_copy){
        .width = params->WidthInBytes, .height = params->Height, .depth = params->Depth};
    if (params->srcLOD || params->dstLOD)
        return DEV_INVALID_VALUE;
    dev_result result = place_of(&from, &copy->from);
    return result ? result : place_of(&to, &copy->to);
}

static CUresult copy_3d(const char *api, bool per_thread, CUstream handle, const CUDA_MEMCPY3D *c,
                        bool blocking)
{
    DR_BEGIN(api, CAP_CALL_COPY, DEV_CURRENT);
    dev_stream *stream;
    dev_copy copy;
    result = c ? dev_stream_get(call, handle, per_thread, &stream) : DEV_INVALID_VALUE;
    if (result == DEV_OK)
        result = dr_copy_3d(c, &copy);
    if (result == DEV_OK)
        result = dev_do_copy(call, stream, &copy, blocking);
    DR_END(result);
}

static CUresult copy_2d(const char *api, bool per_thread, CUstream stream, const CUDA_MEMCPY2D *c,
                        bool blocking)
{
    if (!c)
        return CUDA_ERROR_INVALID_VALUE;
    CUDA_MEMCPY3D wide = {.srcXInBytes = c->srcXInBytes,
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
    return copy_3d(api, per_thread, stream, &wide, blocking);
}

WL_DRIVER_STREAM(ptds, cuMemcpy2D_v2, (const CUDA_MEMCPY2D *copy), (copy))
{
    return copy_2d(api, per_thread, NULL, copy, true);
}

WL_DRIVER_STREAM(ptds, cuMemcpy2DUnaligned_v2, (const CUDA_MEMCPY2D *copy), (copy))
{
    return copy_2d(api, per_thread, NULL, copy, true);
}

WL_DRIVER_STREAM(ptsz, cuMemcpy2DAsync_v2, (const CUDA_MEMCPY2D *copy, CUstream stream),
                 (copy, stream))
{
    return copy_2d(api, per_thread, stream, copy, false);
}

WL_DRIVER_STREAM(ptds, cuMemcpy3D_v2, (const CUDA_MEMCPY3D *copy), (copy))
{
    return copy_3d(api, per_thread, NULL, copy, true);
}

WL_DRIVER_STREAM(ptsz, cuMemcpy3DAsync_v2, (const CUDA_MEMCPY3D *copy, CUstream stream),
                 (copy, stream))
{
    return copy_3d(api, per_thread, stream, copy, false);
}

/* The contexts stand where CUDA_MEMCPY3D has reserved fields. */
WL_DRIVER_STREAM(ptds, cuMemcpy3DPeer, (const CUDA_MEMCPY3D_PEER *copy), (copy))
{
    return copy_3d(api, per_thread, NULL, (const CUDA_MEMCPY3D *)copy, true);
}

WL_DRIVER_STREAM(ptsz, cuMemcpy3DPeerAsync, (const CUDA_MEMCPY3D_PEER *copy, CUstream stream),
                 (copy, stream))
{
    return copy_3d(api, per_thread, stream, (const CUDA_MEMCPY3D *)copy, false);
}

/* ---- sets ---- */

static CUresult set(const char *api, bool per_thread, CUstream handle, CUdeviceptr address,
                    size_t pitch, unsigned value, unsigned element, size_t width, size_t height,
                    bool blocking)
{
    DR_BEGIN(api, CAP_CALL_SET, DEV_CURRENT);
    dev_stream *stream;
    dev_set s = {.address = address,
                 .pitch = pitch,
                 .value = value,
                 .element = element,
                 .width = width,
                 .height = height,
                 .depth = 1};
    result = dev_stream_get(call, handle, per_thread, &stream);
    if (result == DEV_OK)
        result = dev_do_set(call, stream, &s, blocking);
    DR_END(result);
}

#define SETS(bits, type)                                                                           \
    WL_DRIVER_STREAM(ptds, cuMemsetD##bits##_v2, (CUdeviceptr address, type value, size_t count),  \
                     (address, value, count))                                                      \
    {                                                                                              \
        return set(api, per_thread, NULL, address, 0, value, (bits) / 8, count, 1, true);          \
    }                                                                                              \
    WL_DRIVER_STREAM(ptsz, cuMemsetD##bits##Async,                                                 \
                     (CUdeviceptr address, type value, size_t count, CUstream stream),             \
                     (address, value, count, stream))                                              \
    {                                                                                              \
        return set(api, per_thread, stream, address, 0, value, (bits) / 8, count, 1, false);       \
    }                                                                                              \
    WL_DRIVER_STREAM(ptds, cuMemsetD2D##bits##_v2,                                                 \
                     (CUdeviceptr address, size_t pitch, type value, size_t width, size_t height), \
                     (address, pitch, value, width, height))                                       \
    {                                                                                              \
        return set(api, per_thread, NULL, address, pitch, value, (bits) / 8, width, height, true); \
    }                                                                                              \
    WL_DRIVER_STREAM(ptsz, cuMemsetD2D##bits##Async,                                               \
                     (CUdeviceptr address, size_t pitch, type value, size_t width, size_t height,  \
                      CUstream stream),                                                            \
                     (address, pitch, value, width, height, stream))                               \
    {                                                                                              \
        return set(api, per_thread, stream, address, pitch, value, (bits) / 8, width, height,      \
                   false);                                                                         \
    }
SETS(8, unsigned char)
SETS(16, unsigned short)
SETS(32, unsigned)
