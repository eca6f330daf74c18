/* Texture and surface objects: an array or memory, and how it is sampled, described to the emulator. */
#include "collect/impl.h"

#include <stdlib.h>
#include <string.h>

typedef struct texture {
    collect_handle handle; /* key: the object's value */
    collect_context *context;
    uint64_t value;
    bool surface;
    void *stored;
} texture;

/* Textures and surfaces have numbers of their own, which may be equal: surfaces are kept with the top bit set. */
static void *key_of(uint64_t value, bool surface)
{
    return (void *)(uintptr_t)(value | (surface ? UINT64_C(1) << 63 : 0));
}

static texture *find(uint64_t value, bool surface)
{
    void *key = key_of(value, surface);
    collect_handle *h = NULL;
    HASH_FIND_PTR(collect_g.handles, &key, h);
    return h && h->kind == COLLECT_TEXTURE ? (texture *)h : NULL;
}

/* ---- images ---- */

static collect_result set_format(emu_image *image, int format, unsigned channels)
{
    image->bits = (uint8_t)(collect_format_bytes(format) * 8);
    image->channels = (uint8_t)channels;
    if (format == CU_AD_FORMAT_HALF || format == CU_AD_FORMAT_FLOAT)
        image->kind = EMU_TEXEL_FLOAT;
    else if (format >= CU_AD_FORMAT_SIGNED_INT8)
        image->kind = EMU_TEXEL_SIGNED;
    else
        image->kind = EMU_TEXEL_UNSIGNED;
    bool known = channels == 1 || channels == 2 || channels == 4;
    return image->bits && known ? COLLECT_OK : COLLECT_INVALID_CHANNEL;
}

static uint32_t at_least_one(size_t n)
{
    return n ? (uint32_t)n : 1;
}

static void set_level(emu_image *image, const collect_array *array)
{
    const collect_array_desc *d = &array->desc;
    bool volume = image->dims == 3;
    image->level[image->nlevels++] = (emu_image_level){
        .address = array->address,
        .pitch = array->pitch,
        .slice = array->pitch * at_least_one(d->height),
        .size = {(uint32_t)d->width, at_least_one(d->height), volume ? at_least_one(d->depth) : 1}};
}

static collect_result of_array(const collect_array *array, emu_image *image)
{
    const collect_array_desc *d = &array->desc;
    image->layered = d->flags & COLLECT_ARRAY_LAYERED;
    image->cube = d->flags & COLLECT_ARRAY_CUBE;
    bool sliced = image->layered || image->cube;
    image->dims = d->depth && !sliced ? 3 : d->height ? 2 : 1;
    image->slices = sliced ? (uint32_t)d->depth : 1;
    if (!array->levels)
        set_level(image, array);
    for (unsigned i = 0; array->levels && i < array->nlevels && i < EMU_MAX_LEVELS; i++)
        set_level(image, array->levels[i]);
    return set_format(image, d->format, d->channels);
}

static collect_result of_memory(const collect_resource *r, emu_image *image)
{
    size_t element = r->channels * collect_format_bytes(r->format);
    bool linear = r->type == COLLECT_RESOURCE_LINEAR;
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
        !collect_range_valid(r->address, (rows - 1) * pitch + width * element))
        return COLLECT_INVALID_VALUE;
    return set_format(image, r->format, r->channels);
}

static collect_result make_image(const collect_resource *r, emu_image *image)
{
    *image = (emu_image){.nlevels = 0};
    switch (r->type) {
    case COLLECT_RESOURCE_ARRAY:
        return collect_is(r->array, COLLECT_ARRAY) ? of_array(r->array, image)
                                                   : COLLECT_INVALID_HANDLE;
    case COLLECT_RESOURCE_MIPMAP:
        return collect_is(r->array, COLLECT_MIPMAP) ? of_array(r->array, image)
                                                    : COLLECT_INVALID_HANDLE;
    case COLLECT_RESOURCE_LINEAR:
    case COLLECT_RESOURCE_PITCH: return of_memory(r, image);
    }
    return COLLECT_INVALID_VALUE;
}

/* ---- objects ---- */

static collect_result create(collect_call *call, const emu_image *image,
                             const emu_texture *sampling, uint64_t *value)
{
    emu_machine *machine = call->context->device->machine;
    if (!sampling)
        return collect_status(emu_surface_new(machine, image, value));
    emu_texture whole = *sampling;
    whole.image = *image;
    return collect_status(emu_texture_new(machine, &whole, value));
}

collect_result collect_texture_new(collect_call *call, const collect_resource *resource,
                                   const emu_texture *sampling, const void *stored, size_t bytes,
                                   uint64_t *handle)
{
    emu_image image;
    collect_result r = make_image(resource, &image);
    if (r == COLLECT_OK && !sampling &&
        (resource->type != COLLECT_RESOURCE_ARRAY ||
         !(resource->array->desc.flags & COLLECT_ARRAY_SURFACE)))
        r = COLLECT_INVALID_VALUE;
    if (r)
        return r;
    texture *t = calloc(1, sizeof *t);
    if (!t || !(t->stored = malloc(bytes ? bytes : 1))) {
        free(t);
        return COLLECT_NOMEM;
    }
    if (bytes)
        memcpy(t->stored, stored, bytes);
    t->context = call->context;
    t->surface = !sampling;
    r = create(call, &image, sampling, &t->value);
    if (r) {
        free(t->stored);
        free(t);
        return r;
    }
    collect_handle_add(&t->handle, COLLECT_TEXTURE, key_of(t->value, t->surface));
    *handle = t->value;
    return COLLECT_OK;
}

static void destroy(texture *t)
{
    emu_machine *machine = t->context->device->machine;
    if (t->surface)
        emu_surface_free(machine, t->value);
    else
        emu_texture_free(machine, t->value);
    collect_handle_remove(&t->handle);
    free(t->stored);
    free(t);
}

collect_result collect_texture_destroy(uint64_t handle, bool surface)
{
    texture *t = find(handle, surface);
    if (!t)
        return COLLECT_INVALID_VALUE;
    collect_wait_idle(NULL, NULL);
    destroy(t);
    return COLLECT_OK;
}

const void *collect_texture_stored(uint64_t handle, bool surface)
{
    const texture *t = find(handle, surface);
    return t ? t->stored : NULL;
}

static texture *next_of(const collect_context *context)
{
    for (collect_handle *h = collect_g.handles; h; h = h->hh.next)
        if (h->kind == COLLECT_TEXTURE && ((texture *)h)->context == context)
            return (texture *)h;
    return NULL;
}

void collect_textures_forget(const collect_context *context)
{
    for (texture *t; (t = next_of(context));)
        destroy(t);
}
