/* Virtual memory management: addresses without memory, memory without an address, and the two
 * joined. */
#include "device/impl.h"

#include <stdlib.h>
#include <string.h>

typedef struct reservation {
    uint64_t address, size;
} reservation;

static wl_vec(reservation) reservations;

static bool multiple(uint64_t value)
{
    return value % DEV_GRANULARITY == 0;
}

dev_result dev_reserve(uint64_t size, uint64_t align, uint64_t *address)
{
    if (!size || !multiple(size) || (align & (align - 1)))
        return DEV_INVALID_VALUE;
    if (align < DEV_GRANULARITY)
        align = DEV_GRANULARITY;
    wl_status status = emu_mem_reserve(dev_g.devices[0].machine, size, align, address);
    if (status != WL_OK)
        return dev_status(status);
    return wl_push(&reservations, (reservation){*address, size}) ? DEV_OK : DEV_NOMEM;
}

static reservation *reserved(uint64_t address, uint64_t size)
{
    for (size_t i = 0; i < reservations.count; i++) {
        reservation *r = &reservations.data[i];
        if (address >= r->address && size <= r->size && address - r->address <= r->size - size)
            return r;
    }
    return NULL;
}

dev_result dev_unreserve(uint64_t address, uint64_t size)
{
    reservation *r = reserved(address, size);
    if (!r || r->address != address || r->size != size)
        return DEV_INVALID_VALUE;
    *r = reservations.data[--reservations.count];
    return DEV_OK;
}

dev_result dev_physical_new(dev_gpu *device, uint64_t size, dev_physical **out)
{
    uint64_t free_bytes, total;
    if (!size || !multiple(size))
        return DEV_INVALID_VALUE;
    dev_gpu_memory(device, &free_bytes, &total);
    dev_physical *physical = size <= free_bytes ? calloc(1, sizeof *physical) : NULL;
    if (!physical)
        return DEV_NOMEM;
    physical->device = device;
    physical->size = size;
    physical->references = 1;
    dev_handle_add(&physical->handle, DEV_PHYSICAL, physical);
    *out = physical;
    return DEV_OK;
}

static void drop_physical(dev_physical *physical)
{
    if (physical->references || physical->mappings)
        return;
    dev_handle_remove(&physical->handle);
    free(physical->saved);
    free(physical);
}

dev_result dev_physical_release(dev_physical *physical)
{
    if (!physical->references)
        return DEV_INVALID_VALUE;
    physical->references--;
    drop_physical(physical);
    return DEV_OK;
}

dev_result dev_physical_retain(uint64_t address, dev_physical **physical)
{
    dev_block *block = dev_block_find(address);
    if (!block || !block->physical)
        return DEV_INVALID_VALUE;
    *physical = block->physical;
    (*physical)->references++;
    return DEV_OK;
}

dev_gpu *dev_physical_device(const dev_physical *physical)
{
    return physical->device;
}

static dev_result map(dev_call *call, uint64_t address, dev_physical *physical)
{
    dev_gpu *home = &dev_g.devices[0]; /* all reservations are its */
    uint32_t object = rec_object_new();
    wl_status status = emu_mem_map(home->machine, address, physical->size, object);
    if (status != WL_OK)
        return dev_status(status);
    dev_block *block = dev_block_add(call, home, address, physical->size, EMU_ALLOC_DEVICE, object,
                                     NULL);
    if (!block) {
        emu_mem_unmap(home->machine, address, physical->size);
        return DEV_NOMEM;
    }
    block->physical = physical;
    block->mapped = true;
    physical->mappings++;
    if (physical->saved)
        memcpy((void *)address, physical->saved, physical->size);
    dev_call_write(call, DEV_OK);
    dev_object_write(block, call->rec.id, CAP_OBJECT_DEVICE, 0, "");
    return DEV_OK;
}

dev_result dev_map(dev_call *call, uint64_t address, uint64_t size, uint64_t offset,
                   dev_physical *physical)
{
    if (!multiple(address) || size != physical->size || offset || !reserved(address, size))
        return DEV_INVALID_VALUE;
    if (physical->mappings)
        return dev_unsupported_part("cuMemMap of one allocation at two addresses");
    return map(call, address, physical);
}

/* The memory's content outlives the mapping while the application holds the handle. */
static void keep_content(dev_block *block)
{
    dev_physical *physical = block->physical;
    if (!physical->references)
        return;
    if (!physical->saved)
        physical->saved = malloc(physical->size);
    if (physical->saved)
        memcpy(physical->saved, (void *)block->base, physical->size);
}

/* Do whole mappings fill the range? */
static bool all_mapped(uint64_t address, uint64_t size)
{
    for (uint64_t at = address; at < address + size;) {
        dev_block *block = dev_block_find(at);
        if (!block || !block->physical || block->base != at || block->size > address + size - at)
            return false;
        at += block->size;
    }
    return true;
}

static void unmap_block(dev_call *call, dev_block *block)
{
    dev_physical *physical = block->physical;
    keep_content(block);
    call->rec.record.source_object = block->object;
    dev_call_write(call, DEV_OK);
    dev_block_release(block, call->rec.id, CAP_FREED_PROGRAM);
    physical->mappings--;
    drop_physical(physical);
}

dev_result dev_unmap(dev_call *call, uint64_t address, uint64_t size)
{
    if (!all_mapped(address, size))
        return DEV_INVALID_VALUE;
    dev_wait_idle(NULL, NULL);
    call->rec.record.bytes = size;
    for (uint64_t at = address; at < address + size;) {
        dev_block *block = dev_block_find(at);
        at += block->size;
        unmap_block(call, block);
    }
    return DEV_OK;
}

dev_result dev_access_set(uint64_t address, uint64_t size, int device, int flags)
{
    if (!dev_gpu_get(device))
        return DEV_INVALID_DEVICE;
    if (!dev_range_valid(address, size))
        return DEV_INVALID_VALUE;
    for (uint64_t at = address; at < address + size;) {
        dev_block *block = dev_block_find(at);
        if (!block || !block->physical)
            return DEV_INVALID_VALUE;
        block->access = flags;
        at = block->base + block->size;
    }
    return DEV_OK;
}

dev_result dev_access_get(uint64_t address, int device, int *flags)
{
    dev_block *block = dev_block_find(address);
    if (!dev_gpu_get(device))
        return DEV_INVALID_DEVICE;
    if (!block || !block->physical)
        return DEV_INVALID_VALUE;
    *flags = block->access;
    return DEV_OK;
}
