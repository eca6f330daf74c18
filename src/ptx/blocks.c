#include "ptx/blocks.h"

bool ptx_ends_block(const ptx_insn *i)
{
    return i->op == PTX_bra || i->op == PTX_brx || i->op == PTX_call || i->op == PTX_ret ||
           i->op == PTX_exit;
}

static bool synchronises(const ptx_insn *i)
{
    switch (i->op) {
    case PTX_shfl:
    case PTX_vote:
    case PTX_match:
    case PTX_redux:
    case PTX_elect:
    case PTX_wmma:
    case PTX_mma:
    case PTX_ldmatrix:
    case PTX_stmatrix:
    case PTX_movmatrix: return ptx_has(i, PTX_S_sync);
    default: return false;
    }
}

ptx_wait ptx_wait_of(const ptx_insn *i)
{
    if (i->op == PTX_bar && ptx_has(i, PTX_S_warp))
        return PTX_WAIT_WARP;
    if (i->op == PTX_barrier && ptx_has(i, PTX_S_cluster))
        return ptx_has(i, PTX_S_wait) ? PTX_WAIT_CLUSTER_WAIT : PTX_WAIT_CLUSTER_ARRIVE;
    if (i->op == PTX_bar || i->op == PTX_barrier)
        return PTX_WAIT_BARRIER;
    if (i->op == PTX_nanosleep)
        return PTX_WAIT_YIELD;
    return synchronises(i) ? PTX_WAIT_WARP : PTX_WAIT_NONE;
}

bool ptx_stands_alone(const ptx_insn *i)
{
    return i->guard != PTX_NONE && i->op != PTX_bra &&
           (ptx_ends_block(i) || ptx_wait_of(i) != PTX_WAIT_NONE);
}

static void mark_label(const ptx_func *func, uint32_t label, uint8_t *leader)
{
    const ptx_label *l = &func->labels[label];
    if (l->kind == PTX_LABEL_BRANCHTARGETS)
        for (uint32_t k = 0; k < l->count; k++)
            mark_label(func, l->targets[k], leader);
    else if (l->kind == PTX_LABEL_CODE && l->pc <= func->ninsns)
        leader[l->pc] = 1;
}

void ptx_block_leaders(const ptx_func *func, uint8_t *leader)
{
    leader[0] = 1;
    for (uint32_t n = 0; n < func->ninsns; n++) {
        const ptx_insn *i = &func->insns[n];
        if (i->op == PTX_bra || i->op == PTX_brx)
            for (uint32_t k = 0; k < i->noperands; k++)
                if (i->operands[k].kind == PTX_OPD_LABEL)
                    mark_label(func, i->operands[k].label, leader);
        if (ptx_wait_of(i) != PTX_WAIT_NONE || ptx_stands_alone(i))
            leader[n] = 1;
        if (ptx_ends_block(i) || ptx_stands_alone(i))
            leader[n + 1] = 1;
    }
    const ptx_insn *last = func->ninsns ? &func->insns[func->ninsns - 1] : NULL;
    if (!last || (!ptx_ends_block(last) && !ptx_stands_alone(last)))
        leader[func->ninsns] = 1;
}
