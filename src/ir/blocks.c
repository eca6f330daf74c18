#include "ir/blocks.h"

bool ir_ends_block(const ir_insn *i)
{
    return i->op == IR_bra || i->op == IR_brx || i->op == IR_call || i->op == IR_ret ||
           i->op == IR_exit;
}

static bool synchronises(const ir_insn *i)
{
    switch (i->op) {
    case IR_shfl:
    case IR_vote:
    case IR_match:
    case IR_redux:
    case IR_elect:
    case IR_wmma:
    case IR_mma:
    case IR_ldmatrix:
    case IR_stmatrix:
    case IR_movmatrix: return ir_has(i, IR_S_sync);
    default: return false;
    }
}

ir_wait ir_wait_of(const ir_insn *i)
{
    if (i->op == IR_bar && ir_has(i, IR_S_warp))
        return IR_WAIT_WARP;
    if (i->op == IR_barrier && ir_has(i, IR_S_cluster))
        return ir_has(i, IR_S_wait) ? IR_WAIT_CLUSTER_WAIT : IR_WAIT_CLUSTER_ARRIVE;
    if (i->op == IR_bar || i->op == IR_barrier)
        return IR_WAIT_BARRIER;
    if (i->op == IR_bsync)
        return IR_WAIT_MEET;
    if (i->op == IR_nanosleep)
        return IR_WAIT_YIELD;
    return synchronises(i) ? IR_WAIT_WARP : IR_WAIT_NONE;
}

bool ir_stands_alone(const ir_insn *i)
{
    return i->guard != IR_NONE && i->op != IR_bra &&
           (ir_ends_block(i) || ir_wait_of(i) != IR_WAIT_NONE);
}

static void mark_label(const ir_func *func, uint32_t label, uint8_t *leader)
{
    const ir_label *l = &func->labels[label];
    if (l->kind == IR_LABEL_BRANCHTARGETS)
        for (uint32_t k = 0; k < l->count; k++)
            mark_label(func, l->targets[k], leader);
    else if (l->kind == IR_LABEL_CODE && l->pc <= func->ninsns)
        leader[l->pc] = 1;
}

void ir_block_leaders(const ir_func *func, uint8_t *leader)
{
    leader[0] = 1;
    for (uint32_t n = 0; n < func->ninsns; n++) {
        const ir_insn *i = &func->insns[n];
        if (i->op == IR_bra || i->op == IR_brx)
            for (uint32_t k = 0; k < i->noperands; k++)
                if (i->operands[k].kind == IR_OPD_LABEL)
                    mark_label(func, i->operands[k].label, leader);
        if (ir_wait_of(i) != IR_WAIT_NONE || ir_stands_alone(i))
            leader[n] = 1;
        if (ir_ends_block(i) || ir_stands_alone(i))
            leader[n + 1] = 1;
    }
    const ir_insn *last = func->ninsns ? &func->insns[func->ninsns - 1] : NULL;
    if (!last || (!ir_ends_block(last) && !ir_stands_alone(last)))
        leader[func->ninsns] = 1;
}
