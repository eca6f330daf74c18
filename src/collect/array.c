/* CUDA arrays: rows of elements in device memory with a pitch of their own. */
#include "collect/impl.h"

#include <stdlib.h>
#include <string.h>

enum { ROW_ALIGN = 64 };

unsigned collect_format_bytes(int format)
{
    switch (format) {
    case CU_AD_FORMAT_UNSIGNED_INT8:
    case CU_AD_FORMAT_SIGNED_INT8: return 1;
    case CU_AD_FORMAT_UNSIGNED_INT16:
    case CU_AD_FORMAT_SIGNED_INT16:
    case CU_AD_FORMAT_HALF: return 2;
    case CU_AD_FORMAT_UNSIGNED_INT32:
    case CU_AD_FORMAT_SIGNED_INT32:
    case CU_AD_FORMAT_FLOAT: return 4;
    default: return 0;
    }
}

static size_t at_least_one(size_t n)
{
    return n ? n : 1;
}

static bool bytes_of(const collect_array_desc *d, size_t *pitch, uint64_t *bytes)
{
    uint64_t row, rows;
    if (__builtin_mul_overflow(d->width, d->channels * collect_format_bytes(d->format), &row) ||
        row > UINT64_MAX - ROW_ALIGN)
        return false;
    *pitch = (row + ROW_ALIGN - 1) / ROW_ALIGN * ROW_ALIGN;
    return !__builtin_mul_overflow(at_least_one(d->height), at_least_one(d->depth), &rows) &&
           !__builtin_mul_overflow(*pitch, rows, bytes);
}

static bool is_valid(const collect_array_desc *d)
{
    bool channels = d->channels == 1 || d->channels == 2 || d->channels == 4;
    bool layered = d->flags & COLLECT_ARRAY_LAYERED, cube = d->flags & COLLECT_ARRAY_CUBE;
    if (!d->width || !channels || !collect_format_bytes(d->format) || (layered && !d->depth) ||
        (d->depth && !d->height && !layered))
        return false;
    return !cube ||
           (d->width == d->height && (layered ? d->depth && d->depth % 6 == 0 : d->depth == 6));
}

/* Of a mipmapped array; layers stay as many as they are. */
static collect_array_desc level_desc(const collect_array_desc *d, unsigned level)
{
    collect_array_desc l = *d;
    bool volume = d->depth && !(d->flags & (COLLECT_ARRAY_LAYERED | COLLECT_ARRAY_CUBE));
    l.levels = 0;
    l.width = at_least_one(d->width >> level);
    l.height = d->height ? at_least_one(d->height >> level) : 0;
    l.depth = volume ? at_least_one(d->depth >> level) : d->depth;
    return l;
}

/* The handle, without memory of its own. */
static collect_array *new_handle(collect_context *context, const collect_array_desc *desc,
                                 uint64_t address, collect_kind kind)
{
    uint64_t bytes;
    collect_array *array = calloc(1, sizeof *array);
    if (!array)
        return NULL;
    *array = (collect_array){.context = context, .desc = *desc, .address = address};
    bytes_of(desc, &array->pitch, &bytes);
    collect_handle_add(&array->handle, kind, array);
    return array;
}

static void free_handle(collect_array *array)
{
    for (unsigned i = 0; i < array->nlevels; i++)
        free_handle(array->levels[i]);
    free(array->levels);
    collect_handle_remove(&array->handle);
    free(array);
}

static bool add_levels(collect_array *array)
{
    uint64_t address = array->address, bytes = 0;
    size_t pitch = 0;
    array->levels = calloc(array->desc.levels, sizeof(collect_array *));
    for (unsigned i = 0; array->levels && i < array->desc.levels; i++) {
        collect_array_desc d = level_desc(&array->desc, i);
        array->levels[i] = new_handle(array->context, &d, address, COLLECT_ARRAY);
        if (!array->levels[i])
            return false;
        array->levels[i]->parent = array;
        array->nlevels++;
        bytes_of(&d, &pitch, &bytes);
        address += bytes;
    }
    return array->levels != NULL;
}

static bool total_bytes(const collect_array_desc *desc, uint64_t *total)
{
    size_t pitch;
    uint64_t bytes;
    *total = 0;
    for (unsigned i = 0; i < (desc->levels ? desc->levels : 1); i++) {
        collect_array_desc d = level_desc(desc, i);
        if (!bytes_of(&d, &pitch, &bytes) || __builtin_add_overflow(*total, bytes, total))
            return false;
    }
    return true;
}

static unsigned most_levels(const collect_array_desc *d)
{
    size_t largest = d->width > d->height ? d->width : d->height;
    bool volume = !(d->flags & (COLLECT_ARRAY_LAYERED | COLLECT_ARRAY_CUBE));
    if (volume && d->depth > largest)
        largest = d->depth;
    unsigned levels = 1;
    for (; largest > 1; largest >>= 1)
        levels++;
    return levels;
}

/* A desc with levels makes a mipmapped array, of a kind of its own, which only gives its levels. */
collect_result collect_array_new(collect_call *call, const collect_array_desc *asked,
                                 collect_array **out)
{
    collect_array_desc desc = *asked;
    collect_context *context = call->context;
    collect_block *block;
    uint64_t bytes;
    if (!is_valid(&desc))
        return COLLECT_INVALID_VALUE;
    if (desc.levels > most_levels(&desc))
        desc.levels = most_levels(&desc);
    if (!total_bytes(&desc, &bytes))
        return COLLECT_NOMEM;
    collect_result r = collect_alloc_block(call, context->device, bytes, EMU_ALLOC_DEVICE, context,
                                           &block);
    if (r)
        return r;
    collect_array *array = new_handle(context, &desc, block->base,
                                      desc.levels ? COLLECT_MIPMAP : COLLECT_ARRAY);
    if (!array || (desc.levels && !add_levels(array))) {
        if (array)
            free_handle(array);
        collect_block_release(block, 0);
        return COLLECT_NOMEM;
    }
    block->array = array;
    collect_call_write(call, COLLECT_OK);
    collect_object_write(block, call->id, CAP_OBJECT_ARRAY, 0, "");
    *out = array;
    return COLLECT_OK;
}

collect_result collect_array_destroy(collect_call *call, collect_array *array)
{
    if (array->parent) /* a level goes with its array */
        return COLLECT_INVALID_HANDLE;
    collect_block *block = collect_block_find(array->address);
    collect_wait_idle(NULL, NULL);
    if (block) {
        call->record.source_object = block->object;
        call->record.bytes = block->size;
        collect_call_write(call, COLLECT_OK);
        collect_block_release(block, call->id);
    }
    free_handle(array);
    return COLLECT_OK;
}

void collect_array_forget(collect_array *array)
{
    free_handle(array);
}

collect_result collect_array_level(const void *handle, unsigned level, collect_array **array)
{
    const collect_array *mipmap = handle;
    if (!array)
        return COLLECT_INVALID_VALUE;
    if (!collect_is(handle, COLLECT_MIPMAP))
        return COLLECT_INVALID_HANDLE;
    if (level >= mipmap->nlevels)
        return COLLECT_INVALID_VALUE;
    *array = mipmap->levels[level];
    return COLLECT_OK;
}

const collect_array_desc *collect_array_get(const collect_array *array)
{
    return &array->desc;
}

uint64_t collect_array_address(const collect_array *array, size_t *pitch)
{
    *pitch = array->pitch;
    return array->address;
}
