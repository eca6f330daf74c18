/* cvt: a source is brought to 32 or 64 bits, converted, rounded and clamped, and cut to its
 * destination. */
#include "emu/decode.h"

typedef struct conversion {
    emu_decode *d;
    const ir_insn *i;
    const ir_type_info *to, *from;
    uint32_t round; /* EMU_ROUND_*, of rn..rp and rni..rpi alike */
    bool integral;  /* .rni and the like */
    bool ftz, sat;
    s64 flags; /* immediate of the half-precision conversions */
} conversion;

static bool integer_typed(const ir_type_info *t)
{
    return t->kind == IR_KIND_U || t->kind == IR_KIND_S;
}

static bool is_float(const ir_type_info *t, unsigned bits)
{
    return t->kind == IR_KIND_F && t->bits == bits && t->lanes == 1;
}

static uint32_t rounding(const ir_insn *i, bool *integral)
{
    *integral = true;
    if (ir_has(i, IR_S_rni))
        return EMU_ROUND_RN;
    if (ir_has(i, IR_S_rzi))
        return EMU_ROUND_RZ;
    if (ir_has(i, IR_S_rmi))
        return EMU_ROUND_RM;
    if (ir_has(i, IR_S_rpi))
        return EMU_ROUND_RP;
    *integral = false;
    return ir_has(i, IR_S_rna)  ? EMU_ROUND_RNA
           : ir_has(i, IR_S_rs) ? EMU_ROUND_RS
                                : emu_rounding(i);
}

static s64 clamp_of(const ir_type_info *t)
{
    bool s = t->kind == IR_KIND_S;
    switch (t->bits) {
    case 4: return s ? EMU_CLAMP_S4 : EMU_CLAMP_U4;
    case 8: return s ? EMU_CLAMP_S8 : EMU_CLAMP_U8;
    case 16: return s ? EMU_CLAMP_S16 : EMU_CLAMP_U16;
    case 32: return s ? EMU_CLAMP_S32 : EMU_CLAMP_U32;
    default: return s ? EMU_CLAMP_S64 : EMU_CLAMP_U64;
    }
}

static emu_ref emit_step(conversion *c, emu_h h, unsigned bits, emu_ref from)
{
    emu_ref to = emu_temp(c->d, bits);
    emu_emit(c->d, h, to, from, EMU_NOREF, EMU_NOREF);
    return to;
}

/* ---- integers ---- */

/* Reads an integer of type t from a vector of `have` bits and extends it to `want` bits (32 or 64).
 */
static emu_ref extended(conversion *c, emu_ref ref, const ir_type_info *t, unsigned have,
                        unsigned want)
{
    bool s = t->kind == IR_KIND_S;
    unsigned bits = t->bits;
    if (have == 16) {
        if (bits == 8)
            return emit_step(c,
                             want == 32 ? (s ? EMU_H_ext_s8_32 : EMU_H_ext_u8_32)
                             : s        ? EMU_H_ext_s8_64
                                        : EMU_H_ext_u8_64,
                             want, ref);
        return emit_step(c,
                         want == 32 ? (s ? EMU_H_ext_s16_32 : EMU_H_ext_u16_32)
                         : s        ? EMU_H_ext_s16_64
                                    : EMU_H_ext_u16_64,
                         want, ref);
    }
    if (have == 64 && bits < 64)
        ref = emit_step(c, EMU_H_trunc_64_32, 32, ref), have = 32;
    if (have == 32 && bits == 8)
        ref = emit_step(c, s ? EMU_H_ext_s8_in32 : EMU_H_ext_u8_in32, 32, ref);
    if (have == 32 && bits == 16)
        ref = emit_step(c, s ? EMU_H_ext_s16_in32 : EMU_H_ext_u16_in32, 32, ref);
    if (have < want)
        ref = emit_step(c, s ? EMU_H_ext_s32_64 : EMU_H_ext_u32_64, 64, ref);
    return ref;
}

