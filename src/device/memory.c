/* Memory of the devices: allocation, registration, and which allocation an address lies in. */
#include "device/impl.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { PITCH_ALIGN = 512 };

dev_result dev_status(wl_status status)
{
    switch (status) {
    case WL_OK: return DEV_OK;
    case WL_NOMEM: return DEV_NOMEM;
    case WL_UNSUPPORTED: return DEV_NOT_SUPPORTED;
    default: return DEV_INVALID_VALUE;
    }
}

/* ---- blocks ---- */

static dev_block *find_base(uint64_t base)
{
    dev_block *block;
    HASH_FIND(hh, dev_g.blocks, &base, sizeof base, block);
    return block;
}

static bool find_alloc(uint64_t address, emu_alloc *alloc)
{
    for (int i = 0; i < dev_g.ndevices; i++)
        if (emu_mem_find(dev_g.devices[i].machine, address, alloc))
            return true;
    return false;
}

dev_block *dev_block_find(uint64_t address)
{
    emu_alloc alloc;
    return find_alloc(address, &alloc) ? find_base(alloc.base) : NULL;
}

dev_block *dev_block_add(dev_call *call, dev_gpu *device, uint64_t base, uint64_t size,
                         emu_alloc_kind kind, uint32_t object, dev_context *context)
{
    dev_block *block = calloc(1, sizeof *block);
    if (!block)
        return NULL;
    *block = (dev_block){.base = base,
                         .size = size,
                         .kind = kind,
                         .object = object,
                         .context = context,
                         .device = device};
    HASH_ADD(hh, dev_g.blocks, base, sizeof block->base, block);
    if (call) {
        call->rec.record.target_object = object;
        call->rec.record.bytes = size;
    }
    return block;
}

void dev_object_write(const dev_block *block, uint32_t call, cap_object_kind kind, uint32_t module,
                      const char *name)
{
    cap_object object = {.id = block->object,
                         .kind = kind,
                         .device = (uint32_t)block->device->ordinal,
                         .base = block->base,
                         .bytes = block->size,
                         .call = call,
                         .module = module,
                         .name = name,
                         .pool = dev_pool_number(block->pool)};
    REC_WRITE(object, &object);
}

/* Every device sees all memory: peers, pinned and managed memory alike. */
static void share_block(const dev_block *block)
{
    for (int i = 0; i < dev_g.ndevices; i++)
        if (&dev_g.devices[i] != block->device)
            emu_mem_register(dev_g.devices[i].machine, (void *)block->base, block->size,
                             block->object);
}

static void unshare_block(const dev_block *block)
{
    for (int i = 0; i < dev_g.ndevices; i++)
        if (&dev_g.devices[i] != block->device)
            emu_mem_free(dev_g.devices[i].machine, block->base);
}

void dev_block_release(dev_block *block, uint32_t call, cap_freed_how how)
{
    rec_freed(block->object, call, how);
    unshare_block(block);
    if (block->mapped)
        emu_mem_unmap(block->device->machine, block->base, block->size);
    else if (!block->module)
        emu_mem_free(block->device->machine, block->base);
    HASH_DEL(dev_g.blocks, block);
    free(block);
}

void dev_release_context_memory(dev_context *context)
{
    dev_block *block, *next;
    HASH_ITER (hh, dev_g.blocks, block, next) {
        if (block->context == context)
            dev_block_release(block, 0, CAP_FREED_CONTEXT);
    }
}

/* ---- ranges ---- */

bool dev_range_valid(uint64_t address, uint64_t bytes)
{
    while (bytes) {
        emu_alloc alloc;
        if (!find_alloc(address, &alloc))
            return false;
        uint64_t rest = alloc.base + alloc.size - address;
        if (bytes <= rest)
            return true;
        dev_block *block = find_base(alloc.base);
        if (!block || !block->physical) /* only mappings join */
            return false;
        address += rest;
        bytes -= rest;
    }
    return true;
}

