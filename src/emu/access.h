/* How handlers reach memory: addresses of a warp instruction are computed, checked and shown to the
 * observer here. */
#ifndef WL_EMU_ACCESS_H
#define WL_EMU_ACCESS_H

#include "emu/ops.h"

enum { EMU_MAX_VECTOR = 8 };

/* What a memory instruction is, beyond its address ([src[0] + imm]) */
typedef struct emu_mem {
    uint8_t space;         /* ir_space; CONST and PARAM count as GLOBAL where they have addresses */
    uint8_t op;            /* acc_op */
    uint8_t base_bits;     /* 32 or 64 */
    uint8_t size;          /* bytes of an element in memory */
    uint8_t count;         /* elements */
    uint8_t width;         /* bytes of an element in its register */
    bool sign;             /* extended with its sign */
    bool look;             /* of a slice: shown to the observer, and nothing is moved */
    bool acquire, release; /* fences after and before */
    bool spin;             /* a loop around it may be waiting for another thread */
    uint16_t flags;        /* acc_flag */
    uint32_t cache;        /* index of the inline cache */
    emu_ref data[EMU_MAX_VECTOR]; /* registers or constants; EMU_NOREF: a sink */
} emu_mem;

/* Where the lanes of one access are. The host address of lane i is addr[i] + bias where `at` is
 * addr, else at[i]. */
typedef struct emu_span {
    uint64_t addr[EMU_LANES];
    uint64_t host[EMU_LANES];
    const uint64_t *at;
    uint64_t bias;
    int64_t stride; /* of addr over all 32 lanes, ACC_IRREGULAR where there is none or the mask is
                       not full */
    const emu_alloc *alloc;
    uint32_t space;
} emu_span;

/* Not in the handlers' own files: they are cold, and the same for every instruction set. */
void emu_check_global(emu_warp *w, const emu_insn *in, uint32_t mask, uint32_t bytes,
                      emu_span *span);
void emu_check_shared(emu_warp *w, const emu_insn *in, uint32_t mask, uint32_t bytes,
                      emu_span *span);
void emu_check_local(emu_warp *w, const emu_insn *in, uint32_t mask, uint32_t bytes,
                     emu_span *span);
_Noreturn void emu_misaligned(emu_warp *w, const emu_insn *in, uint32_t mask, uint32_t bytes,
                              const emu_span *span);
void emu_observe(emu_warp *w, const emu_insn *in, uint32_t mask, uint32_t bytes,
                 const emu_span *span);

static inline void emu_addresses(const emu_warp *w, const emu_insn *in, u64 *addr)
{
    const emu_mem *mem = in->extra;
    const u64 offset = (u64)in->imm;
    if (mem->base_bits == 64) {
        VECTOR(const u64, base, in->src[0]);
        EACH_LANE
        addr[i] = base[i] + offset;
    } else {
        VECTOR(const u32, base, in->src[0]);
        EACH_LANE
        addr[i] = (u64)(u32)(base[i] + (u32)offset);
    }
}

/* The constant difference between neighbouring lanes, or ACC_IRREGULAR. */
static inline s64 emu_stride(const u64 *addr)
{
    const u64 first = addr[0], step = addr[1] - addr[0];
    u64 differ = 0;
    for (int i = 0; i < EMU_LANES; i++)
        differ |= addr[i] ^ (first + (u64)i * step);
    return differ ? ACC_IRREGULAR : (s64)step;
}

typedef struct emu_extent {
    u64 low, high,
        bits; /* lowest and highest address of the active lanes, and the bits set in any */
} emu_extent;

static inline emu_extent emu_extent_of(u32 mask, const emu_span *span)
{
    if (span->stride != ACC_IRREGULAR) {
        u64 first = span->addr[0], last = span->addr[EMU_LANES - 1];
        bool up = span->stride >= 0;
        return (emu_extent){up ? first : last, up ? last : first, first | (u64)span->stride};
    }
    emu_extent e = {UINT64_MAX, 0, 0};
    for (int i = 0; i < EMU_LANES; i++) {
        u64 a = span->addr[i], on = ON(mask, i);
        u64 low = on ? a : UINT64_MAX, high = on ? a : 0;
        e.low = low < e.low ? low : e.low;
        e.high = high > e.high ? high : e.high;
        e.bits |= high;
    }
    return e;
}

