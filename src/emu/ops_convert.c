/* Conversions between numbers. */
#include "emu/ops_fp.h"

static inline f32 emu_rint_f32(f32 x)
{
    return rintf(x);
}

static inline f32 emu_trunc_f32(f32 x)
{
    return truncf(x);
}

static inline f32 emu_floor_f32(f32 x)
{
    return floorf(x);
}

static inline f32 emu_ceil_f32(f32 x)
{
    return ceilf(x);
}

static inline f64 emu_rint_f64(f64 x)
{
    return rint(x);
}

static inline f64 emu_trunc_f64(f64 x)
{
    return trunc(x);
}

static inline f64 emu_floor_f64(f64 x)
{
    return floor(x);
}

static inline f64 emu_ceil_f64(f64 x)
{
    return ceil(x);
}

static inline f32 emu_canonical_f32(f32 x)
{
    return emu_nan32(x);
}

static inline f64 emu_canonical_f64(f64 x)
{
    return emu_nan64(x, x);
}

/* The operand is clamped before it is converted, so that the conversion is defined for what it is
 * given. */
#define TO_INT(F, I, low, high, min, max)           \
    static inline I emu_##I##_##F(F x)              \
    {                                               \
        F inside = x > (low) && x < (high) ? x : 0; \
        I r = (I)inside;                            \
        r = x >= (high) ? (max) : r;                \
        return x <= (low) ? (min) : r;              \
    }
TO_INT(f32, s32, -0x1p31f, 0x1p31f, INT32_MIN, INT32_MAX)
TO_INT(f32, u32, 0.0f, 0x1p32f, 0, UINT32_MAX)
TO_INT(f32, s64, -0x1p63f, 0x1p63f, INT64_MIN, INT64_MAX)
TO_INT(f32, u64, 0.0f, 0x1p64f, 0, UINT64_MAX)
TO_INT(f64, s32, -0x1p31, 0x1p31, INT32_MIN, INT32_MAX)
TO_INT(f64, u32, 0.0, 0x1p32, 0, UINT32_MAX)
TO_INT(f64, s64, -0x1p63, 0x1p63, INT64_MIN, INT64_MAX)
TO_INT(f64, u64, 0.0, 0x1p64, 0, UINT64_MAX)

static inline s64 emu_clamp_s(s64 x, s64 type)
{
    static const s64 low[] = {
        [EMU_CLAMP_U8] = 0,          [EMU_CLAMP_S8] = INT8_MIN,   [EMU_CLAMP_U16] = 0,
        [EMU_CLAMP_S16] = INT16_MIN, [EMU_CLAMP_U32] = 0,         [EMU_CLAMP_S32] = INT32_MIN,
        [EMU_CLAMP_U64] = 0,         [EMU_CLAMP_S64] = INT64_MIN, [EMU_CLAMP_U4] = 0,
        [EMU_CLAMP_S4] = -8};
    static const s64 high[] = {
        [EMU_CLAMP_U8] = UINT8_MAX,  [EMU_CLAMP_S8] = INT8_MAX,    [EMU_CLAMP_U16] = UINT16_MAX,
        [EMU_CLAMP_S16] = INT16_MAX, [EMU_CLAMP_U32] = UINT32_MAX, [EMU_CLAMP_S32] = INT32_MAX,
        [EMU_CLAMP_U64] = INT64_MAX, [EMU_CLAMP_S64] = INT64_MAX,  [EMU_CLAMP_U4] = 15,
        [EMU_CLAMP_S4] = 7};
    return x < low[type] ? low[type] : x > high[type] ? high[type] : x;
}

static inline u64 emu_clamp_u(u64 x, s64 type)
{
    u64 high = type == EMU_CLAMP_U64 ? UINT64_MAX : (u64)emu_clamp_s(INT64_MAX, type);
    return x > high ? high : x;
}

static inline f64 emu_f64_of_f32(f32 x)
{
    return (f64)x;
}

/* ---- formats of 16 bits and fewer, in any rounding ---- */

typedef enum emu_small_format {
    EMU_SMALL_F16,
    EMU_SMALL_BF16,
    EMU_SMALL_E4M3,
    EMU_SMALL_E5M2,
    EMU_SMALL_E2M3,
    EMU_SMALL_E3M2,
    EMU_SMALL_E2M1
} emu_small_format;

