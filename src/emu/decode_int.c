/* Integer arithmetic, bit fields, video instructions. */
#include "emu/decode.h"

static unsigned integer_width(const ir_insn *i)
{
    const ir_type_info *t = emu_type(i, 0);
    return (unsigned)t->bits * t->lanes;
}

/* d = op(sources), all of the first type's width. */
static void simple(emu_decode *d, const ir_insn *i, emu_h h, uint32_t sources)
{
    unsigned bits = integer_width(i);
    emu_ref src[3] = {EMU_NOREF, EMU_NOREF, EMU_NOREF};
    for (uint32_t k = 0; k < sources; k++)
        src[k] = emu_src(d, &i->operands[k + 1], bits);
    emu_emit(d, h, emu_dst(d, &i->operands[0], bits), src[0], src[1], src[2]);
}

#define PICK(table, i) ((table)[emu_int_index((i)->types[0])])

static bool is_pair(const ir_insn *i)
{
    return emu_type(i, 0)->lanes == 2;
}

/* The carry flag: imm bit 0 it is read, bit 1 it is written. */
static void carry(emu_decode *d, const ir_insn *i, emu_h h32, emu_h h64, bool reads)
{
    if (!emu_allow(d, i, IR_S_cc, IR_S_lo, IR_S_hi))
        return;
    unsigned bits = integer_width(i);
    emu_ref c = i->noperands > 3 ? emu_src(d, &i->operands[3], bits) : EMU_NOREF;
    emu_ref a = emu_src(d, &i->operands[1], bits), b = emu_src(d, &i->operands[2], bits);
    emu_insn *in = emu_emit(d, bits == 64 ? h64 : h32, emu_dst(d, &i->operands[0], bits), a, b, c);
    in->imm = (reads ? 1 : 0) | (ir_has(i, IR_S_cc) ? 2 : 0) | (ir_has(i, IR_S_hi) ? 4 : 0) |
              (emu_is_signed(i->types[0]) ? 8 : 0);
}

void emu_decode_add(emu_decode *d, const ir_insn *i)
{
    static const emu_h table[] = EMU_WIDTH6(add);
    if (emu_int_index(i->types[0]) < 0 &&
        !(is_pair(i) && emu_type(i, 0)->kind != IR_KIND_F && emu_type(i, 0)->kind != IR_KIND_BF)) {
        emu_decode_float2(d, i, EMU_FLOAT_ADD);
        return;
    }
    if (ir_has(i, IR_S_cc)) {
        carry(d, i, EMU_H_carry_add_32, EMU_H_carry_add_64, false);
        return;
    }
    if (!emu_allow(d, i, IR_S_sat))
        return;
    simple(d, i,
           is_pair(i)            ? EMU_H_add_16x2
           : ir_has(i, IR_S_sat) ? EMU_H_add_sat_s32
                                 : PICK(table, i),
           2);
}

void emu_decode_sub(emu_decode *d, const ir_insn *i)
{
    static const emu_h table[] = EMU_WIDTH6(sub);
    if (emu_int_index(i->types[0]) < 0 &&
        !(is_pair(i) && emu_type(i, 0)->kind != IR_KIND_F && emu_type(i, 0)->kind != IR_KIND_BF)) {
        emu_decode_float2(d, i, EMU_FLOAT_SUB);
        return;
    }
    if (ir_has(i, IR_S_cc)) {
        carry(d, i, EMU_H_carry_sub_32, EMU_H_carry_sub_64, false);
        return;
    }
    if (!emu_allow(d, i, IR_S_sat))
        return;
    simple(d, i,
           is_pair(i)            ? EMU_H_sub_16x2
           : ir_has(i, IR_S_sat) ? EMU_H_sub_sat_s32
                                 : PICK(table, i),
           2);
}

void emu_decode_addc(emu_decode *d, const ir_insn *i)
{
    carry(d, i, EMU_H_carry_add_32, EMU_H_carry_add_64, true);
}

void emu_decode_subc(emu_decode *d, const ir_insn *i)
{
    carry(d, i, EMU_H_carry_sub_32, EMU_H_carry_sub_64, true);
}

