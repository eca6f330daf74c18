/* Memory pools and stream-ordered allocation. Memory is taken and given back at once; a pool only counts. */
#include "collect/graph.h"
#include "collect/impl.h"

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

collect_result collect_pool_new(collect_device *device, uint64_t max_size, collect_pool **out)
{
    collect_pool *pool = calloc(1, sizeof *pool);
    if (!pool)
        return COLLECT_NOMEM;
    pool->device = device;
    pool->max_size = max_size;
    pool->reuse[REUSE_FOLLOW] = pool->reuse[REUSE_OPPORTUNISTIC] = pool->reuse[REUSE_INTERNAL] = 1;
    pool->access[device->ordinal] = 3;
    collect_handle_add(&pool->handle, COLLECT_POOL, pool);
    *out = pool;
    return COLLECT_OK;
}

collect_pool *collect_pool_default(collect_device *device)
{
    if (!device->default_pool && collect_pool_new(device, 0, &device->default_pool) == COLLECT_OK)
        device->default_pool->is_default = true;
    return device->default_pool;
}

collect_pool *collect_pool_current(collect_device *device)
{
    return device->current_pool ? device->current_pool : collect_pool_default(device);
}

collect_result collect_pool_set_current(collect_device *device, collect_pool *pool)
{
    if (pool->device != device)
        return COLLECT_INVALID_DEVICE;
    device->current_pool = pool;
    return COLLECT_OK;
}

collect_result collect_pool_destroy(collect_pool *pool)
{
    if (pool->is_default)
        return COLLECT_INVALID_VALUE;
    if (pool->device->current_pool == pool)
        pool->device->current_pool = NULL;
    for (collect_block *block = collect_g.blocks; block; block = block->hh.next)
        if (block->pool == pool)
            block->pool = NULL;
    collect_handle_remove(&pool->handle);
    free(pool);
    return COLLECT_OK;
}

static uint64_t *counter(collect_pool *pool, int attribute)
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

collect_result collect_pool_get(collect_pool *pool, int attribute, void *value)
{
    if (attribute >= REUSE_FOLLOW && attribute <= REUSE_INTERNAL)
        *(int *)value = pool->reuse[attribute];
    else if (counter(pool, attribute))
        *(uint64_t *)value = *counter(pool, attribute);
    else
        return COLLECT_INVALID_VALUE;
    return COLLECT_OK;
}

/* The high marks can only be reset, to 0: they then start again from what is in use. */
collect_result collect_pool_set(collect_pool *pool, int attribute, const void *value)
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
        return COLLECT_INVALID_VALUE;
    return COLLECT_OK;
}

collect_result collect_pool_access_set(collect_pool *pool, int device, int flags)
{
    if (!collect_device_get(device))
        return COLLECT_INVALID_DEVICE;
    if (device == pool->device->ordinal && flags != 3)
        return COLLECT_INVALID_VALUE;
    pool->access[device] = flags;
    return COLLECT_OK;
}

collect_result collect_pool_access_get(collect_pool *pool, int device, int *flags)
{
    if (!collect_device_get(device))
        return COLLECT_INVALID_DEVICE;
    *flags = pool->access[device];
    return COLLECT_OK;
}

static void note_reserved(collect_pool *pool)
{
    uint64_t need = (pool->used + RESERVE_UNIT - 1) / RESERVE_UNIT * RESERVE_UNIT;
    if (need > pool->reserved)
        pool->reserved = need;
    if (pool->reserved > pool->reserved_high)
        pool->reserved_high = pool->reserved;
    if (pool->used > pool->used_high)
        pool->used_high = pool->used;
}

collect_result collect_pool_trim(collect_pool *pool, size_t keep)
{
    uint64_t need = (pool->used + RESERVE_UNIT - 1) / RESERVE_UNIT * RESERVE_UNIT;
    uint64_t least = keep > need ? keep : need;
    if (pool->reserved > least)
        pool->reserved = least;
    return COLLECT_OK;
}

collect_result collect_pool_alloc(collect_call *call, uint64_t size, collect_pool *pool,
                                  collect_block **out)
{
    if (pool->max_size && pool->used + size > pool->max_size)
        return COLLECT_NOMEM;
    collect_result r = collect_alloc_block(call, pool->device, size, EMU_ALLOC_DEVICE, NULL, out);
    if (r)
        return r;
    (*out)->pool = pool;
    pool->used += size;
    note_reserved(pool);
    return COLLECT_OK;
}

collect_result collect_malloc_async(collect_call *call, uint64_t size, collect_pool *pool,
                                    collect_stream *stream, uint64_t *address)
{
    if (!size)
        return COLLECT_INVALID_VALUE;
    if (!pool)
        pool = collect_pool_current(stream->context->device);
    if (!pool)
        return COLLECT_NOMEM;
    if (stream->capturing)
        return collect_capture_alloc(call, stream, size, pool, address);
    collect_block *block;
    collect_result r = collect_pool_alloc(call, size, pool, &block);
    if (r)
        return r;
    call->record.stream = stream->id;
    collect_call_write(call, COLLECT_OK);
    collect_object_write(block, call->id, CAP_OBJECT_DEVICE, 0, "");
    *address = block->base;
    return COLLECT_OK;
}

/* Work before it in the stream may still wait for its turn, so freeing waits for it. */
collect_result collect_free_async(collect_call *call, uint64_t address, collect_stream *stream)
{
    if (stream->capturing && collect_graph_promised(address, 1))
        return collect_capture_free(call, stream, address);
    collect_block *block = collect_block_find(address);
    if (!block || block->base != address || block->kind != EMU_ALLOC_DEVICE || block->physical ||
        block->array || block->module)
        return COLLECT_INVALID_VALUE;
    call->record.stream = stream->id;
    if (stream->capturing)
        return collect_capture_free(call, stream, address);
    collect_wait_idle(NULL, NULL);
    call->record.source_object = block->object;
    call->record.bytes = block->size;
    if (block->pool)
        block->pool->used -= block->size;
    collect_call_write(call, COLLECT_OK);
    collect_block_release(block, call->id);
    return COLLECT_OK;
}
