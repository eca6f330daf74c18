/* Copies and sets: checked against the allocations on both sides, executed by the host. */
#include "collect/graph.h"
#include "collect/impl.h"

#include <string.h>

typedef struct side { /* of a copy, resolved to linear memory */
    uint64_t address;
    uint64_t pitch, slice;
} side;

static side resolve(const collect_place *p, const collect_copy *copy)
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

static uint64_t extent(const side *s, const collect_copy *copy)
{
    return (copy->depth - 1) * s->slice + (copy->height - 1) * s->pitch + copy->width;
}

static bool fits_array(const collect_place *p, const collect_copy *copy)
{
    const collect_array_desc *d = &p->array->desc;
    size_t row = d->width * d->channels * collect_format_bytes(d->format);
    size_t rows = d->height ? d->height : 1, slices = d->depth ? d->depth : 1;
    return p->x <= row && copy->width <= row - p->x && p->y <= rows &&
           copy->height <= rows - p->y && p->z <= slices && copy->depth <= slices - p->z;
}

/* A host pointer that belongs to no allocation is the application's own memory: it must be mapped. */
static collect_result check_place(const collect_place *p, const collect_copy *copy)
{
    side s = resolve(p, copy);
    if (p->array)
        return fits_array(p, copy) ? COLLECT_OK : COLLECT_INVALID_VALUE;
    if (s.pitch < copy->width && (copy->height > 1 || copy->depth > 1))
        return COLLECT_INVALID_PITCH;
    uint64_t bytes = extent(&s, copy);
    collect_memory memory;
    if (collect_graph_promised(s.address, bytes))
        return COLLECT_OK;
    bool known = collect_memory_find(s.address, &memory);
    bool device = p->given && p->expect == COLLECT_MEMORY_DEVICE;
    bool host = p->given && p->expect == COLLECT_MEMORY_HOST;
    if (known && host && memory.type == COLLECT_MEMORY_DEVICE)
        return COLLECT_INVALID_VALUE;
    if (known || device)
        return collect_range_valid(s.address, bytes) ? COLLECT_OK : COLLECT_INVALID_VALUE;
    return collect_host_readable((void *)s.address, bytes) ? COLLECT_OK : COLLECT_INVALID_VALUE;
}

collect_result collect_copy_check(const collect_copy *copy)
{
    collect_result r = check_place(&copy->to, copy);
    return r ? r : check_place(&copy->from, copy);
}

void collect_copy_run(const collect_copy *copy)
{
    side from = resolve(&copy->from, copy), to = resolve(&copy->to, copy);
    if (from.pitch == copy->width && to.pitch == copy->width && copy->depth == 1) {
        memmove((void *)to.address, (void *)from.address, copy->width * copy->height);
        return;
    }
    for (size_t z = 0; z < copy->depth; z++)
        for (size_t y = 0; y < copy->height; y++)
            memmove((void *)(to.address + z * to.slice + y * to.pitch),
                    (void *)(from.address + z * from.slice + y * from.pitch), copy->width);
}

static uint64_t set_extent(const collect_set *set)
{
    uint64_t row = (uint64_t)set->width * set->element;
    return (set->depth - 1) * set->slice + (set->height - 1) * set->pitch + row;
}

static bool missing(const collect_place *p, const collect_copy *copy)
{
    side s = resolve(p, copy);
    return !p->array && collect_graph_missing(s.address, extent(&s, copy));
}

bool collect_copy_missing(const collect_copy *copy)
{
    return missing(&copy->from, copy) || missing(&copy->to, copy);
}

bool collect_set_missing(const collect_set *set)
{
    return collect_graph_missing(set->address, set_extent(set));
}

static void describe(uint64_t address, uint32_t *object, uint64_t *offset)
{
    collect_memory memory;
    if (!collect_memory_find(address, &memory))
        return;
    *object = memory.object;
    *offset = address - memory.base;
}

void collect_copy_describe(const collect_copy *copy, cap_call *record)
{
    describe(resolve(&copy->from, copy).address, &record->source_object, &record->source_offset);
    describe(resolve(&copy->to, copy).address, &record->target_object, &record->target_offset);
    record->bytes = (uint64_t)copy->width * copy->height * copy->depth;
}

static bool pageable(const collect_place *p)
{
    collect_memory memory;
    return !p->array && !collect_memory_find(p->address, &memory);
}

bool collect_copy_pageable(const collect_copy *copy)
{
    return pageable(&copy->from) || pageable(&copy->to);
}

/* ---- sets ---- */

collect_result collect_set_check(const collect_set *set)
{
    bool element = set->element == 1 || set->element == 2 || set->element == 4;
    if (!element || set->address % set->element)
        return COLLECT_INVALID_VALUE;
    if (set->height > 1 && set->pitch < (uint64_t)set->width * set->element)
        return COLLECT_INVALID_VALUE;
    uint64_t bytes = set_extent(set);
    bool ok = collect_range_valid(set->address, bytes) ||
              collect_graph_promised(set->address, bytes);
    return ok ? COLLECT_OK : COLLECT_INVALID_VALUE;
}

static void set_row(unsigned char *row, const collect_set *set)
{
    uint16_t half = (uint16_t)set->value;
    if (set->element == 1)
        memset(row, (int)set->value, set->width);
    for (size_t i = 0; set->element == 2 && i < set->width; i++)
        memcpy(row + 2 * i, &half, 2);
    for (size_t i = 0; set->element == 4 && i < set->width; i++)
        memcpy(row + 4 * i, &set->value, 4);
}

void collect_set_run(const collect_set *set)
{
    for (size_t z = 0; z < set->depth; z++)
        for (size_t y = 0; y < set->height; y++)
            set_row((unsigned char *)set->address + z * set->slice + y * set->pitch, set);
}

void collect_set_describe(const collect_set *set, cap_call *record)
{
    describe(set->address, &record->target_object, &record->target_offset);
    record->bytes = (uint64_t)set->width * set->element * set->height * set->depth;
}