void emu_decode_madc(emu_decode *d, const ir_insn *i)
{
    carry(d, i, EMU_H_carry_mad_32, EMU_H_carry_mad_64, true);
}

/* The product of two n-bit numbers in 2n bits, and 2n bits added to it. */
static void emit_wide_product(emu_decode *d, const ir_insn *i, const emu_h table[4])
{
    unsigned bits = integer_width(i);
    emu_ref a = emu_src(d, &i->operands[1], bits), b = emu_src(d, &i->operands[2], bits);
    emu_ref c = i->noperands > 3 ? emu_src(d, &i->operands[3], 2 * bits) : EMU_NOREF;
    emu_emit(d, table[emu_int_index(i->types[0])], emu_dst(d, &i->operands[0], 2 * bits), a, b, c);
}

void emu_decode_mul(emu_decode *d, const ir_insn *i)
{
    static const emu_h lo[] = EMU_WIDTH6(mul_lo), hi[] = EMU_INT6(mul_hi);
    static const emu_h wides[] = {EMU_H_mul_wide_u16, EMU_H_mul_wide_s16, EMU_H_mul_wide_u32,
                                  EMU_H_mul_wide_s32};
    if (emu_int_index(i->types[0]) < 0) {
        emu_decode_float2(d, i, EMU_FLOAT_MUL);
        return;
    }
    if (!emu_allow(d, i, IR_S_lo, IR_S_hi, IR_S_wide))
        return;
    if (ir_has(i, IR_S_wide))
        emit_wide_product(d, i, wides);
    else
        simple(d, i, ir_has(i, IR_S_hi) ? PICK(hi, i) : PICK(lo, i), 2);
}

void emu_decode_mad(emu_decode *d, const ir_insn *i)
{
    static const emu_h lo[] = EMU_WIDTH6(mad_lo), hi[] = EMU_INT6(mad_hi);
    static const emu_h wides[] = {EMU_H_mad_wide_u16, EMU_H_mad_wide_s16, EMU_H_mad_wide_u32,
                                  EMU_H_mad_wide_s32};
    if (emu_int_index(i->types[0]) < 0) {
        emu_decode_fma(d, i); /* the same since sm_20 */
        return;
    }
    if (ir_has(i, IR_S_cc)) {
        carry(d, i, EMU_H_carry_mad_32, EMU_H_carry_mad_64, false);
        return;
    }
    if (!emu_allow(d, i, IR_S_lo, IR_S_hi, IR_S_wide, IR_S_sat))
        return;
    if (ir_has(i, IR_S_wide))
        emit_wide_product(d, i, wides);
    else if (ir_has(i, IR_S_sat))
        simple(d, i, EMU_H_mad_hi_sat_s32, 3);
    else
        simple(d, i, ir_has(i, IR_S_hi) ? PICK(hi, i) : PICK(lo, i), 3);
}

void emu_decode_mul24(emu_decode *d, const ir_insn *i)
{
    bool s = emu_is_signed(i->types[0]), hi = ir_has(i, IR_S_hi);
    if (emu_allow(d, i, IR_S_lo, IR_S_hi))
        simple(d, i,
               hi  ? (s ? EMU_H_mul24_hi_s32 : EMU_H_mul24_hi_u32)
               : s ? EMU_H_mul24_lo_s32
                   : EMU_H_mul24_lo_u32,
               2);
}

void emu_decode_mad24(emu_decode *d, const ir_insn *i)
{
    bool s = emu_is_signed(i->types[0]), hi = ir_has(i, IR_S_hi);
    if (!emu_allow(d, i, IR_S_lo, IR_S_hi, IR_S_sat))
        return;
    emu_h h = hi  ? (s ? EMU_H_mad24_hi_s32 : EMU_H_mad24_hi_u32)
              : s ? EMU_H_mad24_lo_s32
                  : EMU_H_mad24_lo_u32;
    simple(d, i, ir_has(i, IR_S_sat) ? EMU_H_mad24_hi_sat_s32 : h, 3);
}