static emu_h narrow_in(unsigned have, const ir_type_info *t)
{
    bool s = t->kind == IR_KIND_S;
    if (have == 16)
        return s ? EMU_H_ext_s8_16 : EMU_H_ext_u8_16;
    if (have == 32)
        return t->bits == 8 ? (s ? EMU_H_ext_s8_in32 : EMU_H_ext_u8_in32)
               : s          ? EMU_H_ext_s16_in32
                            : EMU_H_ext_u16_in32;
    return t->bits == 8    ? (s ? EMU_H_ext_s8_in64 : EMU_H_ext_u8_in64)
           : t->bits == 16 ? (s ? EMU_H_ext_s16_in64 : EMU_H_ext_u16_in64)
           : s             ? EMU_H_ext_s32_in64
                           : EMU_H_ext_u32_in64;
}

static emu_h resize_of(unsigned have, unsigned want, bool s)
{
    if (have == want)
        return EMU_BY_WIDTH(want, EMU_H_mov);
    if (have > want)
        return have == 32 ? EMU_H_trunc_32_16 : want == 16 ? EMU_H_trunc_64_16 : EMU_H_trunc_64_32;
    return have == 16 ? (want == 32 ? (s ? EMU_H_ext_s16_32 : EMU_H_ext_u16_32)
                         : s        ? EMU_H_ext_s16_64
                                    : EMU_H_ext_u16_64)
           : s        ? EMU_H_ext_s32_64
                      : EMU_H_ext_u32_64;
}

/* Writes an integer of 32 or 64 bits to the destination register: cut to the type, then extended to
 * the register. */
static void write_int(conversion *c, emu_ref ref, unsigned have)
{
    const ir_operand *dst = &c->i->operands[0];
    unsigned reg = dst->kind == IR_OPD_SINK ? (c->to->bits < 16 ? 16 : c->to->bits)
                                            : emu_reg_bits(c->d, dst);
    emu_ref to = emu_dst(c->d, dst, reg);
    if (c->to->bits >= have && reg == have) {
        emu_emit(c->d, EMU_BY_WIDTH(reg, EMU_H_mov), to, ref, EMU_NOREF, EMU_NOREF);
        return;
    }
    if (reg <= c->to->bits || c->to->bits == have) {
        emu_emit(c->d, resize_of(have, reg, c->to->kind == IR_KIND_S), to, ref, EMU_NOREF,
                 EMU_NOREF);
        return;
    }
    if (have != reg) {
        emu_ref temp = emu_temp(c->d, reg);
        emu_emit(c->d, resize_of(have, reg, c->to->kind == IR_KIND_S), temp, ref, EMU_NOREF,
                 EMU_NOREF);
        ref = temp;
    }
    emu_emit(c->d, narrow_in(reg, c->to), to, ref, EMU_NOREF, EMU_NOREF);
}

static unsigned source_bits(const conversion *c)
{
    const ir_operand *src = &c->i->operands[1];
    unsigned bits = emu_reg_bits(c->d, src);
    return bits ? bits : c->from->bits < 16 ? 16 : c->from->bits;
}

/* The commonest: one handler, register to register. */
static bool int_to_int_direct(conversion *c)
{
    unsigned have = source_bits(c);
    unsigned want = emu_reg_bits(c->d, &c->i->operands[0]);
    if (c->sat || have != c->from->bits || want != c->to->bits || have < 16 || want < 16)
        return false;
    emu_ref from = emu_src(c->d, &c->i->operands[1], have);
    emu_h h = resize_of(have, want, c->from->kind == IR_KIND_S);
    emu_emit(c->d, h, emu_dst(c->d, &c->i->operands[0], want), from, EMU_NOREF, EMU_NOREF);
    return true;
}