bool dev_host_readable(const void *data, uint64_t bytes)
{
    enum { CHUNK = 1 << 16 };
    static unsigned char resident[CHUNK]; /* under the lock; the answer itself is of no interest */
    uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE);
    uint64_t start = (uint64_t)data & ~(page - 1), end = (uint64_t)data + bytes;
    if (end < (uint64_t)data)
        return false;
    for (uint64_t at = start; at < end; at += CHUNK * page) {
        uint64_t length = end - at < CHUNK * page ? end - at : CHUNK * page;
        if (mincore((void *)at, length, resident) != 0)
            return false;
    }
    return true;
}

/* ---- allocation ---- */

cap_object_kind dev_object_kind(emu_alloc_kind kind)
{
    switch (kind) {
    case EMU_ALLOC_PINNED: return CAP_OBJECT_PINNED;
    case EMU_ALLOC_MANAGED: return CAP_OBJECT_MANAGED;
    case EMU_ALLOC_REGISTERED: return CAP_OBJECT_REGISTERED;
    case EMU_ALLOC_SYMBOL: return CAP_OBJECT_SYMBOL;
    case EMU_ALLOC_CONST: return CAP_OBJECT_CONST;
    case EMU_ALLOC_HEAP: return CAP_OBJECT_HEAP;
    default: return CAP_OBJECT_DEVICE;
    }
}

static dev_result add_block(dev_call *call, dev_gpu *device, uint64_t address, uint64_t size,
                            emu_alloc_kind kind, uint32_t object, dev_context *context,
                            dev_block **out)
{
    *out = dev_block_add(call, device, address, size, kind, object, context);
    if (!*out) {
        emu_mem_free(device->machine, address);
        return DEV_NOMEM;
    }
    share_block(*out);
    return DEV_OK;
}

dev_result dev_alloc_block(dev_call *call, dev_gpu *device, uint64_t size, emu_alloc_kind kind,
                           dev_context *context, dev_block **out)
{
    uint64_t address;
    uint32_t object = rec_object_new();
    if (call)
        call->rec.record.bytes = size;
    wl_status status = emu_mem_alloc(device->machine, size, 256, kind, object, &address);
    if (status != WL_OK) {
        rec_object_unused();
        return dev_status(status);
    }
    return add_block(call, device, address, size, kind, object, context, out);
}

static dev_result allocate_block(dev_call *call, uint64_t size, emu_alloc_kind kind, unsigned flags,
                                 dev_block **out)
{
    dev_context *context = call->context;
    if (!size)
        return DEV_INVALID_VALUE;
    dev_result r = dev_capture_forbid();
    if (r)
        return r;
    r = dev_alloc_block(call, context->device, size, kind, context, out);
    if (r)
        return r;
    (*out)->flags = flags;
    dev_call_write(call, DEV_OK);
    dev_object_write(*out, call->rec.id, dev_object_kind(kind), 0, "");
    return DEV_OK;
}

dev_result dev_malloc(dev_call *call, uint64_t size, uint64_t *address)
{
    dev_block *block;
    dev_result r = allocate_block(call, size, EMU_ALLOC_DEVICE, 0, &block);
    if (r == DEV_OK)
        *address = block->base;
    return r;
}

dev_result dev_malloc_pinned(dev_call *call, uint64_t size, unsigned flags, void **data)
{
    dev_block *block;
    dev_result r = allocate_block(call, size, EMU_ALLOC_PINNED, flags, &block);
    if (r == DEV_OK)
        *data = (void *)block->base;
    return r;
}

dev_result dev_malloc_managed(dev_call *call, uint64_t size, unsigned flags, uint64_t *address)
{
    dev_block *block;
    dev_result r = allocate_block(call, size, EMU_ALLOC_MANAGED, flags, &block);
    if (r == DEV_OK)
        *address = block->base;
    return r;
}

dev_result dev_malloc_pitch(dev_call *call, uint64_t width, uint64_t rows, uint64_t *address,
                            size_t *pitch)
{
    uint64_t aligned = (width + PITCH_ALIGN - 1) / PITCH_ALIGN * PITCH_ALIGN, bytes;
    if (aligned < width || __builtin_mul_overflow(aligned, rows, &bytes))
        return DEV_NOMEM;
    dev_result r = dev_malloc(call, bytes, address);
    if (r == DEV_OK)
        *pitch = aligned;
    return r;
}

