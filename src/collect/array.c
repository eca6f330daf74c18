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

collect_result collect_array_new(collect_call *call, const collect_array_desc *desc,
                                 collect_array **out)
{
    size_t pitch;
    uint64_t bytes;
    bool channels = desc->channels == 1 || desc->channels == 2 || desc->channels == 4;
    if (!desc->width || !channels || !collect_format_bytes(desc->format))
        return COLLECT_INVALID_VALUE;
    if (desc->levels > 1)
        return collect_unsupported_part("mipmapped arrays");
    if (!bytes_of(desc, &pitch, &bytes))
        return COLLECT_NOMEM;
    collect_array *array = calloc(1, sizeof *array);
    if (!array)
        return COLLECT_NOMEM;
    collect_block *block;
    collect_context *context = call->context;
    collect_result r = collect_alloc_block(call, context->device, bytes, EMU_ALLOC_DEVICE, context,
                                           &block);
    if (r) {
        free(array);
        return r;
    }
    *array = (collect_array){
        .context = context, .desc = *desc, .address = block->base, .pitch = pitch};
    block->array = array;
    collect_handle_add(&array->handle, COLLECT_ARRAY, array);
    collect_call_write(call, COLLECT_OK);
    collect_object_write(block, call->id, CAP_OBJECT_ARRAY, 0, "");
    *out = array;
    return COLLECT_OK;
}

collect_result collect_array_destroy(collect_call *call, collect_array *array)
{
    collect_block *block = collect_block_find(array->address);
    collect_wait_idle(NULL, NULL);
    if (block) {
        call->record.source_object = block->object;
        call->record.bytes = block->size;
        collect_call_write(call, COLLECT_OK);
        collect_block_release(block, call->id);
    }
    collect_handle_remove(&array->handle);
    free(array);
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
