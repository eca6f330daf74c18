/* Atomic operations, lane by lane in the lanes' order. */
#include "emu/atomic.h"

#if defined(__SANITIZE_THREAD__)
#define RACY __attribute__((no_sanitize("thread")))
#else
#define RACY
#endif

static inline u64 atomic_operand(const emu_warp *w, emu_ref ref, int lane, u32 size)
{
    const void *at = emu_at(w, ref);
    return size == 2   ? ((const u16 *)at)[lane]
           : size == 4 ? ((const u32 *)at)[lane]
                       : ((const u64 *)at)[lane];
}

static inline void set_element(const emu_warp *w, emu_ref ref, int lane, u32 size, u64 value)
{
    void *at = emu_at(w, ref);
    if (size == 2)
        ((u16 *)at)[lane] = (u16)value;
    else if (size == 4)
        ((u32 *)at)[lane] = (u32)value;
    else
        ((u64 *)at)[lane] = value;
}

static RACY void update_elements(emu_warp *w, const emu_atom *atom, u32 mask, const emu_span *span,
                                 bool parallel)
{
    const u32 size = atom->mem.size;
    for (u32 m = mask; m; m &= m - 1) {
        int lane = __builtin_ctz(m);
        for (u32 e = 0; e < atom->mem.count; e++) {
            u64 compare = atom->compare != EMU_NOREF ? atomic_operand(w, atom->compare, lane, size)
                                                     : 0;
            void *host = (void *)(uintptr_t)(span->at[lane] + span->bias + (u64)e * size);
            u64 old = emu_apply(atom->combine, host, size,
                                atomic_operand(w, atom->value[e], lane, size), compare, parallel);
            if (atom->result && atom->mem.data[e] != EMU_NOREF)
                set_element(w, atom->mem.data[e], lane, size, old);
        }
    }
}

static void run_atomic(emu_warp *w, const emu_insn *in, u32 mask, u32 space)
{
    const emu_atom *atom = in->extra;
    const u32 bytes = (u32)atom->mem.size * atom->mem.count;
    emu_span span;
    emu_addresses(w, in, span.addr);
    span.stride = mask == EMU_ALL ? emu_stride(span.addr) : ACC_IRREGULAR;
    emu_locate(w, in, mask, bytes, space, &span);
    update_elements(w, atom, mask, &span, w->worker->run->parallel && space == ACC_GLOBAL);
    w->spinning |= atom->mem.spin;
    emu_watch(w, in, mask, bytes, &span);
}

static void atom_global(emu_warp *w, const emu_insn *in, u32 mask)
{
    run_atomic(w, in, mask, ACC_GLOBAL);
}

static void atom_shared(emu_warp *w, const emu_insn *in, u32 mask)
{
    run_atomic(w, in, mask, ACC_SHARED);
}

static void atom_generic(emu_warp *w, const emu_insn *in, u32 mask)
{
    const emu_atom *atom = in->extra;
    const u32 bytes = (u32)atom->mem.size * atom->mem.count;
    u64 addr[EMU_LANES];
    emu_addresses(w, in, addr);
    for (u32 rest = mask, part; rest; rest &= ~part) {
        emu_span span;
        u32 space;
        memcpy(span.addr, addr, sizeof addr);
        part = emu_same_space(w, rest, addr, &space);
        if (space == ACC_LOCAL)
            emu_raise(w, in->pc, EMU_FAULT_ADDRESS_SPACE, (u32)__builtin_ctz(part),
                      addr[__builtin_ctz(part)], bytes, "an atomic operation on local memory");
        span.stride = part == EMU_ALL ? emu_stride(span.addr) : ACC_IRREGULAR;
        emu_locate_generic(w, in, part, bytes, space, &span);
        update_elements(w, atom, part, &span, w->worker->run->parallel && space == ACC_GLOBAL);
        emu_watch(w, in, part, bytes, &span);
    }
    w->spinning |= atom->mem.spin;
}

/* exch and cas of 128 bits; one lock for all, since few programs do this. */
static RACY void atom_b128(emu_warp *w, const emu_insn *in, u32 mask)
{
    const emu_atom *atom = in->extra;
    const u128 *value = emu_at(w, atom->value[0]);
    const u128 *compare = atom->compare != EMU_NOREF ? emu_at(w, atom->compare) : NULL;
    u128 *to = atom->result ? emu_at(w, atom->mem.data[0]) : NULL;
    u64 addr[EMU_LANES];
    emu_addresses(w, in, addr);
    for (u32 rest = mask, part; rest; rest &= ~part) {
        emu_span span;
        u32 space;
        memcpy(span.addr, addr, sizeof addr);
        part = emu_same_space(w, rest, addr, &space);
        if (atom->mem.space == IR_SPACE_SHARED) {
            part = rest;
            space = ACC_SHARED;
        }
        span.stride = ACC_IRREGULAR;
        if (atom->mem.space == IR_SPACE_GENERIC)
            emu_locate_generic(w, in, part, 16, space, &span);
        else
            emu_locate(w, in, part, 16, space, &span);
        pthread_mutex_lock(&w->worker->run->wide_atomics);
        for (u32 m = part; m; m &= m - 1) {
            int lane = __builtin_ctz(m);
            u128 *host = (u128 *)(uintptr_t)(span.at[lane] + span.bias), old = *host;
            if (!compare || old == compare[lane])
                *host = value[lane];
            if (to)
                to[lane] = old;
        }
        pthread_mutex_unlock(&w->worker->run->wide_atomics);
        emu_watch(w, in, part, 16, &span);
    }
    w->spinning = true;
}

const emu_handler EMU_ISA_NAME(emu_ops_atomic)[] = {
#define F(id) EMU_ROW_ONE(id)
#include "emu/ops_atomic.def"
};
