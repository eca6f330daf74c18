/* Device memory: one reserved range of host addresses, given out upwards and never twice while
 * there is room, so that an address names one allocation for the whole run and a use after free is
 * recognised. */
#include "emu/internal.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define EMU_RANGE_LEAST (EMU_WINDOW_BYTES * 4)
#define EMU_COMMIT_STEP (UINT64_C(64) << 20)
enum {
    EMU_ALIGN = 512,
    EMU_GAP = 512,
    EMU_KEEP_FREED = 1 << 16,
    EMU_BIG = 1 << 20,
    EMU_PLACES = 6, /* of machines beside each other that are tried */
    EMU_LARGE_PAGE = 2 << 20
};

static uint64_t align_address(uint64_t x, uint64_t align)
{
    return (x + align - 1) & ~(align - 1);
}

static void *map_range(uint64_t at, uint64_t bytes, int flags)
{
    return mmap((void *)(uintptr_t)at, bytes, PROT_NONE,
                MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | flags, -1, 0);
}

/* At `hint`, or next to other machines that are there; where nothing is free, anywhere. */
static void *reserve_range(uint64_t hint, uint64_t bytes)
{
    for (uint64_t k = 0; k < EMU_PLACES; k++) {
        void *wanted = (void *)(uintptr_t)(hint + k * bytes);
        void *range = map_range(hint + k * bytes, bytes, MAP_FIXED_NOREPLACE);
        if (range == wanted)
            return range;
        if (range != MAP_FAILED) /* by a kernel that does not know the flag */
            munmap(range, bytes);
    }
    return map_range(hint, bytes, 0);
}

wl_status emu_memory_init(emu_machine *m, uint64_t hint, uint64_t bytes, wl_error *err)
{
    emu_memory *memory = &m->memory;
    void *range = MAP_FAILED;
    for (; bytes >= EMU_RANGE_LEAST; bytes /= 2) {
        range = reserve_range(hint, bytes);
        if (range != MAP_FAILED)
            break;
    }
    if (range == MAP_FAILED)
        return wl_fail_errno(err, "cannot reserve address space for the emulated device");
    memory->base = (uint64_t)(uintptr_t)range;
    memory->end = memory->base + bytes;
    m->shared_window = memory->base;
    m->local_window = memory->base + EMU_WINDOW_BYTES;
    memory->next = memory->committed = memory->base + 2 * EMU_WINDOW_BYTES;
    memory->total = m->device.global_bytes;
    pthread_rwlock_init(&memory->lock, NULL);
    return WL_OK;
}

void emu_memory_free(emu_machine *m)
{
    emu_memory *memory = &m->memory;
    for (uint32_t i = 0; i < memory->count; i++)
        free(memory->allocs[i]);
    free(memory->allocs);
    emu_memory_end_parts(memory, 0, UINT64_MAX);
    wl_nest_free(&memory->parts);
    wl_vec_free(&memory->reserved);
    if (memory->base)
        munmap((void *)(uintptr_t)memory->base, memory->end - memory->base);
    pthread_rwlock_destroy(&memory->lock);
    memset(memory, 0, sizeof *memory);
}

