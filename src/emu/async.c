/* Asynchronous copies and barriers in shared memory. */
#include "emu/async.h"

/* ---- mbarrier: what its 64 bits hold ---- */

/* The phase's lowest bit is the uppermost one, as it is on a GPU, whose code asks for it there (SYNCS.PHASECHK). */
enum { EXPECTED_AT = 0, PENDING_AT = 20, TX_AT = 40, PHASE_AT = 61, PARITY_AT = 63 };
#define FIELD(word, at, bits) ((word) >> (at) & ((UINT64_C(1) << (bits)) - 1))

typedef struct mbarrier {
    u64 expected, pending, phase;
    s64 tx;
} mbarrier;

static mbarrier unpack_mbarrier(u64 word)
{
    return (mbarrier){.expected = FIELD(word, EXPECTED_AT, 20),
                      .pending = FIELD(word, PENDING_AT, 20),
                      .phase = FIELD(word, PARITY_AT, 1) | FIELD(word, PHASE_AT, 2) << 1,
                      .tx = (s64)(FIELD(word, TX_AT, 21) << 43) >> 43};
}

static u64 pack_mbarrier(const mbarrier *b)
{
    return (b->expected & 0xfffff) << EXPECTED_AT | (b->pending & 0xfffff) << PENDING_AT |
           ((u64)b->tx & 0x1fffff) << TX_AT | (b->phase & 1) << PARITY_AT |
           (b->phase >> 1 & 3) << PHASE_AT;
}

static void complete_mbarrier_phase(mbarrier *b)
{
    if (b->pending == 0 && b->tx == 0) {
        b->phase++;
        b->pending = b->expected;
    }
}

static void arrive_at_mbarrier(mbarrier *b, u64 count, bool drop)
{
    b->pending -= count;
    b->expected -= drop ? count : 0;
    complete_mbarrier_phase(b);
}

static void apply(mbarrier *b, emu_mbarrier_op op, u64 value)
{
    switch (op) {
    case EMU_MBARRIER_INIT: *b = (mbarrier){.expected = value, .pending = value}; break;
    case EMU_MBARRIER_INVAL: *b = (mbarrier){0}; break;
    case EMU_MBARRIER_EXPECT_TX: b->tx += (s64)value; break;
    case EMU_MBARRIER_COMPLETE_TX:
        b->tx -= (s64)value;
        complete_mbarrier_phase(b);
        break;
    case EMU_MBARRIER_ARRIVE: arrive_at_mbarrier(b, value, false); break;
    case EMU_MBARRIER_DROP: arrive_at_mbarrier(b, value, true); break;
    case EMU_MBARRIER_ARRIVE_EXPECT_TX:
    case EMU_MBARRIER_DROP_EXPECT_TX:
        b->tx += (s64)value;
        arrive_at_mbarrier(b, 1, op == EMU_MBARRIER_DROP_EXPECT_TX);
        break;
    default: break;
    }
}

static void locate_lanes(emu_warp *w, const emu_insn *in, u32 mask, u32 bytes, emu_span *span)
{
    const emu_mem *mem = in->extra;
    emu_addresses(w, in, span->addr);
    span->stride = ACC_IRREGULAR;
    if (mem->space != IR_SPACE_GENERIC) {
        emu_locate(w, in, mask, bytes, ir_request_space(mem->space), span);
        return;
    }
    u32 space, same = emu_same_space(w, mask, span->addr, &space);
    if (same != mask)
        emu_raise(w, in->pc, EMU_FAULT_ADDRESS_SPACE, (u32)__builtin_ctz(mask),
                  span->addr[__builtin_ctz(mask)], bytes,
                  "the lanes' addresses are in several spaces");
    emu_locate_generic(w, in, mask, bytes, space, span);
}

static u64 *mbarrier_word(const emu_span *span, u32 lane)
{
    return (u64 *)(uintptr_t)(span->at[lane] + span->bias);
}

