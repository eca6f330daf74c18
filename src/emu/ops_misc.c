/* Handlers that fit no family: guards, rounding modes, predicates, the carry flag, clocks,
 * parameters of calls. */
#include "emu/access.h"
#include "emu/video.h"

#include <fenv.h>
#include <time.h>

static void nothing(emu_warp *w, const emu_insn *in, u32 mask)
{
    (void)w;
    (void)in;
    (void)mask;
}

/* Instructions that run where a predicate holds; imm: it is negated. */
static void guarded(emu_warp *w, const emu_insn *in, u32 mask)
{
    const emu_guarded *inner = in->extra;
    u32 on = mask & (emu_pred(w, in->src[0]) ^ (0 - (u32)in->imm));
    if (!on)
        return;
    const int all = (on | w->dead) == EMU_ALL;
    for (const emu_insn *i = inner->list, *end = i + inner->count; i < end; i++)
        i->fn[all](w, i, on);
}

/* One instruction in another rounding mode (imm). The stores of its results keep it between the two
 * switches. */
#if defined(__x86_64__)
static void rounded(emu_warp *w, const emu_insn *in, u32 mask)
{
    static const u32 modes[] = {
        [EMU_ROUND_RZ] = 0x6000, [EMU_ROUND_RM] = 0x2000, [EMU_ROUND_RP] = 0x4000};
    const emu_insn *inner = ((const emu_guarded *)in->extra)->list;
    const u32 saved = _mm_getcsr();
    _mm_setcsr((saved & ~0x6000u) | modes[in->imm]);
    __asm__ volatile("" ::: "memory");
    inner->fn[(mask | w->dead) == EMU_ALL](w, inner, mask);
    __asm__ volatile("" ::: "memory");
    _mm_setcsr(saved);
}
#else
static void rounded(emu_warp *w, const emu_insn *in, u32 mask)
{
    static const int modes[] = {
        [EMU_ROUND_RZ] = FE_TOWARDZERO, [EMU_ROUND_RM] = FE_DOWNWARD, [EMU_ROUND_RP] = FE_UPWARD};
    const emu_insn *inner = ((const emu_guarded *)in->extra)->list;
    fesetround(modes[in->imm]);
    __asm__ volatile("" ::: "memory");
    inner->fn[(mask | w->dead) == EMU_ALL](w, inner, mask);
    __asm__ volatile("" ::: "memory");
    fesetround(FE_TONEAREST);
}
#endif

#define PRED(name, expr)                                        \
    static void name(emu_warp *w, const emu_insn *in, u32 mask) \
    {                                                           \
        const u32 a = emu_pred(w, in->src[0]);                  \
        emu_set_pred(w, in->dst, mask, expr);                   \
    }
PRED(mov_pred, a)
PRED(not_pred, ~a)
PRED(and_pred, a &emu_pred(w, in->src[1]))
PRED(or_pred, a | emu_pred(w, in->src[1]))
PRED(xor_pred, a ^ emu_pred(w, in->src[1]))

/* ---- the carry flag: imm 1 it is read, 2 it is written, 4 high half of the product, 8 signed ----
 */

#define CARRY(T, WIDE, name, sum)                                                   \
    static void name(emu_warp *w, const emu_insn *in, u32 mask)                     \
    {                                                                               \
        VECTOR(T, d, in->dst);                                                      \
        VECTOR(const T, pa, in->src[0]);                                            \
        VECTOR(const T, pb, in->src[1]);                                            \
        const u32 old = w->carry;                                                   \
        u32 carry = old;                                                            \
        for (u32 m = mask; m; m &= m - 1) {                                         \
            const int i = __builtin_ctz(m);                                         \
            const WIDE a = pa[i], b = pb[i], in_bit = in->imm & 1 ? ON(old, i) : 0; \
            const WIDE r = sum;                                                     \
            d[i] = (T)r;                                                            \
            carry = (carry & ~(1u << i)) | (u32)(r >> (8 * sizeof(T)) & 1) << i;    \
        }                                                                           \
        if (in->imm & 2)                                                            \
            w->carry = carry;                                                       \
    }
CARRY(u32, u64, carry_add_32, a + b + in_bit)
CARRY(u64, u128, carry_add_64, a + b + in_bit)
CARRY(u32, u64, carry_sub_32, a - b - in_bit)
CARRY(u64, u128, carry_sub_64, a - b - in_bit)

static inline u64 product_32(u64 a, u64 b, s64 imm)
{
    u64 p = imm & 8 ? (u64)((s64)(s32)a * (s32)b) : a * b;
    return imm & 4 ? p >> 32 : p & UINT32_MAX;
}

static inline u128 product_64(u128 a, u128 b, s64 imm)
{
    u128 p = imm & 8 ? (u128)((s128)(s64)a * (s64)b) : a * b;
    return imm & 4 ? p >> 64 : p & UINT64_MAX;
}

CARRY(u32, u64, carry_mad_32,
      product_32(a, b, in->imm) + ((const u32 *)emu_at(w, in->src[2]))[i] + in_bit)