/* Index of the first allocation with a base above the address. */
static uint32_t above(const emu_memory *memory, uint64_t address)
{
    uint32_t low = 0, high = memory->count;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (memory->allocs[middle]->base <= address)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static emu_alloc *at_or_below(const emu_memory *memory, uint64_t address)
{
    uint32_t i = above(memory, address);
    return i ? memory->allocs[i - 1] : NULL;
}

static uint64_t distance_to_allocation(const emu_alloc *alloc, uint64_t address)
{
    if (address < alloc->base)
        return alloc->base - address;
    return address - alloc->base < alloc->size ? 0 : address - (alloc->base + alloc->size) + 1;
}

emu_alloc *emu_memory_nearest(emu_memory *memory, uint64_t address)
{
    uint32_t i = above(memory, address);
    emu_alloc *below = NULL, *over = NULL;
    for (uint32_t k = i; k-- > 0 && !below;)
        if (memory->allocs[k]->kind != EMU_ALLOC_INTERNAL)
            below = memory->allocs[k];
    for (uint32_t k = i; k < memory->count && !over; k++)
        if (memory->allocs[k]->kind != EMU_ALLOC_INTERNAL)
            over = memory->allocs[k];
    if (below && over)
        return distance_to_allocation(below, address) <= distance_to_allocation(over, address)
                   ? below
                   : over;
    return below ? below : over;
}

const emu_alloc *emu_memory_holding(emu_memory *memory, uint64_t address, uint64_t bytes)
{
    pthread_rwlock_rdlock(&memory->lock);
    emu_alloc *alloc = at_or_below(memory, address);
    bool holds = alloc && !alloc->freed && address - alloc->base < alloc->size &&
                 bytes <= alloc->size - (address - alloc->base);
    pthread_rwlock_unlock(&memory->lock);
    return holds ? alloc : NULL;
}

void emu_memory_set_id(emu_memory *memory, uint64_t base, uint32_t id)
{
    pthread_rwlock_wrlock(&memory->lock);
    emu_alloc *alloc = at_or_below(memory, base);
    if (alloc && alloc->base == base)
        alloc->id = id;
    pthread_rwlock_unlock(&memory->lock);
}

/* Makes the range usable up to `end`. */
static bool commit(emu_memory *memory, uint64_t end)
{
    if (end <= memory->committed)
        return true;
    uint64_t to = align_address(end, EMU_COMMIT_STEP);
    if (to > memory->end)
        to = memory->end;
    if (mprotect((void *)(uintptr_t)memory->committed, to - memory->committed,
                 PROT_READ | PROT_WRITE) != 0)
        return false;
    memory->committed = to;
    return true;
}

/* Room below memory->next that nothing uses and no freed allocation is remembered in. */
static uint64_t find_gap(const emu_memory *memory, uint64_t size, uint64_t align)
{
    uint64_t at = memory->base + 2 * EMU_WINDOW_BYTES;
    for (uint32_t i = 0; i < memory->count; i++) {
        const emu_alloc *alloc = memory->allocs[i];
        if (alloc->base < memory->base || alloc->base >= memory->end || alloc->freed)
            continue;
        uint64_t start = align_address(at, align);
        if (start + size + EMU_GAP <= alloc->base)
            return start;
        at = alloc->base + alloc->size + EMU_GAP;
    }
    return 0;
}

/* 0 where there is none; size is at most EMU_RANGE_BYTES. */
static uint64_t take_address_range(emu_memory *memory, uint64_t size, uint64_t align)
{
    uint64_t start = align_address(memory->next, align);
    if (start + size + EMU_GAP <= memory->end) {
        memory->next = start + size + EMU_GAP;
        return start;
    }
    return memory->reserved.count ? 0 : find_gap(memory, size, align);
}

/* Drops freed allocations that have been remembered for long, and all that overlap [base, base +
 * size). */
static void forget_freed(emu_memory *memory, bool all)
{
    uint32_t drop = all ? memory->nfreed : memory->nfreed / 2, kept = 0;
    for (uint32_t i = 0; i < memory->count; i++) {
        emu_alloc *alloc = memory->allocs[i];
        if (alloc->freed && drop > 0) {
            drop--;
            memory->nfreed--;
            free(alloc);
            continue;
        }
        memory->allocs[kept++] = alloc;
    }
    memory->count = kept;
    atomic_fetch_add(&memory->epoch, 1);
}

static bool insert_allocation(emu_memory *memory, emu_alloc *alloc)
{
    if (memory->count == memory->capacity) {
        uint32_t capacity = memory->capacity ? memory->capacity * 2 : 64;
        emu_alloc **grown = realloc(memory->allocs, capacity * sizeof *grown);
        if (!grown)
            return false;
        memory->allocs = grown;
        memory->capacity = capacity;
    }
    uint32_t at = above(memory, alloc->base);
    memmove(memory->allocs + at + 1, memory->allocs + at,
            (memory->count - at) * sizeof *memory->allocs);
    memory->allocs[at] = alloc;
    memory->count++;
    return true;
}

static void remove_freed_overlaps(emu_memory *memory, uint64_t base, uint64_t size)
{
    uint32_t kept = 0;
    for (uint32_t i = 0; i < memory->count; i++) {
        emu_alloc *alloc = memory->allocs[i];
        if (alloc->freed && alloc->base < base + size && base < alloc->base + alloc->size) {
            memory->nfreed--;
            free(alloc);
            atomic_fetch_add(&memory->epoch, 1);
            continue;
        }
        memory->allocs[kept++] = alloc;
    }
    memory->count = kept;
}

static bool counts_as_device(emu_alloc_kind kind)
{
    return kind != EMU_ALLOC_PINNED && kind != EMU_ALLOC_REGISTERED && kind != EMU_ALLOC_INTERNAL;
}

static wl_status add_allocation(emu_memory *memory, uint64_t base, uint64_t size,
                                emu_alloc_kind kind, uint32_t id)
{
    emu_alloc *alloc = malloc(sizeof *alloc);
    if (!alloc)
        return WL_NOMEM;
    *alloc = (emu_alloc){.base = base, .size = size, .kind = kind, .id = id};
    if (!insert_allocation(memory, alloc)) {
        free(alloc);
        return WL_NOMEM;
    }
    if (counts_as_device(kind))
        memory->used += size;
    return WL_OK;
}

/* Warps that go down a column touch a page a lane: with the host's large pages its translations
 * still fit into the processor. Where the host has none to give, nothing changes. */
static void ask_for_large_pages(uint64_t start, uint64_t size)
{
    uint64_t from = align_address(start, EMU_LARGE_PAGE),
             to = (start + size) & ~(uint64_t)(EMU_LARGE_PAGE - 1);
    if (from < to)
        madvise((void *)(uintptr_t)from, to - from, MADV_HUGEPAGE);
}

static wl_status alloc_locked(emu_memory *memory, uint64_t size, uint64_t align,
                              emu_alloc_kind kind, uint32_t id, uint64_t *address)
{
    if (counts_as_device(kind) && (size > memory->total || memory->used > memory->total - size))
        return WL_NOMEM;
    uint64_t top = memory->next;
    uint64_t start = take_address_range(memory, size, align < EMU_ALIGN ? EMU_ALIGN : align);
    if (!start || !commit(memory, start + size))
        return WL_NOMEM;
    ask_for_large_pages(start, size);
    if (start < top) { /* used before: it must read as zeros again */
        remove_freed_overlaps(memory, start, size);
        memset((void *)(uintptr_t)start, 0, size);
    }
    wl_status status = add_allocation(memory, start, size, kind, id);
    if (status == WL_OK)
        *address = start;
    return status;
}

wl_status emu_mem_alloc(emu_machine *m, uint64_t size, uint64_t align, emu_alloc_kind kind,
                        uint32_t id, uint64_t *address)
{
    if (align & (align - 1))
        return WL_ARG;
    if (size > EMU_RANGE_BYTES)
        return WL_NOMEM;
    pthread_rwlock_wrlock(&m->memory.lock);
    wl_status status = alloc_locked(&m->memory, size ? size : 1, align, kind, id, address);
    pthread_rwlock_unlock(&m->memory.lock);
    return status;
}

/* With the lock held: a range that is not the memory's own. */
static wl_status add_foreign(emu_memory *memory, uint64_t base, uint64_t size, emu_alloc_kind kind,
                             uint32_t id)
{
    if (memory->nfreed)
        remove_freed_overlaps(memory, base, size);
    emu_alloc *below = at_or_below(memory, base + size - 1);
    if (below && base < below->base + below->size)
        return WL_EXISTS;
    return add_allocation(memory, base, size, kind, id);
}

wl_status emu_mem_register(emu_machine *m, void *data, uint64_t size, uint32_t id)
{
    pthread_rwlock_wrlock(&m->memory.lock);
    wl_status status = add_foreign(&m->memory, (uint64_t)(uintptr_t)data, size,
                                   EMU_ALLOC_REGISTERED, id);
    pthread_rwlock_unlock(&m->memory.lock);
    return status;
}

wl_status emu_mem_ghost(emu_machine *m, uint64_t base, uint64_t size, emu_alloc_kind kind,
                        uint32_t id)
{
    emu_memory *memory = &m->memory;
    if (!size || base + size < base)
        return WL_ARG;
    if (base < memory->end && base + size > memory->base)
        return WL_EXISTS;
    pthread_rwlock_wrlock(&memory->lock);
    wl_status status = add_foreign(memory, base, size, kind, id);
    if (status == WL_OK)
        at_or_below(memory, base)->ghost = true;
    pthread_rwlock_unlock(&memory->lock);
    return status;
}

/* Whole pages are given back to the host. */
static void decommit(uint64_t base, uint64_t size)
{
    uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE);
    uint64_t from = align_address(base, page), to = (base + size) & ~(page - 1);
    if (from < to)
        madvise((void *)(uintptr_t)from, to - from, MADV_DONTNEED);
}

