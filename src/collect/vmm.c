/* Virtual memory management: addresses without memory, memory without an address, and the two joined. */
#include "collect/impl.h"

#include <stdlib.h>
#include <string.h>

typedef struct reservation {
    uint64_t address, size;
} reservation;

static wl_vec(reservation) reservations;

static bool multiple(uint64_t value)
{
    return value % COLLECT_GRANULARITY == 0;
}

collect_result collect_reserve(uint64_t size, uint64_t align, uint64_t *address)
{
    if (!size || !multiple(size) || (align & (align - 1)))
        return COLLECT_INVALID_VALUE;
    if (align < COLLECT_GRANULARITY)
        align = COLLECT_GRANULARITY;
    wl_status status = emu_mem_reserve(collect_g.devices[0].machine, size, align, address);
    if (status != WL_OK)
        return collect_status(status);
    return wl_push(&reservations, (reservation){*address, size}) ? COLLECT_OK : COLLECT_NOMEM;
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

collect_result collect_unreserve(uint64_t address, uint64_t size)
{
    reservation *r = reserved(address, size);
    if (!r || r->address != address || r->size != size)
        return COLLECT_INVALID_VALUE;
    *r = reservations.data[--reservations.count];
    return COLLECT_OK;
}

collect_result collect_physical_new(collect_device *device, uint64_t size, collect_physical **out)
{
    uint64_t free_bytes, total;
    if (!size || !multiple(size))
        return COLLECT_INVALID_VALUE;
    collect_device_memory(device, &free_bytes, &total);
    collect_physical *physical = size <= free_bytes ? calloc(1, sizeof *physical) : NULL;
    if (!physical)
        return COLLECT_NOMEM;
    physical->device = device;
    physical->size = size;
    physical->references = 1;
    collect_handle_add(&physical->handle, COLLECT_PHYSICAL, physical);
    *out = physical;
    return COLLECT_OK;
}

static void drop(collect_physical *physical)
{
    if (physical->references || physical->mappings)
        return;
    collect_handle_remove(&physical->handle);
    free(physical->saved);
    free(physical);
}

collect_result collect_physical_release(collect_physical *physical)
{
    if (!physical->references)
        return COLLECT_INVALID_VALUE;
    physical->references--;
    drop(physical);
    return COLLECT_OK;
}

collect_result collect_physical_retain(uint64_t address, collect_physical **physical)
{
    collect_block *block = collect_block_find(address);
    if (!block || !block->physical)
        return COLLECT_INVALID_VALUE;
    *physical = block->physical;
    (*physical)->references++;
    return COLLECT_OK;
}

collect_device *collect_physical_device(const collect_physical *physical)
{
    return physical->device;
}

static collect_result map(collect_call *call, uint64_t address, collect_physical *physical)
{
    collect_device *home = &collect_g.devices[0]; /* all reservations are its */
    uint32_t object = collect_object_new();
    wl_status status = emu_mem_map(home->machine, address, physical->size, object);
    if (status != WL_OK)
        return collect_status(status);
    collect_block *block = collect_block_add(call, home, address, physical->size, EMU_ALLOC_DEVICE,
                                             object, NULL);
    if (!block) {
        emu_mem_unmap(home->machine, address, physical->size);
        return COLLECT_NOMEM;
    }
    block->physical = physical;
    block->mapped = true;
    physical->mappings++;
    if (physical->saved)
        memcpy((void *)address, physical->saved, physical->size);
    collect_call_write(call, COLLECT_OK);
    collect_object_write(block, call->id, CAP_OBJECT_DEVICE, 0, "");
    return COLLECT_OK;
}

collect_result collect_map(collect_call *call, uint64_t address, uint64_t size, uint64_t offset,
                           collect_physical *physical)
{
    if (!multiple(address) || size != physical->size || offset || !reserved(address, size))
        return COLLECT_INVALID_VALUE;
    if (physical->mappings)
        return collect_unsupported_part("cuMemMap of one allocation at two addresses");
    return map(call, address, physical);
}

/* The memory's content outlives the mapping while the application holds the handle. */
static void keep_content(collect_block *block)
{
    collect_physical *physical = block->physical;
    if (!physical->references)
        return;
    if (!physical->saved)
        physical->saved = malloc(physical->size);
    if (physical->saved)
        memcpy(physical->saved, (void *)block->base, physical->size);
}

collect_result collect_unmap(collect_call *call, uint64_t address, uint64_t size)
{
    for (uint64_t at = address; at < address + size;) {
        collect_block *block = collect_block_find(at);
        if (!block || !block->physical || block->base != at || block->size > address + size - at)
            return COLLECT_INVALID_VALUE;
        at += block->size;
    }
    collect_wait_idle(NULL, NULL);
    call->record.bytes = size;
    while (size) {
        collect_block *block = collect_block_find(address);
        collect_physical *physical = block->physical;
        uint64_t bytes = block->size;
        keep_content(block);
        call->record.source_object = block->object;
        collect_call_write(call, COLLECT_OK);
        collect_block_release(block, call->id);
        physical->mappings--;
        drop(physical);
        address += bytes;
        size -= bytes;
    }
    return COLLECT_OK;
}

collect_result collect_access_set(uint64_t address, uint64_t size, int device, int flags)
{
    if (!collect_device_get(device))
        return COLLECT_INVALID_DEVICE;
    if (!collect_range_valid(address, size))
        return COLLECT_INVALID_VALUE;
    for (uint64_t at = address; at < address + size;) {
        collect_block *block = collect_block_find(at);
        if (!block || !block->physical)
            return COLLECT_INVALID_VALUE;
        block->access = flags;
        at = block->base + block->size;
    }
    return COLLECT_OK;
}

collect_result collect_access_get(uint64_t address, int device, int *flags)
{
    collect_block *block = collect_block_find(address);
    if (!collect_device_get(device))
        return COLLECT_INVALID_DEVICE;
    if (!block || !block->physical)
        return COLLECT_INVALID_VALUE;
    *flags = block->access;
    return COLLECT_OK;
}
