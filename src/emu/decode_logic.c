/* Logic, shifts, comparisons, selections and moves. */
#include "emu/decode.h"

static unsigned logic_width(const ir_insn *i)
{
    const ir_type_info *t = emu_type(i, 0);
    return t->kind == IR_KIND_P ? 1 : (unsigned)t->bits * t->lanes;
}

static void logic(emu_decode *d, const ir_insn *i, emu_h pred, emu_h h16, emu_h h32, emu_h h64,
                  uint32_t sources)
{
    if (!emu_allow(d, i, IR_S_none))
        return;
    unsigned bits = logic_width(i);
    emu_ref src[2] = {EMU_NOREF, EMU_NOREF};
    for (uint32_t k = 0; k < sources; k++)
        src[k] = bits == 1 ? emu_pred_src(d, &i->operands[k + 1], NULL)
                           : emu_src(d, &i->operands[k + 1], bits);
    emu_h h = bits == 1 ? pred : bits == 16 ? h16 : bits == 32 ? h32 : h64;
    emu_emit(d, h, emu_dst(d, &i->operands[0], bits), src[0], src[1], EMU_NOREF);
}

#define LOGIC(name, sources)                                                                      \
    void emu_decode_##name(emu_decode *d, const ir_insn *i)                                       \
    {                                                                                             \
        logic(d, i, EMU_H_##name##_pred, EMU_H_##name##_16, EMU_H_##name##_32, EMU_H_##name##_64, \
              sources);                                                                           \
    }
LOGIC(and, 2)
LOGIC(or, 2)
LOGIC(xor, 2)
LOGIC(not, 1)

void emu_decode_cnot(emu_decode *d, const ir_insn *i)
{
    logic(d, i, EMU_H_cnot_16, EMU_H_cnot_16, EMU_H_cnot_32, EMU_H_cnot_64, 1);
}

/* lop3 with .and/.or/.xor gives a predicate too: (d != 0) op p. */
void emu_decode_lop3(emu_decode *d, const ir_insn *i)
{
    ir_suffix op = IR_S_none;
    if (!emu_allow(d, i, IR_S_and, IR_S_or, IR_S_xor))
        return;
    bool pred = emu_has_class(i, IR_SC_BOOL, 0, &op);
    const ir_operand *to = &i->operands[0];
    emu_ref a = emu_src(d, &i->operands[1], 32), b = emu_src(d, &i->operands[2], 32);
    emu_ref c = emu_src(d, &i->operands[3], 32);
    emu_ref dst = emu_dst(d, pred && to->kind == IR_OPD_PAIR ? &to->items[0] : to, 32);
    if (pred)
        dst = emu_temp(d, 32);
    emu_emit(d, EMU_H_lop3, dst, a, b, c)->imm = (s64)(i->operands[4].imm & 0xff);
    if (!pred)
        return;
    emu_ref p = emu_temp(d, 1), q = emu_pred_src(d, &i->operands[5], NULL);
    emu_emit(d, EMU_H_set_ne_u32, p, dst, emu_const(d, 32, 0), EMU_NOREF);
    if (to->kind == IR_OPD_PAIR) {
        emu_emit(d,
                 op == IR_S_and  ? EMU_H_and_pred
                 : op == IR_S_or ? EMU_H_or_pred
                                 : EMU_H_xor_pred,
                 emu_pred_dst(d, &to->items[1]), p, q, EMU_NOREF);
        emu_emit(d, EMU_H_mov_32, emu_dst(d, &to->items[0], 32), dst, EMU_NOREF, EMU_NOREF);
    }
}

/* ---- shifts ---- */

static void emit_shift(emu_decode *d, const ir_insn *i, emu_h h, emu_h imm)
{
    unsigned bits = logic_width(i);
    uint64_t amount;
    emu_ref a = emu_src(d, &i->operands[1], bits);
    if (emu_immediate(&i->operands[2], &amount) && amount < bits) {
        emu_emit(d, imm, emu_dst(d, &i->operands[0], bits), a, EMU_NOREF, EMU_NOREF)->imm = (s64)
            amount;
        return;
    }
    emu_ref b = emu_src(d, &i->operands[2], 32);
    emu_emit(d, h, emu_dst(d, &i->operands[0], bits), a, b, EMU_NOREF);
}

void emu_decode_shl(emu_decode *d, const ir_insn *i)
{
    if (emu_allow(d, i, IR_S_none))
        emit_shift(d, i, EMU_BY_WIDTH(logic_width(i), EMU_H_shl),
                   logic_width(i) == 16   ? EMU_H_shl_16_imm
                   : logic_width(i) == 32 ? EMU_H_shl_32_imm
                                          : EMU_H_shl_64_imm);
}

