/* Shuffles, votes, matches, reductions, barriers and fences. The member mask of a *.sync
 * instruction is src[3]: the scheduler lets it run when those lanes have arrived; EMU_NOREF there
 * stands for the lanes that are active. */
#include "emu/decode.h"

/* "d|p" or "d": the destination and the predicate, which is EMU_NOREF where it is not wanted. */
static emu_ref destination(emu_decode *d, const ir_operand *o, s64 *pred)
{
    const ir_operand *to = o->kind == IR_OPD_PAIR ? &o->items[0] : o;
    *pred = EMU_NOREF;
    if (o->kind == IR_OPD_PAIR && o->items[1].kind != IR_OPD_SINK)
        *pred = emu_pred_dst(d, &o->items[1]);
    return emu_dst(d, to, 32);
}

void emu_decode_shfl(emu_decode *d, const ir_insn *i)
{
    s64 pred;
    if (!emu_allow(d, i, IR_S_sync, IR_S_up, IR_S_down, IR_S_bfly, IR_S_idx))
        return;
    emu_ref dst = destination(d, &i->operands[0], &pred);
    emu_ref a = emu_src(d, &i->operands[1], 32), b = emu_src(d, &i->operands[2], 32);
    emu_ref c = emu_src(d, &i->operands[3], 32);
    emu_ref members = i->noperands > 4 ? emu_src(d, &i->operands[4], 32) : EMU_NOREF;
    emu_h h = ir_has(i, IR_S_up)     ? EMU_H_shfl_up
              : ir_has(i, IR_S_down) ? EMU_H_shfl_down
              : ir_has(i, IR_S_bfly) ? EMU_H_shfl_bfly
                                     : EMU_H_shfl_idx;
    emu_insn *in = emu_emit(d, h, dst, a, b, c);
    in->src[3] = members;
    in->imm = pred;
}

void emu_decode_vote(emu_decode *d, const ir_insn *i)
{
    if (!emu_allow(d, i, IR_S_sync, IR_S_all, IR_S_any, IR_S_uni, IR_S_ballot))
        return;
    bool ballot = ir_has(i, IR_S_ballot);
    emu_ref p = emu_pred_src(d, &i->operands[1], NULL);
    emu_ref members = i->noperands > 2 ? emu_src(d, &i->operands[2], 32) : EMU_NOREF;
    emu_ref dst = ballot ? emu_dst(d, &i->operands[0], 32) : emu_pred_dst(d, &i->operands[0]);
    emu_h h = ballot                ? EMU_H_vote_ballot
              : ir_has(i, IR_S_all) ? EMU_H_vote_all
              : ir_has(i, IR_S_any) ? EMU_H_vote_any
                                    : EMU_H_vote_uni;
    emu_emit(d, h, dst, p, EMU_NOREF, EMU_NOREF)->src[3] = members;
}

void emu_decode_match(emu_decode *d, const ir_insn *i)
{
    s64 pred;
    if (!emu_allow(d, i, IR_S_sync, IR_S_any, IR_S_all))
        return;
    unsigned bits = emu_type(i, 0)->bits;
    emu_ref dst = destination(d, &i->operands[0], &pred);
    emu_ref a = emu_src(d, &i->operands[1], bits), members = emu_src(d, &i->operands[2], 32);
    emu_h h = ir_has(i, IR_S_any) ? (bits == 32 ? EMU_H_match_any_32 : EMU_H_match_any_64)
              : bits == 32        ? EMU_H_match_all_32
                                  : EMU_H_match_all_64;
    emu_insn *in = emu_emit(d, h, dst, a, EMU_NOREF, EMU_NOREF);
    in->src[3] = members;
    in->imm = pred;
}

void emu_decode_redux(emu_decode *d, const ir_insn *i)
{
    if (!emu_allow(d, i, IR_S_sync, IR_S_add, IR_S_min, IR_S_max, IR_S_and, IR_S_or, IR_S_xor,
                   IR_S_abs, IR_S_NaN))
        return;
    s64 op = ir_has(i, IR_S_add)   ? EMU_REDUX_ADD
             : ir_has(i, IR_S_and) ? EMU_REDUX_AND
             : ir_has(i, IR_S_or)  ? EMU_REDUX_OR
             : ir_has(i, IR_S_xor) ? EMU_REDUX_XOR
             : ir_has(i, IR_S_min) ? EMU_REDUX_MIN
                                   : EMU_REDUX_MAX;
    op |= (emu_is_signed(i->types[0]) ? EMU_REDUX_SIGNED : 0) |
          (i->types[0] == IR_T_f32 ? EMU_REDUX_F32 : 0) |
          (ir_has(i, IR_S_abs) ? EMU_REDUX_ABS : 0) | (ir_has(i, IR_S_NaN) ? EMU_REDUX_NAN : 0);
    emu_ref a = emu_src_typed(d, &i->operands[1], i->types[0]),
            members = emu_src(d, &i->operands[2], 32);
    emu_insn *in = emu_emit(d, EMU_H_redux, emu_dst(d, &i->operands[0], 32), a, EMU_NOREF,
                            EMU_NOREF);
    in->src[3] = members;
    in->imm = op;
}

