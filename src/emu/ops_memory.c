/* Loads and stores. */
#include "emu/access.h"

#define INLINE static inline __attribute__((always_inline))
/* Kernels may race; the emulator does not. */
#if defined(__SANITIZE_THREAD__)
#define RACY __attribute__((no_sanitize("thread")))
#else
#define RACY
#endif

/* One element of `size` bytes to a register element of `width` bytes. */
#define EXTEND(D, S)                        \
    {                                       \
        D *d = (D *)to + lane;              \
        S value;                            \
        memcpy(&value, from, sizeof value); \
        *d = (D)value;                      \
    }
INLINE RACY void load_element(const void *from, void *to, int lane, u32 size, u32 width, bool sign)
{
    switch (width << 8 | size << 1 | sign) {
    case 2 << 8 | 1 << 1: EXTEND(u16, u8) break;
    case 2 << 8 | 1 << 1 | 1: EXTEND(u16, s8) break;
    case 4 << 8 | 1 << 1: EXTEND(u32, u8) break;
    case 4 << 8 | 1 << 1 | 1: EXTEND(u32, s8) break;
    case 8 << 8 | 1 << 1: EXTEND(u64, u8) break;
    case 8 << 8 | 1 << 1 | 1: EXTEND(u64, s8) break;
    case 2 << 8 | 2 << 1: EXTEND(u16, u16) break;
    case 2 << 8 | 2 << 1 | 1: EXTEND(u16, u16) break;
    case 4 << 8 | 2 << 1: EXTEND(u32, u16) break;
    case 4 << 8 | 2 << 1 | 1: EXTEND(u32, s16) break;
    case 8 << 8 | 2 << 1: EXTEND(u64, u16) break;
    case 8 << 8 | 2 << 1 | 1: EXTEND(u64, s16) break;
    case 4 << 8 | 4 << 1: EXTEND(u32, u32) break;
    case 4 << 8 | 4 << 1 | 1: EXTEND(u32, u32) break;
    case 8 << 8 | 4 << 1: EXTEND(u64, u32) break;
    case 8 << 8 | 4 << 1 | 1: EXTEND(u64, s32) break;
    case 16 << 8 | 16 << 1: EXTEND(u128, u128) break;
    default: EXTEND(u64, u64) break;
    }
}

/* All lanes of an affine access of one element that is as wide as its register. */
#define AFFINE(T)                                                             \
    {                                                                         \
        T *d = to;                                                            \
        if (stride == (s64)sizeof(T)) {                                       \
            memcpy(d, (const void *)(uintptr_t)first, sizeof(T) * EMU_LANES); \
            return;                                                           \
        }                                                                     \
        if (stride == 0) {                                                    \
            const T value = *(const T *)(uintptr_t)first;                     \
            EACH_LANE d[i] = value;                                           \
            return;                                                           \
        }                                                                     \
        for (int i = 0; i < EMU_LANES; i++)                                   \
            d[i] = *(const T *)(uintptr_t)(first + (u64)i * (u64)stride);     \
        return;                                                               \
    }
INLINE RACY void load_affine(u64 first, s64 stride, void *to, u32 size)
{
    switch (size) {
    case 2: AFFINE(u16)
    case 4: AFFINE(u32)
    default: AFFINE(u64)
    }
}

INLINE RACY void load_lanes(emu_warp *w, const emu_mem *mem, u32 mask, const emu_span *span,
                            u32 size, u32 width, bool sign, u32 count)
{
    for (u32 e = 0; e < count; e++) {
        if (mem->data[e] == EMU_NOREF)
            continue;
        void *to = emu_at(w, mem->data[e]);
        const u64 bias = span->bias + (u64)e * size;
        for (u32 m = mask; m; m &= m - 1) {
            int lane = __builtin_ctz(m);
            load_element((const void *)(uintptr_t)(span->at[lane] + bias), to, lane, size, width,
                         sign);
        }
    }
}

INLINE RACY void load_all(emu_warp *w, const emu_mem *mem, const emu_span *span, u32 size)
{
    void *to = emu_at(w, mem->data[0]);
    const u64 *at = span->at;
    const u64 bias = span->bias;
    if (span->stride != ACC_IRREGULAR && at == span->addr) {
        load_affine(at[0] + bias, span->stride, to, size);
        return;
    }
#define GATHER(T)                       \
    for (int i = 0; i < EMU_LANES; i++) \
        ((T *)to)[i] = *(const T *)(uintptr_t)(at[i] + bias);
    switch (size) {
    case 2: GATHER(u16) break;
    case 4: GATHER(u32) break;
    default: GATHER(u64) break;
    }
#undef GATHER
}

INLINE void begin(const emu_mem *mem)
{
    if (mem->release)
        atomic_thread_fence(memory_order_seq_cst);
}

INLINE void end(emu_warp *w, const emu_mem *mem)
{
    if (mem->acquire)
        atomic_thread_fence(memory_order_seq_cst);
    w->spinning |= mem->spin;
}