typedef struct emu_small_info {
    u8 mantissa; /* bits */
    s16 emin;    /* exponent of the smallest normal number */
    u16 max;     /* bits of the largest finite number */
    u16 inf;     /* bits of infinity, 0 where there is none */
    u16 nan;     /* bits of NaN, 0 where there is none */
    u16 sign;
} emu_small_info;

static const emu_small_info emu_smalls[] = {
    [EMU_SMALL_F16] = {10, -14, 0x7bff, 0x7c00, 0x7fff, 0x8000},
    [EMU_SMALL_BF16] = {7, -126, 0x7f7f, 0x7f80, 0x7fff, 0x8000},
    [EMU_SMALL_E4M3] = {3, -6, 0x7e, 0, 0x7f, 0x80},
    [EMU_SMALL_E5M2] = {2, -14, 0x7b, 0x7c, 0x7f, 0x80},
    [EMU_SMALL_E2M3] = {3, 0, 0x1f, 0, 0, 0x20},
    [EMU_SMALL_E3M2] = {2, -2, 0x1f, 0, 0, 0x20},
    [EMU_SMALL_E2M1] = {1, 0, 0x7, 0, 0, 0x8},
};

/* Magnitude of |x| in the format, as bits, without regard to overflow; x is finite. `extra` is
 * added below the last bit kept, in units of 2^-32 of it, before the rest is cut off. */
static u32 emu_small_cut(f32 x, const emu_small_info *f, u32 round, bool negative, u32 extra)
{
    f64 scaled = fabs((f64)x);
    int exponent;
    frexp(scaled, &exponent);
    exponent -= 1;
    if (scaled == 0 || exponent < f->emin)
        exponent = f->emin;
    f64 units = ldexp(scaled, f->mantissa - exponent);
    f64 whole = floor(units), rest = units - whole;
    u64 n = (u64)whole;
    bool up = false;
    switch (round) {
    case EMU_ROUND_RN: up = rest > 0.5 || (rest == 0.5 && (n & 1)); break;
    case EMU_ROUND_RNA: up = rest >= 0.5; break;
    case EMU_ROUND_RM: up = negative && rest > 0; break;
    case EMU_ROUND_RP: up = !negative && rest > 0; break;
    case EMU_ROUND_RS: up = rest * 0x1p32 + extra >= 0x1p32; break;
    default: break;
    }
    n += up;
    /* A mantissa that rounds up to the next power of two carries into the exponent by itself. */
    u64 biased = (u64)(exponent - f->emin);
    return n == 0 ? 0 : (u32)(n + (biased << f->mantissa));
}

static u16 emu_small_round(f32 x, emu_small_format format, s64 imm, u32 extra)
{
    const emu_small_info *f = &emu_smalls[format];
    u32 round = (u32)(imm >> 8 & 7);
    bool negative = f32_bits(x) >> 31;
    if (x != x)
        return f->nan ? f->nan : f->max;
    if (imm & EMU_HALF_RELU && (negative || x == 0))
        return 0;
    u16 sign = negative ? f->sign : 0;
    if (isinf(x))
        return sign | (imm & EMU_HALF_SATFINITE || !f->inf ? f->max : f->inf);
    u32 bits = emu_small_cut(x, f, round, negative, extra);
    if (bits <= f->max)
        return (u16)(sign | bits);
    bool down = round == EMU_ROUND_RZ || (round == EMU_ROUND_RM && !negative) ||
                (round == EMU_ROUND_RP && negative);
    if (imm & EMU_HALF_SATFINITE || down || round == EMU_ROUND_RS)
        return sign | f->max;
    return sign | (f->inf ? f->inf : f->nan);
}

static inline u16 emu_small(f32 x, emu_small_format format, s64 imm)
{
    return emu_small_round(x, format, imm, 0);
}

static inline u16 emu_stochastic(f32 x, u32 random, emu_small_format format, s64 imm)
{
    return emu_small_round(x, format, (imm & 0xff) | EMU_ROUND_RS << 8, random << 16);
}

static f32 emu_small_value(u32 bits, emu_small_format format)
{
    const emu_small_info *f = &emu_smalls[format];
    bool negative = bits & f->sign;
    u32 magnitude = bits & (f->sign - 1u);
    if (magnitude > f->max)
        return f->inf && magnitude == f->inf ? (negative ? -INFINITY : INFINITY)
                                             : f32_of(0x7fffffff);
    u32 mantissa = magnitude & ((1u << f->mantissa) - 1), exponent = magnitude >> f->mantissa;
    f64 value = exponent ? ldexp((f64)(mantissa | 1u << f->mantissa),
                                 (int)exponent - 1 + f->emin - f->mantissa)
                         : ldexp((f64)mantissa, f->emin - f->mantissa);
    return (f32)(negative ? -value : value);
}