void emu_decode_shr(emu_decode *d, const ir_insn *i)
{
    static const emu_h by_register[] = EMU_INT6(shr);
    static const emu_h by_constant[] = {EMU_H_shr_u16_imm, EMU_H_shr_s16_imm, EMU_H_shr_u32_imm,
                                        EMU_H_shr_s32_imm, EMU_H_shr_u64_imm, EMU_H_shr_s64_imm};
    int t = emu_int_index(i->types[0]);
    if (emu_allow(d, i, IR_S_none))
        emit_shift(d, i, by_register[t], by_constant[t]);
}

static void three32(emu_decode *d, const ir_insn *i, emu_h h, s64 imm)
{
    emu_ref a = emu_src(d, &i->operands[1], 32), b = emu_src(d, &i->operands[2], 32);
    emu_ref c = emu_src(d, &i->operands[3], 32);
    emu_emit(d, h, emu_dst(d, &i->operands[0], 32), a, b, c)->imm = imm;
}

void emu_decode_shf(emu_decode *d, const ir_insn *i)
{
    bool wrap = ir_has(i, IR_S_wrap);
    if (emu_allow(d, i, IR_S_l, IR_S_r, IR_S_wrap, IR_S_clamp))
        three32(d, i,
                ir_has(i, IR_S_l) ? (wrap ? EMU_H_shf_l_wrap : EMU_H_shf_l_clamp)
                : wrap            ? EMU_H_shf_r_wrap
                                  : EMU_H_shf_r_clamp,
                0);
}

void emu_decode_prmt(emu_decode *d, const ir_insn *i)
{
    static const struct {
        ir_suffix suffix;
        emu_prmt_mode_id mode;
    } modes[] = {{IR_S_f4e, EMU_PRMT_F4E}, {IR_S_b4e, EMU_PRMT_B4E}, {IR_S_rc8, EMU_PRMT_RC8},
                 {IR_S_ecl, EMU_PRMT_ECL}, {IR_S_ecr, EMU_PRMT_ECR}, {IR_S_rc16, EMU_PRMT_RC16}};
    if (!emu_allow(d, i, IR_S_f4e, IR_S_b4e, IR_S_rc8, IR_S_ecl, IR_S_ecr, IR_S_rc16))
        return;
    for (size_t k = 0; k < sizeof modes / sizeof *modes; k++)
        if (ir_has(i, modes[k].suffix)) {
            three32(d, i, EMU_H_prmt_mode, modes[k].mode);
            return;
        }
    three32(d, i, EMU_H_prmt, 0);
}

/* ---- comparisons ---- */

static const emu_h compare_int[6][6] = {{EMU_H_set_eq_u16, EMU_H_set_eq_u16, EMU_H_set_eq_u32,
                                         EMU_H_set_eq_u32, EMU_H_set_eq_u64, EMU_H_set_eq_u64},
                                        {EMU_H_set_ne_u16, EMU_H_set_ne_u16, EMU_H_set_ne_u32,
                                         EMU_H_set_ne_u32, EMU_H_set_ne_u64, EMU_H_set_ne_u64},
                                        EMU_INT6(set_lt),
                                        EMU_INT6(set_le),
                                        EMU_INT6(set_gt),
                                        EMU_INT6(set_ge)};

static const emu_h compare_float[EMU_CMP_COUNT][3] = {
#define X(id) {EMU_H_set_##id##_f32, EMU_H_set_##id##_ftz_f32, EMU_H_set_##id##_f64},
    EMU_COMPARISONS(X)
#undef X
};

static int comparison(const ir_insn *i)
{
    static const struct {
        ir_suffix suffix;
        emu_cmp cmp;
    } names[] = {
#define X(id) {IR_S_##id, EMU_CMP_##id},
        EMU_COMPARISONS(X)
#undef X
            {IR_S_lo, EMU_CMP_lt},
        {IR_S_ls, EMU_CMP_le},
        {IR_S_hi, EMU_CMP_gt},
        {IR_S_hs, EMU_CMP_ge},
    };
    for (size_t k = 0; k < sizeof names / sizeof *names; k++)
        if (ir_has(i, names[k].suffix))
            return (int)names[k].cmp;
    return -1;
}

static bool is_half(ir_type type)
{
    const ir_type_info *t = ir_type_get(type);
    return t->bits == 16 && (t->kind == IR_KIND_F || t->kind == IR_KIND_BF);
}

