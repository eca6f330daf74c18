/* binary16 and bfloat16 handlers. */
#include "emu/ops_fp.h"

/* What the suffixes ask of a half-precision operation. */
#define FTZ(h) (u16)(imm & EMU_HALF_FTZ ? emu_z16(h) : (h))

static inline u16 emu_finish_h(f32 x, s64 imm)
{
    x = imm & EMU_HALF_SAT ? emu_sat32(x) : x;
    x = imm & EMU_HALF_RELU && !(x > 0) && x == x ? 0.0f : x;
    u16 h = emu_h_of_f(x);
    return FTZ(h);
}

static inline u16 emu_finish_b(f32 x, s64 imm)
{
    x = imm & EMU_HALF_SAT ? emu_sat32(x) : x;
    x = imm & EMU_HALF_RELU && !(x > 0) && x == x ? 0.0f : x;
    return emu_b_of_f(x);
}

/* The sum or product of two 11-bit numbers in single precision rounds again to the right half. */
#define BOTH2(name, e)                                      \
    static inline u16 emu_##name##_h(u16 p, u16 q, s64 imm) \
    {                                                       \
        f32 a = emu_f_of_h(FTZ(p)), b = emu_f_of_h(FTZ(q)); \
        return emu_finish_h(e, imm);                        \
    }                                                       \
    static inline u16 emu_##name##_b(u16 p, u16 q, s64 imm) \
    {                                                       \
        f32 a = emu_f_of_b(p), b = emu_f_of_b(q);           \
        return emu_finish_b(e, imm);                        \
    }
BOTH2(add, emu_odd32(emu_odd_sum((f64)a, (f64)b)))
BOTH2(sub, emu_odd32(emu_odd_sum((f64)a, -(f64)b)))
BOTH2(mul, emu_odd32((f64)a *(f64)b))

static inline u16 emu_fma_h(u16 p, u16 q, u16 r, s64 imm)
{
    return emu_finish_h(emu_fma_half(emu_f_of_h(FTZ(p)), emu_f_of_h(FTZ(q)), emu_f_of_h(FTZ(r))),
                        imm);
}

static inline u16 emu_fma_b(u16 p, u16 q, u16 r, s64 imm)
{
    return emu_finish_b(emu_fma_half(emu_f_of_b(p), emu_f_of_b(q), emu_f_of_b(r)), imm);
}

/* min and max choose among the operands' bits; `value` gives what they stand for. */
static inline u16 emu_choose(u16 p, u16 q, f32 a, f32 b, bool low, s64 imm)
{
    u16 sign = (u16)((p ^ q) & 0x8000);
    if (imm & EMU_HALF_XORSIGN) {
        a = fabsf(a);
        b = fabsf(b);
        p &= 0x7fff;
        q &= 0x7fff;
    }
    u16 r = (low ? a < b : a > b) ? p : q;
    r = a == b ? (u16)(low ? p | q : p & q) : r;
    r = b != b ? p : a != a ? q : r;
    bool nan = imm & EMU_HALF_NAN ? a != a || b != b : a != a && b != b;
    r = imm & EMU_HALF_XORSIGN ? (u16)(r | sign) : r;
    return nan ? 0x7fff : r;
}

static inline u16 emu_min_h(u16 p, u16 q, s64 imm)
{
    p = FTZ(p);
    q = FTZ(q);
    return emu_choose(p, q, emu_f_of_h(p), emu_f_of_h(q), true, imm);
}

static inline u16 emu_max_h(u16 p, u16 q, s64 imm)
{
    p = FTZ(p);
    q = FTZ(q);
    return emu_choose(p, q, emu_f_of_h(p), emu_f_of_h(q), false, imm);
}

static inline u16 emu_min_b(u16 p, u16 q, s64 imm)
{
    return emu_choose(p, q, emu_f_of_b(p), emu_f_of_b(q), true, imm);
}

static inline u16 emu_max_b(u16 p, u16 q, s64 imm)
{
    return emu_choose(p, q, emu_f_of_b(p), emu_f_of_b(q), false, imm);
}

