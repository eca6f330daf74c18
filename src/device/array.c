/* CUDA arrays: rows of elements in device memory with a pitch of their own. */
#include "cuda/args.h"
#include "device/impl.h"

#include <stdlib.h>
#include <string.h>

enum { ROW_ALIGN = 64 };

static size_t dimension_or_one(size_t n)
{
    return n ? n : 1;
}

static bool measure_array(const dev_array_desc *d, size_t *pitch, uint64_t *bytes)
{
    uint64_t row, rows;
    if (__builtin_mul_overflow(d->width, d->channels * cuda_format_bytes(d->format), &row) ||
        row > UINT64_MAX - ROW_ALIGN)
        return false;
    *pitch = (row + ROW_ALIGN - 1) / ROW_ALIGN * ROW_ALIGN;
    return !__builtin_mul_overflow(dimension_or_one(d->height), dimension_or_one(d->depth),
                                   &rows) &&
           !__builtin_mul_overflow(*pitch, rows, bytes);
}

static bool is_valid(const dev_array_desc *d)
{
    bool channels = d->channels == 1 || d->channels == 2 || d->channels == 4;
    bool layered = d->flags & DEV_ARRAY_LAYERED, cube = d->flags & DEV_ARRAY_CUBE;
    if (!d->width || !channels || !cuda_format_bytes(d->format) || (layered && !d->depth) ||
        (d->depth && !d->height && !layered))
        return false;
    return !cube ||
           (d->width == d->height && (layered ? d->depth && d->depth % 6 == 0 : d->depth == 6));
}

/* Of a mipmapped array; layers stay as many as they are. */
static dev_array_desc level_desc(const dev_array_desc *d, unsigned level)
{
    dev_array_desc l = *d;
    bool volume = d->depth && !(d->flags & (DEV_ARRAY_LAYERED | DEV_ARRAY_CUBE));
    l.levels = 0;
    l.width = dimension_or_one(d->width >> level);
    l.height = d->height ? dimension_or_one(d->height >> level) : 0;
    l.depth = volume ? dimension_or_one(d->depth >> level) : d->depth;
    return l;
}

/* The handle, without memory of its own. */
static dev_array *new_handle(dev_context *context, const dev_array_desc *desc, uint64_t address,
                             dev_kind kind)
{
    uint64_t bytes;
    dev_array *array = calloc(1, sizeof *array);
    if (!array)
        return NULL;
    *array = (dev_array){.context = context, .desc = *desc, .address = address};
    measure_array(desc, &array->pitch, &bytes);
    dev_handle_add(&array->handle, kind, array);
    return array;
}

static void free_handle(dev_array *array)
{
    for (unsigned i = 0; i < array->nlevels; i++)
        free_handle(array->levels[i]);
    free(array->levels);
    dev_handle_remove(&array->handle);
    free(array);
}

static bool add_mipmap_levels(dev_array *array)
{
    uint64_t address = array->address, bytes = 0;
    size_t pitch = 0;
    array->levels = calloc(array->desc.levels, sizeof(dev_array *));
    for (unsigned i = 0; array->levels && i < array->desc.levels; i++) {
        dev_array_desc d = level_desc(&array->desc, i);
        array->levels[i] = new_handle(array->context, &d, address, DEV_ARRAY);
        if (!array->levels[i])
            return false;
        array->levels[i]->parent = array;
        array->nlevels++;
        measure_array(&d, &pitch, &bytes);
        address += bytes;
    }
    return array->levels != NULL;
}

static bool total_bytes(const dev_array_desc *desc, uint64_t *total)
{
    size_t pitch;
    uint64_t bytes;
    *total = 0;
    for (unsigned i = 0; i < (desc->levels ? desc->levels : 1); i++) {
        dev_array_desc d = level_desc(desc, i);
        if (!measure_array(&d, &pitch, &bytes) || __builtin_add_overflow(*total, bytes, total))
            return false;
    }
    return true;
}

static unsigned most_levels(const dev_array_desc *d)
{
    size_t largest = d->width > d->height ? d->width : d->height;
    bool volume = !(d->flags & (DEV_ARRAY_LAYERED | DEV_ARRAY_CUBE));
    if (volume && d->depth > largest)
        largest = d->depth;
    unsigned levels = 1;
    for (; largest > 1; largest >>= 1)
        levels++;
    return levels;
}

/* The array over memory that is there; NULL where no host memory is left for it. */
static dev_array *array_over(dev_context *context, const dev_array_desc *desc, uint64_t address)
{
    dev_array *array = new_handle(context, desc, address, desc->levels ? DEV_MIPMAP : DEV_ARRAY);
    if (!array || !desc->levels || add_mipmap_levels(array))
        return array;
    free_handle(array);
    return NULL;
}

/* A desc with levels makes a mipmapped array, of a kind of its own, which only gives its levels. */
dev_result dev_array_new(dev_call *call, const dev_array_desc *asked, dev_array **out)
{
    dev_array_desc desc = *asked;
    dev_context *context = call->context;
    dev_block *block;
    uint64_t bytes;
    if (!is_valid(&desc))
        return DEV_INVALID_VALUE;
    if (desc.levels > most_levels(&desc))
        desc.levels = most_levels(&desc);
    if (!total_bytes(&desc, &bytes))
        return DEV_NOMEM;
    dev_result r = dev_alloc_block(call, context->device, bytes, EMU_ALLOC_DEVICE, context, &block);
    if (r)
        return r;
    dev_array *array = array_over(context, &desc, block->base);
    if (!array) {
        dev_block_release(block, 0, CAP_FREED_UNTOLD);
        return DEV_NOMEM;
    }
    block->array = array;
    dev_call_write(call, DEV_OK);
    dev_object_write(block, call->rec.id, CAP_OBJECT_ARRAY, 0, "");
    *out = array;
    return DEV_OK;
}

dev_result dev_array_destroy(dev_call *call, dev_array *array)
{
    if (array->parent) /* a level goes with its array */
        return DEV_INVALID_HANDLE;
    dev_block *block = dev_block_find(array->address);
    dev_wait_idle(NULL, NULL);
    if (block) {
        call->rec.record.source_object = block->object;
        call->rec.record.bytes = block->size;
        dev_call_write(call, DEV_OK);
        dev_block_release(block, call->rec.id, CAP_FREED_PROGRAM);
    }
    free_handle(array);
    return DEV_OK;
}

void dev_array_forget(dev_array *array)
{
    free_handle(array);
}

dev_result dev_array_level(const void *handle, unsigned level, dev_array **array)
{
    const dev_array *mipmap = handle;
    if (!array)
        return DEV_INVALID_VALUE;
    if (!dev_is(handle, DEV_MIPMAP))
        return DEV_INVALID_HANDLE;
    if (level >= mipmap->nlevels)
        return DEV_INVALID_VALUE;
    *array = mipmap->levels[level];
    return DEV_OK;
}

const dev_array_desc *dev_array_get(const dev_array *array)
{
    return &array->desc;
}