/* A ghost leaves no trace: there is no use after free to recognise. */
static void free_ghost(emu_memory *memory, emu_alloc *alloc)
{
    uint32_t at = above(memory, alloc->base) - 1;
    if (counts_as_device(alloc->kind))
        memory->used -= alloc->size;
    memory->count--;
    memmove(memory->allocs + at, memory->allocs + at + 1,
            (memory->count - at) * sizeof *memory->allocs);
    free(alloc);
    atomic_fetch_add(&memory->epoch, 1);
}

static void free_locked(emu_memory *memory, emu_alloc *alloc)
{
    emu_memory_end_parts(memory, alloc->base, alloc->size);
    if (alloc->ghost) {
        free_ghost(memory, alloc);
        return;
    }
    alloc->freed = true;
    memory->nfreed++;
    atomic_fetch_add(&memory->epoch, 1);
    if (counts_as_device(alloc->kind))
        memory->used -= alloc->size;
    if (alloc->kind != EMU_ALLOC_REGISTERED)
        decommit(alloc->base, alloc->size);
}

wl_status emu_mem_free(emu_machine *m, uint64_t address)
{
    emu_memory *memory = &m->memory;
    pthread_rwlock_wrlock(&memory->lock);
    emu_alloc *alloc = at_or_below(memory, address);
    bool found = alloc && alloc->base == address && !alloc->freed;
    if (found)
        free_locked(memory, alloc);
    if (memory->nfreed > EMU_KEEP_FREED)
        forget_freed(memory, false);
    pthread_rwlock_unlock(&memory->lock);
    return found ? WL_OK : WL_NOENT;
}