CARRY(u64, u128, carry_mad_64,
      product_64(a, b, in->imm) + ((const u64 *)emu_at(w, in->src[2]))[i] + in_bit)

/* ---- bit fields ---- */

#define BFI(T, name, BITS)                                                           \
    static void name(emu_warp *w, const emu_insn *in, u32 mask)                      \
    {                                                                                \
        VECTOR(T, d, in->dst);                                                       \
        VECTOR(const T, pa, in->src[0]);                                             \
        VECTOR(const T, pb, in->src[1]);                                             \
        VECTOR(const u32, pc, in->src[2]);                                           \
        VECTOR(const u32, pd, in->src[3]);                                           \
        EACH_LANE                                                                    \
        {                                                                            \
            const u32 pos = BITS == 64 ? pc[i] : pc[i] & 0xff,                       \
                      len = BITS == 64 ? pd[i] : pd[i] & 0xff;                       \
            const T ones = len >= BITS ? (T) - 1 : ((T)1 << (len & (BITS - 1))) - 1; \
            const T field = pos >= BITS ? 0 : ones << (pos & (BITS - 1));            \
            const T value = pos >= BITS ? 0 : pa[i] << (pos & (BITS - 1));           \
            const T r = (value & field) | (pb[i] & ~field);                          \
            d[i] = ON(mask, i) ? r : d[i];                                           \
        }                                                                            \
    }
BFI(u32, bfi_32, 32)
BFI(u64, bfi_64, 64)

/* ---- clocks ---- */

static u64 nanoseconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (u64)t.tv_sec * 1000000000 + (u64)t.tv_nsec;
}

#define SET_ALL(T, value)   \
    VECTOR(T, d, in->dst);  \
    const T v = (T)(value); \
    w->spinning = true;     \
    EACH_LANE               \
    d[i] = ON(mask, i) ? v : d[i];

#define TIME(T, name, value)                                    \
    static void name(emu_warp *w, const emu_insn *in, u32 mask) \
    {                                                           \
        SET_ALL(T, value)                                       \
    }
/* Clocks count at the device's rate. */
#define CYCLES (u64)((f64)nanoseconds() * 1e-6 * w->worker->run->machine->device.clock_khz)
TIME(u32, clock_32, CYCLES)
TIME(u32, clock_hi, CYCLES >> 32)
TIME(u64, clock_64, CYCLES)
TIME(u64, timer_64, nanoseconds())
TIME(u32, timer_lo, nanoseconds())
TIME(u32, timer_hi, nanoseconds() >> 32)

/* ---- addresses ---- */

static void isspacep(emu_warp *w, const emu_insn *in, u32 mask)
{
    VECTOR(const u64, a, in->src[0]);
    const emu_machine *m = w->worker->run->machine;
    u32 result = 0;
    for (int i = 0; i < EMU_LANES; i++) {
        const u32 space = emu_space_of(w, a[i]);
        const u64 offset = a[i] - m->shared_window;
        bool yes;
        switch (in->imm) {
        case IR_S_global: yes = space == ACC_GLOBAL; break;
        case IR_S_local: yes = space == ACC_LOCAL; break;
        case IR_S_shared__cluster: yes = space == ACC_SHARED; break;
        case IR_S_shared:
        case IR_S_shared__cta:
            yes = space == ACC_SHARED && offset >> EMU_SHARED_SLOT_BITS == 0;
            break;
        default: {
            const emu_alloc *alloc = emu_memory_holding(&w->worker->run->machine->memory, a[i], 1);
            yes = alloc &&
                  alloc->kind == (in->imm == IR_S_const ? EMU_ALLOC_CONST : EMU_ALLOC_INTERNAL);
        }
        }
        result |= (u32)yes << i;
    }
    emu_set_pred(w, in->dst, mask, result);
}

/* The address of the same variable in the block of that rank; imm: the address of the window, 0 in
 * the shared space. */
#define MAPA(T, name)                                                                     \
    static void name(emu_warp *w, const emu_insn *in, u32 mask)                           \
    {                                                                                     \
        VECTOR(T, d, in->dst);                                                            \
        VECTOR(const T, a, in->src[0]);                                                   \
        VECTOR(const u32, rank, in->src[1]);                                              \
        const T slot = ((T)1 << EMU_SHARED_SLOT_BITS) - 1;                                \
        EACH_LANE                                                                         \
        {                                                                                 \
            const T offset = (a[i] - (T)in->imm) & slot;                                  \
            const T r = (T)in->imm + offset + ((T)(rank[i] + 1) << EMU_SHARED_SLOT_BITS); \
            d[i] = ON(mask, i) ? r : d[i];                                                \
        }                                                                                 \
    }
MAPA(u32, mapa_32)
MAPA(u64, mapa_64)

