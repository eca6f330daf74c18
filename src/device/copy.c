/* Copies and sets: checked against the allocations on both sides, executed by the host. */
#include "cuda/args.h"
#include "device/graph_impl.h"
#include "record/parts.h"

#include <string.h>

typedef struct side { /* of a copy, resolved to linear memory */
    uint64_t address;
    uint64_t pitch, slice;
} side;

static side resolve_side(const dev_place *p, const dev_copy *copy)
{
    side s = {.address = p->address, .pitch = p->pitch ? p->pitch : copy->width};
    uint64_t rows = p->height ? p->height : copy->height;
    if (p->array) {
        s.address = p->array->address;
        s.pitch = p->array->pitch;
        rows = p->array->desc.height ? p->array->desc.height : 1;
    }
    s.slice = s.pitch * rows;
    s.address += p->z * s.slice + p->y * s.pitch + p->x;
    return s;
}

static uint64_t extent(const side *s, const dev_copy *copy)
{
    return (copy->depth - 1) * s->slice + (copy->height - 1) * s->pitch + copy->width;
}

static bool fits_array(const dev_place *p, const dev_copy *copy)
{
    const dev_array_desc *d = &p->array->desc;
    size_t row = d->width * d->channels * cuda_format_bytes(d->format);
    size_t rows = d->height ? d->height : 1, slices = d->depth ? d->depth : 1;
    return p->x <= row && copy->width <= row - p->x && p->y <= rows &&
           copy->height <= rows - p->y && p->z <= slices && copy->depth <= slices - p->z;
}

/* Between allocations, or freed. */
static bool is_stray_device_address(uint64_t address)
{
    for (int i = 0; i < dev_g.ndevices; i++)
        if (emu_mem_is_device(dev_g.devices[i].machine, address))
            return true;
    return false;
}

/* A pointer that belongs to no allocation is the application's own memory: it must be mapped, and
 * not by the emulator. */
static dev_result check_place(const dev_place *p, const dev_copy *copy)
{
    side s = resolve_side(p, copy);
    if (p->array)
        return fits_array(p, copy) ? DEV_OK : DEV_INVALID_VALUE;
    if (s.pitch < copy->width && (copy->height > 1 || copy->depth > 1))
        return DEV_INVALID_PITCH;
    uint64_t bytes = extent(&s, copy);
    dev_memory memory;
    if (dev_graph_promised(s.address, bytes))
        return DEV_OK;
    bool known = dev_memory_find(s.address, &memory);
    bool device = p->given && p->expect == DEV_MEMORY_DEVICE;
    bool host = p->given && p->expect == DEV_MEMORY_HOST;
    if (known && host && memory.type == DEV_MEMORY_DEVICE)
        return DEV_INVALID_VALUE;
    if (known || device)
        return dev_range_valid(s.address, bytes) ? DEV_OK : DEV_INVALID_VALUE;
    if (bytes && is_stray_device_address(s.address))
        return DEV_INVALID_VALUE;
    return dev_host_readable((void *)s.address, bytes) ? DEV_OK : DEV_INVALID_VALUE;
}

dev_result dev_copy_check(const dev_copy *copy)
{
    dev_result r = check_place(&copy->to, copy);
    return r ? r : check_place(&copy->from, copy);
}

void dev_copy_run(const dev_copy *copy)
{
    side from = resolve_side(&copy->from, copy), to = resolve_side(&copy->to, copy);
    if (from.pitch == copy->width && to.pitch == copy->width && copy->depth == 1) {
        memmove((void *)to.address, (void *)from.address, copy->width * copy->height);
        return;
    }
    for (size_t z = 0; z < copy->depth; z++)
        for (size_t y = 0; y < copy->height; y++)
            memmove((void *)(to.address + z * to.slice + y * to.pitch),
                    (void *)(from.address + z * from.slice + y * from.pitch), copy->width);
}

static uint64_t set_extent(const dev_set *set)
{
    uint64_t row = (uint64_t)set->width * set->element;
    return (set->depth - 1) * set->slice + (set->height - 1) * set->pitch + row;
}

static bool is_place_missing(const dev_place *p, const dev_copy *copy)
{
    side s = resolve_side(p, copy);
    return !p->array && dev_graph_missing(s.address, extent(&s, copy));
}