static u64 mbarrier_operand(const emu_warp *w, const emu_mbarrier *m, u32 lane)
{
    if (m->value == EMU_NOREF)
        return 1;
    const void *v = emu_at(w, m->value);
    return m->op == EMU_MBARRIER_WAIT ? ((const u64 *)v)[lane] : ((const u32 *)v)[lane];
}

/* A wait that has to go on lets other warps run soon. */
static void wait_for_phase(emu_warp *w, const emu_insn *in, u32 mask, const emu_span *span)
{
    const emu_mbarrier *m = in->extra;
    u32 done = 0;
    for (u32 rest = mask; rest; rest &= rest - 1) {
        u32 lane = (u32)__builtin_ctz(rest);
        u64 phase = unpack_mbarrier(*mbarrier_word(span, lane)).phase,
            value = mbarrier_operand(w, m, lane);
        bool over = m->op == EMU_MBARRIER_WAIT ? phase != unpack_mbarrier(value).phase
                                               : (phase & 1) != (value & 1);
        done |= (u32)over << lane;
    }
    emu_set_pred(w, in->dst, mask, done);
    w->spinning = true;
    if (done != mask)
        w->budget = 0;
}

void emu_run_mbarrier(emu_warp *w, const emu_insn *in, uint32_t mask)
{
    const emu_mbarrier *m = in->extra;
    emu_span span;
    locate_lanes(w, in, mask, 8, &span);
    atomic_thread_fence(memory_order_seq_cst);
    if (m->op == EMU_MBARRIER_WAIT || m->op == EMU_MBARRIER_WAIT_PARITY) {
        wait_for_phase(w, in, mask, &span);
    } else {
        for (u32 rest = mask; rest; rest &= rest - 1) {
            u32 lane = (u32)__builtin_ctz(rest);
            u64 *at = mbarrier_word(&span, lane), old = *at;
            mbarrier b = unpack_mbarrier(old);
            apply(&b, m->op, mbarrier_operand(w, m, lane));
            *at = pack_mbarrier(&b);
            if (in->dst != EMU_NOREF)
                ((u64 *)emu_at(w, in->dst))[lane] = old;
        }
    }
    emu_watch(w, in, mask, 8, &span);
}

void emu_run_pending(emu_warp *w, const emu_insn *in, uint32_t mask)
{
    VECTOR(u32, d, in->dst);
    VECTOR(const u64, state, in->src[0]);
    for (u32 rest = mask; rest; rest &= rest - 1)
        d[__builtin_ctz(rest)] = (u32)unpack_mbarrier(state[__builtin_ctz(rest)]).pending;
}

/* ---- copies ---- */

static u32 bytes_read(const emu_warp *w, const emu_copy *c, u32 lane)
{
    if (c->ignore != EMU_NOREF && ON(emu_pred(w, c->ignore), lane))
        return 0;
    u32 size = c->size != EMU_NOREF ? ((const u32 *)emu_at(w, c->size))[lane] : c->bytes;
    return size < c->bytes ? size : c->bytes;
}

void emu_run_copy(emu_warp *w, const emu_insn *in, uint32_t mask)
{
    const emu_copy *c = in->extra;
    emu_span from, to;
    u32 reads = 0;
    for (u32 rest = mask; rest; rest &= rest - 1)
        reads |= bytes_read(w, c, (u32)__builtin_ctz(rest)) ? rest & -rest : 0;
    emu_addresses(w, &c->to.insn, to.addr);
    to.stride = mask == EMU_ALL ? emu_stride(to.addr) : ACC_IRREGULAR;
    emu_locate_shared(w, &c->to.insn, mask, c->bytes, &to);
    if (reads) {
        emu_addresses(w, &c->from.insn, from.addr);
        from.stride = reads == EMU_ALL ? emu_stride(from.addr) : ACC_IRREGULAR;
        emu_locate_global(w, &c->from.insn, reads, c->bytes, &from);
    }
    for (u32 rest = c->to.mem.look ? 0 : mask; rest; rest &= rest - 1) {
        u32 lane = (u32)__builtin_ctz(rest), n = bytes_read(w, c, lane);
        u8 *at = (u8 *)(uintptr_t)(to.at[lane] + to.bias);
        if (n && reads)
            memcpy(at, (const void *)(uintptr_t)(from.at[lane] + from.bias), n);
        memset(at + n, 0, c->bytes - n);
    }
    if (reads)
        emu_watch(w, &c->from.insn, reads, c->bytes, &from);
    emu_watch(w, &c->to.insn, mask, c->bytes, &to);
}

