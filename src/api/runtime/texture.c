/* Textures, surfaces and mipmapped arrays of the runtime. */
#include "api/runtime/runtime.h"

#include <string.h>

/* What cudaGetTextureObject... gives back. Releases differ in what lies behind the fields of 11 and
 * 12. */
typedef struct stored_texture {
    struct cudaResourceDesc_v13 resource;
    struct cudaTextureDesc texture;
    struct cudaResourceViewDesc_v13 view;
    bool has_view;
} stored_texture;

static dev_resource resource_of(const struct cudaResourceDesc_v12 *d)
{
    dev_resource r = {.type = (dev_resource_type)d->resType};
    switch (d->resType) {
    case cudaResourceTypeArray: r.array = (dev_array *)d->res.array.array; break;
    case cudaResourceTypeMipmappedArray: r.array = (dev_array *)d->res.mipmap.mipmap; break;
    case cudaResourceTypeLinear:
        r.address = (uint64_t)d->res.linear.devPtr;
        r.format = rt_format_of(&d->res.linear.desc, &r.channels);
        r.bytes = d->res.linear.sizeInBytes;
        break;
    case cudaResourceTypePitch2D:
        r.address = (uint64_t)d->res.pitch2D.devPtr;
        r.format = rt_format_of(&d->res.pitch2D.desc, &r.channels);
        r.width = d->res.pitch2D.width;
        r.height = d->res.pitch2D.height;
        r.pitch = d->res.pitch2D.pitchInBytes;
        break;
    }
    return r;
}

static emu_texture sampling_of(const struct cudaTextureDesc *t)
{
    emu_texture s = {.filter = t->filterMode == cudaFilterModeLinear,
                     .mip_filter = t->mipmapFilterMode == cudaFilterModeLinear,
                     .normalized = t->normalizedCoords != 0,
                     .element = t->readMode == cudaReadModeElementType,
                     .srgb = t->sRGB != 0,
                     .seamless = t->seamlessCubemap != 0,
                     .bias = t->mipmapLevelBias,
                     .min_level = t->minMipmapLevelClamp,
                     .max_level = t->maxMipmapLevelClamp};
    for (int i = 0; i < 3; i++)
        s.mode[i] = (emu_address_mode)t->addressMode[i];
    memcpy(s.border, t->borderColor, sizeof s.border);
    return s;
}

/* Bytes of a resource description that are there in the release. */
static size_t resource_bytes(int major)
{
    return major >= 13 ? sizeof(struct cudaResourceDesc_v13) : sizeof(struct cudaResourceDesc_v12);
}

static bool same_view(const struct cudaResourceViewDesc_v12 *view)
{
    return view->format == 0 && !view->firstMipmapLevel && !view->firstLayer;
}

static bool known_modes(const struct cudaTextureDesc *t)
{
    for (int i = 0; i < 3; i++)
        if ((unsigned)t->addressMode[i] > cudaAddressModeBorder)
            return false;
    return (unsigned)t->filterMode <= cudaFilterModeLinear &&
           (unsigned)t->mipmapFilterMode <= cudaFilterModeLinear &&
           (unsigned)t->readMode <= cudaReadModeNormalizedFloat;
}

/* Integers that are read as such cannot be mixed. */
static dev_result check(const dev_resource *r, const struct cudaTextureDesc *t)
{
    bool integer = r->type == DEV_RESOURCE_LINEAR || r->type == DEV_RESOURCE_PITCH
                       ? r->format != CU_AD_FORMAT_HALF && r->format != CU_AD_FORMAT_FLOAT
                       : dev_is(r->array, r->type == DEV_RESOURCE_ARRAY ? DEV_ARRAY : DEV_MIPMAP) &&
                             dev_array_get(r->array)->format < CU_AD_FORMAT_HALF;
    bool elements = t->readMode == cudaReadModeElementType;
    if (integer && elements && t->filterMode == cudaFilterModeLinear)
        return DEV_INVALID_VALUE;
    return DEV_OK;
}

