/* Texture and surface objects: an array or memory, and how it is sampled, described to the
 * emulator. */
#include "cuda/args.h"
#include "device/impl.h"

#include <stdlib.h>
#include <string.h>

typedef struct texture {
    dev_handle handle; /* key: the object's value */
    dev_context *context;
    uint64_t value;
    bool surface;
    void *stored;
} texture;

/* Textures and surfaces have numbers of their own, which may be equal: surfaces are kept with the
 * top bit set. */
static void *texture_key(uint64_t value, bool surface)
{
    return (void *)(uintptr_t)(value | (surface ? UINT64_C(1) << 63 : 0));
}

static texture *find_texture(uint64_t value, bool surface)
{
    void *key = texture_key(value, surface);
    dev_handle *h = NULL;
    HASH_FIND_PTR(dev_g.handles, &key, h);
    return h && h->kind == DEV_TEXTURE ? (texture *)h : NULL;
}

/* ---- images ---- */

static dev_result set_format(emu_image *image, int format, unsigned channels)
{
    image->bits = (uint8_t)(cuda_format_bytes(format) * 8);
    image->channels = (uint8_t)channels;
    if (format == CU_AD_FORMAT_HALF || format == CU_AD_FORMAT_FLOAT)
        image->kind = EMU_TEXEL_FLOAT;
    else if (format >= CU_AD_FORMAT_SIGNED_INT8)
        image->kind = EMU_TEXEL_SIGNED;
    else
        image->kind = EMU_TEXEL_UNSIGNED;
    bool known = channels == 1 || channels == 2 || channels == 4;
    return image->bits && known ? DEV_OK : DEV_INVALID_CHANNEL;
}

static uint32_t level_extent(size_t n)
{
    return n ? (uint32_t)n : 1;
}

static void add_image_level(emu_image *image, const dev_array *array)
{
    const dev_array_desc *d = &array->desc;
    bool volume = image->dims == 3;
    image->level[image->nlevels++] = (emu_image_level){
        .address = array->address,
        .pitch = array->pitch,
        .slice = array->pitch * level_extent(d->height),
        .size = {(uint32_t)d->width, level_extent(d->height), volume ? level_extent(d->depth) : 1}};
}

static dev_result of_array(const dev_array *array, emu_image *image)
{
    const dev_array_desc *d = &array->desc;
    image->layered = d->flags & DEV_ARRAY_LAYERED;
    image->cube = d->flags & DEV_ARRAY_CUBE;
    bool sliced = image->layered || image->cube;
    image->dims = d->depth && !sliced ? 3 : d->height ? 2 : 1;
    image->slices = sliced ? (uint32_t)d->depth : 1;
    if (!array->levels)
        add_image_level(image, array);
    for (unsigned i = 0; array->levels && i < array->nlevels && i < EMU_MAX_LEVELS; i++)
        add_image_level(image, array->levels[i]);
    return set_format(image, d->format, d->channels);
}

static dev_result of_memory(const dev_resource *r, emu_image *image)
{
    size_t element = r->channels * cuda_format_bytes(r->format);
    bool linear = r->type == DEV_RESOURCE_LINEAR;
    size_t width = linear && element ? r->bytes / element : r->width;
    size_t pitch = linear ? r->bytes : r->pitch, rows = linear ? 1 : r->height;
    image->dims = linear ? 1 : 2;
    image->linear = linear;
    image->slices = 1;
    image->nlevels = 1;
    image->level[0] = (emu_image_level){.address = r->address,
                                        .pitch = pitch,
                                        .slice = pitch * rows,
                                        .size = {(uint32_t)width, (uint32_t)rows, 1}};
    if (!width || !rows || width > UINT32_MAX || (!linear && pitch < width * element) ||
        !dev_range_valid(r->address, (rows - 1) * pitch + width * element))
        return DEV_INVALID_VALUE;
    return set_format(image, r->format, r->channels);
}

static dev_result make_image(const dev_resource *r, emu_image *image)
{
    *image = (emu_image){.nlevels = 0};
    switch (r->type) {
    case DEV_RESOURCE_ARRAY:
        return dev_is(r->array, DEV_ARRAY) ? of_array(r->array, image) : DEV_INVALID_HANDLE;
    case DEV_RESOURCE_MIPMAP:
        return dev_is(r->array, DEV_MIPMAP) ? of_array(r->array, image) : DEV_INVALID_HANDLE;
    case DEV_RESOURCE_LINEAR:
    case DEV_RESOURCE_PITCH: return of_memory(r, image);
    }
    return DEV_INVALID_VALUE;
}

/* ---- objects ---- */

/* Of the emulator; `sampling` NULL: a surface. */
static dev_result make_object(dev_call *call, const emu_image *image, const emu_texture *sampling,
                              uint64_t *value)
{
    emu_machine *machine = call->context->device->machine;
    if (!sampling)
        return dev_status(emu_surface_new(machine, image, value));
    emu_texture whole = *sampling;
    whole.image = *image;
    return dev_status(emu_texture_new(machine, &whole, value));
}

static bool is_surface_array(const dev_resource *resource)
{
    return resource->type == DEV_RESOURCE_ARRAY && resource->array->desc.flags & DEV_ARRAY_SURFACE;
}

static texture *new_texture(dev_context *context, bool surface, const void *stored, size_t bytes)
{
    texture *t = calloc(1, sizeof *t);
    if (!t || !(t->stored = malloc(bytes ? bytes : 1))) {
        free(t);
        return NULL;
    }
    if (bytes)
        memcpy(t->stored, stored, bytes);
    t->context = context;
    t->surface = surface;
    return t;
}

dev_result dev_texture_new(dev_call *call, const dev_resource *resource,
                           const emu_texture *sampling, const void *stored, size_t bytes,
                           uint64_t *handle)
{
    emu_image image;
    dev_result r = make_image(resource, &image);
    if (r == DEV_OK && !sampling && !is_surface_array(resource))
        r = DEV_INVALID_VALUE;
    if (r)
        return r;
    texture *t = new_texture(call->context, !sampling, stored, bytes);
    if (!t)
        return DEV_NOMEM;
    r = make_object(call, &image, sampling, &t->value);
    if (r) {
        free(t->stored);
        free(t);
        return r;
    }
    dev_handle_add(&t->handle, DEV_TEXTURE, texture_key(t->value, t->surface));
    *handle = t->value;
    return DEV_OK;
}

static void destroy_texture(texture *t)
{
    emu_machine *machine = t->context->device->machine;
    if (t->surface)
        emu_surface_free(machine, t->value);
    else
        emu_texture_free(machine, t->value);
    dev_handle_remove(&t->handle);
    free(t->stored);
    free(t);
}

dev_result dev_texture_destroy(uint64_t handle, bool surface)
{
    texture *t = find_texture(handle, surface);
    if (!t)
        return DEV_INVALID_VALUE;
    dev_wait_idle(NULL, NULL);
    destroy_texture(t);
    return DEV_OK;
}

const void *dev_texture_stored(uint64_t handle, bool surface)
{
    const texture *t = find_texture(handle, surface);
    return t ? t->stored : NULL;
}

static texture *next_of(const dev_context *context)
{
    for (dev_handle *h = dev_g.handles; h; h = h->hh.next)
        if (h->kind == DEV_TEXTURE && ((texture *)h)->context == context)
            return (texture *)h;
    return NULL;
}

void dev_textures_forget(const dev_context *context)
{
    for (texture *t; (t = next_of(context));)
        destroy_texture(t);
}