#define TYPED(name, sources)                                \
    void emu_decode_##name(emu_decode *d, const ir_insn *i) \
    {                                                       \
        static const emu_h table[] = EMU_INT6(name);        \
        if (emu_allow(d, i, IR_S_none))                     \
            simple(d, i, PICK(table, i), sources);          \
    }
TYPED(sad, 3)
TYPED(rem, 2)

void emu_decode_div(emu_decode *d, const ir_insn *i)
{
    static const emu_h table[] = EMU_INT6(div);
    if (emu_int_index(i->types[0]) < 0)
        emu_decode_float_div(d, i);
    else if (emu_allow(d, i, IR_S_none))
        simple(d, i, PICK(table, i), 2);
}

void emu_decode_abs(emu_decode *d, const ir_insn *i)
{
    unsigned bits = integer_width(i);
    if (emu_int_index(i->types[0]) < 0)
        emu_decode_float1(d, i, EMU_FLOAT_ABS);
    else if (emu_allow(d, i, IR_S_none))
        simple(d, i, bits == 16 ? EMU_H_abs_s16 : bits == 32 ? EMU_H_abs_s32 : EMU_H_abs_s64, 1);
}

void emu_decode_neg(emu_decode *d, const ir_insn *i)
{
    unsigned bits = integer_width(i);
    if (emu_int_index(i->types[0]) < 0)
        emu_decode_float1(d, i, EMU_FLOAT_NEG);
    else if (emu_allow(d, i, IR_S_none))
        simple(d, i, bits == 16 ? EMU_H_neg_s16 : bits == 32 ? EMU_H_neg_s32 : EMU_H_neg_s64, 1);
}

static void int_minmax(emu_decode *d, const ir_insn *i, const emu_h table[6], emu_h relu,
                       const emu_h pair[4])
{
    bool r = ir_has(i, IR_S_relu);
    if (!emu_allow(d, i, IR_S_relu))
        return;
    if (is_pair(i))
        simple(d, i, pair[2 * r + (emu_type(i, 0)->kind == IR_KIND_S)], 2);
    else
        simple(d, i, r ? relu : PICK(table, i), 2);
}

static bool has_integer_type(const ir_insn *i)
{
    ir_kind kind = emu_type(i, 0)->kind;
    return kind == IR_KIND_U || kind == IR_KIND_S || kind == IR_KIND_B;
}

void emu_decode_min(emu_decode *d, const ir_insn *i)
{
    static const emu_h table[] = EMU_INT6(min);
    static const emu_h pair[] = {EMU_H_min_u16x2, EMU_H_min_s16x2, EMU_H_min_u16x2,
                                 EMU_H_min_relu_s16x2};
    if (has_integer_type(i))
        int_minmax(d, i, table, EMU_H_min_relu_s32, pair);
    else
        emu_decode_float_minmax(d, i, true);
}

void emu_decode_max(emu_decode *d, const ir_insn *i)
{
    static const emu_h table[] = EMU_INT6(max);
    static const emu_h pair[] = {EMU_H_max_u16x2, EMU_H_max_s16x2, EMU_H_max_u16x2,
                                 EMU_H_max_relu_s16x2};
    if (has_integer_type(i))
        int_minmax(d, i, table, EMU_H_max_relu_s32, pair);
    else
        emu_decode_float_minmax(d, i, false);
}

/* d:b32 = op(a) */
static void to32(emu_decode *d, const ir_insn *i, emu_h h)
{
    emu_ref a = emu_src(d, &i->operands[1], integer_width(i));
    emu_emit(d, h, emu_dst(d, &i->operands[0], 32), a, EMU_NOREF, EMU_NOREF);
}

void emu_decode_popc(emu_decode *d, const ir_insn *i)
{
    if (emu_allow(d, i, IR_S_none))
        to32(d, i, integer_width(i) == 32 ? EMU_H_popc_32 : EMU_H_popc_64);
}

void emu_decode_clz(emu_decode *d, const ir_insn *i)
{
    if (emu_allow(d, i, IR_S_none))
        to32(d, i, integer_width(i) == 32 ? EMU_H_clz_32 : EMU_H_clz_64);
}

