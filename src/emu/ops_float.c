/* Single- and double-precision handlers. */
#include "emu/ops_fp.h"

/* Documented special case: the quotient is 0 for finite a and 2^126 < |b| < 2^128, NaN for infinite
 * a. */
static inline f32 emu_div_approx(f32 a, f32 b)
{
    f32 huge = fabsf(b);
    f32 inverse = huge > 0x1p126f && huge <= 0x1.fffffep127f ? copysignf(0.0f, b) : 1.0f / b;
    return huge > 0x1p126f ? a * inverse : a / b;
}

static inline f32 emu_rcp32(f32 a)
{
    return 1.0f / a;
}

static inline f32 emu_sqrt32(f32 a)
{
    return sqrtf(a);
}

static inline f32 emu_rsqrt32(f32 a)
{
    return (f32)(1.0 / sqrt((f64)a));
}

static inline f32 emu_sin32(f32 a)
{
    return (f32)sin((f64)a);
}

static inline f32 emu_cos32(f32 a)
{
    return (f32)cos((f64)a);
}

static inline f32 emu_lg2_32(f32 a)
{
    return (f32)log2((f64)a);
}

static inline f32 emu_ex2_32(f32 a)
{
    return (f32)exp2((f64)a);
}

/* -0 is below +0; a NaN gives way to the other operand. */
static inline f32 emu_min32(f32 a, f32 b)
{
    f32 r = a < b ? a : b;
    r = a == b ? f32_of(f32_bits(a) | f32_bits(b)) : r;
    r = b != b ? a : r;
    return emu_nan32(r);
}

static inline f32 emu_max32(f32 a, f32 b)
{
    f32 r = a > b ? a : b;
    r = a == b ? f32_of(f32_bits(a) & f32_bits(b)) : r;
    r = b != b ? a : r;
    return emu_nan32(r);
}

/* mode: 1 ftz, 2 NaN wins, 4 .xorsign.abs */
static inline f32 emu_mode_result(f32 r, f32 a, f32 b, s64 mode)
{
    r = mode & 2 && (a != a || b != b) ? f32_of(0x7fffffff) : r;
    return mode & 4 && r == r
               ? f32_of((f32_bits(r) & 0x7fffffff) | ((f32_bits(a) ^ f32_bits(b)) & 0x80000000))
               : r;
}

static inline f32 emu_mode_operand(f32 x, s64 mode)
{
    return mode & 1 ? emu_z32(x) : x;
}

static inline f32 emu_mode_magnitude(f32 x, s64 mode)
{
    return mode & 4 ? fabsf(x) : x;
}

static inline f32 emu_min_mode(f32 a, f32 b, s64 mode)
{
    a = emu_mode_operand(a, mode);
    b = emu_mode_operand(b, mode);
    return emu_mode_result(emu_min32(emu_mode_magnitude(a, mode), emu_mode_magnitude(b, mode)), a,
                           b, mode);
}

static inline f32 emu_max_mode(f32 a, f32 b, s64 mode)
{
    a = emu_mode_operand(a, mode);
    b = emu_mode_operand(b, mode);
    return emu_mode_result(emu_max32(emu_mode_magnitude(a, mode), emu_mode_magnitude(b, mode)), a,
                           b, mode);
}

static inline f64 emu_nan_pair(f64 r, f64 a, f64 b)
{
    r = b != b ? a : r;
    return a != a && b != b ? f64_of(f64_bits(b) | EMU_QUIET64) : r;
}

static inline f64 emu_min64(f64 a, f64 b)
{
    f64 r = a < b ? a : b;
    r = a == b ? f64_of(f64_bits(a) | f64_bits(b)) : r;
    return emu_nan_pair(r, a, b);
}

static inline f64 emu_max64(f64 a, f64 b)
{
    f64 r = a > b ? a : b;
    r = a == b ? f64_of(f64_bits(a) & f64_bits(b)) : r;
    return emu_nan_pair(r, a, b);
}

