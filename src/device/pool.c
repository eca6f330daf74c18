/* Memory pools and stream-ordered allocation. Memory is taken and given back at once; a pool only
 * counts. */
#include "device/graph_impl.h"

#include <stdlib.h>

enum { /* cudaMemPoolAttr, CUmemPool_attribute */
       REUSE_FOLLOW = 1,
       REUSE_OPPORTUNISTIC,
       REUSE_INTERNAL,
       RELEASE_THRESHOLD,
       RESERVED_CURRENT,
       RESERVED_HIGH,
       USED_CURRENT,
       USED_HIGH
};

enum { RESERVE_UNIT = 32 << 20 };

dev_result dev_pool_new(dev_gpu *device, uint64_t max_size, dev_pool **out)
{
    dev_pool *pool = calloc(1, sizeof *pool);
    if (!pool)
        return DEV_NOMEM;
    pool->device = device;
    pool->max_size = max_size;
    pool->reuse[REUSE_FOLLOW] = pool->reuse[REUSE_OPPORTUNISTIC] = pool->reuse[REUSE_INTERNAL] = 1;
    pool->access[device->ordinal] = 3;
    dev_handle_add(&pool->handle, DEV_POOL, pool);
    *out = pool;
    return DEV_OK;
}

dev_pool *dev_pool_default(dev_gpu *device)
{
    if (!device->default_pool && dev_pool_new(device, 0, &device->default_pool) == DEV_OK)
        device->default_pool->is_default = true;
    return device->default_pool;
}

dev_pool *dev_pool_current(dev_gpu *device)
{
    return device->current_pool ? device->current_pool : dev_pool_default(device);
}

dev_result dev_pool_set_current(dev_gpu *device, dev_pool *pool)
{
    if (pool->device != device)
        return DEV_INVALID_DEVICE;
    device->current_pool = pool;
    return DEV_OK;
}

dev_result dev_pool_destroy(dev_pool *pool)
{
    if (pool->is_default)
        return DEV_INVALID_VALUE;
    if (pool->device->current_pool == pool)
        pool->device->current_pool = NULL;
    for (dev_block *block = dev_g.blocks; block; block = block->hh.next)
        if (block->pool == pool)
            block->pool = NULL;
    dev_handle_remove(&pool->handle);
    free(pool);
    return DEV_OK;
}

static uint64_t *counter(dev_pool *pool, int attribute)
{
    switch (attribute) {
    case RELEASE_THRESHOLD: return &pool->threshold;
    case RESERVED_CURRENT: return &pool->reserved;
    case RESERVED_HIGH: return &pool->reserved_high;
    case USED_CURRENT: return &pool->used;
    case USED_HIGH: return &pool->used_high;
    default: return NULL;
    }
}

dev_result dev_pool_get(dev_pool *pool, int attribute, void *value)
{
    if (attribute >= REUSE_FOLLOW && attribute <= REUSE_INTERNAL)
        *(int *)value = pool->reuse[attribute];
    else if (counter(pool, attribute))
        *(uint64_t *)value = *counter(pool, attribute);
    else
        return DEV_INVALID_VALUE;
    return DEV_OK;
}

/* The high marks can only be reset, to 0: they then start again from what is in use. */
dev_result dev_pool_set(dev_pool *pool, int attribute, const void *value)
{
    if (attribute >= REUSE_FOLLOW && attribute <= REUSE_INTERNAL)
        pool->reuse[attribute] = *(const int *)value != 0;
    else if (attribute == RELEASE_THRESHOLD)
        pool->threshold = *(const uint64_t *)value;
    else if (attribute == RESERVED_HIGH && *(const uint64_t *)value == 0)
        pool->reserved_high = pool->reserved;
    else if (attribute == USED_HIGH && *(const uint64_t *)value == 0)
        pool->used_high = pool->used;
    else
        return DEV_INVALID_VALUE;
    return DEV_OK;
}

dev_result dev_pool_access_set(dev_pool *pool, int device, int flags)
{
    if (!dev_gpu_get(device))
        return DEV_INVALID_DEVICE;
    if (device == pool->device->ordinal && flags != 3)
        return DEV_INVALID_VALUE;
    pool->access[device] = flags;
    return DEV_OK;
}

