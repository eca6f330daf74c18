/* Textures, surfaces and mipmapped arrays in the driver interface. */
#include "api/driver/driver.h"

#include <string.h>

/* What the questions give back. Objects that the runtime made lack the mark: it keeps other
 * descriptions. */
typedef struct stored_object {
    uint64_t mark;
    CUDA_RESOURCE_DESC resource;
    CUDA_TEXTURE_DESC texture;
    CUDA_RESOURCE_VIEW_DESC view;
} stored_object;

#define MARK UINT64_C(0x7265766972647877)

static dev_resource resource_of(const CUDA_RESOURCE_DESC *d)
{
    dev_resource r = {.type = (dev_resource_type)d->resType};
    switch (d->resType) {
    case CU_RESOURCE_TYPE_ARRAY: r.array = (dev_array *)d->res.array.hArray; break;
    case CU_RESOURCE_TYPE_MIPMAPPED_ARRAY:
        r.array = (dev_array *)d->res.mipmap.hMipmappedArray;
        break;
    case CU_RESOURCE_TYPE_LINEAR:
        r.address = d->res.linear.devPtr;
        r.format = (int)d->res.linear.format;
        r.channels = d->res.linear.numChannels;
        r.bytes = d->res.linear.sizeInBytes;
        break;
    case CU_RESOURCE_TYPE_PITCH2D:
        r.address = d->res.pitch2D.devPtr;
        r.format = (int)d->res.pitch2D.format;
        r.channels = d->res.pitch2D.numChannels;
        r.width = d->res.pitch2D.width;
        r.height = d->res.pitch2D.height;
        r.pitch = d->res.pitch2D.pitchInBytes;
        break;
    }
    return r;
}

static emu_texture sampling_of(const CUDA_TEXTURE_DESC *t)
{
    emu_texture s = {.filter = t->filterMode == CU_TR_FILTER_MODE_LINEAR,
                     .mip_filter = t->mipmapFilterMode == CU_TR_FILTER_MODE_LINEAR,
                     .normalized = t->flags & CU_TRSF_NORMALIZED_COORDINATES,
                     .element = t->flags & CU_TRSF_READ_AS_INTEGER,
                     .srgb = t->flags & CU_TRSF_SRGB,
                     .seamless = t->flags & CU_TRSF_SEAMLESS_CUBEMAP,
                     .bias = t->mipmapLevelBias,
                     .min_level = t->minMipmapLevelClamp,
                     .max_level = t->maxMipmapLevelClamp};
    for (int i = 0; i < 3; i++)
        s.mode[i] = (emu_address_mode)t->addressMode[i];
    memcpy(s.border, t->borderColor, sizeof s.border);
    return s;
}

static bool known_modes(const CUDA_TEXTURE_DESC *t)
{
    for (int i = 0; i < 3; i++)
        if ((unsigned)t->addressMode[i] > CU_TR_ADDRESS_MODE_BORDER)
            return false;
    return (unsigned)t->filterMode <= CU_TR_FILTER_MODE_LINEAR &&
           (unsigned)t->mipmapFilterMode <= CU_TR_FILTER_MODE_LINEAR;
}

static bool whole_view(const CUDA_RESOURCE_VIEW_DESC *view)
{
    return !view || (view->format == 0 && !view->firstMipmapLevel && !view->firstLayer);
}

WL_DRIVER(CUresult, cuTexObjectCreate,
          (CUtexObject * out, const CUDA_RESOURCE_DESC *resource, const CUDA_TEXTURE_DESC *texture,
           const CUDA_RESOURCE_VIEW_DESC *view))
{
    DR_QUIET("cuTexObjectCreate");
    if (!out || !resource || !texture || !known_modes(texture))
        DR_END(DEV_INVALID_VALUE);
    if (!whole_view(view))
        DR_END(dev_unsupported_part("resource views of textures"));
    stored_object stored = {.mark = MARK, .resource = *resource, .texture = *texture};
    if (view)
        stored.view = *view;
    dev_resource r = resource_of(resource);
    emu_texture sampling = sampling_of(texture);
    uint64_t handle = 0;
    result = dev_texture_new(call, &r, &sampling, &stored, sizeof stored, &handle);
    if (result == DEV_OK)
        *out = handle;
    DR_END(result);
}