static void int_to_int(conversion *c)
{
    if (int_to_int_direct(c))
        return;
    unsigned have = source_bits(c);
    unsigned want = c->sat || c->from->bits == 64 || c->to->bits == 64 ||
                            emu_reg_bits(c->d, &c->i->operands[0]) == 64
                        ? 64
                        : 32;
    emu_ref ref = extended(c, emu_src(c->d, &c->i->operands[1], have), c->from, have, want);
    if (c->sat) {
        bool u = c->from->kind == IR_KIND_U;
        emu_ref clamped = emu_temp(c->d, 64);
        emu_emit(c->d, u ? EMU_H_clamp_u64 : EMU_H_clamp_s64, clamped, ref, EMU_NOREF, EMU_NOREF)
            ->imm = clamp_of(c->to);
        ref = clamped;
    }
    write_int(c, ref, want);
}

/* ---- floating point ---- */

/* Writes a floating-point value; its register may be wider than the type, as 16-bit values in
 * 32-bit registers are. */
static void write_bits(conversion *c, emu_ref ref, unsigned have)
{
    const ir_operand *dst = &c->i->operands[0];
    unsigned reg = emu_reg_bits(c->d, dst);
    emu_ref to = emu_dst(c->d, dst, reg ? reg : have);
    emu_emit(c->d, reg <= have ? EMU_BY_WIDTH(have, EMU_H_mov) : resize_of(have, reg, false), to,
             ref, EMU_NOREF, EMU_NOREF);
}

/* The source as single or double precision. */
static emu_ref float_source(conversion *c, unsigned *bits)
{
    const ir_operand *src = &c->i->operands[1];
    unsigned have = c->from->bits;
    *bits = have == 64 ? 64 : 32;
    if (have == 16) {
        emu_ref half = emu_src_cut(c->d, src, 16);
        emu_h h = c->to->bits == 64 ? EMU_H_keep_f32_f16 : EMU_H_cvt_f32_f16;
        return emit_step(c, c->from->kind == IR_KIND_BF ? EMU_H_cvt_f32_bf16 : h, 32, half);
    }
    emu_ref ref = emu_src_typed(c->d, src, c->i->types[1] == IR_T_tf32 ? IR_T_f32 : c->i->types[1]);
    if (!c->ftz || have != 32 || (c->to->bits == 16 && !integer_typed(c->to)))
        return ref;
    ref = emit_step(c, EMU_H_flush_f32, 32, ref);
    return c->to->bits == 64 ? emit_step(c, EMU_H_canonical_f32, 32, ref) : ref;
}