static void reduce_elements(const emu_copy *c, u8 *to, const u8 *from, u32 bytes, bool shared)
{
    for (u32 at = 0; at + c->element <= bytes; at += c->element) {
        u64 value = 0;
        memcpy(&value, from + at, c->element);
        emu_apply(c->combine, to + at, c->element, value, 0, shared);
    }
}

/* The alignment that matters to a bulk copy is 16 bytes; its extent is checked as a whole. */
void emu_locate_end(emu_warp *w, const emu_end *end, u32 lane, u32 bytes, emu_span *span)
{
    const u32 bit = 1u << lane;
    locate_lanes(w, &end->insn, bit, 16, span);
    if (bytes <= 16)
        return;
    emu_span last = *span;
    for (u32 at = 16; at < bytes; at = at * 2 < bytes - 16 ? at * 2
                                       : at < bytes - 16   ? bytes - 16
                                                           : bytes) {
        emu_insn moved = end->insn;
        moved.imm += at;
        locate_lanes(w, &moved, bit, 16, &last);
        if (!end->mem.look && last.at[lane] + last.bias != span->at[lane] + span->bias + at)
            emu_raise(w, end->insn.pc, EMU_FAULT_ILLEGAL_ADDRESS, lane, span->addr[lane], bytes,
                      "a bulk copy of %u bytes leaves its memory", bytes);
    }
}

static void move_bulk(emu_warp *w, const emu_copy *c, u32 lane, u32 bytes, const emu_span *from,
                      const emu_span *to)
{
    u8 *target = (u8 *)(uintptr_t)(to->at[lane] + to->bias);
    const u8 *source = (const u8 *)(uintptr_t)(from->at[lane] + from->bias);
    if (c->combine)
        reduce_elements(c, target, source, bytes,
                        w->worker->run->parallel && to->space == ACC_GLOBAL);
    else
        memmove(target, source, bytes);
}

void emu_locate_barrier(emu_warp *w, const emu_end *barrier, u32 lane, emu_span *span)
{
    locate_lanes(w, &barrier->insn, 1u << lane, 8, span);
}

void emu_complete_tx(const emu_span *barrier, u32 lane, u32 bytes)
{
    u64 *word = mbarrier_word(barrier, lane);
    mbarrier b = unpack_mbarrier(*word);
    apply(&b, EMU_MBARRIER_COMPLETE_TX, bytes);
    *word = pack_mbarrier(&b);
}

void emu_run_bulk(emu_warp *w, const emu_insn *in, uint32_t mask)
{
    const emu_copy *c = in->extra;
    const u32 *size = emu_at(w, c->size);
    for (u32 rest = mask; rest; rest &= rest - 1) {
        u32 lane = (u32)__builtin_ctz(rest), bytes = size[lane];
        emu_span from, to;
        if (bytes == 0)
            continue;
        if (bytes % 16)
            emu_raise(w, in->pc, EMU_FAULT_MISALIGNED, lane, 0, bytes,
                      "a bulk copy of %u bytes, not a multiple of 16", bytes);
        emu_locate_end(w, &c->from, lane, bytes, &from);
        emu_locate_end(w, &c->to, lane, bytes, &to);
        if (!c->to.mem.look)
            move_bulk(w, c, lane, bytes, &from, &to);
        emu_watch(w, &c->from.insn, 1u << lane, bytes, &from);
        emu_watch(w, &c->to.insn, 1u << lane, bytes, &to);
        if (c->has_barrier && !c->to.mem.look) {
            emu_span at;
            emu_locate_barrier(w, &c->barrier, lane, &at);
            emu_complete_tx(&at, lane, bytes);
        }
    }
}
