/* Branches, calls, ends, and what passes the time. */
#include "emu/builtin.h"
#include "emu/decode.h"

/* The guard of a bra is the branch's condition; that of other ends of blocks lets lanes skip the
 * block. */
void emu_decode_bra(emu_decode *d, const ir_insn *i)
{
    if (!emu_allow(d, i, IR_S_uni))
        return;
    d->bb->term = i->guard == IR_NONE ? EMU_TERM_BRA : EMU_TERM_BRA_IF;
    d->bb->target = emu_label_bb(d, i->operands[0].label);
    if (i->guard == IR_NONE)
        return;
    ir_operand guard = {.kind = IR_OPD_REG, .reg = i->guard};
    d->bb->pred = emu_pred_src(d, &guard, &d->bb->neg);
    d->bb->neg = i->guard_neg;
}

void emu_decode_brx(emu_decode *d, const ir_insn *i)
{
    if (!emu_allow(d, i, IR_S_idx, IR_S_uni))
        return;
    const ir_label *table = &d->func->labels[i->operands[1].label];
    emu_brx *brx = wl_new(d->arena, emu_brx);
    uint32_t *targets = wl_new_array(d->arena, uint32_t, table->count + 1);
    if (!brx || !targets) {
        emu_decode_nomem(d);
        return;
    }
    for (uint32_t k = 0; k < table->count; k++)
        targets[k] = emu_label_bb(d, table->targets[k]);
    *brx = (emu_brx){emu_src(d, &i->operands[0], 32), table->count, targets};
    d->bb->term = EMU_TERM_BRX;
    d->bb->extra = brx;
}

void emu_decode_ret(emu_decode *d, const ir_insn *i)
{
    (void)i;
    d->bb->term = EMU_TERM_RET;
}

void emu_decode_exit(emu_decode *d, const ir_insn *i)
{
    (void)i;
    d->bb->term = EMU_TERM_EXIT;
}

void emu_decode_trap(emu_decode *d, const ir_insn *i)
{
    (void)i;
    emu_emit(d, EMU_H_trap, EMU_NOREF, EMU_NOREF, EMU_NOREF, EMU_NOREF);
}

void emu_decode_brkpt(emu_decode *d, const ir_insn *i)
{
    (void)i;
    emu_emit(d, EMU_H_breakpoint, EMU_NOREF, EMU_NOREF, EMU_NOREF, EMU_NOREF);
}

/* The basic block's entry lets other lanes and warps run: there is nothing else to do. */
void emu_decode_nanosleep(emu_decode *d, const ir_insn *i)
{
    (void)d;
    (void)i;
}

/* ---- lanes that part and meet in machine code: imm the number of the register ---- */

void emu_decode_diverge(emu_decode *d, const ir_insn *i)
{
    (void)i;
    d->kernel->diverges = true;
}

static void meeting_insn(emu_decode *d, const ir_insn *i, emu_h handler, uint32_t number)
{
    emu_ref dst = i->op == IR_bget ? emu_dst(d, &i->operands[0], 32) : EMU_NOREF,
            src = i->op == IR_bput ? emu_src(d, &i->operands[1], 32) : EMU_NOREF;
    if (i->operands[number].imm >= EMU_MEETINGS || !d->kernel->diverges)
        emu_unsupported(d, "there is no register %llu of convergence",
                        (unsigned long long)i->operands[number].imm);
    else
        emu_emit(d, handler, dst, src, EMU_NOREF, EMU_NOREF)->imm = (s64)i->operands[number].imm;
}

void emu_decode_bssy(emu_decode *d, const ir_insn *i)
{
    meeting_insn(d, i, EMU_H_bssy, 0);
}

/* The basic block's entry waits; the instruction itself has nothing to do. */
void emu_decode_bsync(emu_decode *d, const ir_insn *i)
{
    meeting_insn(d, i, EMU_H_nothing, 0);
}

void emu_decode_bbreak(emu_decode *d, const ir_insn *i)
{
    meeting_insn(d, i, EMU_H_bbreak, 0);
}

void emu_decode_bget(emu_decode *d, const ir_insn *i)
{
    meeting_insn(d, i, EMU_H_bget, 1);
}

void emu_decode_bput(emu_decode *d, const ir_insn *i)
{
    meeting_insn(d, i, EMU_H_bput, 0);
}

void emu_decode_pmevent(emu_decode *d, const ir_insn *i)
{
    (void)d;
    (void)i;
}

/* Grids do not overlap here, so there is nothing to wait for. */
void emu_decode_griddepcontrol(emu_decode *d, const ir_insn *i)
{
    (void)d;
    (void)i;
}

void emu_decode_setmaxnreg(emu_decode *d, const ir_insn *i)
{
    (void)d;
    (void)i;
}

void emu_decode_alloca(emu_decode *d, const ir_insn *i)
{
    d->kernel->uses_alloca = true;
    if (emu_type(i, 0)->bits != 64) {
        emu_unsupported(d, "local addresses have 64 bits here");
        return;
    }
    emu_ref size = emu_src(d, &i->operands[1], 64);
    uint64_t align = i->noperands > 2 ? i->operands[2].imm : 8;
    emu_emit(d, EMU_H_stack_alloc, emu_dst(d, &i->operands[0], 64), size, EMU_NOREF, EMU_NOREF)
        ->imm = (s64)(align < 8 ? 8 : align);
}

void emu_decode_stacksave(emu_decode *d, const ir_insn *i)
{
    if (emu_type(i, 0)->bits != 64)
        emu_unsupported(d, "local addresses have 64 bits here");
    emu_emit(d, EMU_H_stack_save, emu_dst(d, &i->operands[0], 64), EMU_NOREF, EMU_NOREF, EMU_NOREF);
}

