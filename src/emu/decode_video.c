/* Video instructions. */
#include "emu/decode.h"
#include "emu/video.h"

static emu_ref whole_register_of(emu_decode *d, const ir_operand *o)
{
    ir_operand plain = *o;
    plain.neg = false;
    plain.component = 0;
    return emu_src(d, &plain, 32);
}

/* .b0 .. .b3 are 0 .. 3, .h0 and .h1 are 4 and 5, nothing is 6. */
static uint8_t selector_of_component(const ir_operand *o)
{
    return o->component >= 16  ? (uint8_t)(4 + (o->component - 16))
           : o->component >= 8 ? o->component - 8
                               : 6;
}

static void second_of(const ir_insn *i, emu_video *v)
{
    v->second = ir_has(i, IR_S_add)   ? EMU_VIDEO_ACCUMULATE
                : ir_has(i, IR_S_min) ? EMU_VIDEO_SECOND_MIN
                : ir_has(i, IR_S_max) ? EMU_VIDEO_SECOND_MAX
                                      : EMU_VIDEO_NONE;
}

static uint8_t comparison_of(const ir_insn *i)
{
    static const struct {
        ir_suffix suffix;
        emu_cmp cmp;
    } names[] = {{IR_S_eq, EMU_CMP_eq}, {IR_S_ne, EMU_CMP_ne}, {IR_S_lt, EMU_CMP_lt},
                 {IR_S_le, EMU_CMP_le}, {IR_S_gt, EMU_CMP_gt}, {IR_S_ge, EMU_CMP_ge}};
    for (size_t k = 0; k < sizeof names / sizeof *names; k++)
        if (ir_has(i, names[k].suffix))
            return names[k].cmp;
    return EMU_CMP_eq;
}

/* Digits of a selector, the highest part first: "h32", "b7654". Without one, the parts of the
 * operand itself. */
static void select_elements(emu_decode *d, const ir_operand *o, uint8_t parts, uint8_t first,
                            uint8_t select[4])
{
    for (uint8_t k = 0; k < parts; k++)
        select[k] = (uint8_t)(first + k);
    if (!o->selector)
        return;
    if (strlen(o->selector) != parts + 1u) {
        emu_unsupported(d, "the selector .%s is not supported", o->selector);
        return;
    }
    for (uint8_t k = 0; k < parts; k++)
        select[k] = (uint8_t)(o->selector[parts - k] - '0');
}

static uint8_t mask_of(const ir_operand *o, uint8_t parts)
{
    uint8_t mask = 0;
    if (o->component >= 8)
        return (uint8_t)(1u << (o->component & 7));
    if (!o->selector)
        return (uint8_t)((1u << parts) - 1);
    for (const char *p = o->selector + 1; *p; p++)
        mask |= (uint8_t)(1u << (*p - '0'));
    return mask;
}

static void emit_video(emu_decode *d, const ir_insn *i, emu_video *v)
{
    const ir_operand *o = i->operands;
    ir_operand dst = o[0];
    dst.component = 0;
    emu_ref a = whole_register_of(d, &o[1]), b = whole_register_of(d, &o[2]);
    emu_ref c = i->noperands > 3 ? whole_register_of(d, &o[3]) : emu_const(d, 32, 0);
    emu_insn *in = emu_emit(d, EMU_H_video, emu_dst(d, &dst, 32), a, b, c);
    in->extra = wl_arena_copy(d->arena, v, sizeof *v);
    if (!in->extra)
        emu_decode_nomem(d);
}

#define SUFFIXES                                                                              \
    IR_S_sat, IR_S_add, IR_S_min, IR_S_max, IR_S_clamp, IR_S_wrap, IR_S_eq, IR_S_ne, IR_S_lt, \
        IR_S_le, IR_S_gt, IR_S_ge, IR_S_po, IR_S_shr7, IR_S_shr15

static void decode_video_op(emu_decode *d, const ir_insn *i, emu_video_op op, uint8_t parts)
{
    const ir_operand *o = i->operands;
    bool set = op == EMU_VIDEO_SET;
    emu_video v = {
        .op = op, .parts = parts, .sat = ir_has(i, IR_S_sat), .wrap = ir_has(i, IR_S_wrap)};
    if (!emu_allow(d, i, SUFFIXES))
        return;
    v.d_signed = !set && emu_is_signed(i->types[0]);
    v.a_signed = emu_is_signed(i->types[set ? 0 : 1]);
    v.b_signed = emu_is_signed(i->types[set ? 1 : 2]);
    second_of(i, &v);
    v.compare = comparison_of(i);
    if (parts == 1) {
        v.a_select[0] = selector_of_component(&o[1]);
        v.b_select[0] = selector_of_component(&o[2]);
        v.d_select = selector_of_component(&o[0]);
    } else {
        select_elements(d, &o[1], parts, 0, v.a_select);
        select_elements(d, &o[2], parts, parts, v.b_select);
        v.d_mask = mask_of(&o[0], parts);
    }
    emit_video(d, i, &v);
}

void emu_decode_vmad(emu_decode *d, const ir_insn *i)
{
    const ir_operand *o = i->operands;
    emu_video v = {.op = EMU_VIDEO_MAD,
                   .parts = 1,
                   .sat = ir_has(i, IR_S_sat),
                   .plus_one = ir_has(i, IR_S_po),
                   .shift = ir_has(i, IR_S_shr7)    ? 7
                            : ir_has(i, IR_S_shr15) ? 15
                                                    : 0,
                   .d_signed = emu_is_signed(i->types[0]),
                   .a_signed = emu_is_signed(i->types[1]),
                   .b_signed = emu_is_signed(i->types[2]),
                   .a_neg = o[1].neg,
                   .b_neg = o[2].neg,
                   .c_neg = o[3].neg,
                   .d_select = 6};
    if (!emu_allow(d, i, SUFFIXES))
        return;
    v.a_select[0] = selector_of_component(&o[1]);
    v.b_select[0] = selector_of_component(&o[2]);
    emit_video(d, i, &v);
}

#define VIDEO(name, op, parts)                              \
    void emu_decode_##name(emu_decode *d, const ir_insn *i) \
    {                                                       \
        decode_video_op(d, i, EMU_VIDEO_##op, parts);       \
    }
VIDEO(vadd, ADD, 1)
VIDEO(vsub, SUB, 1)
VIDEO(vabsdiff, ABSDIFF, 1)
VIDEO(vmin, MIN, 1)
VIDEO(vmax, MAX, 1)
VIDEO(vshl, SHL, 1)
VIDEO(vshr, SHR, 1)
VIDEO(vset, SET, 1)
VIDEO(vadd2, ADD, 2)
VIDEO(vsub2, SUB, 2)
VIDEO(vavrg2, AVRG, 2)
VIDEO(vabsdiff2, ABSDIFF, 2)
VIDEO(vmin2, MIN, 2)
VIDEO(vmax2, MAX, 2)
VIDEO(vset2, SET, 2)
VIDEO(vadd4, ADD, 4)
VIDEO(vsub4, SUB, 4)
VIDEO(vavrg4, AVRG, 4)
VIDEO(vabsdiff4, ABSDIFF, 4)
VIDEO(vmin4, MIN, 4)
VIDEO(vmax4, MAX, 4)
VIDEO(vset4, SET, 4)