static emu_h half_compare(ir_type type)
{
    const ir_type_info *t = ir_type_get(type);
    return t->kind == IR_KIND_F ? (t->lanes == 2 ? EMU_H_set_f16x2 : EMU_H_set_f16)
           : t->lanes == 2      ? EMU_H_set_bf16x2
                                : EMU_H_set_bf16;
}

/* Compares operands 1 and 2 of type `type` into the predicate; `high` for the upper half of a pair.
 */
static void emit_comparison(emu_decode *d, const ir_insn *i, ir_type type, emu_ref to, bool high)
{
    const ir_type_info *t = ir_type_get(type);
    unsigned bits = (unsigned)t->bits * t->lanes;
    int cmp = comparison(i), index = emu_int_index(type);
    bool ftz = ir_has(i, IR_S_ftz);
    emu_ref a = emu_src_typed(d, &i->operands[1], type),
            b = emu_src_typed(d, &i->operands[2], type);
    if (cmp < 0 || (index >= 0 && cmp > EMU_CMP_ge)) {
        emu_unsupported(d, "this comparison is not supported");
    } else if (is_half(type)) {
        emu_emit(d, half_compare(type), to, a, b, EMU_NOREF)->imm = cmp | (ftz ? 256 : 0) |
                                                                    (high ? 512 : 0);
    } else if (t->kind == IR_KIND_F && t->lanes == 1) {
        emu_emit(d, compare_float[cmp][bits == 64 ? 2 : ftz], to, a, b, EMU_NOREF);
    } else if (index >= 0) {
        emu_emit(d, compare_int[cmp][index], to, a, b, EMU_NOREF);
    } else {
        emu_unsupported(d, "the type .%s cannot be compared", t->text);
    }
}

#define ALLOW_COMPARISON                                                                          \
    IR_S_eq, IR_S_ne, IR_S_lt, IR_S_le, IR_S_gt, IR_S_ge, IR_S_lo, IR_S_ls, IR_S_hi, IR_S_hs,     \
        IR_S_equ, IR_S_neu, IR_S_ltu, IR_S_leu, IR_S_gtu, IR_S_geu, IR_S_num, IR_S_nan, IR_S_and, \
        IR_S_or, IR_S_xor, IR_S_ftz

/* result = compared op predicate operand */
static void combine(emu_decode *d, const ir_insn *i, emu_ref result, emu_ref compared, emu_ref p)
{
    emu_h h = ir_has(i, IR_S_and)  ? EMU_H_and_pred
              : ir_has(i, IR_S_or) ? EMU_H_or_pred
                                   : EMU_H_xor_pred;
    emu_emit(d, h, result, compared, p, EMU_NOREF);
}

static bool combines(const ir_insn *i)
{
    return ir_has(i, IR_S_and) || ir_has(i, IR_S_or) || ir_has(i, IR_S_xor);
}

/* p|q = compare: q is the complement, or the other half of a pair; each combined with the predicate
 * operand. */
void emu_decode_setp(emu_decode *d, const ir_insn *i)
{
    if (!emu_allow(d, i, ALLOW_COMPARISON))
        return;
    const ir_operand *to = &i->operands[0];
    ir_type type = i->types[0];
    bool pair = ir_type_get(type)->lanes == 2, two = to->kind == IR_OPD_PAIR;
    if (!two && !combines(i)) {
        emit_comparison(d, i, type, emu_pred_dst(d, to), false);
        return;
    }
    emu_ref p = emu_temp(d, 1), q = emu_temp(d, 1);
    emu_ref with = combines(i) ? emu_pred_src(d, &i->operands[3], NULL) : EMU_NOREF;
    emit_comparison(d, i, type, p, false);
    if (two && pair)
        emit_comparison(d, i, type, q, true);
    else if (two)
        emu_emit(d, EMU_H_not_pred, q, p, EMU_NOREF, EMU_NOREF);
    if (combines(i)) {
        combine(d, i, p, p, with);
        combine(d, i, q, q, with);
    }
    emu_emit(d, EMU_H_mov_pred, emu_pred_dst(d, two ? &to->items[0] : to), p, EMU_NOREF, EMU_NOREF);
    if (two)
        emu_emit(d, EMU_H_mov_pred, emu_pred_dst(d, &to->items[1]), q, EMU_NOREF, EMU_NOREF);
}

/* The value that set gives for true. */
static uint64_t true_value(ir_type type)
{
    const ir_type_info *t = ir_type_get(type);
    if (t->kind == IR_KIND_F)
        return t->bits == 32 ? 0x3f800000 : 0x3c00;
    return t->kind == IR_KIND_BF ? 0x3f80 : UINT64_MAX;
}