static inline void emu_locate_global(emu_warp *w, const emu_insn *in, u32 mask, u32 bytes,
                                     emu_span *span)
{
    const emu_mem *mem = in->extra;
    emu_extent e = emu_extent_of(mask, span);
    if (__builtin_expect((e.bits & (bytes - 1)) != 0, 0))
        emu_misaligned(w, in, mask, bytes, span);
    const emu_cache *cache = &w->worker->caches[mem->cache];
    u32 epoch = atomic_load_explicit(&w->worker->run->machine->memory.epoch, memory_order_relaxed);
    span->at = span->addr;
    span->bias = 0;
    span->space = ACC_GLOBAL;
    span->alloc = cache->alloc;
    bool inside = e.low >= cache->base && e.high < cache->end && bytes <= cache->end - e.high &&
                  cache->epoch == epoch;
    if (__builtin_expect(!inside || (mem->op != ACC_LOAD && !cache->writable), 0))
        emu_check_global(w, in, mask, bytes, span);
}

static inline void emu_locate_shared(emu_warp *w, const emu_insn *in, u32 mask, u32 bytes,
                                     emu_span *span)
{
    emu_extent e = emu_extent_of(mask, span);
    const emu_cta *cta = w->cta;
    if (__builtin_expect((e.bits & (bytes - 1)) != 0, 0))
        emu_misaligned(w, in, mask, bytes, span);
    span->at = span->addr;
    span->bias = (u64)(uintptr_t)cta->shared;
    span->space = ACC_SHARED;
    span->alloc = NULL;
    if (__builtin_expect(e.high >= cta->shared_bytes || bytes > cta->shared_bytes - e.high, 0))
        emu_check_shared(w, in, mask, bytes, span);
}

static inline void emu_locate_local(emu_warp *w, const emu_insn *in, u32 mask, u32 bytes,
                                    emu_span *span)
{
    emu_extent e = emu_extent_of(mask, span);
    if (__builtin_expect((e.bits & (bytes - 1)) != 0, 0))
        emu_misaligned(w, in, mask, bytes, span);
    span->space = ACC_LOCAL;
    span->alloc = NULL;
    if (__builtin_expect(e.high >= w->local_stride || bytes > w->local_stride - e.high, 0))
        emu_check_local(w, in, mask, bytes, span);
    const u64 base = (u64)(uintptr_t)w->local, step = w->local_stride;
    EACH_LANE
    span->host[i] = base + (u64)i * step + span->addr[i];
    span->at = span->host;
    span->bias = 0;
}

/* Space of a generic address: the windows of shared and local memory lie side by side. */
static inline u32 emu_space_of(const emu_warp *w, u64 address)
{
    u64 offset = address - w->worker->run->machine->shared_window;
    return offset >= 2 * EMU_WINDOW_BYTES ? ACC_GLOBAL
           : offset >= EMU_WINDOW_BYTES   ? ACC_LOCAL
                                          : ACC_SHARED;
}

/* The active lanes that are in the space of the first one. */
static inline u32 emu_same_space(const emu_warp *w, u32 mask, const u64 *addr, u32 *space)
{
    const u64 window = w->worker->run->machine->shared_window;
    u8 shared[EMU_LANES], local[EMU_LANES];
    EACH_LANE
    {
        u64 offset = addr[i] - window;
        shared[i] = offset < EMU_WINDOW_BYTES;
        local[i] = offset - EMU_WINDOW_BYTES < EMU_WINDOW_BYTES;
    }
    u32 s = emu_pack(shared) & mask, l = emu_pack(local) & mask, first = mask & -mask;
    *space = s & first ? ACC_SHARED : l & first ? ACC_LOCAL : ACC_GLOBAL;
    return s & first ? s : l & first ? l : mask & ~(s | l);
}

/* Turns generic addresses of one space into addresses of that space and checks them. */
static inline void emu_locate_generic(emu_warp *w, const emu_insn *in, u32 mask, u32 bytes,
                                      u32 space, emu_span *span)
{
    const u64 window = w->worker->run->machine->shared_window;
    if (space == ACC_GLOBAL) {
        emu_locate_global(w, in, mask, bytes, span);
        return;
    }
    const u64 base = space == ACC_SHARED ? window : window + EMU_WINDOW_BYTES;
    EACH_LANE
    span->addr[i] -= base;
    if (space == ACC_SHARED)
        emu_locate_shared(w, in, mask, bytes, span);
    else
        emu_locate_local(w, in, mask, bytes, span);
}

static inline void emu_locate(emu_warp *w, const emu_insn *in, u32 mask, u32 bytes, u32 space,
                              emu_span *span)
{
    if (space == ACC_GLOBAL)
        emu_locate_global(w, in, mask, bytes, span);
    else if (space == ACC_SHARED)
        emu_locate_shared(w, in, mask, bytes, span);
    else
        emu_locate_local(w, in, mask, bytes, span);
}

static inline void emu_watch(emu_warp *w, const emu_insn *in, u32 mask, u32 bytes,
                             const emu_span *span)
{
    if (w->cta->observed)
        emu_observe(w, in, mask, bytes, span);
}

#endif