void emu_decode_bfind(emu_decode *d, const ir_insn *i)
{
    static const emu_h table[2][4] = {
        {EMU_H_bfind_u32, EMU_H_bfind_s32, EMU_H_bfind_u64, EMU_H_bfind_s64},
        {EMU_H_bfind_shift_u32, EMU_H_bfind_shift_s32, EMU_H_bfind_shift_u64,
         EMU_H_bfind_shift_s64}};
    if (emu_allow(d, i, IR_S_shiftamt))
        to32(d, i, table[ir_has(i, IR_S_shiftamt)][emu_int_index(i->types[0]) - 2]);
}

void emu_decode_brev(emu_decode *d, const ir_insn *i)
{
    if (emu_allow(d, i, IR_S_none))
        simple(d, i, integer_width(i) == 32 ? EMU_H_brev_32 : EMU_H_brev_64, 1);
}

void emu_decode_fns(emu_decode *d, const ir_insn *i)
{
    if (emu_allow(d, i, IR_S_none))
        simple(d, i, EMU_H_fns_32, 3);
}

void emu_decode_bfe(emu_decode *d, const ir_insn *i)
{
    static const emu_h table[] = {EMU_H_bfe_u32, EMU_H_bfe_s32, EMU_H_bfe_u64, EMU_H_bfe_s64};
    if (!emu_allow(d, i, IR_S_none))
        return;
    unsigned bits = integer_width(i);
    emu_ref a = emu_src(d, &i->operands[1], bits), b = emu_src(d, &i->operands[2], 32);
    emu_ref c = emu_src(d, &i->operands[3], 32);
    emu_emit(d, table[emu_int_index(i->types[0]) - 2], emu_dst(d, &i->operands[0], bits), a, b, c);
}

void emu_decode_bfi(emu_decode *d, const ir_insn *i)
{
    if (!emu_allow(d, i, IR_S_none))
        return;
    unsigned bits = integer_width(i);
    emu_ref a = emu_src(d, &i->operands[1], bits), b = emu_src(d, &i->operands[2], bits);
    emu_ref c = emu_src(d, &i->operands[3], 32), e = emu_src(d, &i->operands[4], 32);
    emu_ref dst = emu_dst(d, &i->operands[0], bits);
    emu_emit(d, bits == 32 ? EMU_H_bfi_32 : EMU_H_bfi_64, dst, a, b, c)->src[3] = e;
}

void emu_decode_bmsk(emu_decode *d, const ir_insn *i)
{
    if (emu_allow(d, i, IR_S_clamp, IR_S_wrap))
        simple(d, i, ir_has(i, IR_S_clamp) ? EMU_H_bmsk_clamp : EMU_H_bmsk_wrap, 2);
}

void emu_decode_szext(emu_decode *d, const ir_insn *i)
{
    bool s = emu_is_signed(i->types[0]), clamp = ir_has(i, IR_S_clamp);
    if (emu_allow(d, i, IR_S_clamp, IR_S_wrap))
        simple(d, i,
               clamp ? (s ? EMU_H_szext_clamp_s32 : EMU_H_szext_clamp_u32)
               : s   ? EMU_H_szext_wrap_s32
                     : EMU_H_szext_wrap_u32,
               2);
}

static void dot(emu_decode *d, const ir_insn *i, emu_h h)
{
    emu_ref a = emu_src(d, &i->operands[1], 32), b = emu_src(d, &i->operands[2], 32);
    emu_ref c = emu_src(d, &i->operands[3], 32);
    emu_emit(d, h, emu_dst(d, &i->operands[0], 32), a, b, c)->imm = emu_is_signed(i->types[0]) |
                                                                    emu_is_signed(i->types[1])
                                                                        << 1 |
                                                                    ir_has(i, IR_S_hi) << 2;
}

void emu_decode_dp4a(emu_decode *d, const ir_insn *i)
{
    if (emu_allow(d, i, IR_S_none))
        dot(d, i, EMU_H_dp4a);
}

void emu_decode_dp2a(emu_decode *d, const ir_insn *i)
{
    if (emu_allow(d, i, IR_S_lo, IR_S_hi))
        dot(d, i, EMU_H_dp2a);
}