#define RANK(T, name)                                                            \
    static void name(emu_warp *w, const emu_insn *in, u32 mask)                  \
    {                                                                            \
        VECTOR(u32, d, in->dst);                                                 \
        VECTOR(const T, a, in->src[0]);                                          \
        const u32 own = w->cta->cluster_rank;                                    \
        EACH_LANE                                                                \
        {                                                                        \
            const u32 slot = (u32)((a[i] - (T)in->imm) >> EMU_SHARED_SLOT_BITS); \
            const u32 r = slot ? slot - 1 : own;                                 \
            d[i] = ON(mask, i) ? r : d[i];                                       \
        }                                                                        \
    }
RANK(u32, getctarank_32)
RANK(u64, getctarank_64)

/* ---- parameters of calls: imm has offset, stride, size, width and sign, see decode_memory.c ----
 */

typedef struct place_shape {
    u32 offset, stride, size, width;
    bool sign;
} place_shape;

static place_shape place_shape_of(s64 imm)
{
    return (place_shape){(u32)(imm & 0xffffff), (u32)(imm >> 24 & 0xffffff),
                         (u32)(imm >> 48 & 0x3f), (u32)(imm >> 54 & 0x3f), imm >> 60 & 1};
}

static void place_load(emu_warp *w, const emu_insn *in, u32 mask)
{
    const place_shape s = place_shape_of(in->imm);
    const u8 *place = emu_at(w, in->src[0]);
    u8 *to = emu_at(w, in->dst);
    for (u32 m = mask; m; m &= m - 1) {
        const u32 i = (u32)__builtin_ctz(m);
        u8 value[16] = {0};
        memcpy(value, place + (size_t)i * s.stride + s.offset, s.size);
        if (s.sign && value[s.size - 1] & 0x80)
            memset(value + s.size, 0xff, sizeof value - s.size);
        memcpy(to + (size_t)i * s.width, value, s.width);
    }
}

static void place_store(emu_warp *w, const emu_insn *in, u32 mask)
{
    const place_shape s = place_shape_of(in->imm);
    u8 *place = emu_at(w, in->dst);
    const u8 *from = emu_at(w, in->src[0]);
    for (u32 m = mask; m; m &= m - 1) {
        const u32 i = (u32)__builtin_ctz(m);
        memcpy(place + (size_t)i * s.stride + s.offset, from + (size_t)i * s.width,
               s.size < s.width ? s.size : s.width);
    }
}

/* ---- control ---- */

static void fence(emu_warp *w, const emu_insn *in, u32 mask)
{
    (void)in;
    (void)mask;
    w->spinning = true;
    atomic_thread_fence(memory_order_seq_cst);
}

static void trap(emu_warp *w, const emu_insn *in, u32 mask)
{
    emu_raise(w, in->pc, EMU_FAULT_TRAP, (u32)__builtin_ctz(mask), 0, 0, "executes trap");
}

static void breakpoint(emu_warp *w, const emu_insn *in, u32 mask)
{
    emu_raise(w, in->pc, EMU_FAULT_TRAP, (u32)__builtin_ctz(mask), 0, 0,
              "executes brkpt, and no debugger listens");
}

/* Local memory grows upwards: alloca takes from the top of the frame's part. */
static void stack_save(emu_warp *w, const emu_insn *in, u32 mask)
{
    SET_ALL(u64, emu_frame_of(w)->local_top)
}

static void stack_restore(emu_warp *w, const emu_insn *in, u32 mask)
{
    const u64 *a = emu_at(w, in->src[0]);
    emu_frame_of(w)->local_top = (u32)a[__builtin_ctz(mask)];
}

static void stack_alloc(emu_warp *w, const emu_insn *in, u32 mask)
{
    VECTOR(u64, d, in->dst);
    const u64 *size = emu_at(w, in->src[0]);
    emu_frame *frame = emu_frame_of(w);
    u64 most = 0, align = (u64)in->imm;
    for (u32 m = mask; m; m &= m - 1)
        most = size[__builtin_ctz(m)] > most ? size[__builtin_ctz(m)] : most;
    u64 start = (frame->local_top + align - 1) & ~(align - 1);
    if (most > w->local_stride || start + most > w->local_stride)
        emu_raise(w, in->pc, EMU_FAULT_STACK_OVERFLOW, (u32)__builtin_ctz(mask), start, (u32)most,
                  "alloca asks for %llu bytes of local memory; %u are left",
                  (unsigned long long)most, w->local_stride - (u32)frame->local_top);
    frame->local_top = (u32)(start + most);
    EACH_LANE
    d[i] = ON(mask, i) ? start : d[i];
}

static void video(emu_warp *w, const emu_insn *in, u32 mask)
{
    const emu_video *v = in->extra;
    VECTOR(u32, d, in->dst);
    VECTOR(const u32, a, in->src[0]);
    VECTOR(const u32, b, in->src[1]);
    VECTOR(const u32, c, in->src[2]);
    for (u32 m = mask; m; m &= m - 1) {
        const int i = __builtin_ctz(m);
        d[i] = emu_video_run(v, a[i], b[i], c[i]);
    }
}

const emu_handler EMU_ISA_NAME(emu_ops_misc)[] = {
#define F(id) EMU_ROW_ONE(id)
#include "emu/ops_misc.def"
};