WL_DRIVER(CUresult, cuSurfObjectCreate, (CUsurfObject * out, const CUDA_RESOURCE_DESC *resource))
{
    DR_QUIET("cuSurfObjectCreate");
    if (!out || !resource)
        DR_END(DEV_INVALID_VALUE);
    stored_object stored = {.mark = MARK, .resource = *resource};
    dev_resource r = resource_of(resource);
    uint64_t handle = 0;
    result = dev_texture_new(call, &r, NULL, &stored, sizeof stored, &handle);
    if (result == DEV_OK)
        *out = handle;
    DR_END(result);
}

WL_DRIVER(CUresult, cuTexObjectDestroy, (CUtexObject handle))
{
    DR_QUIET("cuTexObjectDestroy");
    DR_END(dev_texture_destroy(handle, false));
}

WL_DRIVER(CUresult, cuSurfObjectDestroy, (CUsurfObject handle))
{
    DR_QUIET("cuSurfObjectDestroy");
    DR_END(dev_texture_destroy(handle, true));
}

static CUresult question(const char *api, void *out, uint64_t handle, bool surface, size_t offset,
                         size_t bytes)
{
    DR_QUIET(api);
    const stored_object *stored = dev_texture_stored(handle, surface);
    if (!out || !stored)
        DR_END(DEV_INVALID_VALUE);
    if (stored->mark != MARK)
        DR_END(dev_unsupported_part("driver questions about the runtime's textures"));
    memcpy(out, (const char *)stored + offset, bytes);
    DR_END(DEV_OK);
}

WL_DRIVER(CUresult, cuTexObjectGetResourceDesc, (CUDA_RESOURCE_DESC * out, CUtexObject handle))
{
    return question("cuTexObjectGetResourceDesc", out, handle, false,
                    offsetof(stored_object, resource), sizeof *out);
}

WL_DRIVER(CUresult, cuTexObjectGetTextureDesc, (CUDA_TEXTURE_DESC * out, CUtexObject handle))
{
    return question("cuTexObjectGetTextureDesc", out, handle, false,
                    offsetof(stored_object, texture), sizeof *out);
}

WL_DRIVER(CUresult, cuTexObjectGetResourceViewDesc,
          (CUDA_RESOURCE_VIEW_DESC * out, CUtexObject handle))
{
    return question("cuTexObjectGetResourceViewDesc", out, handle, false,
                    offsetof(stored_object, view), sizeof *out);
}

WL_DRIVER(CUresult, cuSurfObjectGetResourceDesc, (CUDA_RESOURCE_DESC * out, CUsurfObject handle))
{
    return question("cuSurfObjectGetResourceDesc", out, handle, true,
                    offsetof(stored_object, resource), sizeof *out);
}

/* ---- mipmapped arrays ---- */

WL_DRIVER(CUresult, cuMipmappedArrayCreate,
          (CUmipmappedArray * out, const CUDA_ARRAY3D_DESCRIPTOR *d, unsigned levels))
{
    DR_BEGIN("cuMipmappedArrayCreate", CAP_CALL_ALLOC, DEV_CURRENT);
    if (!out || !d)
        DR_END(DEV_INVALID_VALUE);
    dev_array_desc desc = {.width = d->Width,
                           .height = d->Height,
                           .depth = d->Depth,
                           .channels = d->NumChannels,
                           .format = (int)d->Format,
                           .flags = d->Flags,
                           .levels = levels ? levels : 1};
    dev_array *array;
    result = dev_array_new(call, &desc, &array);
    if (result == DEV_OK)
        *out = (CUmipmappedArray)array;
    DR_END(result);
}

WL_DRIVER(CUresult, cuMipmappedArrayGetLevel,
          (CUarray * out, CUmipmappedArray mipmap, unsigned level))
{
    DR_QUIET("cuMipmappedArrayGetLevel");
    DR_END(dev_array_level(mipmap, level, (dev_array **)out));
}

WL_DRIVER(CUresult, cuMipmappedArrayDestroy, (CUmipmappedArray mipmap))
{
    DR_BEGIN("cuMipmappedArrayDestroy", CAP_CALL_FREE, DEV_CURRENT);
    DR_END(dev_is(mipmap, DEV_MIPMAP) ? dev_array_destroy(call, (dev_array *)mipmap)
                                      : DEV_INVALID_HANDLE);
}
