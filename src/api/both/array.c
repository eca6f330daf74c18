/* What both interfaces ask of arrays, textures and surfaces. */
#include "api/both/array.h"
#include "cuda/args.h"

#include <stdlib.h>
#include <string.h>

/* ---- arrays ---- */

dev_array *api_array_of(const void *handle)
{
    return dev_is(handle, DEV_ARRAY) ? (dev_array *)(uintptr_t)handle : NULL;
}

size_t api_element_bytes(const dev_array *array)
{
    const dev_array_desc *d = dev_array_get(array);
    return d->channels * cuda_format_bytes(d->format);
}

dev_result api_new_array(dev_call *call, void *out, const CUDA_ARRAY3D_DESCRIPTOR *d,
                         unsigned levels)
{
    dev_array *array;
    if (!out || !d)
        return DEV_INVALID_VALUE;
    dev_array_desc desc = {.width = d->Width,
                           .height = d->Height,
                           .depth = d->Depth,
                           .channels = d->NumChannels,
                           .format = (int)d->Format,
                           .flags = d->Flags,
                           .levels = levels};
    dev_result r = dev_array_new(call, &desc, &array);
    if (r == DEV_OK)
        memcpy(out, &array, sizeof(dev_array *));
    return r;
}

dev_result api_free_array(dev_call *call, const void *handle)
{
    dev_array *array = api_array_of(handle);
    return array ? dev_array_destroy(call, array) : DEV_INVALID_HANDLE;
}

dev_result api_free_mipmap(dev_call *call, const void *handle)
{
    return dev_is(handle, DEV_MIPMAP) ? dev_array_destroy(call, (dev_array *)(uintptr_t)handle)
                                      : DEV_INVALID_HANDLE;
}

dev_result api_level(const void *mipmap, unsigned level, void *out)
{
    return dev_array_level(mipmap, level, (dev_array **)out);
}

dev_result api_array_descriptor(const void *handle, CUDA_ARRAY3D_DESCRIPTOR *out)
{
    if (!out || !api_array_of(handle))
        return out ? DEV_INVALID_HANDLE : DEV_INVALID_VALUE;
    const dev_array_desc *d = dev_array_get(api_array_of(handle));
    *out = (CUDA_ARRAY3D_DESCRIPTOR){.Width = d->width,
                                     .Height = d->height,
                                     .Depth = d->depth,
                                     .Format = (CUarray_format)d->format,
                                     .NumChannels = d->channels,
                                     .Flags = d->flags};
    return DEV_OK;
}

/* ---- textures and surfaces ---- */

static dev_resource read_resource_desc(const CUDA_RESOURCE_DESC *d)
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

/* What is kept lies after the name of the side that keeps it. */
static dev_result new_texture_object(dev_call *call, unsigned long long *out,
                                     const CUDA_RESOURCE_DESC *resource,
                                     const emu_texture *sampling, const api_kept *kept)
{
    dev_resource r = read_resource_desc(resource);
    uint64_t handle;
    char *stored = malloc(sizeof kept->side + kept->bytes);
    if (!stored)
        return DEV_NOMEM;
    memcpy(stored, &kept->side, sizeof kept->side);
    memcpy(stored + sizeof kept->side, kept->descriptions, kept->bytes);
    dev_result result = dev_texture_new(call, &r, sampling, stored, sizeof kept->side + kept->bytes,
                                        &handle);
    free(stored);
    if (result == DEV_OK)
        *out = handle;
    return result;
}

dev_result api_new_texture(dev_call *call, unsigned long long *out,
                           const CUDA_RESOURCE_DESC *resource, const CUDA_TEXTURE_DESC *texture,
                           const CUDA_RESOURCE_VIEW_DESC *view, const api_kept *kept)
{
    if (!out || !resource || !texture || !known_modes(texture) ||
        (unsigned)resource->resType > CU_RESOURCE_TYPE_PITCH2D)
        return DEV_INVALID_VALUE;
    if (!whole_view(view))
        return dev_unsupported_part("resource views of textures");
    emu_texture sampling = sampling_of(texture);
    return new_texture_object(call, out, resource, &sampling, kept);
}

dev_result api_new_surface(dev_call *call, unsigned long long *out,
                           const CUDA_RESOURCE_DESC *resource, const api_kept *kept)
{
    return out && resource ? new_texture_object(call, out, resource, NULL, kept)
                           : DEV_INVALID_VALUE;
}

dev_result api_question(unsigned long long handle, bool surface, const char *side, void *out,
                        size_t offset, size_t bytes)
{
    const char *stored = dev_texture_stored(handle, surface), *made_by;
    if (!out || !stored)
        return DEV_INVALID_VALUE;
    memcpy(&made_by, stored, sizeof made_by);
    if (strcmp(made_by, side) != 0)
        return dev_unsupported_part("questions about textures that the other interface made");
    memcpy(out, stored + sizeof made_by + offset, bytes);
    return DEV_OK;
}