void emu_decode_elect(emu_decode *d, const ir_insn *i)
{
    s64 pred;
    if (!emu_allow(d, i, IR_S_sync))
        return;
    emu_ref dst = destination(d, &i->operands[0], &pred);
    emu_ref members = emu_src(d, &i->operands[1], 32);
    emu_insn *in = emu_emit(d, EMU_H_elect, dst, EMU_NOREF, EMU_NOREF, EMU_NOREF);
    in->src[3] = members;
    in->imm = pred == EMU_NOREF ? (s64)emu_temp(d, 1) : pred;
}

void emu_decode_activemask(emu_decode *d, const ir_insn *i)
{
    emu_emit(d, EMU_H_activemask, emu_dst(d, &i->operands[0], 32), EMU_NOREF, EMU_NOREF, EMU_NOREF);
}

void emu_decode_movmatrix(emu_decode *d, const ir_insn *i)
{
    if (!emu_allow(d, i, IR_S_sync, IR_S_aligned, IR_S_m8n8, IR_S_trans))
        return;
    emu_ref a = emu_src(d, &i->operands[1], 32);
    emu_emit(d, EMU_H_movmatrix, emu_dst(d, &i->operands[0], 32), a, EMU_NOREF, EMU_NOREF)->src[3] =
        emu_const(d, 32, EMU_ALL);
}

/* ---- barriers: src[0] the barrier, src[1] the count, src[2] the predicate; imm: emu_barrier_kind
 * ---- */

static void block_barrier(emu_decode *d, const ir_insn *i)
{
    bool red = ir_has(i, IR_S_red), popc = ir_has(i, IR_S_popc);
    uint32_t at = red ? 1 : 0, last = red ? i->noperands - 1 : i->noperands;
    emu_ref id = emu_src(d, &i->operands[at], 32), count = EMU_NOREF, p = EMU_NOREF,
            dst = EMU_NOREF;
    if (at + 1 < last)
        count = emu_src(d, &i->operands[at + 1], 32);
    if (red) {
        p = emu_pred_src(d, &i->operands[last], NULL);
        dst = popc ? emu_dst(d, &i->operands[0], 32) : emu_pred_dst(d, &i->operands[0]);
    }
    emu_emit(d, EMU_H_nothing, dst, id, count, p)->imm = !red   ? (ir_has(i, IR_S_arrive)
                                                                       ? EMU_BARRIER_ARRIVE
                                                                       : EMU_BARRIER_SYNC)
                                                         : popc ? EMU_BARRIER_POPC
                                                         : ir_has(i, IR_S_and) ? EMU_BARRIER_AND
                                                                               : EMU_BARRIER_OR;
}

static void any_barrier(emu_decode *d, const ir_insn *i)
{
    if (ir_has(i, IR_S_warp)) {
        emu_ref members = emu_src(d, &i->operands[0], 32);
        emu_emit(d, EMU_H_nothing, EMU_NOREF, EMU_NOREF, EMU_NOREF, EMU_NOREF)->src[3] = members;
    } else if (ir_has(i, IR_S_cluster)) {
        emu_emit(d, EMU_H_fence, EMU_NOREF, EMU_NOREF, EMU_NOREF, EMU_NOREF);
    } else {
        block_barrier(d, i);
    }
}

#define BARRIER_SUFFIXES                                                                          \
    IR_S_warp, IR_S_sync, IR_S_cta, IR_S_cluster, IR_S_arrive, IR_S_wait, IR_S_aligned, IR_S_red, \
        IR_S_popc, IR_S_and, IR_S_or, IR_S_acquire, IR_S_release, IR_S_relaxed

void emu_decode_bar(emu_decode *d, const ir_insn *i)
{
    if (emu_allow(d, i, BARRIER_SUFFIXES))
        any_barrier(d, i);
}

void emu_decode_barrier(emu_decode *d, const ir_insn *i)
{
    if (emu_allow(d, i, BARRIER_SUFFIXES))
        any_barrier(d, i);
}

/* All fences are the strongest one. */
void emu_decode_membar(emu_decode *d, const ir_insn *i)
{
    (void)i;
    emu_emit(d, EMU_H_fence, EMU_NOREF, EMU_NOREF, EMU_NOREF, EMU_NOREF);
}

void emu_decode_fence(emu_decode *d, const ir_insn *i)
{
    (void)i;
    emu_emit(d, EMU_H_fence, EMU_NOREF, EMU_NOREF, EMU_NOREF, EMU_NOREF);
}