static int create_texture(int major, cudaTextureObject_t *out,
                          const struct cudaResourceDesc_v12 *resource,
                          const struct cudaTextureDesc *texture,
                          const struct cudaResourceViewDesc_v12 *view)
{
    RT_QUIET("cudaCreateTextureObject");
    if (!out || !resource || !texture || (unsigned)resource->resType > cudaResourceTypePitch2D ||
        !known_modes(texture))
        RT_END(DEV_INVALID_VALUE);
    if (view && !same_view(view))
        RT_END(dev_unsupported_part("resource views of textures"));
    stored_texture stored = {.has_view = view != NULL};
    memcpy(&stored.resource, resource, resource_bytes(major));
    memcpy(&stored.texture, texture,
           major == 11 ? offsetof(struct cudaTextureDesc, seamlessCubemap) : sizeof *texture);
    if (view)
        memcpy(&stored.view, view, sizeof *view);
    dev_resource r = resource_of(resource);
    emu_texture sampling = sampling_of(&stored.texture);
    uint64_t handle = 0;
    result = check(&r, texture);
    if (result == DEV_OK)
        result = dev_texture_new(call, &r, &sampling, &stored, sizeof stored, &handle);
    if (result == DEV_OK)
        *out = handle;
    RT_END(result);
}

#define CREATE(first, last)                                                                 \
    WL_RUNTIME_FOR(first, last, int, cudaCreateTextureObject,                               \
                   (cudaTextureObject_t * out, const struct cudaResourceDesc_v12 *resource, \
                    const struct cudaTextureDesc *texture,                                  \
                    const struct cudaResourceViewDesc_v12 *view))                           \
    {                                                                                       \
        return create_texture(first, out, resource, texture, view);                         \
    }
CREATE(11, 11)
CREATE(12, 12)
CREATE(13, 13)

WL_RUNTIME(int, cudaDestroyTextureObject, (cudaTextureObject_t handle))
{
    RT_QUIET("cudaDestroyTextureObject");
    RT_END(handle ? dev_texture_destroy(handle, false) : DEV_OK);
}

/* A part of what was stored, as many bytes as the release knows. */
static int question(const char *api, cudaTextureObject_t handle, bool surface, void *out,
                    size_t offset, size_t bytes)
{
    RT_QUIET(api);
    const char *stored = dev_texture_stored(handle, surface);
    if (!out || !stored)
        RT_END(DEV_INVALID_VALUE);
    memcpy(out, stored + offset, bytes);
    RT_END(DEV_OK);
}