/* One element, register as wide as memory, no fences: what most loads are. */
INLINE RACY void load_simple(emu_warp *w, const emu_insn *in, u32 mask, u32 space, u32 size)
{
    const emu_mem *mem = in->extra;
    emu_span span;
    emu_addresses(w, in, span.addr);
    span.stride = mask == EMU_ALL ? emu_stride(span.addr) : ACC_IRREGULAR;
    emu_locate(w, in, mask, size, space, &span);
    if (mask == EMU_ALL)
        load_all(w, mem, &span, size);
    else
        load_lanes(w, mem, mask, &span, size, size, false, 1);
    emu_watch(w, in, mask, size, &span);
}

INLINE RACY void load_any(emu_warp *w, const emu_insn *in, u32 mask, u32 space)
{
    const emu_mem *mem = in->extra;
    u32 bytes = (u32)mem->size * mem->count;
    emu_span span;
    begin(mem);
    emu_addresses(w, in, span.addr);
    span.stride = mask == EMU_ALL ? emu_stride(span.addr) : ACC_IRREGULAR;
    emu_locate(w, in, mask, bytes, space, &span);
    load_lanes(w, mem, mask, &span, mem->size, mem->width, mem->sign, mem->count);
    end(w, mem);
    emu_watch(w, in, mask, bytes, &span);
}

#define LOAD(space, SPACE, size)                                                    \
    static RACY void ld_##space##_##size(emu_warp *w, const emu_insn *in, u32 mask) \
    {                                                                               \
        load_simple(w, in, mask, SPACE, size);                                      \
    }
LOAD(global, ACC_GLOBAL, 2)
LOAD(global, ACC_GLOBAL, 4)
LOAD(global, ACC_GLOBAL, 8)
LOAD(shared, ACC_SHARED, 2)
LOAD(shared, ACC_SHARED, 4)
LOAD(shared, ACC_SHARED, 8)

static RACY void ld_global(emu_warp *w, const emu_insn *in, u32 mask)
{
    load_any(w, in, mask, ACC_GLOBAL);
}

static RACY void ld_shared(emu_warp *w, const emu_insn *in, u32 mask)
{
    load_any(w, in, mask, ACC_SHARED);
}

static RACY void ld_local(emu_warp *w, const emu_insn *in, u32 mask)
{
    load_any(w, in, mask, ACC_LOCAL);
}

static RACY void ld_generic(emu_warp *w, const emu_insn *in, u32 mask)
{
    const emu_mem *mem = in->extra;
    u32 bytes = (u32)mem->size * mem->count;
    u64 addr[EMU_LANES];
    begin(mem);
    emu_addresses(w, in, addr); /* before a register that is also the base is written */
    for (u32 rest = mask, part; rest; rest &= ~part) {
        emu_span span;
        u32 space;
        memcpy(span.addr, addr, sizeof addr);
        part = emu_same_space(w, rest, addr, &space);
        span.stride = part == EMU_ALL ? emu_stride(span.addr) : ACC_IRREGULAR;
        emu_locate_generic(w, in, part, bytes, space, &span);
        load_lanes(w, mem, part, &span, mem->size, mem->width, mem->sign, mem->count);
        emu_watch(w, in, part, bytes, &span);
    }
    end(w, mem);
}

/* ---- stores ---- */

#define CUT(T, R)                             \
    {                                         \
        T value = (T)((const R *)from)[lane]; \
        memcpy(to, &value, sizeof value);     \
    }
INLINE RACY void store_element(void *to, const void *from, int lane, u32 size, u32 width)
{
    switch (width << 8 | size) {
    case 2 << 8 | 1: CUT(u8, u16) break;
    case 4 << 8 | 1: CUT(u8, u32) break;
    case 8 << 8 | 1: CUT(u8, u64) break;
    case 2 << 8 | 2: CUT(u16, u16) break;
    case 4 << 8 | 2: CUT(u16, u32) break;
    case 8 << 8 | 2: CUT(u16, u64) break;
    case 4 << 8 | 4: CUT(u32, u32) break;
    case 8 << 8 | 4: CUT(u32, u64) break;
    case 16 << 8 | 16: CUT(u128, u128) break;
    default: CUT(u64, u64) break;
    }
}

INLINE RACY void store_lanes(emu_warp *w, const emu_mem *mem, u32 mask, const emu_span *span,
                             u32 size, u32 width, u32 count)
{
    for (u32 m = mask; m; m &= m - 1) {
        int lane = __builtin_ctz(m);
        for (u32 e = 0; e < count; e++)
            store_element((void *)(uintptr_t)(span->at[lane] + span->bias + (u64)e * size),
                          emu_at(w, mem->data[e]), lane, size, width);
    }
}

