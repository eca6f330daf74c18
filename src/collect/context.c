/* Contexts: the primary one of each device and those that the driver API makes. */
#include "collect/impl.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LIMIT_COUNT = 16 };

static const size_t initial_limits[LIMIT_COUNT] = {
    1024,                    /* stack size */
    (8 << 20) + (256 << 10), /* printf FIFO, as an H200 has it */
    8 << 20,                 /* device-side malloc heap */
    2,
    2048, /* dynamic parallelism: depth, pending launches */
    64,
    0,
    0,
    0,
    0}; /* L2 fetch granularity, persisting L2 */

static collect_stream *default_stream(collect_context *context, bool per_thread)
{
    collect_stream *stream = calloc(1, sizeof *stream);
    if (!stream)
        return NULL;
    stream->context = context;
    stream->id = per_thread ? ++collect_g.next_stream : 0;
    stream->is_legacy = !per_thread;
    stream->is_per_thread = per_thread;
    collect_handle_add(&stream->handle, COLLECT_STREAM, stream);
    return stream;
}

collect_result collect_context_new(collect_device *device, unsigned flags, collect_context **out)
{
    collect_context *context = calloc(1, sizeof *context);
    if (!context)
        return COLLECT_NOMEM;
    context->device = device;
    context->flags = flags;
    context->id = ++collect_g.next_context;
    memcpy(context->limits, initial_limits, sizeof initial_limits);
    collect_handle_add(&context->handle, COLLECT_CONTEXT, context);
    context->legacy = default_stream(context, false);
    context->per_thread = default_stream(context, true);
    if (!context->legacy || !context->per_thread) {
        collect_context_destroy(context);
        return COLLECT_NOMEM;
    }
    *out = context;
    return COLLECT_OK;
}

/* The first stream, event or array of the context; NULL without. */
static collect_handle *next_handle(const collect_context *context)
{
    for (collect_handle *h = collect_g.handles; h; h = h->hh.next) {
        const collect_stream *stream = h->self;
        const collect_event *event = h->self;
        const collect_array *array = h->self;
        if ((h->kind == COLLECT_STREAM && stream->context == context) ||
            (h->kind == COLLECT_EVENT && event->context == context) ||
            ((h->kind == COLLECT_ARRAY || h->kind == COLLECT_MIPMAP) && array->context == context &&
             !array->parent))
            return h;
    }
    return NULL;
}

/* What belongs to the context; its modules and memory go before. */
static void destroy_handles(const collect_context *context)
{
    for (collect_handle *h; (h = next_handle(context));) {
        collect_stream *stream = h->self;
        collect_event *event = h->self;
        if (h->kind != COLLECT_STREAM && h->kind != COLLECT_EVENT) {
            collect_array_forget(h->self);
            continue;
        }
        collect_handle_remove(h);
        if (h->kind == COLLECT_STREAM)
            wl_vec_free(&stream->tail);
        else
            wl_vec_free(&event->nodes);
        free(h->self);
    }
}

collect_result collect_context_destroy(collect_context *context)
{
    if (!context->error)
        collect_wait_idle(NULL, context);
    collect_flush_printed(context);
    collect_textures_forget(context);
    collect_context_modules_unload(context);
    collect_release_context_memory(context);
    destroy_handles(context);
    if (context->device->primary == context)
        context->device->primary = NULL;
    collect_handle_remove(&context->handle);
    wl_vec_free(&context->printed);
    free(context);
    return COLLECT_OK;
}

collect_result collect_primary_retain(collect_device *device, collect_context **context)
{
    if (!device->primary) {
        collect_result r = collect_context_new(device, device->primary_flags, &device->primary);
        if (r)
            return r;
        device->primary->is_primary = true;
    }
    device->primary_references++;
    *context = device->primary;
    return COLLECT_OK;
}

collect_result collect_primary_release(collect_device *device)
{
    if (!device->primary || !device->primary_references)
        return COLLECT_INVALID_CONTEXT;
    if (--device->primary_references)
        return COLLECT_OK;
    return collect_context_destroy(device->primary);
}

collect_result collect_primary_reset(collect_device *device)
{
    device->primary_references = 0;
    device->primary_flags = 0;
    return device->primary ? collect_context_destroy(device->primary) : COLLECT_OK;
}

void collect_primary_state(collect_device *device, unsigned *flags, bool *active)
{
    *flags = device->primary_flags;
    *active = device->primary != NULL;
}

collect_result collect_primary_flags(collect_device *device, unsigned flags)
{
    device->primary_flags = flags;
    if (device->primary)
        device->primary->flags = flags;
    return COLLECT_OK;
}

collect_device *collect_context_device(const collect_context *context)
{
    return context->device;
}

unsigned collect_context_flags(const collect_context *context)
{
    return context->flags;
}

uint64_t collect_context_id(const collect_context *context)
{
    return context->id;
}

collect_result collect_context_error(const collect_context *context)
{
    return context->error;
}

collect_result collect_context_synchronize(collect_context *context)
{
    collect_result r = collect_capture_forbid_any(context);
    if (r)
        return r;
    collect_wait_idle(NULL, context);
    collect_flush_printed(context);
    return context->error;
}

void collect_lose(collect_context *context, collect_result error)
{
    if (!context->error)
        context->error = error;
}

/* What kernels printed appears when the device is synchronised or the next kernel starts, as with a GPU. */
void collect_flush_printed(collect_context *context)
{
    if (!context->printed.count)
        return;
    fwrite(context->printed.data, 1, context->printed.count, stdout);
    context->printed.count = 0;
}

collect_result collect_limit_get(collect_context *context, int limit, size_t *value)
{
    if (limit < 0 || limit >= LIMIT_COUNT)
        return COLLECT_INVALID_VALUE;
    *value = context->limits[limit];
    return COLLECT_OK;
}

collect_result collect_limit_set(collect_context *context, int limit, size_t value)
{
    if (limit < 0 || limit >= LIMIT_COUNT)
        return COLLECT_INVALID_VALUE;
    context->limits[limit] = value;
    return COLLECT_OK;
}

collect_result collect_cache_config(collect_context *context, int *get, int set)
{
    if (get)
        *get = context->cache_config;
    else
        context->cache_config = set;
    return COLLECT_OK;
}

collect_result collect_peer_enable(collect_context *context, collect_context *peer)
{
    if (context->device == peer->device)
        return COLLECT_PEER_UNSUPPORTED;
    uint32_t bit = 1U << peer->device->ordinal;
    if (context->peers & bit)
        return COLLECT_PEER_ENABLED;
    context->peers |= bit;
    return COLLECT_OK;
}

collect_result collect_peer_disable(collect_context *context, collect_context *peer)
{
    uint32_t bit = 1U << peer->device->ordinal;
    if (!(context->peers & bit))
        return COLLECT_PEER_NOT_ENABLED;
    context->peers &= ~bit;
    return COLLECT_OK;
}