#define RESOURCE_QUESTIONS(first, last, layout)                                              \
    WL_RUNTIME_FOR(first, last, int, cudaGetTextureObjectResourceDesc,                       \
                   (struct cudaResourceDesc_##layout * out, cudaTextureObject_t handle))     \
    {                                                                                        \
        return question("cudaGetTextureObjectResourceDesc", handle, false, out,              \
                        offsetof(stored_texture, resource), sizeof *out);                    \
    }                                                                                        \
    WL_RUNTIME_FOR(first, last, int, cudaGetSurfaceObjectResourceDesc,                       \
                   (struct cudaResourceDesc_##layout * out, cudaSurfaceObject_t handle))     \
    {                                                                                        \
        return question("cudaGetSurfaceObjectResourceDesc", handle, true, out,               \
                        offsetof(stored_texture, resource), sizeof *out);                    \
    }                                                                                        \
    WL_RUNTIME_FOR(first, last, int, cudaGetTextureObjectResourceViewDesc,                   \
                   (struct cudaResourceViewDesc_##layout * out, cudaTextureObject_t handle)) \
    {                                                                                        \
        return question("cudaGetTextureObjectResourceViewDesc", handle, false, out,          \
                        offsetof(stored_texture, view), sizeof *out);                        \
    }
RESOURCE_QUESTIONS(11, 12, v12)
RESOURCE_QUESTIONS(13, 13, v13)

WL_RUNTIME_FOR(11, 11, int, cudaGetTextureObjectTextureDesc,
               (void *out, cudaTextureObject_t handle))
{
    return question("cudaGetTextureObjectTextureDesc", handle, false, out,
                    offsetof(stored_texture, texture),
                    offsetof(struct cudaTextureDesc, seamlessCubemap));
}

WL_RUNTIME_FOR(12, 13, int, cudaGetTextureObjectTextureDesc,
               (struct cudaTextureDesc * out, cudaTextureObject_t handle))
{
    return question("cudaGetTextureObjectTextureDesc", handle, false, out,
                    offsetof(stored_texture, texture), sizeof *out);
}

static int create_surface(int major, cudaSurfaceObject_t *out,
                          const struct cudaResourceDesc_v12 *resource)
{
    RT_QUIET("cudaCreateSurfaceObject");
    if (!out || !resource || resource->resType != cudaResourceTypeArray)
        RT_END(DEV_INVALID_VALUE);
    stored_texture stored = {.has_view = false};
    memcpy(&stored.resource, resource, resource_bytes(major));
    dev_resource r = resource_of(resource);
    uint64_t handle = 0;
    result = dev_texture_new(call, &r, NULL, &stored, sizeof stored, &handle);
    if (result == DEV_OK)
        *out = handle;
    RT_END(result);
}

WL_RUNTIME_FOR(11, 12, int, cudaCreateSurfaceObject,
               (cudaSurfaceObject_t * out, const struct cudaResourceDesc_v12 *resource))
{
    return create_surface(12, out, resource);
}

WL_RUNTIME_FOR(13, 13, int, cudaCreateSurfaceObject,
               (cudaSurfaceObject_t * out, const struct cudaResourceDesc_v12 *resource))
{
    return create_surface(13, out, resource);
}

WL_RUNTIME(int, cudaDestroySurfaceObject, (cudaSurfaceObject_t handle))
{
    RT_QUIET("cudaDestroySurfaceObject");
    RT_END(handle ? dev_texture_destroy(handle, true) : DEV_OK);
}

/* ---- mipmapped arrays ---- */

WL_RUNTIME(int, cudaMallocMipmappedArray,
           (cudaMipmappedArray_t * out, const struct cudaChannelFormatDesc *desc,
            struct cudaExtent extent, unsigned levels, unsigned flags))
{
    RT_BEGIN("cudaMallocMipmappedArray", CAP_CALL_ALLOC, DEV_PRIMARY);
    dev_array *array;
    dev_array_desc d = {.width = extent.width,
                        .height = extent.height,
                        .depth = extent.depth,
                        .flags = flags,
                        .levels = levels ? levels : 1};
    if (!out || !desc)
        RT_END(DEV_INVALID_VALUE);
    d.format = rt_format_of(desc, &d.channels);
    result = d.format ? dev_array_new(call, &d, &array) : DEV_INVALID_CHANNEL;
    if (result == DEV_OK)
        *out = (cudaMipmappedArray_t)array;
    RT_END(result);
}

WL_RUNTIME(int, cudaGetMipmappedArrayLevel,
           (cudaArray_t * out, cudaMipmappedArray_const_t mipmap, unsigned level))
{
    RT_QUIET("cudaGetMipmappedArrayLevel");
    RT_END(dev_array_level(mipmap, level, (dev_array **)out));
}

WL_RUNTIME(int, cudaFreeMipmappedArray, (cudaMipmappedArray_t mipmap))
{
    RT_BEGIN("cudaFreeMipmappedArray", CAP_CALL_FREE, DEV_PRIMARY);
    if (!mipmap)
        RT_END(DEV_OK);
    RT_END(dev_is(mipmap, DEV_MIPMAP) ? dev_array_destroy(call, (dev_array *)mipmap)
                                      : DEV_INVALID_HANDLE);
}
