/* Floating-point arithmetic of all widths. */
#include "emu/decode.h"

static bool is_bf(const ir_insn *i)
{
    return emu_type(i, 0)->kind == IR_KIND_BF;
}

/* 0 f16, 1 bf16, 2 f16x2, 3 bf16x2; -1: not of 16 bits. */
static int half_index(const ir_insn *i)
{
    const ir_type_info *t = emu_type(i, 0);
    if (t->bits != 16 || (t->kind != IR_KIND_F && t->kind != IR_KIND_BF))
        return -1;
    return is_bf(i) + 2 * (t->lanes == 2);
}

static s64 half_flags(const ir_insn *i)
{
    return (ir_has(i, IR_S_ftz) ? EMU_HALF_FTZ : 0) | (ir_has(i, IR_S_sat) ? EMU_HALF_SAT : 0) |
           (ir_has(i, IR_S_relu) ? EMU_HALF_RELU : 0) | (ir_has(i, IR_S_NaN) ? EMU_HALF_NAN : 0) |
           (ir_has(i, IR_S_xorsign) ? EMU_HALF_XORSIGN : 0);
}

/* The operation over all sources in the first type; `mode` of rounding. */
static void emit_arithmetic(emu_decode *d, const ir_insn *i, emu_h h, uint32_t sources, s64 imm,
                            uint32_t mode)
{
    const ir_type_info *t = emu_type(i, 0);
    unsigned bits = (unsigned)t->bits * t->lanes;
    emu_ref src[3] = {EMU_NOREF, EMU_NOREF, EMU_NOREF};
    for (uint32_t k = 0; k < sources; k++)
        src[k] = emu_src_typed(d, &i->operands[k + 1], i->types[0]);
    emu_emit(d, h, emu_dst(d, &i->operands[0], bits), src[0], src[1], src[2])->imm = imm;
    emu_emit_rounded(d, mode);
}

