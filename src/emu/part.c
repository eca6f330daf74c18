/* Parts of allocations: objects that the program's own allocator makes within one. */
#include "emu/internal.h"

static emu_part *part_of(wl_nested *place)
{
    return (emu_part *)((char *)place - offsetof(emu_part, place));
}

static const emu_alloc *live_at(emu_machine *m, uint64_t address)
{
    return emu_memory_holding(&m->memory, address, 1);
}

static wl_status insert_part(emu_memory *memory, const emu_alloc *in, const wl_nested *place)
{
    if (wl_nest_in_the_way(&memory->parts, place->base, place->bytes))
        return WL_EXISTS;
    emu_part *part = malloc(sizeof *part);
    if (!part)
        return WL_NOMEM;
    *part = (emu_part){.place = *place,
                       .as = {.base = place->base,
                              .size = place->bytes,
                              .kind = in->kind,
                              .id = place->id,
                              .part = true}};
    if (!wl_nest_add(&memory->parts, &part->place)) {
        free(part);
        return WL_NOMEM;
    }
    atomic_fetch_add(&memory->epoch, 1);
    return WL_OK;
}

wl_status emu_mem_part(emu_machine *m, uint64_t base, uint64_t size, uint32_t id)
{
    const emu_alloc *in = live_at(m, base);
    if (!in || !size || base + size < base)
        return WL_ARG;
    pthread_rwlock_wrlock(&m->memory.lock);
    wl_status status = insert_part(&m->memory, in, &(wl_nested){base, size, NULL, id});
    pthread_rwlock_unlock(&m->memory.lock);
    return status;
}

static void drop_part(emu_memory *memory, wl_nested *place)
{
    wl_nest_remove(&memory->parts, place);
    free(part_of(place));
    atomic_fetch_add(&memory->epoch, 1);
}

void emu_memory_end_parts(emu_memory *memory, uint64_t base, uint64_t size)
{
    for (wl_nested *place; (place = wl_nest_within(&memory->parts, base, size));)
        drop_part(memory, place);
}

/* The part of this id that begins at the address. */
static wl_nested *place_of_id(emu_memory *memory, uint64_t base, uint32_t id)
{
    uint64_t low = 0, high = UINT64_MAX;
    wl_nested *place = wl_nest_at(&memory->parts, base, &low, &high);
    while (place && place->id != id)
        place = place->around;
    return place && place->base == base ? place : NULL;
}

void emu_mem_part_end(emu_machine *m, uint64_t base, uint32_t id)
{
    pthread_rwlock_wrlock(&m->memory.lock);
    wl_nested *place = place_of_id(&m->memory, base, id);
    if (place)
        drop_part(&m->memory, place);
    pthread_rwlock_unlock(&m->memory.lock);
}

emu_piece emu_memory_piece(emu_memory *memory, const emu_alloc *alloc, uint64_t address)
{
    emu_piece piece = {.base = alloc->base, .end = alloc->base + alloc->size};
    pthread_rwlock_rdlock(&memory->lock);
    wl_nested *place = wl_nest_at(&memory->parts, address, &piece.base, &piece.end);
    pthread_rwlock_unlock(&memory->lock);
    piece.object = place ? &part_of(place)->as : alloc;
    return piece;
}

bool emu_mem_find_object(emu_machine *m, uint64_t address, emu_alloc *out)
{
    uint64_t end;
    return emu_mem_find_piece(m, address, out, &end);
}

bool emu_mem_find_piece(emu_machine *m, uint64_t address, emu_alloc *out, uint64_t *end)
{
    const emu_alloc *alloc = live_at(m, address);
    if (!alloc)
        return false;
    const emu_piece piece = emu_memory_piece(&m->memory, alloc, address);
    *out = *piece.object;
    *end = piece.end;
    out->divided = piece.base > out->base || piece.end < out->base + out->size;
    return true;
}

bool emu_mem_find_id(emu_machine *m, uint64_t base, uint32_t id, emu_alloc *out)
{
    const emu_alloc *alloc = live_at(m, base);
    if (!alloc)
        return false;
    pthread_rwlock_rdlock(&m->memory.lock);
    wl_nested *place = place_of_id(&m->memory, base, id);
    wl_nested *last = wl_nest_within(&m->memory.parts, base, place ? place->bytes : alloc->size);
    *out = place ? part_of(place)->as : *alloc;
    out->divided = last && last != place;
    pthread_rwlock_unlock(&m->memory.lock);
    return out->id == id && out->base == base;
}