static inline u32 emu_h_pair_of_small(u16 pair, emu_small_format format, s64 imm)
{
    f32 low = emu_small_value(pair & 0xff, format), high = emu_small_value(pair >> 8, format);
    return emu_two(emu_small(low, EMU_SMALL_F16, imm), emu_small(high, EMU_SMALL_F16, imm));
}

static inline u16 emu_small_pair_h(u32 pair, emu_small_format format, s64 imm)
{
    u16 low = emu_small(emu_f_of_h((u16)pair), format, imm),
        high = emu_small(emu_f_of_h((u16)(pair >> 16)), format, imm);
    return (u16)(high << 8 | low);
}

static inline u16 emu_small_pair_b(u32 pair, emu_small_format format, s64 imm)
{
    u16 low = emu_small(emu_f_of_b((u16)pair), format, imm),
        high = emu_small(emu_f_of_b((u16)(pair >> 16)), format, imm);
    return (u16)(high << 8 | low);
}

/* tf32 keeps ten bits of the mantissa, in place; the bits below are zero. */
static inline u32 emu_tf32(f32 x, s64 imm)
{
    u32 bits = f32_bits(x), round = (u32)(imm >> 8 & 7);
    if (round == EMU_ROUND_RNA)
        return (x != x ? bits : bits + 0x1000) & ~0x1fffu;
    if (x != x)
        return 0x7fffe000;
    if (imm & EMU_HALF_RELU && (bits >> 31 || x == 0))
        return 0;
    if (isinf(x))
        return imm & EMU_HALF_SATFINITE ? (bits & 0x80000000) | 0x7f7fe000 : bits;
    u32 add = round == EMU_ROUND_RZ ? 0 : 0xfff + (bits >> 13 & 1);
    u32 r = (bits + add) & ~0x1fffu;
    if ((r & 0x7f800000) == 0x7f800000 && imm & EMU_HALF_SATFINITE)
        return (bits & 0x80000000) | 0x7f7fe000;
    return r;
}

/* An exponent alone: 2^(n - 127), 255 is NaN. */
static inline u16 emu_ue8m0(f32 x, s64 imm)
{
    u32 bits = f32_bits(x) & 0x7fffffff;
    if (bits > 0x7f800000)
        return 0xff;
    u32 exponent = bits >> 23;
    bool up = (imm >> 8 & 7) == EMU_ROUND_RP && (exponent ? bits & 0x7fffff : bits > 0x400000);
    exponent += up && exponent < 255;
    return exponent >= 255 ? (imm & EMU_HALF_SATFINITE ? 0xfe : 0xff) : (u16)exponent;
}

static inline u16 emu_b_of_ue8m0(u32 n)
{
    return n == 255 ? 0x7fff : n == 0 ? 0x0040 : (u16)(n << 7);
}

static inline u32 emu_cvt_pack(s32 a, s32 b, u32 c, s64 type)
{
    static const u8 widths[] = {[EMU_CLAMP_U8] = 8,   [EMU_CLAMP_S8] = 8, [EMU_CLAMP_U16] = 16,
                                [EMU_CLAMP_S16] = 16, [EMU_CLAMP_U4] = 4, [EMU_CLAMP_S4] = 4};
    u32 bits = widths[type], ones = (1u << bits) - 1;
    u32 high = (u32)emu_clamp_s(a, type) & ones, low = (u32)emu_clamp_s(b, type) & ones;
    u32 pair = high << bits | low;
    return bits == 16 ? pair : c << 2 * bits | pair;
}

#undef TO_INT
#define V1(...) EMU_DEFINE_V1(__VA_ARGS__)
#define V2(...) EMU_DEFINE_V2(__VA_ARGS__)
#define V3(...) EMU_DEFINE_V3(__VA_ARGS__)
#include "emu/ops_convert.def"

const emu_handler EMU_ISA_NAME(emu_ops_convert)[] = {
#define V1(id, ...) EMU_ROW_BOTH(id)
#define V2(id, ...) EMU_ROW_BOTH(id)
#define V3(id, ...) EMU_ROW_BOTH(id)
#include "emu/ops_convert.def"
};
