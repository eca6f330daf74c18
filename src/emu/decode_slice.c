/* What a slice keeps of its kernel. */
#include "emu/async.h"
#include "emu/decode.h"

wl_status emu_prepare_slice(emu_decode *d)
{
    emu_kernel *k = d->kernel;
    uint32_t n = k->code.npcs;
    if (k->proof->npcs != n)
        return wl_fail(d->err, WL_ARG, "the proof is of another kernel than %s", k->func->name);
    k->info.ncode = n;
    k->shows = wl_new_array(d->arena, uint8_t, n + 1);
    return k->shows ? WL_OK : WL_NOMEM;
}

emu_keep emu_kept(const emu_decode *d, uint32_t pc)
{
    if (!d->kernel->proof)
        return EMU_KEEP_ALL;
    uint8_t flags = d->kernel->proof->flags[pc];
    if (flags & FLOW_PC_SLICE) {
        d->kernel->shows[pc] = (flags & FLOW_PC_PROVEN) != 0;
        return EMU_KEEP_ALL;
    }
    return flags & FLOW_PC_UNKNOWN  ? EMU_KEEP_REJOIN
           : flags & FLOW_PC_PROVEN ? EMU_KEEP_LOOK
                                    : EMU_KEEP_NOTHING;
}

bool emu_slice_counts(const emu_kernel *k, uint32_t pc)
{
    const ir_insn *i = emu_kernel_code(k, pc).insn;
    uint8_t flags = k->proof->flags[pc];
    bool alone = i->guard != IR_NONE && i->op != IR_bra &&
                 (ir_ends_block(i) || ir_wait_of(i) != IR_WAIT_NONE);
    return flags & FLOW_PC_COUNTED && (!alone || flags & FLOW_PC_SLICE || k->shows[pc]);
}

void emu_choose_shown_blocks(emu_kernel *k)
{
    for (uint32_t b = 0; b < k->nbbs; b++) {
        emu_bb *bb = &k->bbs[b];
        bb->shown = bb->ninsns > 0;
        for (uint32_t n = 0; k->proof && n < bb->ninsns; n++)
            bb->shown &= emu_slice_counts(k, bb->first_pc + n);
    }
}

ir_wait emu_kept_wait(const emu_decode *d, const ir_insn *i, uint32_t pc)
{
    const emu_kernel *k = d->kernel;
    bool runs = !k->proof || k->shows[pc] || k->proof->flags[pc] & FLOW_PC_SLICE;
    return runs ? ir_wait_of(i) : IR_WAIT_NONE;
}

void emu_decode_rejoin(emu_decode *d)
{
    uint32_t to = d->kernel->proof->rejoin[d->pc];
    d->bb->term = to == FLOW_REJOIN_END ? EMU_TERM_RET : EMU_TERM_BRA;
    if (to != FLOW_REJOIN_END)
        d->bb->target = d->kernel->bb_of_pc[to];
}

static emu_h look_handler(ir_space space)
{
    switch (space) {
    case IR_SPACE_SHARED:
    case IR_SPACE_SHARED_CLUSTER: return EMU_H_look_shared;
    case IR_SPACE_LOCAL: return EMU_H_look_local;
    case IR_SPACE_GENERIC: return EMU_H_look_generic;
    default: return EMU_H_look_global;
    }
}

void emu_make_look(emu_decode *d, const ir_insn *i)
{
    emu_insn *in = &d->code.data[d->code.count - 1];
    void *extra = (void *)(uintptr_t)in->extra; /* of the arena */
    switch (i->op) {
    case IR_ld:
    case IR_ldu:
    case IR_st:
    case IR_atom:
    case IR_red: {
        emu_handler handler = d->handlers[look_handler(i->space)];
        in->fn[0] = handler.part;
        in->fn[1] = handler.all;
    } /* fallthrough */
    case IR_wmma:
    case IR_ldmatrix:
    case IR_stmatrix: ((emu_mem *)extra)->look = true; break;
    case IR_cp: {
        if (ir_has(i, IR_S_tensor)) {
            emu_tensor *box = extra;
            box->global.mem.look = box->shared.mem.look = true;
            break;
        }
        emu_copy *copy = extra;
        copy->from.mem.look = copy->to.mem.look = true;
        break;
    }
    default: return;
    }
    d->kernel->shows[d->pc] = 1;
}