void emu_decode_stackrestore(emu_decode *d, const ir_insn *i)
{
    if (emu_type(i, 0)->bits != 64)
        emu_unsupported(d, "local addresses have 64 bits here");
    emu_emit(d, EMU_H_stack_restore, EMU_NOREF, emu_src(d, &i->operands[0], 64), EMU_NOREF,
             EMU_NOREF);
}

/* ---- clusters ---- */

static uint64_t shared_window_of(const emu_decode *d, const ir_insn *i)
{
    return i->space == IR_SPACE_GENERIC ? d->module->machine->shared_window : 0;
}

void emu_decode_mapa(emu_decode *d, const ir_insn *i)
{
    unsigned bits = emu_type(i, 0)->bits;
    emu_ref a = emu_src(d, &i->operands[1], bits), rank = emu_src(d, &i->operands[2], 32);
    emu_emit(d, bits == 64 ? EMU_H_mapa_64 : EMU_H_mapa_32, emu_dst(d, &i->operands[0], bits), a,
             rank, EMU_NOREF)
        ->imm = (s64)shared_window_of(d, i);
}

void emu_decode_getctarank(emu_decode *d, const ir_insn *i)
{
    unsigned bits = emu_type(i, 0)->bits;
    emu_ref a = emu_src(d, &i->operands[1], bits);
    emu_emit(d, bits == 64 ? EMU_H_getctarank_64 : EMU_H_getctarank_32,
             emu_dst(d, &i->operands[0], 32), a, EMU_NOREF, EMU_NOREF)
        ->imm = (s64)shared_window_of(d, i);
}

/* ---- calls ---- */

static emu_place place_of_operand(emu_decode *d, const ir_operand *o, const emu_place *formal)
{
    if (o->kind == IR_OPD_SYM && o->sym.kind == IR_SYM_VAR) {
        emu_place *place = emu_param_place(d, o->sym.var);
        if (place)
            return *place;
        emu_unsupported(d, "a kernel's own parameter cannot be passed on in place");
        return (emu_place){0};
    }
    if (o->kind == IR_OPD_SINK)
        return (emu_place){.ref = EMU_NOREF};
    unsigned bits = emu_reg_bits(d, o);
    if (bits == 1)
        return (emu_place){.ref = emu_pred_src(d, o, NULL), .bytes = 0, .stride = 0, .pred = true};
    if (bits == 0)
        bits = formal && formal->bytes ? formal->bytes * 8 : 32;
    return (emu_place){.ref = emu_src(d, o, bits), .bytes = bits / 8, .stride = bits / 8};
}

static emu_place *places(emu_decode *d, const ir_operand *list, const emu_place *formal,
                         uint32_t nformal, uint32_t *count)
{
    *count = list ? list->count : 0;
    emu_place *out = wl_new_array(d->arena, emu_place, *count + 1);
    if (!out) {
        emu_decode_nomem(d);
        return NULL;
    }
    for (uint32_t k = 0; k < *count && d->status == WL_OK; k++)
        out[k] = place_of_operand(d, &list->items[k], k < nformal ? &formal[k] : NULL);
    return out;
}

typedef struct call_parts {
    const ir_operand *rets, *callee, *args;
} call_parts;

/* call (ret), f, (args), prototype; the lists may be missing. */
static call_parts parts_of(const ir_insn *i)
{
    call_parts p = {0};
    uint32_t k = 0;
    if (k < i->noperands && i->operands[k].kind == IR_OPD_LIST)
        p.rets = &i->operands[k++];
    if (k < i->noperands)
        p.callee = &i->operands[k++];
    if (k < i->noperands && i->operands[k].kind == IR_OPD_LIST)
        p.args = &i->operands[k++];
    return p;
}

static const emu_function *function_of(emu_decode *d, const ir_func *func)
{
    for (uint32_t k = 1; k < d->kernel->nfunctions; k++)
        if (strcmp(d->kernel->functions[k].func->name, func->name) == 0)
            return &d->kernel->functions[k];
    return NULL;
}

static void resolve_callee(emu_decode *d, const ir_operand *callee, emu_call *call)
{
    call->pointer = EMU_NOREF;
    if (callee->kind == IR_OPD_SYM && callee->sym.kind == IR_SYM_FUNC) {
        call->callee = function_of(d, callee->sym.func);
        call->builtin = call->callee ? NULL : emu_builtin_find(callee->sym.func->name);
        d->kernel->prints |= call->builtin && strcmp(call->builtin->name, "vprintf") == 0;
        if (!call->callee && !call->builtin)
            emu_unsupported(d, "the function %s is not defined in this module",
                            callee->sym.func->name);
    } else {
        call->pointer = emu_src(d, callee, emu_reg_bits(d, callee));
        call->pointer_bits = (uint8_t)emu_reg_bits(d, callee);
    }
}

void emu_decode_call(emu_decode *d, const ir_insn *i)
{
    call_parts p = parts_of(i);
    emu_call *call = wl_new(d->arena, emu_call);
    if (!call) {
        emu_decode_nomem(d);
        return;
    }
    if (!emu_allow(d, i, IR_S_uni) || !p.callee)
        return;
    resolve_callee(d, p.callee, call);
    const emu_function *f = call->callee;
    call->args = places(d, p.args, f ? f->params : NULL, f ? f->nparams : 0, &call->nargs);
    call->rets = places(d, p.rets, f ? f->rets : NULL, f ? f->nrets : 0, &call->nrets);
    call->pc = d->pc;
    d->bb->term = EMU_TERM_CALL;
    d->bb->extra = call;
}