dev_result dev_pool_access_get(dev_pool *pool, int device, int *flags)
{
    if (!dev_gpu_get(device))
        return DEV_INVALID_DEVICE;
    *flags = pool->access[device];
    return DEV_OK;
}

static void note_reserved(dev_pool *pool)
{
    uint64_t need = (pool->used + RESERVE_UNIT - 1) / RESERVE_UNIT * RESERVE_UNIT;
    if (need > pool->reserved)
        pool->reserved = need;
    if (pool->reserved > pool->reserved_high)
        pool->reserved_high = pool->reserved;
    if (pool->used > pool->used_high)
        pool->used_high = pool->used;
}

dev_result dev_pool_trim(dev_pool *pool, size_t keep)
{
    uint64_t need = (pool->used + RESERVE_UNIT - 1) / RESERVE_UNIT * RESERVE_UNIT;
    uint64_t least = keep > need ? keep : need;
    if (pool->reserved > least)
        pool->reserved = least;
    dev_pool_record(pool, 0);
    return DEV_OK;
}

uint32_t dev_pool_number(dev_pool *pool)
{
    if (pool && !pool->number)
        pool->number = rec_pool(pool->is_default ? CAP_POOL_DEFAULT : CAP_POOL_CREATED,
                                (uint32_t)pool->device->ordinal);
    return pool ? pool->number : 0;
}

void dev_pool_record(dev_pool *pool, uint32_t call)
{
    if (pool)
        rec_pool_state(&pool->told, &(cap_pool_state){.pool = pool->number,
                                                      .call = call,
                                                      .reserved = pool->reserved,
                                                      .used = pool->used});
}

static dev_result allocate_from_pool(dev_call *call, uint64_t size, dev_pool *pool, dev_block **out)
{
    call->rec.record.bytes = size;
    if (pool->max_size && pool->used + size > pool->max_size)
        return DEV_NOMEM;
    dev_result r = dev_alloc_block(call, pool->device, size, EMU_ALLOC_DEVICE, NULL, out);
    if (r)
        return r;
    (*out)->pool = pool;
    pool->used += size;
    note_reserved(pool);
    return DEV_OK;
}

dev_result dev_malloc_async(dev_call *call, uint64_t size, dev_pool *pool, dev_stream *stream,
                            uint64_t *address)
{
    if (!size)
        return DEV_INVALID_VALUE;
    if (!pool)
        pool = dev_pool_current(stream->context->device);
    if (!pool)
        return DEV_NOMEM;
    if (stream->capturing)
        call->rec.record.flags |= CAP_CALL_CAPTURED;
    if (stream->capturing)
        return dev_capture_alloc(call, stream, size, pool, address);
    dev_block *block;
    call->rec.record.stream = stream->number;
    dev_result r = allocate_from_pool(call, size, pool, &block);
    if (r)
        return r;
    call->rec.record.flags |= CAP_CALL_ASYNC;
    dev_call_write(call, DEV_OK);
    dev_object_write(block, call->rec.id, CAP_OBJECT_DEVICE, 0, "");
    dev_pool_record(pool, call->rec.id);
    *address = block->base;
    return DEV_OK;
}

/* Work before it in the stream may still wait for its turn, so freeing waits for it. */
dev_result dev_free_async(dev_call *call, uint64_t address, dev_stream *stream)
{
    call->rec.record.flags |= CAP_CALL_ASYNC | (stream->capturing ? CAP_CALL_CAPTURED : 0);
    if (stream->capturing && dev_graph_promised(address, 1))
        return dev_capture_free(call, stream, address);
    dev_block *block = dev_block_find(address);
    if (!block || block->base != address || block->kind != EMU_ALLOC_DEVICE || block->physical ||
        block->array || block->module)
        return DEV_INVALID_VALUE;
    call->rec.record.stream = stream->number;
    if (stream->capturing)
        return dev_capture_free(call, stream, address);
    dev_wait_idle(NULL, NULL);
    call->rec.record.source_object = block->object;
    call->rec.record.bytes = block->size;
    if (block->pool)
        block->pool->used -= block->size;
    dev_call_write(call, DEV_OK);
    dev_pool_record(block->pool, call->rec.id);
    dev_block_release(block, call->rec.id, CAP_FREED_PROGRAM);
    return DEV_OK;
}