#define ROUNDS(op, F) \
    {EMU_H_##op##_rni_##F, EMU_H_##op##_rzi_##F, EMU_H_##op##_rmi_##F, EMU_H_##op##_rpi_##F}
#define INTS(r, F)                                                              \
    {EMU_H_cvt_##r##_s32_##F, EMU_H_cvt_##r##_u32_##F, EMU_H_cvt_##r##_s64_##F, \
     EMU_H_cvt_##r##_u64_##F}

static void float_to_int(conversion *c)
{
    static const emu_h table[2][4][4] = {
        {INTS(rni, f32), INTS(rzi, f32), INTS(rmi, f32), INTS(rpi, f32)},
        {INTS(rni, f64), INTS(rzi, f64), INTS(rmi, f64), INTS(rpi, f64)}};
    unsigned bits, want = c->to->bits == 64 ? 64 : 32;
    emu_ref ref = float_source(c, &bits);
    bool small = c->to->bits < 32, u = c->to->kind == IR_KIND_U && !small;
    emu_ref wide = emit_step(c, table[bits == 64][c->round][2 * (want == 64) + u], want, ref);
    bool nan = bits == 64 || want == 64; /* a NaN gives 100...0 there, else 0 */
    if (!small && !nan) {
        write_int(c, wide, want);
        return;
    }
    if (want == 32)
        wide = emit_step(c, u ? EMU_H_ext_u32_64 : EMU_H_ext_s32_64, 64, wide);
    if (small) { /* a smaller integer is clamped to its own limits */
        emu_ref clamped = emu_temp(c->d, 64);
        emu_emit(c->d, EMU_H_clamp_s64, clamped, wide, EMU_NOREF, EMU_NOREF)->imm = clamp_of(c->to);
        wide = clamped;
    }
    if (nan) {
        emu_ref chosen = emu_temp(c->d, 64);
        emu_emit(c->d, bits == 64 ? EMU_H_nan_f64 : EMU_H_nan_s64, chosen, wide, ref, EMU_NOREF)
            ->imm = (s64)(UINT64_C(1) << (c->to->bits - 1));
        wide = chosen;
    }
    write_int(c, wide, 64);
}

/* From single or double precision to what the instruction names. */
static void write_float(conversion *c, emu_ref ref, unsigned bits)
{
    emu_decode *d = c->d;
    bool bf = c->to->kind == IR_KIND_BF;
    if (c->to->bits == 16) {
        emu_ref twice = ref, half = emu_temp(d, 16);
        if (bits == 64)
            ref = emit_step(c, EMU_H_odd_f32_f64, 32, ref);
        bool plain = c->flags == 0;
        emu_h h = plain ? (bf ? EMU_H_cvt_bf16_f32 : EMU_H_cvt_f16_f32)
                  : bf  ? EMU_H_cvt_mode_bf16_f32
                        : EMU_H_cvt_mode_f16_f32;
        emu_emit(d, h, half, ref, EMU_NOREF, EMU_NOREF)->imm = c->flags;
        if (bits == 64) { /* a NaN keeps what bits there is room for */
            emu_ref kept = emu_temp(d, 16);
            emu_emit(d, bf ? EMU_H_nan_bf16_f64 : EMU_H_nan_f16_f64, kept, half, twice, EMU_NOREF);
            half = kept;
        }
        write_bits(c, half, 16);
        return;
    }
    if (c->to->bits != bits) {
        if (bits == 64 && c->ftz) /* flushed before it is rounded */
            ref = emit_step(c, EMU_H_tiny_f64, 64, ref);
        emu_ref other = emit_step(c, bits == 64 ? EMU_H_cvt_f32_f64 : EMU_H_cvt_f64_f32,
                                  c->to->bits, ref);
        if (bits == 64)
            emu_emit_rounded(d, c->round);
        ref = other;
    }
    if (c->sat)
        ref = emit_step(c, c->to->bits == 64 ? EMU_H_saturate_f64 : EMU_H_saturate_f32, c->to->bits,
                        ref);
    if (c->ftz && c->to->bits == 32)
        ref = emit_step(c, EMU_H_flush_f32, 32, ref);
    write_bits(c, ref, c->to->bits);
}

static void float_to_float(conversion *c)
{
    static const emu_h rounds[2][4] = {ROUNDS(round, f32), ROUNDS(round, f64)};
    unsigned bits;
    emu_ref ref = float_source(c, &bits);
    if (c->integral)
        ref = emit_step(c, rounds[bits == 64][c->round], bits, ref);
    else if (c->from == c->to && bits == 32 && c->to->bits == 32)
        ref = emit_step(c, EMU_H_canonical_f32, 32, ref);
    if (c->sat && c->to->bits == 16)
        ref = emit_step(c, bits == 64 ? EMU_H_saturate_f64 : EMU_H_saturate_f32, bits, ref);
    write_float(c, ref, bits);
}

static void int_to_float(conversion *c)
{
    static const emu_h table[2][4] = {
        {EMU_H_cvt_f32_s32, EMU_H_cvt_f32_u32, EMU_H_cvt_f32_s64, EMU_H_cvt_f32_u64},
        {EMU_H_cvt_f64_s32, EMU_H_cvt_f64_u32, EMU_H_cvt_f64_s64, EMU_H_cvt_f64_u64}};
    unsigned have = source_bits(c), want = c->from->bits == 64 ? 64 : 32,
             bits = c->to->bits == 32 ? 32 : 64;
    bool u = c->from->kind == IR_KIND_U;
    emu_ref ref = extended(c, emu_src(c->d, &c->i->operands[1], have), c->from, have, want);
    if (c->to->bits == 16 && want == 64) {
        ref = emit_step(c, u ? EMU_H_odd_f64_u64 : EMU_H_odd_f64_s64, 64, ref);
    } else {
        emu_ref real = emit_step(c, table[bits == 64][2 * (want == 64) + u], bits, ref);
        emu_emit_rounded(c->d, c->to->bits == 16 ? EMU_ROUND_RN : c->round);
        ref = real;
    }
    if (c->sat && c->to->bits == 16)
        ref = emit_step(c, EMU_H_saturate_f64, 64, ref);
    write_float(c, ref, bits);
}

/* ---- pairs and small formats ---- */

static void f32_pair(conversion *c)
{
    emu_decode *d = c->d;
    const ir_insn *i = c->i;
    bool bf = c->to->kind == IR_KIND_BF, rs = c->round == EMU_ROUND_RS;
    emu_ref a = emu_src_typed(d, &i->operands[1], IR_T_f32),
            b = emu_src_typed(d, &i->operands[2], IR_T_f32);
    if (c->ftz) {
        a = emit_step(c, EMU_H_flush_f32, 32, a);
        b = emit_step(c, EMU_H_flush_f32, 32, b);
    }
    emu_ref r = rs ? emu_src(d, &i->operands[3], 32) : EMU_NOREF;
    emu_h h = rs         ? (bf ? EMU_H_cvt_rs_bf16x2_f32 : EMU_H_cvt_rs_f16x2_f32)
              : c->flags ? (bf ? EMU_H_cvt_mode_bf16x2_f32 : EMU_H_cvt_mode_f16x2_f32)
              : bf       ? EMU_H_cvt_bf16x2_f32
                         : EMU_H_cvt_f16x2_f32;
    emu_emit(d, h, emu_dst(d, &i->operands[0], 32), a, b, r)->imm = c->flags;
}

static bool small_pair(conversion *c)
{
#define FORMAT(name)                                                             \
    {                                                                            \
        IR_T_##name##x2, EMU_H_cvt_##name##x2_f32, EMU_H_cvt_##name##x2_f16x2,   \
            EMU_H_cvt_##name##x2_bf16x2, EMU_H_cvt_f16x2_##name##x2, EMU_H_COUNT \
    }
    static const struct {
        ir_type type;
        emu_h of_f32, of_f16x2, of_bf16x2, to_f16x2, to_bf16x2;
    } table[] = {
        FORMAT(e4m3),
        FORMAT(e5m2),
        FORMAT(e2m3),
        FORMAT(e3m2),
        {IR_T_e2m1x2, EMU_H_cvt_e2m1x2_f32, EMU_H_COUNT, EMU_H_COUNT, EMU_H_cvt_f16x2_e2m1x2,
         EMU_H_COUNT},
        {IR_T_ue8m0x2, EMU_H_cvt_ue8m0x2_f32, EMU_H_COUNT, EMU_H_cvt_ue8m0x2_bf16x2, EMU_H_COUNT,
         EMU_H_cvt_bf16x2_ue8m0x2},
    };
#undef FORMAT
    ir_type to = c->i->types[0], from = c->i->types[1];
    const ir_operand *o = c->i->operands;
    for (size_t k = 0; k < sizeof table / sizeof *table; k++) {
        emu_h h = EMU_H_COUNT;
        if (table[k].type == to)
            h = from == IR_T_f32      ? table[k].of_f32
                : from == IR_T_f16x2  ? table[k].of_f16x2
                : from == IR_T_bf16x2 ? table[k].of_bf16x2
                                      : EMU_H_COUNT;
        else if (table[k].type == from)
            h = to == IR_T_f16x2    ? table[k].to_f16x2
                : to == IR_T_bf16x2 ? table[k].to_bf16x2
                                    : EMU_H_COUNT;
        if (h == EMU_H_COUNT)
            continue;
        bool single = from == IR_T_f32, down = table[k].type == to;
        emu_ref a = single ? emu_src_typed(c->d, &o[1], IR_T_f32)
                           : emu_src(c->d, &o[1], down ? 32 : 16);
        emu_ref b = single ? emu_src_typed(c->d, &o[2], IR_T_f32) : EMU_NOREF;
        emu_emit(c->d, h, emu_dst(c->d, &o[0], down ? 16 : 32), a, b, EMU_NOREF)->imm = c->flags;
        return true;
    }
    return false;
}

static void to_tf32(conversion *c)
{
    unsigned bits;
    emu_ref ref = float_source(c, &bits);
    emu_ref to = emu_temp(c->d, 32);
    emu_emit(c->d, EMU_H_cvt_mode_tf32_f32, to, ref, EMU_NOREF, EMU_NOREF)->imm = c->flags;
    write_bits(c, to, 32);
}

static void packed_ints(emu_decode *d, const ir_insn *i)
{
    emu_ref a = emu_src(d, &i->operands[1], 32), b = emu_src(d, &i->operands[2], 32);
    emu_ref c = i->noperands > 3 ? emu_src(d, &i->operands[3], 32) : emu_const(d, 32, 0);
    if (!ir_has(i, IR_S_sat))
        emu_unsupported(d, "cvt.pack without .sat is not supported");
    emu_emit(d, EMU_H_cvt_pack, emu_dst(d, &i->operands[0], 32), a, b, c)->imm =
        clamp_of(emu_type(i, 0));
}

static s64 half_flags_of(const ir_insn *i, uint32_t round)
{
    return (ir_has(i, IR_S_relu) ? EMU_HALF_RELU : 0) |
           (ir_has(i, IR_S_satfinite) ? EMU_HALF_SATFINITE : 0) | (s64)round << 8;
}

void emu_decode_cvt(emu_decode *d, const ir_insn *i)
{
    conversion c = {.d = d, .i = i, .to = emu_type(i, 0), .from = emu_type(i, 1)};
    if (!emu_allow(d, i, IR_S_rn, IR_S_rz, IR_S_rm, IR_S_rp, IR_S_rni, IR_S_rzi, IR_S_rmi, IR_S_rpi,
                   IR_S_rna, IR_S_rs, IR_S_ftz, IR_S_sat, IR_S_satfinite, IR_S_relu, IR_S_pack))
        return;
    c.round = rounding(i, &c.integral);
    c.ftz = ir_has(i, IR_S_ftz);
    c.sat = ir_has(i, IR_S_sat);
    c.flags = half_flags_of(i, c.integral ? EMU_ROUND_RN : c.round);
    bool from_float = is_float(c.from, 16) || is_float(c.from, 32) || is_float(c.from, 64) ||
                      (c.from->kind == IR_KIND_BF && c.from->lanes == 1) ||
                      c.from->kind == IR_KIND_T;
    bool to_float = is_float(c.to, 16) || is_float(c.to, 32) || is_float(c.to, 64) ||
                    (c.to->kind == IR_KIND_BF && c.to->lanes == 1);
    if (ir_has(i, IR_S_pack))
        packed_ints(d, i);
    else if (integer_typed(c.to) && integer_typed(c.from))
        int_to_int(&c);
    else if (integer_typed(c.to) && from_float)
        float_to_int(&c);
    else if (to_float && integer_typed(c.from))
        int_to_float(&c);
    else if (to_float && from_float)
        float_to_float(&c);
    else if (c.to->kind == IR_KIND_T && is_float(c.from, 32))
        to_tf32(&c);
    else if ((i->types[0] == IR_T_f16x2 || i->types[0] == IR_T_bf16x2) && i->types[1] == IR_T_f32)
        f32_pair(&c);
    else if (!small_pair(&c))
        emu_unsupported(d, "this conversion is not supported");
}
