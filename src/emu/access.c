/* Checks of addresses that the inline caches do not settle, and the observer's records. */
#include "emu/access.h"

static const char *verb(const emu_mem *mem)
{
    return mem->op == ACC_LOAD ? "reads" : mem->op == ACC_STORE ? "writes" : "updates";
}

_Noreturn void emu_misaligned(emu_warp *w, const emu_insn *in, uint32_t mask, uint32_t bytes,
                              const emu_span *span)
{
    const emu_mem *mem = in->extra;
    uint32_t lane = (uint32_t)__builtin_ctz(mask);
    for (uint32_t m = mask; m; m &= m - 1)
        if (span->addr[__builtin_ctz(m)] & (bytes - 1)) {
            lane = (uint32_t)__builtin_ctz(m);
            break;
        }
    emu_raise(w, in->pc, EMU_FAULT_MISALIGNED, lane, span->addr[lane], bytes,
              "%s %u bytes at an address that is not a multiple of %u", verb(mem), bytes, bytes);
}

static _Noreturn void bad_global(emu_warp *w, const emu_insn *in, uint32_t lane, uint64_t address,
                                 uint32_t bytes)
{
    const emu_mem *mem = in->extra;
    emu_memory *memory = &w->worker->run->machine->memory;
    pthread_rwlock_rdlock(&memory->lock);
    const emu_alloc *near = emu_memory_nearest(memory, address);
    emu_alloc alloc = near ? *near : (emu_alloc){0};
    pthread_rwlock_unlock(&memory->lock);
    bool inside = near && address >= alloc.base && address - alloc.base < alloc.size;
    if (!near)
        emu_raise(w, in->pc, EMU_FAULT_ILLEGAL_ADDRESS, lane, address, bytes,
                  "%s %u bytes; nothing is allocated", verb(mem), bytes);
    if (address < 4096)
        emu_raise(w, in->pc, EMU_FAULT_ILLEGAL_ADDRESS, lane, address, bytes,
                  "%s %u bytes through a null pointer", verb(mem), bytes);
    if (inside && alloc.freed)
        emu_raise(w, in->pc, EMU_FAULT_USE_AFTER_FREE, lane, address, bytes,
                  "%s %u bytes, %llu bytes into an allocation of %llu bytes at 0x%llx that has "
                  "been freed",
                  verb(mem), bytes, (unsigned long long)(address - alloc.base),
                  (unsigned long long)alloc.size, (unsigned long long)alloc.base);
    uint64_t end = alloc.base + alloc.size;
    const char *where = inside                 ? "across the end"
                        : address < alloc.base ? "before the start"
                                               : "after the end";
    uint64_t distance = inside                 ? address + bytes - end
                        : address < alloc.base ? alloc.base - address
                                               : address - end;
    emu_raise(w, in->pc, EMU_FAULT_ILLEGAL_ADDRESS, lane, address, bytes,
              "%s %u bytes, %llu bytes %s of the nearest allocation, %llu bytes at 0x%llx%s",
              verb(mem), bytes, (unsigned long long)distance, where, (unsigned long long)alloc.size,
              (unsigned long long)alloc.base, alloc.freed ? " (freed)" : "");
}