/* Works on the upper 32 bits alone, as PTX describes it (rcp.approx.ftz.f64). */
static inline f64 emu_gross(f64 x)
{
    u64 bits = f64_bits(x);
    bits = bits << 1 >> 53 == 0 ? bits & (UINT64_C(1) << 63) : bits;
    bits &= ~UINT64_C(0xffffffff);
    return f64_of(emu_is_nan64(bits) ? UINT64_C(0x7fffffff00000000) : bits);
}

static inline f64 emu_rcp_gross(f64 a)
{
    return emu_gross(1.0 / emu_gross(a));
}

static inline f64 emu_rsqrt_gross(f64 a)
{
    return emu_gross(1.0 / sqrt(emu_gross(a)));
}

static inline f32 emu_low(u64 x)
{
    return f32_of((u32)x);
}

static inline f32 emu_high(u64 x)
{
    return f32_of((u32)(x >> 32));
}

static inline f32 emu_flush_if(f32 x, s64 ftz)
{
    return ftz ? emu_z32(x) : x;
}

static inline u64 emu_x2(f32 low, f32 high, s64 ftz)
{
    low = emu_nan32(emu_flush_if(low, ftz));
    high = emu_nan32(emu_flush_if(high, ftz));
    return (u64)f32_bits(high) << 32 | f32_bits(low);
}

#define LOW(x) emu_flush_if(emu_low(x), ftz)
#define HIGH(x) emu_flush_if(emu_high(x), ftz)

static inline u64 emu_add_x2(u64 a, u64 b, s64 ftz)
{
    return emu_x2(LOW(a) + LOW(b), HIGH(a) + HIGH(b), ftz);
}

static inline u64 emu_sub_x2(u64 a, u64 b, s64 ftz)
{
    return emu_x2(LOW(a) - LOW(b), HIGH(a) - HIGH(b), ftz);
}

static inline u64 emu_mul_x2(u64 a, u64 b, s64 ftz)
{
    return emu_x2(LOW(a) * LOW(b), HIGH(a) * HIGH(b), ftz);
}

static inline u64 emu_fma_x2(u64 a, u64 b, u64 c, s64 ftz)
{
    return emu_x2(emu_fma32(LOW(a), LOW(b), LOW(c)), emu_fma32(HIGH(a), HIGH(b), HIGH(c)), ftz);
}

#undef LOW
#undef HIGH

#define COMPARE(name, e)                            \
    static inline bool emu_##name##_f(f32 a, f32 b) \
    {                                               \
        return e;                                   \
    }
COMPARE(eq, a == b)
COMPARE(ne, a<b || a> b)
COMPARE(lt, a < b)
COMPARE(le, a <= b)
COMPARE(gt, a > b)
COMPARE(ge, a >= b)
COMPARE(equ, !(a < b || a > b))
COMPARE(neu, a != b)
COMPARE(ltu, !(a >= b))
COMPARE(leu, !(a > b))
COMPARE(gtu, !(a <= b))
COMPARE(geu, !(a < b))
COMPARE(num, a == a && b == b)
COMPARE(nan, a != a || b != b)

#define V1(...) EMU_DEFINE_V1(__VA_ARGS__)
#define V2(...) EMU_DEFINE_V2(__VA_ARGS__)
#define V3(...) EMU_DEFINE_V3(__VA_ARGS__)
#define P1(...) EMU_DEFINE_P1(__VA_ARGS__)
#define P2(...) EMU_DEFINE_P2(__VA_ARGS__)
#include "emu/ops_float.def"

const emu_handler EMU_ISA_NAME(emu_ops_float)[] = {
#define V1(id, ...) EMU_ROW_BOTH(id)
#define V2(id, ...) EMU_ROW_BOTH(id)
#define V3(id, ...) EMU_ROW_BOTH(id)
#define P1(id, ...) EMU_ROW_ONE(id)
#define P2(id, ...) EMU_ROW_ONE(id)
#include "emu/ops_float.def"
};