static inline u16 emu_nan_h(int p)
{
    return (p & 0x7fff) > 0x7c00 ? 0x7fff : (u16)p;
}

static inline u16 emu_nan_b(int p)
{
    return (p & 0x7fff) > 0x7f80 ? 0x7fff : (u16)p;
}

static inline u16 emu_abs_h(u16 p, s64 imm)
{
    return emu_nan_h(FTZ(p) & 0x7fff);
}

static inline u16 emu_abs_b(u16 p, s64 imm)
{
    (void)imm;
    return emu_nan_b(p & 0x7fff);
}

static inline u16 emu_neg_h(u16 p, s64 imm)
{
    return emu_nan_h(FTZ(p) ^ 0x8000);
}

static inline u16 emu_neg_b(u16 p, s64 imm)
{
    (void)imm;
    return emu_nan_b(p ^ 0x8000);
}

/* GPUs cut the result off where other instructions round. */
static inline u16 emu_cut_h(f32 x, s64 imm)
{
    u16 h = emu_h_of_f(x);
    f32 back = emu_f_of_h(h);
    h = (u16)(back > x && h != 0x7c00 ? h - 1 : h);
    return FTZ(h);
}

static inline u16 emu_ex2_h(u16 p, s64 imm)
{
    return emu_cut_h(exp2f(emu_f_of_h(FTZ(p))), imm);
}

static inline u16 emu_ex2_b(u16 p, s64 imm)
{
    return emu_finish_b(emu_z32(exp2f(emu_z32(emu_f_of_b(p)))), imm);
}

static inline u16 emu_tanh_h(u16 p, s64 imm)
{
    return emu_finish_h(tanhf(emu_f_of_h(p)), imm);
}

static inline u16 emu_tanh_b(u16 p, s64 imm)
{
    return emu_finish_b(tanhf(emu_f_of_b(p)), imm);
}

static inline bool emu_compare(f32 a, f32 b, s64 imm)
{
    switch (imm & 0xff) {
    case EMU_CMP_eq: return a == b;
    case EMU_CMP_ne: return a < b || a > b;
    case EMU_CMP_lt: return a < b;
    case EMU_CMP_le: return a <= b;
    case EMU_CMP_gt: return a > b;
    case EMU_CMP_ge: return a >= b;
    case EMU_CMP_equ: return !(a < b || a > b);
    case EMU_CMP_neu: return a != b;
    case EMU_CMP_ltu: return !(a >= b);
    case EMU_CMP_leu: return !(a > b);
    case EMU_CMP_gtu: return !(a <= b);
    case EMU_CMP_geu: return !(a < b);
    case EMU_CMP_num: return a == a && b == b;
    default: return a != a || b != b;
    }
}

static inline bool emu_compare_h(u16 p, u16 q, s64 imm)
{
    p = imm & 256 ? emu_z16(p) : p;
    q = imm & 256 ? emu_z16(q) : q;
    return emu_compare(emu_f_of_h(p), emu_f_of_h(q), imm);
}

static inline bool emu_compare_b(u16 p, u16 q, s64 imm)
{
    return emu_compare(emu_f_of_b(p), emu_f_of_b(q), imm);
}

#define V1(...) EMU_DEFINE_V1(__VA_ARGS__)
#define V2(...) EMU_DEFINE_V2(__VA_ARGS__)
#define V3(...) EMU_DEFINE_V3(__VA_ARGS__)
#define P2(...) EMU_DEFINE_P2(__VA_ARGS__)
#include "emu/ops_half.def"

const emu_handler EMU_ISA_NAME(emu_ops_half)[] = {
#define V1(id, ...) EMU_ROW_BOTH(id)
#define V2(id, ...) EMU_ROW_BOTH(id)
#define V3(id, ...) EMU_ROW_BOTH(id)
#define P2(id, ...) EMU_ROW_ONE(id)
#include "emu/ops_half.def"
};