void emu_decode_set(emu_decode *d, const ir_insn *i)
{
    if (!emu_allow(d, i, ALLOW_COMPARISON))
        return;
    const ir_type_info *to = emu_type(i, 0), *from = emu_type(i, 1);
    bool pair = from->lanes == 2;
    unsigned bits = pair ? 32 : to->bits;
    emu_ref p = emu_temp(d, 1), q = emu_temp(d, 1);
    emu_ref with = combines(i) ? emu_pred_src(d, &i->operands[3], NULL) : EMU_NOREF;
    emit_comparison(d, i, i->types[1], p, false);
    if (pair)
        emit_comparison(d, i, i->types[1], q, true);
    if (combines(i)) {
        combine(d, i, p, p, with);
        combine(d, i, q, q, with);
    }
    uint64_t yes = true_value(i->types[0]);
    if (pair)
        yes = to->kind == IR_KIND_F || to->kind == IR_KIND_BF ? yes : 0xffff;
    emu_ref dst = emu_dst(d, &i->operands[0], bits), low = pair ? emu_temp(d, 32) : dst;
    emu_h select = bits == 16 ? EMU_H_selp_16 : EMU_H_selp_32;
    emu_emit(d, select, low, emu_const(d, bits, yes), emu_const(d, bits, 0), p);
    if (!pair)
        return;
    emu_ref high = emu_temp(d, 32);
    emu_emit(d, select, high, emu_const(d, 32, yes << 16), emu_const(d, 32, 0), q);
    emu_emit(d, EMU_H_or_32, dst, low, high, EMU_NOREF);
}

void emu_decode_selp(emu_decode *d, const ir_insn *i)
{
    bool neg = false;
    if (!emu_allow(d, i, IR_S_none))
        return;
    unsigned bits = logic_width(i);
    emu_ref a = emu_src_typed(d, &i->operands[1], i->types[0]),
            b = emu_src_typed(d, &i->operands[2], i->types[0]);
    emu_ref p = emu_pred_src(d, &i->operands[3], &neg);
    emu_emit(d, EMU_BY_WIDTH(bits, EMU_H_selp), emu_dst(d, &i->operands[0], bits), neg ? b : a,
             neg ? a : b, p);
}

/* d = c >= 0 ? a : b */
void emu_decode_slct(emu_decode *d, const ir_insn *i)
{
    if (!emu_allow(d, i, IR_S_ftz))
        return;
    unsigned bits = logic_width(i);
    bool real = emu_type(i, 1)->kind == IR_KIND_F;
    emu_ref a = emu_src_typed(d, &i->operands[1], i->types[0]),
            b = emu_src_typed(d, &i->operands[2], i->types[0]);
    emu_ref c = emu_src_typed(d, &i->operands[3], i->types[1]), p = emu_temp(d, 1);
    emu_h h = !real                 ? EMU_H_set_ge_s32
              : ir_has(i, IR_S_ftz) ? EMU_H_set_ge_ftz_f32
                                    : EMU_H_set_ge_f32;
    emu_emit(d, h, p, c, emu_const(d, 32, 0), EMU_NOREF);
    emu_emit(d, EMU_BY_WIDTH(bits, EMU_H_selp), emu_dst(d, &i->operands[0], bits), a, b, p);
}

/* ---- moves ---- */

static emu_h move_handler_of(unsigned bits)
{
    return bits == 1 ? EMU_H_mov_pred : bits == 128 ? EMU_H_mov_128 : EMU_BY_WIDTH(bits, EMU_H_mov);
}

static emu_h pack_of(unsigned bits) /* of each part */
{
    return bits == 8    ? EMU_H_pack_8_16
           : bits == 16 ? EMU_H_pack_16_32
           : bits == 32 ? EMU_H_pack_32_64
                        : EMU_H_pack_64_128;
}

/* Joins neighbours until one vector is left. */
static void pack_vector(emu_decode *d, const ir_operand *dst, const ir_operand *vec, unsigned bits)
{
    emu_ref parts[16];
    uint32_t count = vec->count;
    if (count < 2 || count > 16 || (count & (count - 1))) {
        emu_unsupported(d, "a vector of %u elements cannot be packed", count);
        return;
    }
    unsigned part = bits / count;
    for (uint32_t k = 0; k < count; k++)
        parts[k] = emu_src_cut(d, &vec->items[k], part < 16 ? 16 : part);
    for (; count > 1; count /= 2, part *= 2)
        for (uint32_t k = 0; k < count; k += 2) {
            emu_ref to = count == 2 ? emu_dst(d, dst, bits) : emu_temp(d, 2 * part);
            emu_emit(d, pack_of(part), to, parts[k], parts[k + 1], EMU_NOREF);
            parts[k / 2] = to;
        }
}