INLINE RACY void store_all(emu_warp *w, const emu_mem *mem, const emu_span *span, u32 size)
{
    const void *from = emu_at(w, mem->data[0]);
    const u64 *at = span->at;
    const u64 bias = span->bias;
    if (span->stride == (s64)size && at == span->addr) {
        memcpy((void *)(uintptr_t)(at[0] + bias), from, (size_t)size * EMU_LANES);
        return;
    }
#define SCATTER(T)                      \
    for (int i = 0; i < EMU_LANES; i++) \
        *(T *)(uintptr_t)(at[i] + bias) = ((const T *)from)[i];
    switch (size) {
    case 2: SCATTER(u16) break;
    case 4: SCATTER(u32) break;
    default: SCATTER(u64) break;
    }
#undef SCATTER
}

INLINE RACY void store_simple(emu_warp *w, const emu_insn *in, u32 mask, u32 space, u32 size)
{
    const emu_mem *mem = in->extra;
    emu_span span;
    emu_addresses(w, in, span.addr);
    span.stride = mask == EMU_ALL ? emu_stride(span.addr) : ACC_IRREGULAR;
    emu_locate(w, in, mask, size, space, &span);
    if (mask == EMU_ALL)
        store_all(w, mem, &span, size);
    else
        store_lanes(w, mem, mask, &span, size, size, 1);
    emu_watch(w, in, mask, size, &span);
}

INLINE RACY void store_any(emu_warp *w, const emu_insn *in, u32 mask, u32 space)
{
    const emu_mem *mem = in->extra;
    u32 bytes = (u32)mem->size * mem->count;
    emu_span span;
    begin(mem);
    emu_addresses(w, in, span.addr);
    span.stride = mask == EMU_ALL ? emu_stride(span.addr) : ACC_IRREGULAR;
    emu_locate(w, in, mask, bytes, space, &span);
    store_lanes(w, mem, mask, &span, mem->size, mem->width, mem->count);
    end(w, mem);
    emu_watch(w, in, mask, bytes, &span);
}

#define STORE(space, SPACE, size)                                                   \
    static RACY void st_##space##_##size(emu_warp *w, const emu_insn *in, u32 mask) \
    {                                                                               \
        store_simple(w, in, mask, SPACE, size);                                     \
    }
STORE(global, ACC_GLOBAL, 2)
STORE(global, ACC_GLOBAL, 4)
STORE(global, ACC_GLOBAL, 8)
STORE(shared, ACC_SHARED, 2)
STORE(shared, ACC_SHARED, 4)
STORE(shared, ACC_SHARED, 8)

static RACY void st_global(emu_warp *w, const emu_insn *in, u32 mask)
{
    store_any(w, in, mask, ACC_GLOBAL);
}

static RACY void st_shared(emu_warp *w, const emu_insn *in, u32 mask)
{
    store_any(w, in, mask, ACC_SHARED);
}

static RACY void st_local(emu_warp *w, const emu_insn *in, u32 mask)
{
    store_any(w, in, mask, ACC_LOCAL);
}

/* A space at a time; without `stores` the accesses are only looked at. */
INLINE RACY void each_space(emu_warp *w, const emu_insn *in, u32 mask, bool stores)
{
    const emu_mem *mem = in->extra;
    const u32 bytes = (u32)mem->size * mem->count;
    for (u32 rest = mask, part; rest; rest &= ~part) {
        emu_span span;
        u32 space;
        emu_addresses(w, in, span.addr);
        part = emu_same_space(w, rest, span.addr, &space);
        span.stride = part == EMU_ALL ? emu_stride(span.addr) : ACC_IRREGULAR;
        emu_locate_generic(w, in, part, bytes, space, &span);
        if (stores)
            store_lanes(w, mem, part, &span, mem->size, mem->width, mem->count);
        emu_watch(w, in, part, bytes, &span);
    }
}

static RACY void st_generic(emu_warp *w, const emu_insn *in, u32 mask)
{
    begin(in->extra);
    each_space(w, in, mask, true);
    end(w, in->extra);
}

/* ---- accesses of slices: seen, not made ---- */

INLINE void look(emu_warp *w, const emu_insn *in, u32 mask, u32 space)
{
    const emu_mem *mem = in->extra;
    const u32 bytes = (u32)mem->size * mem->count;
    emu_span span;
    emu_addresses(w, in, span.addr);
    span.stride = mask == EMU_ALL ? emu_stride(span.addr) : ACC_IRREGULAR;
    span.space = space;
    span.alloc = NULL;
    if (space == ACC_GLOBAL)
        emu_locate_global(w, in, mask, bytes, &span);
    emu_watch(w, in, mask, bytes, &span);
}

static void look_global(emu_warp *w, const emu_insn *in, u32 mask)
{
    look(w, in, mask, ACC_GLOBAL);
}

static void look_shared(emu_warp *w, const emu_insn *in, u32 mask)
{
    look(w, in, mask, ACC_SHARED);
}

static void look_local(emu_warp *w, const emu_insn *in, u32 mask)
{
    look(w, in, mask, ACC_LOCAL);
}

static void look_generic(emu_warp *w, const emu_insn *in, u32 mask)
{
    each_space(w, in, mask, false);
}

const emu_handler EMU_ISA_NAME(emu_ops_memory)[] = {
#define F(id) EMU_ROW_ONE(id)
#include "emu/ops_memory.def"
};