#define HALF4(name) \
    {EMU_H_##name##_f16, EMU_H_##name##_bf16, EMU_H_##name##_f16x2, EMU_H_##name##_bf16x2}
#define SINGLE4(name) \
    {EMU_H_##name##_f32, EMU_H_##name##_ftz_f32, EMU_H_##name##_sat_f32, EMU_H_##name##_ftz_sat_f32}

static uint32_t single_index(const ir_insn *i)
{
    return (uint32_t)ir_has(i, IR_S_ftz) + 2 * (uint32_t)ir_has(i, IR_S_sat);
}

typedef struct float_ops { /* the handlers of an operation in every format */
    emu_h half[4], single[4], twice, pair;
} float_ops;

static const float_ops adds = {HALF4(add), SINGLE4(add), EMU_H_add_f64, EMU_H_add_f32x2};
static const float_ops subs = {HALF4(sub), SINGLE4(sub), EMU_H_sub_f64, EMU_H_sub_f32x2};
static const float_ops muls = {HALF4(mul), SINGLE4(mul), EMU_H_mul_f64, EMU_H_mul_f32x2};
static const float_ops fmas = {HALF4(fma), SINGLE4(fma), EMU_H_fma_f64, EMU_H_fma_f32x2};

static void any_format(emu_decode *d, const ir_insn *i, const float_ops *ops, uint32_t sources)
{
    const ir_type_info *t = emu_type(i, 0);
    int half = half_index(i);
    if (!emu_allow(d, i, IR_S_rn, IR_S_rz, IR_S_rm, IR_S_rp, IR_S_ftz, IR_S_sat, IR_S_relu))
        return;
    if (half >= 0) {
        if (emu_rounding(i) != EMU_ROUND_RN)
            emu_unsupported(d, "half precision rounds to nearest even alone");
        emit_arithmetic(d, i, ops->half[half], sources, half_flags(i), EMU_ROUND_RN);
    } else if (t->kind == IR_KIND_F && t->bits == 32 && t->lanes == 2) {
        emit_arithmetic(d, i, ops->pair, sources, ir_has(i, IR_S_ftz), emu_rounding(i));
    } else if (t->kind == IR_KIND_F && t->bits == 32) {
        bool first_mad = i->op == IR_mad && !ir_insn_form(i); /* compiled as fma.rn.ftz */
        emit_arithmetic(d, i, ops->single[single_index(i) | first_mad], sources, 0,
                        emu_rounding(i));
    } else if (t->kind == IR_KIND_F && t->bits == 64) {
        emit_arithmetic(d, i, ops->twice, sources, 0, emu_rounding(i));
    } else {
        emu_unsupported(d, "the type .%s is not supported", t->text);
    }
}

/* add, sub and fma of f32 with one or two operands of 16 bits. */
static bool is_mixed(const ir_insn *i)
{
    return i->types[1] != IR_T_none;
}

static emu_ref widened(emu_decode *d, const ir_operand *o, ir_type type)
{
    emu_ref half = emu_src(d, o, 16), temp = emu_temp(d, 32);
    emu_emit(d, ir_type_get(type)->kind == IR_KIND_BF ? EMU_H_cvt_f32_bf16 : EMU_H_cvt_f32_f16,
             temp, half, EMU_NOREF, EMU_NOREF);
    return temp;
}

static void mixed(emu_decode *d, const ir_insn *i, const float_ops *ops, uint32_t sources)
{
    if (!emu_allow(d, i, IR_S_rn, IR_S_rz, IR_S_rm, IR_S_rp, IR_S_sat))
        return;
    emu_ref src[3] = {EMU_NOREF, EMU_NOREF, EMU_NOREF};
    uint32_t narrow = sources - 1; /* all but the last operand */
    for (uint32_t k = 0; k < sources; k++)
        src[k] = k < narrow ? widened(d, &i->operands[k + 1], i->types[1])
                            : emu_src_typed(d, &i->operands[k + 1], i->types[0]);
    emu_emit(d, ops->single[single_index(i)], emu_dst(d, &i->operands[0], 32), src[0], src[1],
             src[2]);
    emu_emit_rounded(d, emu_rounding(i));
}

void emu_decode_float2(emu_decode *d, const ir_insn *i, emu_float_op op)
{
    const float_ops *ops = op == EMU_FLOAT_ADD ? &adds : op == EMU_FLOAT_SUB ? &subs : &muls;
    if (is_mixed(i))
        mixed(d, i, ops, 2);
    else
        any_format(d, i, ops, 2);
}

void emu_decode_fma(emu_decode *d, const ir_insn *i)
{
    if (is_mixed(i))
        mixed(d, i, &fmas, 3);
    else
        any_format(d, i, &fmas, 3);
}

void emu_decode_float1(emu_decode *d, const ir_insn *i, emu_float_op op)
{
    static const emu_h half_abs[] = HALF4(abs), half_neg[] = HALF4(neg);
    const ir_type_info *t = emu_type(i, 0);
    bool abs = op == EMU_FLOAT_ABS, ftz = ir_has(i, IR_S_ftz);
    int half = half_index(i);
    if (!emu_allow(d, i, IR_S_ftz))
        return;
    if (half >= 0)
        emit_arithmetic(d, i, abs ? half_abs[half] : half_neg[half], 1, half_flags(i),
                        EMU_ROUND_RN);
    else if (t->bits == 64)
        emit_arithmetic(d, i, abs ? EMU_H_abs_f64 : EMU_H_neg_f64, 1, 0, EMU_ROUND_RN);
    else
        emit_arithmetic(d, i,
                        abs   ? (ftz ? EMU_H_abs_ftz_f32 : EMU_H_abs_f32)
                        : ftz ? EMU_H_neg_ftz_f32
                              : EMU_H_neg_f32,
                        1, 0, EMU_ROUND_RN);
}

void emu_decode_float_minmax(emu_decode *d, const ir_insn *i, bool min)
{
    static const emu_h half_min[] = HALF4(min), half_max[] = HALF4(max);
    const ir_type_info *t = emu_type(i, 0);
    int half = half_index(i);
    if (!emu_allow(d, i, IR_S_ftz, IR_S_NaN, IR_S_xorsign, IR_S_abs))
        return;
    s64 mode = ir_has(i, IR_S_ftz) | ir_has(i, IR_S_NaN) << 1 | ir_has(i, IR_S_xorsign) << 2 |
               ir_has(i, IR_S_abs) << 3;
    emu_h h = half >= 0       ? (min ? half_min[half] : half_max[half])
              : t->bits == 64 ? (min ? EMU_H_min_f64 : EMU_H_max_f64)
              : mode          ? (min ? EMU_H_min_mode_f32 : EMU_H_max_mode_f32)
              : min           ? EMU_H_min_f32
                              : EMU_H_max_f32;
    s64 imm = half >= 0 ? half_flags(i) : mode;
    if (i->noperands == 3) {
        emit_arithmetic(d, i, h, 2, imm, EMU_ROUND_RN);
        return;
    }
    unsigned bits = t->bits;
    emu_ref a = emu_src_typed(d, &i->operands[1], i->types[0]),
            b = emu_src_typed(d, &i->operands[2], i->types[0]);
    emu_ref c = emu_src_typed(d, &i->operands[3], i->types[0]), temp = emu_temp(d, bits);
    emu_emit(d, h, temp, a, b, EMU_NOREF)->imm = imm;
    emu_emit(d, h, emu_dst(d, &i->operands[0], bits), temp, c, EMU_NOREF)->imm = imm;
}

void emu_decode_float_div(emu_decode *d, const ir_insn *i)
{
    bool ftz = ir_has(i, IR_S_ftz), approx = ir_has(i, IR_S_approx);
    if (!emu_allow(d, i, IR_S_rn, IR_S_rz, IR_S_rm, IR_S_rp, IR_S_ftz, IR_S_approx, IR_S_full))
        return;
    if (emu_type(i, 0)->bits == 64)
        emit_arithmetic(d, i, EMU_H_div_f64, 2, 0, emu_rounding(i));
    else if (approx)
        emit_arithmetic(d, i, ftz ? EMU_H_div_approx_ftz_f32 : EMU_H_div_approx_f32, 2, 0,
                        EMU_ROUND_RN);
    else
        emit_arithmetic(d, i, ftz ? EMU_H_div_ftz_f32 : EMU_H_div_f32, 2, 0, emu_rounding(i));
}

/* rcp, sqrt, rsqrt and the transcendental functions of one operand. */
static void function(emu_decode *d, const ir_insn *i, emu_h single, emu_h flushed, emu_h twice,
                     emu_h gross)
{
    bool ftz = ir_has(i, IR_S_ftz);
    if (!emu_allow(d, i, IR_S_rn, IR_S_rz, IR_S_rm, IR_S_rp, IR_S_ftz, IR_S_approx))
        return;
    if (emu_type(i, 0)->bits == 64)
        emit_arithmetic(d, i, ir_has(i, IR_S_approx) && ftz ? gross : twice, 1, 0, emu_rounding(i));
    else
        emit_arithmetic(d, i, ftz ? flushed : single, 1, 0, emu_rounding(i));
}

void emu_decode_rcp(emu_decode *d, const ir_insn *i)
{
    function(d, i, EMU_H_rcp_f32, EMU_H_rcp_ftz_f32, EMU_H_rcp_f64, EMU_H_rcp_gross_f64);
}

void emu_decode_sqrt(emu_decode *d, const ir_insn *i)
{
    function(d, i, EMU_H_sqrt_f32, EMU_H_sqrt_ftz_f32, EMU_H_sqrt_f64, EMU_H_sqrt_f64);
}

void emu_decode_rsqrt(emu_decode *d, const ir_insn *i)
{
    function(d, i, EMU_H_rsqrt_f32, EMU_H_rsqrt_ftz_f32, EMU_H_rsqrt_f64, EMU_H_rsqrt_gross_f64);
}

void emu_decode_sin(emu_decode *d, const ir_insn *i)
{
    function(d, i, EMU_H_sin_f32, EMU_H_sin_ftz_f32, EMU_H_COUNT, EMU_H_COUNT);
}

void emu_decode_cos(emu_decode *d, const ir_insn *i)
{
    function(d, i, EMU_H_cos_f32, EMU_H_cos_ftz_f32, EMU_H_COUNT, EMU_H_COUNT);
}

void emu_decode_lg2(emu_decode *d, const ir_insn *i)
{
    function(d, i, EMU_H_lg2_f32, EMU_H_lg2_ftz_f32, EMU_H_COUNT, EMU_H_COUNT);
}

void emu_decode_ex2(emu_decode *d, const ir_insn *i)
{
    static const emu_h halves[] = HALF4(ex2);
    int half = half_index(i);
    if (half < 0)
        function(d, i, EMU_H_ex2_f32, EMU_H_ex2_ftz_f32, EMU_H_COUNT, EMU_H_COUNT);
    else if (emu_allow(d, i, IR_S_approx, IR_S_ftz))
        emit_arithmetic(d, i, halves[half], 1, half_flags(i), EMU_ROUND_RN);
}

void emu_decode_tanh(emu_decode *d, const ir_insn *i)
{
    static const emu_h halves[] = HALF4(tanh);
    int half = half_index(i);
    if (!emu_allow(d, i, IR_S_approx))
        return;
    emit_arithmetic(d, i, half < 0 ? EMU_H_tanh_f32 : halves[half], 1, 0, EMU_ROUND_RN);
}

void emu_decode_copysign(emu_decode *d, const ir_insn *i)
{
    if (emu_allow(d, i, IR_S_none))
        emit_arithmetic(d, i, emu_type(i, 0)->bits == 64 ? EMU_H_copysign_f64 : EMU_H_copysign_f32,
                        2, 0, EMU_ROUND_RN);
}

void emu_decode_testp(emu_decode *d, const ir_insn *i)
{
#define ROW(name)                                              \
    {                                                          \
        IR_S_##name,                                           \
        {                                                      \
            EMU_H_testp_##name##_f32, EMU_H_testp_##name##_f64 \
        }                                                      \
    }
    static const struct {
        ir_suffix suffix;
        emu_h h[2];
    } table[] = {ROW(finite),     ROW(infinite), ROW(number),
                 ROW(notanumber), ROW(normal),   ROW(subnormal)};
#undef ROW
    unsigned bits = emu_type(i, 0)->bits;
    for (size_t k = 0; k < sizeof table / sizeof *table; k++)
        if (ir_has(i, table[k].suffix)) {
            emu_ref a = emu_src_typed(d, &i->operands[1], i->types[0]);
            emu_emit(d, table[k].h[bits == 64], emu_pred_dst(d, &i->operands[0]), a, EMU_NOREF,
                     EMU_NOREF);
            return;
        }
    emu_unsupported(d, "this test is not supported");
}