bool dev_copy_missing(const dev_copy *copy)
{
    return is_place_missing(&copy->from, copy) || is_place_missing(&copy->to, copy);
}

bool dev_set_missing(const dev_set *set)
{
    return dev_graph_missing(set->address, set_extent(set));
}

/* The innermost object that holds all of the extent. */
static void describe_address(uint64_t address, uint64_t bytes, uint32_t *object, uint64_t *offset)
{
    dev_memory memory;
    if (!dev_memory_find(address, &memory))
        return;
    uint64_t base = memory.base;
    uint32_t part = rec_part_of(address, bytes, &base);
    *object = part ? part : memory.object;
    *offset = address - base;
}

static uint64_t rows_of_side(const side *s, const dev_place *p)
{
    return p->array || !s->pitch ? 0 : s->slice / s->pitch;
}

static void describe_shape(const dev_copy *copy, rec_call *call)
{
    side from = resolve_side(&copy->from, copy), to = resolve_side(&copy->to, copy);
    call->shape = (cap_shape){.width = copy->width,
                              .rows = copy->height,
                              .slices = copy->depth,
                              .source_pitch = copy->from.array ? 0 : from.pitch,
                              .source_rows = rows_of_side(&from, &copy->from),
                              .target_pitch = copy->to.array ? 0 : to.pitch,
                              .target_rows = rows_of_side(&to, &copy->to)};
    rec_call_shape(call);
}

void dev_copy_describe(const dev_copy *copy, rec_call *call)
{
    cap_call *record = &call->record;
    if (copy->height > 1 || copy->depth > 1)
        describe_shape(copy, call);
    const side from = resolve_side(&copy->from, copy), to = resolve_side(&copy->to, copy);
    describe_address(from.address, extent(&from, copy), &record->source_object,
                     &record->source_offset);
    describe_address(to.address, extent(&to, copy), &record->target_object, &record->target_offset);
    record->bytes = (uint64_t)copy->width * copy->height * copy->depth;
}

static bool pageable(const dev_place *p)
{
    dev_memory memory;
    return !p->array && !dev_memory_find(p->address, &memory);
}

bool dev_copy_pageable(const dev_copy *copy)
{
    return pageable(&copy->from) || pageable(&copy->to);
}

/* ---- sets ---- */

dev_result dev_set_check(const dev_set *set)
{
    bool element = set->element == 1 || set->element == 2 || set->element == 4;
    if (!element || set->address % set->element)
        return DEV_INVALID_VALUE;
    if (set->height > 1 && set->pitch < (uint64_t)set->width * set->element)
        return DEV_INVALID_VALUE;
    uint64_t bytes = set_extent(set);
    bool ok = dev_range_valid(set->address, bytes) || dev_graph_promised(set->address, bytes);
    return ok ? DEV_OK : DEV_INVALID_VALUE;
}

static void set_row(unsigned char *row, const dev_set *set)
{
    uint16_t half = (uint16_t)set->value;
    if (set->element == 1)
        memset(row, (int)set->value, set->width);
    for (size_t i = 0; set->element == 2 && i < set->width; i++)
        memcpy(row + 2 * i, &half, 2);
    for (size_t i = 0; set->element == 4 && i < set->width; i++)
        memcpy(row + 4 * i, &set->value, 4);
}

void dev_set_run(const dev_set *set)
{
    for (size_t z = 0; z < set->depth; z++)
        for (size_t y = 0; y < set->height; y++)
            set_row((unsigned char *)set->address + z * set->slice + y * set->pitch, set);
}

void dev_set_describe(const dev_set *set, rec_call *call)
{
    cap_call *record = &call->record;
    if (set->height > 1 || set->depth > 1) {
        call->shape = (cap_shape){
            .width = (uint64_t)set->width * set->element,
            .rows = set->height,
            .slices = set->depth,
            .target_pitch = set->pitch,
            .target_rows = set->depth > 1 && set->pitch ? set->slice / set->pitch : set->height};
        rec_call_shape(call);
    }
    describe_address(set->address, set_extent(set), &record->target_object, &record->target_offset);
    record->bytes = (uint64_t)set->width * set->element * set->height * set->depth;
}