/* Checks each lane; the cache is left with the allocation of the last one. */
void emu_check_global(emu_warp *w, const emu_insn *in, uint32_t mask, uint32_t bytes,
                      emu_span *span)
{
    const emu_mem *mem = in->extra;
    emu_memory *memory = &w->worker->run->machine->memory;
    emu_cache *cache = &w->worker->caches[mem->cache];
    uint32_t epoch = atomic_load(&memory->epoch);
    if (cache->epoch != epoch)
        *cache = (emu_cache){0};
    const emu_alloc *common = NULL;
    bool several = false;
    for (uint32_t m = mask; m; m &= m - 1) {
        uint32_t lane = (uint32_t)__builtin_ctz(m);
        uint64_t address = span->addr[lane];
        if (address < cache->base || address >= cache->end || bytes > cache->end - address) {
            const emu_alloc *found = emu_memory_holding(memory, address, bytes);
            if (!found && mem->look) { /* of memory that nobody has told of */
                several = true;
                continue;
            }
            if (!found)
                bad_global(w, in, lane, address, bytes);
            const emu_piece piece = emu_memory_piece(memory, found, address);
            *cache = (emu_cache){.base = piece.base,
                                 .end = piece.end,
                                 .alloc = piece.object,
                                 .epoch = epoch,
                                 .writable = found->kind != EMU_ALLOC_CONST};
        }
        if (mem->op != ACC_LOAD && !cache->writable && !mem->look)
            emu_raise(w, in->pc, EMU_FAULT_READ_ONLY, lane, address, bytes,
                      "%s %u bytes in constant memory", verb(mem), bytes);
        several |= common && common != cache->alloc;
        common = cache->alloc;
    }
    span->alloc = several ? NULL : common;
}

/* Shared memory of another block of the cluster: slot rank + 1 of the window. */
static bool locate_cluster(emu_warp *w, uint64_t address, uint32_t bytes, uint64_t *host)
{
    uint64_t offset;
    emu_cta *peer = emu_cluster_peer(w->cta, address, &offset);
    if (!peer || offset >= peer->shared_bytes || bytes > peer->shared_bytes - offset)
        return false;
    *host = (uint64_t)(uintptr_t)peer->shared + offset;
    return true;
}

void emu_check_shared(emu_warp *w, const emu_insn *in, uint32_t mask, uint32_t bytes,
                      emu_span *span)
{
    const emu_mem *mem = in->extra;
    const emu_cta *cta = w->cta;
    for (uint32_t m = mask; m; m &= m - 1) {
        uint32_t lane = (uint32_t)__builtin_ctz(m);
        uint64_t address = span->addr[lane];
        span->host[lane] = (uint64_t)(uintptr_t)cta->shared + address;
        if (address < cta->shared_bytes && bytes <= cta->shared_bytes - address)
            continue;
        if (!locate_cluster(w, address, bytes, &span->host[lane]) && !mem->look)
            emu_raise(w, in->pc, EMU_FAULT_SHARED_BOUNDS, lane, address, bytes,
                      "%s %u bytes of shared memory at offset %llu; the block has %u bytes",
                      verb(mem), bytes, (unsigned long long)address, cta->shared_bytes);
    }
    span->at = span->host;
    span->bias = 0;
}

void emu_check_local(emu_warp *w, const emu_insn *in, uint32_t mask, uint32_t bytes, emu_span *span)
{
    const emu_mem *mem = in->extra;
    for (uint32_t m = mask; m; m &= m - 1) {
        uint32_t lane = (uint32_t)__builtin_ctz(m);
        uint64_t address = span->addr[lane];
        if (!mem->look && (address >= w->local_stride || bytes > w->local_stride - address))
            emu_raise(w, in->pc, EMU_FAULT_LOCAL_BOUNDS, lane, address, bytes,
                      "%s %u bytes of local memory at offset %llu; the thread has %u bytes",
                      verb(mem), bytes, (unsigned long long)address, w->local_stride);
    }
}

void emu_observe(emu_warp *w, const emu_insn *in, uint32_t mask, uint32_t bytes,
                 const emu_span *span)
{
    const emu_mem *mem = in->extra;
    acc_request access = {
        .pc = in->pc,
        .op = (acc_op)mem->op,
        .space = (acc_space)span->space,
        .bytes = bytes,
        .flags = mem->flags,
        .mask = mask,
        .warp = w->index,
        .addr = span->addr,
        .stride = mask == EMU_ALL ? span->stride : ACC_IRREGULAR,
        .object = span->alloc ? span->alloc->id : 0,
    };
    if (mem->space == IR_SPACE_CONST)
        access.space = ACC_CONST;
    if (span->alloc && span->alloc->kind == EMU_ALLOC_INTERNAL)
        return;
    w->worker->run->launch->observer->access(w->cta->observed, &access);
}
