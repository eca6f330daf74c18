/* What every file of handlers includes. These files are compiled once for each instruction set,
 * with EMU_ISA naming it; loops over 32 lanes are written so that the compiler makes vector code of
 * them. */
#ifndef WL_EMU_OPS_H
#define WL_EMU_OPS_H

#include "emu/handlers.h"
#include "emu/internal.h"

#include <math.h>
#include <string.h>

#ifndef EMU_ISA
#define EMU_ISA none /* a file that is compiled once */
#endif
#define EMU_PASTE_(a, b) a##_##b
#define EMU_PASTE(a, b) EMU_PASTE_(a, b)
#define EMU_ISA_NAME(name) EMU_PASTE(name, EMU_ISA)

#if defined(__x86_64__)
#include <immintrin.h>
#endif

typedef int8_t s8;
typedef uint8_t u8;
typedef int16_t s16;
typedef uint16_t u16;
typedef int32_t s32;
typedef uint32_t u32;
typedef int64_t s64;
typedef uint64_t u64;
typedef float f32;
typedef double f64;
typedef __int128 s128;
typedef unsigned __int128 u128;

/* Operands either coincide or do not overlap at all, so lanes are independent. */
#if defined(__clang__)
#define EMU_INDEPENDENT _Pragma("clang loop vectorize(assume_safety)")
#else
#define EMU_INDEPENDENT _Pragma("GCC ivdep")
#endif
#define EACH_LANE EMU_INDEPENDENT for (int i = 0; i < EMU_LANES; i++)
#define ON(mask, i) ((mask) >> (i) & 1)

#define VECTOR(type, name, ref) type *name = __builtin_assume_aligned(emu_at(w, ref), 64)

/* Bit i of the result is flags[i] (0 or 1). */
static inline u32 emu_pack(const u8 *flags)
{
#if defined(__AVX2__)
    __m256i v = _mm256_loadu_si256((const __m256i *)(const void *)flags);
    return (u32)_mm256_movemask_epi8(_mm256_slli_epi16(v, 7));
#else
    u32 bits = 0;
    for (int i = 0; i < 4; i++) {
        u64 eight;
        memcpy(&eight, flags + 8 * i, 8);
        bits |= (u32)(eight * UINT64_C(0x0102040810204080) >> 56) << 8 * i;
    }
    return bits;
#endif
}

static inline void emu_set_pred(emu_warp *w, emu_ref ref, u32 mask, u32 value)
{
    u32 *p = emu_at(w, ref);
    *p = (*p & ~mask) | (value & mask);
}

static inline u32 emu_pred(const emu_warp *w, emu_ref ref)
{
    return *(const u32 *)emu_at(w, ref);
}

static inline u32 f32_bits(f32 x)
{
    u32 bits;
    memcpy(&bits, &x, sizeof bits);
    return bits;
}

static inline f32 f32_of(u32 bits)
{
    f32 x;
    memcpy(&x, &bits, sizeof x);
    return x;
}

static inline u64 f64_bits(f64 x)
{
    u64 bits;
    memcpy(&bits, &x, sizeof bits);
    return bits;
}

static inline f64 f64_of(u64 bits)
{
    f64 x;
    memcpy(&x, &bits, sizeof x);
    return x;
}

/* Two functions from one expression: over all lanes, and with the lanes outside of mask left alone.
 * An expression sees its operands as a, b, c, the lane as i and the immediate as imm. */
#define EMU_BODY(id, D, pointers, values, expr)                      \
    static void id##_all(emu_warp *w, const emu_insn *in, u32 mask)  \
    {                                                                \
        VECTOR(D, d, in->dst);                                       \
        const s64 imm = in->imm;                                     \
        (void)imm;                                                   \
        (void)mask;                                                  \
        pointers EACH_LANE                                           \
        {                                                            \
            values d[i] = (D)(expr);                                 \
        }                                                            \
    }                                                                \
    static void id##_part(emu_warp *w, const emu_insn *in, u32 mask) \
    {                                                                \
        VECTOR(D, d, in->dst);                                       \
        const s64 imm = in->imm;                                     \
        (void)imm;                                                   \
        pointers EACH_LANE                                           \
        {                                                            \
            values D r = (D)(expr);                                  \
            d[i] = ON(mask, i) ? r : d[i];                           \
        }                                                            \
    }
#define EMU_P1(A) VECTOR(const A, pa, in->src[0]);
#define EMU_L1(A) const A a = pa[i];
#define EMU_P2(A, B) EMU_P1(A) VECTOR(const B, pb, in->src[1]);
#define EMU_L2(A, B) EMU_L1(A) const B b = pb[i];
#define EMU_P3(A, B, C) EMU_P2(A, B) VECTOR(const C, pc, in->src[2]);
#define EMU_L3(A, B, C) EMU_L2(A, B) const C c = pc[i];

/* d = expr(a), expr(a, b), expr(a, b, c) */
#define EMU_DEFINE_V1(id, D, A, expr) EMU_BODY(id, D, EMU_P1(A), EMU_L1(A), expr)
#define EMU_DEFINE_V2(id, D, A, B, expr) EMU_BODY(id, D, EMU_P2(A, B), EMU_L2(A, B), expr)
#define EMU_DEFINE_V3(id, D, A, B, C, expr) EMU_BODY(id, D, EMU_P3(A, B, C), EMU_L3(A, B, C), expr)
/* d = expr(a, b, p) with a predicate p */
#define EMU_DEFINE_S3(id, D, A, B, expr)                                     \
    EMU_BODY(id, D, EMU_P2(A, B) const u32 select = emu_pred(w, in->src[2]); \
             , EMU_L2(A, B) const bool p = ON(select, i);, expr)
/* predicate = expr(a, b) */
#define EMU_DEFINE_P2(id, A, B, expr)                         \
    static void id(emu_warp *w, const emu_insn *in, u32 mask) \
    {                                                         \
        EMU_P2(A, B) u8 flags[EMU_LANES];                     \
        const s64 imm = in->imm;                              \
        (void)imm;                                            \
        EACH_LANE                                             \
        {                                                     \
            EMU_L2(A, B) flags[i] = (expr) != 0;              \
        }                                                     \
        emu_set_pred(w, in->dst, mask, emu_pack(flags));      \
    }
#define EMU_DEFINE_P1(id, A, expr)                            \
    static void id(emu_warp *w, const emu_insn *in, u32 mask) \
    {                                                         \
        EMU_P1(A) u8 flags[EMU_LANES];                        \
        EACH_LANE                                             \
        {                                                     \
            EMU_L1(A) flags[i] = (expr) != 0;                 \
        }                                                     \
        emu_set_pred(w, in->dst, mask, emu_pack(flags));      \
    }
/* Rows of a file's table of handlers. */
#define EMU_ROW_BOTH(id) {id##_part, id##_all},
#define EMU_ROW_ONE(id) {id, id},

#endif