bool emu_mem_find(emu_machine *m, uint64_t address, emu_alloc *out)
{
    pthread_rwlock_rdlock(&m->memory.lock);
    emu_alloc *alloc = at_or_below(&m->memory, address);
    bool found = alloc && !alloc->freed && address - alloc->base < alloc->size;
    if (found)
        *out = *alloc;
    pthread_rwlock_unlock(&m->memory.lock);
    return found;
}

bool emu_mem_is_device(const emu_machine *m, uint64_t address)
{
    return address >= m->memory.base && address < m->memory.end; /* set once */
}

void emu_mem_usage(emu_machine *m, uint64_t *used, uint64_t *total)
{
    pthread_rwlock_rdlock(&m->memory.lock);
    *used = m->memory.used;
    *total = m->memory.total;
    pthread_rwlock_unlock(&m->memory.lock);
}

wl_status emu_mem_reserve(emu_machine *m, uint64_t size, uint64_t align, uint64_t *address)
{
    emu_memory *memory = &m->memory;
    if (align & (align - 1) || size == 0)
        return WL_ARG;
    pthread_rwlock_wrlock(&memory->lock);
    uint64_t start = align_address(memory->next, align < EMU_BIG ? EMU_BIG : align);
    wl_status status = WL_NOMEM;
    if (size <= memory->end - memory->base && start + size + EMU_GAP <= memory->end &&
        commit(memory, start + size)) {
        emu_alloc range = {.base = start, .size = size};
        status = wl_push(&memory->reserved, range) ? WL_OK : WL_NOMEM;
        memory->next = start + size + EMU_GAP;
        *address = start;
    }
    pthread_rwlock_unlock(&memory->lock);
    return status;
}

static bool is_reserved(const emu_memory *memory, uint64_t address, uint64_t size)
{
    for (size_t i = 0; i < memory->reserved.count; i++) {
        const emu_alloc *range = &memory->reserved.data[i];
        if (address >= range->base && size <= range->size &&
            address - range->base <= range->size - size)
            return true;
    }
    return false;
}

wl_status emu_mem_map(emu_machine *m, uint64_t address, uint64_t size, uint32_t id)
{
    emu_memory *memory = &m->memory;
    pthread_rwlock_wrlock(&memory->lock);
    wl_status status = WL_ARG;
    if (size && is_reserved(memory, address, size)) {
        remove_freed_overlaps(memory, address, size);
        emu_alloc *below = at_or_below(memory, address + size - 1);
        bool free_range = !below || address >= below->base + below->size;
        bool room = size <= memory->total && memory->used <= memory->total - size;
        status = !free_range ? WL_EXISTS
                 : !room     ? WL_NOMEM
                             : add_allocation(memory, address, size, EMU_ALLOC_DEVICE, id);
    }
    pthread_rwlock_unlock(&memory->lock);
    return status;
}

wl_status emu_mem_unmap(emu_machine *m, uint64_t address, uint64_t size)
{
    emu_memory *memory = &m->memory;
    wl_status status = WL_NOENT;
    pthread_rwlock_wrlock(&memory->lock);
    for (uint64_t at = address; at < address + size;) {
        emu_alloc *alloc = at_or_below(memory, at);
        if (!alloc || alloc->freed || alloc->base != at || alloc->size > address + size - at)
            break;
        free_locked(memory, alloc);
        at += alloc->size;
        status = WL_OK;
    }
    pthread_rwlock_unlock(&memory->lock);
    return status;
}
