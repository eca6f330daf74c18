/* Contexts: the primary one of each device and those that the driver API makes. */
#include "device/heap.h"

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

static dev_stream *default_stream(dev_context *context, bool per_thread)
{
    dev_stream *stream = calloc(1, sizeof *stream);
    if (!stream)
        return NULL;
    stream->context = context;
    stream->id = per_thread ? ++dev_g.next_stream : 0;
    stream->is_legacy = !per_thread;
    stream->is_per_thread = per_thread;
    dev_handle_add(&stream->handle, DEV_STREAM, stream);
    dev_stream_write(stream);
    return stream;
}

dev_result dev_context_new(dev_gpu *device, unsigned flags, dev_context **out)
{
    dev_context *context = calloc(1, sizeof *context);
    if (!context)
        return DEV_NOMEM;
    context->device = device;
    context->flags = flags;
    context->id = ++rec_g.next_context;
    memcpy(context->limits, initial_limits, sizeof initial_limits);
    dev_handle_add(&context->handle, DEV_CONTEXT, context);
    context->legacy = default_stream(context, false);
    context->per_thread = default_stream(context, true);
    if (!context->legacy || !context->per_thread) {
        dev_context_destroy(context);
        return DEV_NOMEM;
    }
    *out = context;
    return DEV_OK;
}

/* The first stream, event or array of the context; NULL without. */
static dev_handle *next_handle(const dev_context *context)
{
    for (dev_handle *h = dev_g.handles; h; h = h->hh.next) {
        const dev_stream *stream = h->self;
        const dev_event *event = h->self;
        const dev_array *array = h->self;
        if ((h->kind == DEV_STREAM && stream->context == context) ||
            (h->kind == DEV_EVENT && event->context == context) ||
            ((h->kind == DEV_ARRAY || h->kind == DEV_MIPMAP) && array->context == context &&
             !array->parent))
            return h;
    }
    return NULL;
}

/* What belongs to the context; its modules and memory go before. */
static void destroy_handles(const dev_context *context)
{
    for (dev_handle *h; (h = next_handle(context));) {
        dev_stream *stream = h->self;
        dev_event *event = h->self;
        if (h->kind != DEV_STREAM && h->kind != DEV_EVENT) {
            dev_array_forget(h->self);
            continue;
        }
        dev_handle_remove(h);
        if (h->kind == DEV_STREAM)
            wl_vec_free(&stream->tail);
        else
            wl_vec_free(&event->nodes);
        free(h->self);
    }
}

dev_result dev_context_destroy(dev_context *context)
{
    if (!context->error)
        dev_wait_idle(NULL, context);
    dev_flush_printed(context);
    dev_textures_forget(context);
    dev_context_modules_unload(context);
    dev_heap_release(context);
    dev_release_context_memory(context);
    destroy_handles(context);
    if (context->device->primary == context)
        context->device->primary = NULL;
    dev_handle_remove(&context->handle);
    wl_vec_free(&context->printed);
    free(context);
    return DEV_OK;
}

dev_result dev_primary_retain(dev_gpu *device, dev_context **context)
{
    if (!device->primary) {
        dev_result r = dev_context_new(device, device->primary_flags, &device->primary);
        if (r)
            return r;
        device->primary->is_primary = true;
    }
    device->primary_references++;
    *context = device->primary;
    return DEV_OK;
}

dev_result dev_primary_get(dev_gpu *device, dev_context **context)
{
    *context = device->primary;
    return *context ? DEV_OK : dev_primary_retain(device, context);
}

dev_result dev_primary_release(dev_gpu *device)
{
    if (!device->primary || !device->primary_references)
        return DEV_INVALID_CONTEXT;
    if (--device->primary_references)
        return DEV_OK;
    return dev_context_destroy(device->primary);
}

dev_result dev_primary_reset(dev_gpu *device)
{
    device->primary_references = 0;
    device->primary_flags = 0;
    return device->primary ? dev_context_destroy(device->primary) : DEV_OK;
}

void dev_primary_state(dev_gpu *device, unsigned *flags, bool *active)
{
    *flags = device->primary_flags;
    *active = device->primary != NULL;
}

dev_result dev_primary_flags(dev_gpu *device, unsigned flags)
{
    device->primary_flags = flags;
    if (device->primary)
        device->primary->flags = flags;
    return DEV_OK;
}

dev_gpu *dev_context_device(const dev_context *context)
{
    return context->device;
}

unsigned dev_context_flags(const dev_context *context)
{
    return context->flags;
}

uint64_t dev_context_id(const dev_context *context)
{
    return context->id;
}

dev_result dev_context_error(const dev_context *context)
{
    return context->error;
}

dev_result dev_context_synchronize(dev_context *context)
{
    dev_result r = dev_capture_forbid_any(context);
    if (r)
        return r;
    dev_wait_idle(NULL, context);
    dev_flush_printed(context);
    return context->error;
}

void dev_lose(dev_context *context, dev_result error)
{
    if (!context->error)
        context->error = error;
}

/* What kernels printed appears when the device is synchronised or the next kernel starts, as with a
 * GPU. */
void dev_flush_printed(dev_context *context)
{
    if (!context->printed.count)
        return;
    fwrite(context->printed.data, 1, context->printed.count, stdout);
    context->printed.count = 0;
}

dev_result dev_limit_get(dev_context *context, int limit, size_t *value)
{
    if (limit < 0 || limit >= LIMIT_COUNT)
        return DEV_INVALID_VALUE;
    *value = context->limits[limit];
    return DEV_OK;
}

dev_result dev_limit_set(dev_context *context, int limit, size_t value)
{
    if (limit < 0 || limit >= LIMIT_COUNT)
        return DEV_INVALID_VALUE;
    context->limits[limit] = value;
    return DEV_OK;
}

dev_result dev_cache_config(dev_context *context, int *get, int set)
{
    if (get)
        *get = context->cache_config;
    else
        context->cache_config = set;
    return DEV_OK;
}

dev_result dev_peer_enable(dev_context *context, dev_context *peer)
{
    if (context->device == peer->device)
        return DEV_PEER_UNSUPPORTED;
    uint32_t bit = 1U << peer->device->ordinal;
    if (context->peers & bit)
        return DEV_PEER_ENABLED;
    context->peers |= bit;
    return DEV_OK;
}

dev_result dev_peer_disable(dev_context *context, dev_context *peer)
{
    uint32_t bit = 1U << peer->device->ordinal;
    if (!(context->peers & bit))
        return DEV_PEER_NOT_ENABLED;
    context->peers &= ~bit;
    return DEV_OK;
}
