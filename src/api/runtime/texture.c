/* Textures and surfaces of the runtime: its descriptions, of all releases, to those of the driver
 * interface. */
#include "api/both/array.h"
#include "api/runtime/runtime.h"

#include <string.h>

/* What cudaGetTextureObject... gives back. Releases differ in what lies after the fields of 11 and
 * 12. */
typedef struct kept_texture {
    struct cudaResourceDesc_v13 resource;
    struct cudaTextureDesc texture;
    struct cudaResourceViewDesc_v13 view;
} kept_texture;

static const char the_runtimes[] = "the runtime's";

static api_kept keep_descriptions(const kept_texture *kept)
{
    return (api_kept){kept, sizeof *kept, the_runtimes};
}

/* Bytes of a resource description that are there in the release. */
static size_t resource_bytes(int major)
{
    return major >= 13 ? sizeof(struct cudaResourceDesc_v13) : sizeof(struct cudaResourceDesc_v12);
}

static CUDA_RESOURCE_DESC driver_resource_desc(const struct cudaResourceDesc_v12 *d)
{
    CUDA_RESOURCE_DESC r = {.resType = (CUresourcetype)d->resType};
    unsigned channels;
    switch (d->resType) {
    case cudaResourceTypeArray: r.res.array.hArray = (CUarray)d->res.array.array; break;
    case cudaResourceTypeMipmappedArray:
        r.res.mipmap.hMipmappedArray = (CUmipmappedArray)d->res.mipmap.mipmap;
        break;
    case cudaResourceTypeLinear:
        r.res.linear.devPtr = (CUdeviceptr)d->res.linear.devPtr;
        r.res.linear.format = (CUarray_format)rt_format_of(&d->res.linear.desc, &channels);
        r.res.linear.numChannels = channels;
        r.res.linear.sizeInBytes = d->res.linear.sizeInBytes;
        break;
    case cudaResourceTypePitch2D:
        r.res.pitch2D.devPtr = (CUdeviceptr)d->res.pitch2D.devPtr;
        r.res.pitch2D.format = (CUarray_format)rt_format_of(&d->res.pitch2D.desc, &channels);
        r.res.pitch2D.numChannels = channels;
        r.res.pitch2D.width = d->res.pitch2D.width;
        r.res.pitch2D.height = d->res.pitch2D.height;
        r.res.pitch2D.pitchInBytes = d->res.pitch2D.pitchInBytes;
        break;
    }
    return r;
}

static CUDA_TEXTURE_DESC texture_of(const struct cudaTextureDesc *t)
{
    bool elements = t->readMode == cudaReadModeElementType;
    CUDA_TEXTURE_DESC d = {.filterMode = (CUfilter_mode)t->filterMode,
                           .flags = (elements ? CU_TRSF_READ_AS_INTEGER : 0U) |
                                    (t->normalizedCoords ? CU_TRSF_NORMALIZED_COORDINATES : 0U) |
                                    (t->sRGB ? CU_TRSF_SRGB : 0U) |
                                    (t->seamlessCubemap ? CU_TRSF_SEAMLESS_CUBEMAP : 0U),
                           .maxAnisotropy = t->maxAnisotropy,
                           .mipmapFilterMode = (CUfilter_mode)t->mipmapFilterMode,
                           .mipmapLevelBias = t->mipmapLevelBias,
                           .minMipmapLevelClamp = t->minMipmapLevelClamp,
                           .maxMipmapLevelClamp = t->maxMipmapLevelClamp};
    for (int i = 0; i < 3; i++)
        d.addressMode[i] = (CUaddress_mode)t->addressMode[i];
    memcpy(d.borderColor, t->borderColor, sizeof d.borderColor);
    return d;
}

/* Are the elements integers? */
static bool has_integer_elements(const CUDA_RESOURCE_DESC *r)
{
    const dev_array_desc *array;
    switch (r->resType) {
    case CU_RESOURCE_TYPE_LINEAR:
        return r->res.linear.format != CU_AD_FORMAT_HALF &&
               r->res.linear.format != CU_AD_FORMAT_FLOAT;
    case CU_RESOURCE_TYPE_PITCH2D:
        return r->res.pitch2D.format != CU_AD_FORMAT_HALF &&
               r->res.pitch2D.format != CU_AD_FORMAT_FLOAT;
    default: break;
    }
    if (!dev_is(r->res.array.hArray, r->resType == CU_RESOURCE_TYPE_ARRAY ? DEV_ARRAY : DEV_MIPMAP))
        return false;
    array = dev_array_get((const dev_array *)r->res.array.hArray);
    return array->format < CU_AD_FORMAT_HALF;
}

/* Integers that are read as such cannot be mixed. */
static bool is_readable(const CUDA_RESOURCE_DESC *r, const struct cudaTextureDesc *t)
{
    bool elements = t->readMode == cudaReadModeElementType;
    return (unsigned)t->readMode <= cudaReadModeNormalizedFloat &&
           !(elements && t->filterMode == cudaFilterModeLinear && has_integer_elements(r));
}

dev_result rt_new_texture(dev_call *call, int major, cudaTextureObject_t *out,
                          const struct cudaResourceDesc_v12 *resource,
                          const struct cudaTextureDesc *texture,
                          const struct cudaResourceViewDesc_v12 *view)
{
    kept_texture kept = {.texture.filterMode = cudaFilterModePoint};
    if (!out || !resource || !texture)
        return DEV_INVALID_VALUE;
    memcpy(&kept.resource, resource, resource_bytes(major));
    memcpy(&kept.texture, texture,
           major == 11 ? offsetof(struct cudaTextureDesc, seamlessCubemap) : sizeof *texture);
    if (view)
        memcpy(&kept.view, view, sizeof *view);
    CUDA_RESOURCE_DESC r = driver_resource_desc(resource);
    CUDA_TEXTURE_DESC t = texture_of(&kept.texture);
    CUDA_RESOURCE_VIEW_DESC v = {.format = kept.view.format,
                                 .firstMipmapLevel = kept.view.firstMipmapLevel,
                                 .firstLayer = kept.view.firstLayer};
    api_kept keeping = keep_descriptions(&kept);
    return is_readable(&r, texture) ? api_new_texture(call, out, &r, &t, view ? &v : NULL, &keeping)
                                    : DEV_INVALID_VALUE;
}

dev_result rt_new_surface(dev_call *call, int major, cudaSurfaceObject_t *out,
                          const struct cudaResourceDesc_v12 *resource)
{
    kept_texture kept = {.texture.filterMode = cudaFilterModePoint};
    if (!out || !resource || resource->resType != cudaResourceTypeArray)
        return DEV_INVALID_VALUE;
    memcpy(&kept.resource, resource, resource_bytes(major));
    CUDA_RESOURCE_DESC r = driver_resource_desc(resource);
    api_kept keeping = keep_descriptions(&kept);
    return api_new_surface(call, out, &r, &keeping);
}

/* As many bytes as the release knows. */

dev_result rt_resource_of(unsigned long long handle, bool surface, void *out, size_t bytes)
{
    return api_question(handle, surface, the_runtimes, out, offsetof(kept_texture, resource),
                        bytes);
}

dev_result rt_texture_of(unsigned long long handle, void *out, size_t bytes)
{
    return api_question(handle, false, the_runtimes, out, offsetof(kept_texture, texture), bytes);
}

dev_result rt_view_of(unsigned long long handle, void *out, size_t bytes)
{
    return api_question(handle, false, the_runtimes, out, offsetof(kept_texture, view), bytes);
}
