/* Floating-point helpers of the handlers: what PTX says about NaN, subnormal numbers and
 * saturation, and numbers of 16 bits. All are branch-free, so that loops over them become vector
 * code. */
#ifndef WL_EMU_OPS_FP_H
#define WL_EMU_OPS_FP_H

#include "emu/ops.h"

/* Single-precision results that are NaN have one bit pattern (PTX ISA, "Floating Point
 * Instructions"). */
static inline f32 emu_nan32(f32 x)
{
    return x != x ? f32_of(0x7fffffff) : x;
}

/* Double-precision results keep a NaN operand, made quiet: of several the second factor comes
 * first, then what is added, then the first factor. */
#define EMU_QUIET64 (UINT64_C(1) << 51)

static inline bool emu_is_nan64(u64 bits)
{
    return bits << 1 > UINT64_C(0x7ff) << 53;
}

static inline f64 emu_nan64(f64 x, f64 wins)
{
    return wins != wins ? f64_of(f64_bits(wins) | EMU_QUIET64) : x;
}

/* Subnormal numbers become zero of the same sign. */
static inline f32 emu_z32(f32 x)
{
    u32 bits = f32_bits(x);
    return f32_of(bits & 0x7f800000 ? bits : bits & 0x80000000);
}

/* [0, 1]; NaN and -0 become +0. */
static inline f32 emu_sat32(f32 x)
{
    f32 low = x > 0.0f ? x : 0.0f;
    return low < 1.0f ? low : 1.0f;
}

static inline f64 emu_sat64(f64 x)
{
    f64 low = x > 0.0 ? x : 0.0;
    return low < 1.0 ? low : 1.0;
}

static inline f32 emu_add32(f32 a, f32 b)
{
    return a + b;
}

static inline f32 emu_sub32(f32 a, f32 b)
{
    return a - b;
}

static inline f32 emu_mul32(f32 a, f32 b)
{
    return a * b;
}

static inline f32 emu_div32(f32 a, f32 b)
{
    return a / b;
}

static inline f32 emu_fma32(f32 a, f32 b, f32 c)
{
    return __builtin_fmaf(a, b, c);
}

/* ---- binary16 and bfloat16, through binary32 ---- */

static inline f32 emu_f_of_h(u16 h)
{
    u32 magnitude = (u32)(h & 0x7fff);
    u32 bits = f32_bits(f32_of(magnitude << 13) * 0x1p112f);
    bits = magnitude >= 0x7c00 ? (magnitude << 13) | 0x7f800000 : bits;
    return f32_of(bits | (u32)(h & 0x8000) << 16);
}

/* Rounds to nearest even. */
static inline u16 emu_h_of_f(f32 x)
{
    u32 u = f32_bits(x);
    u32 sign = u & 0x80000000;
    u ^= sign;
    u32 subnormal = f32_bits(f32_of(u) + 0.5f) - 0x3f000000;
    u32 normal = (u + 0xc8000fff + (u >> 13 & 1)) >> 13;
    u32 r = u < 0x38800000 ? subnormal : normal;
    r = u >= 0x47800000 ? 0x7c00 : r;
    r |= sign >> 16;
    return (u16)(u > 0x7f800000 ? 0x7fff : r);
}

static inline f32 emu_f_of_b(u16 b)
{
    return f32_of((u32)b << 16);
}

static inline u16 emu_b_of_f(f32 x)
{
    u32 u = f32_bits(x);
    u32 r = (u + 0x7fff + (u >> 16 & 1)) >> 16;
    return (u16)((u & 0x7fffffff) > 0x7f800000 ? 0x7fff : r);
}

/* Rounds a double to single so that a later rounding to fewer bits gives what one rounding would
 * (round to odd). */
static inline f32 emu_odd32(f64 x)
{
    f32 near = (f32)x;
    f64 back = (f64)near, error = x - back;
    u32 bits = f32_bits(near);
    u32 odd = (bits - (fabs(back) > fabs(x))) | 1;
    return f32_of(error > 0 || error < 0 ? odd : bits);
}

/* a + b to double, rounded to odd. */
static inline f64 emu_odd_sum(f64 a, f64 b)
{
    f64 s = a + b;
    f64 t = s - a;
    f64 error = (a - (s - t)) + (b - t);
    u64 bits = f64_bits(s);
    u64 odd = (bits - ((error > 0) != (s > 0))) | 1;
    return f64_of((error > 0 || error < 0) && s - s == 0 ? odd : bits);
}

static inline f32 emu_fma_half(f32 a, f32 b, f32 c)
{
    return emu_odd32(emu_odd_sum((f64)a * (f64)b, (f64)c));
}

static inline u16 emu_z16(u16 h)
{
    return h & 0x7c00 ? h : h & 0x8000;
}

static inline u32 emu_two(u16 low, u16 high)
{
    return (u32)high << 16 | low;
}

#endif