static emu_h unpack_of(unsigned bits, unsigned part)
{
    switch (bits << 8 | part) {
    case 16 << 8 | 8: return EMU_H_unpack_16_8;
    case 32 << 8 | 8: return EMU_H_unpack_32_8;
    case 32 << 8 | 16: return EMU_H_unpack_32_16;
    case 64 << 8 | 16: return EMU_H_unpack_64_16;
    case 64 << 8 | 32: return EMU_H_unpack_64_32;
    case 128 << 8 | 32: return EMU_H_unpack_128_32;
    case 128 << 8 | 64: return EMU_H_unpack_128_64;
    default: return EMU_H_COUNT;
    }
}

/* The source may be one of the destinations only as a whole, so it is read first where it is. */
static void unpack_vector(emu_decode *d, const ir_operand *vec, const ir_operand *src,
                          unsigned bits)
{
    unsigned part = vec->count ? bits / vec->count : 0;
    emu_h h = unpack_of(bits, part);
    emu_ref from = emu_src(d, src, bits);
    if (h == EMU_H_COUNT) {
        emu_unsupported(d, "%u bits cannot be unpacked into %u elements", bits, vec->count);
        return;
    }
    for (uint32_t k = 0; k < vec->count; k++)
        if (vec->items[k].kind != IR_OPD_SINK)
            emu_emit(d, h, emu_dst(d, &vec->items[k], part < 16 ? 16 : part), from, EMU_NOREF,
                     EMU_NOREF)
                ->imm = (s64)k * part;
}

void emu_decode_mov(emu_decode *d, const ir_insn *i)
{
    if (!emu_allow(d, i, IR_S_none))
        return;
    unsigned bits = logic_width(i);
    const ir_operand *dst = &i->operands[0], *src = &i->operands[1];
    if (dst->kind == IR_OPD_VEC && src->kind == IR_OPD_VEC)
        emu_unsupported(d, "a move between vectors is not supported");
    else if (src->kind == IR_OPD_VEC)
        pack_vector(d, dst, src, bits);
    else if (dst->kind == IR_OPD_VEC)
        unpack_vector(d, dst, src, bits);
    else if (bits == 1)
        emu_emit(d, EMU_H_mov_pred, emu_pred_dst(d, dst), emu_pred_src(d, src, NULL), EMU_NOREF,
                 EMU_NOREF);
    else {
        emu_ref from = emu_src_typed(d, src, i->types[0]);
        if (!emu_alias(d, dst, from))
            emu_emit(d, move_handler_of(bits), emu_dst(d, dst, bits), from, EMU_NOREF, EMU_NOREF);
    }
}

/* Addresses of the global, constant and parameter spaces are generic addresses; shared and local
 * memory have windows. */
void emu_decode_cvta(emu_decode *d, const ir_insn *i)
{
    ir_suffix space = IR_S_global;
    if (!emu_allow(d, i, IR_S_to, IR_S_global, IR_S_shared, IR_S_shared__cta, IR_S_shared__cluster,
                   IR_S_local, IR_S_const, IR_S_param, IR_S_param__entry))
        return;
    emu_has_class(i, IR_SC_SPACE, 0, &space);
    unsigned bits = logic_width(i);
    bool shared = space == IR_S_shared || space == IR_S_shared__cta ||
                  space == IR_S_shared__cluster;
    const emu_machine *m = d->module->machine;
    uint64_t window = shared ? m->shared_window : space == IR_S_local ? m->local_window : 0;
    emu_ref src = emu_src(d, &i->operands[1], bits);
    if (window && bits != 64) {
        emu_unsupported(d, "generic addresses have 64 bits");
    } else if (window) {
        emu_emit(d, ir_has(i, IR_S_to) ? EMU_H_sub_64 : EMU_H_add_64,
                 emu_dst(d, &i->operands[0], 64), src, emu_const(d, 64, window), EMU_NOREF);
    } else if (!emu_alias(d, &i->operands[0], src)) {
        emu_emit(d, EMU_BY_WIDTH(bits, EMU_H_mov), emu_dst(d, &i->operands[0], bits), src,
                 EMU_NOREF, EMU_NOREF);
    }
}

void emu_decode_isspacep(emu_decode *d, const ir_insn *i)
{
    ir_suffix space = IR_S_none;
    emu_has_class(i, IR_SC_SPACE, 0, &space);
    emu_ref a = emu_src(d, &i->operands[1], 64);
    emu_emit(d, EMU_H_isspacep, emu_pred_dst(d, &i->operands[0]), a, EMU_NOREF, EMU_NOREF)->imm =
        space;
}