/* The block that starts at the address and may be freed by a call for `pinned` memory or for the
 * other kinds. */
static dev_block *freeable_block(uint64_t address, emu_alloc_kind a, emu_alloc_kind b)
{
    dev_block *block = find_base(address);
    bool ok = block && (block->kind == a || block->kind == b) && !block->physical &&
              !block->array && !block->module;
    return ok ? block : NULL;
}

static dev_result release_whole(dev_call *call, dev_block *block)
{
    dev_result r = dev_capture_forbid();
    if (r)
        return r;
    dev_wait_idle(NULL, NULL);
    dev_flush_printed(call->context);
    if (call->context->error)
        return call->context->error;
    call->rec.record.source_object = block->object;
    call->rec.record.bytes = block->size;
    if (block->pool)
        block->pool->used -= block->size;
    dev_call_write(call, DEV_OK);
    dev_pool_record(block->pool, call->rec.id);
    dev_block_release(block, call->rec.id, CAP_FREED_PROGRAM);
    return DEV_OK;
}

dev_result dev_free(dev_call *call, uint64_t address)
{
    dev_block *block = freeable_block(address, EMU_ALLOC_DEVICE, EMU_ALLOC_MANAGED);
    return block ? release_whole(call, block) : DEV_INVALID_VALUE;
}

dev_result dev_free_pinned(dev_call *call, void *data)
{
    dev_block *block = freeable_block((uint64_t)data, EMU_ALLOC_PINNED, EMU_ALLOC_PINNED);
    return block ? release_whole(call, block) : DEV_INVALID_VALUE;
}

dev_result dev_register(dev_call *call, void *data, uint64_t size, unsigned flags)
{
    emu_alloc alloc;
    if (!data || !size || !dev_host_readable(data, size))
        return DEV_INVALID_VALUE;
    if (find_alloc((uint64_t)data, &alloc) || find_alloc((uint64_t)data + size - 1, &alloc))
        return DEV_HOST_REGISTERED;
    dev_gpu *device = call->context->device;
    uint32_t object = rec_object_new();
    wl_status status = emu_mem_register(device->machine, data, size, object);
    if (status != WL_OK)
        return dev_status(status);
    dev_block *block;
    dev_result r = add_block(call, device, (uint64_t)data, size, EMU_ALLOC_REGISTERED, object,
                             call->context, &block);
    if (r)
        return r;
    block->flags = flags;
    dev_call_write(call, DEV_OK);
    dev_object_write(block, call->rec.id, CAP_OBJECT_REGISTERED, 0, "");
    return DEV_OK;
}

dev_result dev_unregister(dev_call *call, void *data)
{
    dev_block *block = find_base((uint64_t)data);
    if (!block || block->kind != EMU_ALLOC_REGISTERED)
        return DEV_HOST_NOT_REGISTERED;
    return release_whole(call, block);
}

/* ---- questions ---- */

static dev_memory_type memory_type_of_alloc(emu_alloc_kind kind)
{
    switch (kind) {
    case EMU_ALLOC_PINNED:
    case EMU_ALLOC_REGISTERED: return DEV_MEMORY_HOST;
    case EMU_ALLOC_MANAGED: return DEV_MEMORY_MANAGED;
    default: return DEV_MEMORY_DEVICE;
    }
}

bool dev_memory_find(uint64_t address, dev_memory *out)
{
    emu_alloc alloc;
    if (!find_alloc(address, &alloc) || alloc.kind == EMU_ALLOC_INTERNAL)
        return false;
    const dev_block *block = find_base(alloc.base);
    *out = (dev_memory){.type = memory_type_of_alloc(block ? block->kind : alloc.kind),
                        .base = alloc.base,
                        .size = alloc.size,
                        .object = alloc.id};
    if (block) {
        out->flags = block->flags;
        out->device = block->device->ordinal;
        out->context = block->context;
        out->pool = block->pool;
        out->registered = block->kind == EMU_ALLOC_REGISTERED;
        out->mapped = block->physical != NULL;
    }
    return true;
}
