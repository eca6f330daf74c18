/* cp.async, bulk copies, mbarrier; decode_tensor.c has copies of tensors. */
#include "emu/async.h"
#include "emu/decode.h"

ir_space emu_nth_space(const ir_insn *i, uint32_t nth)
{
    ir_suffix s;
    if (!emu_has_class(i, IR_SC_SPACE, nth, &s))
        return IR_SPACE_GENERIC;
    return s == IR_S_global                            ? IR_SPACE_GLOBAL
           : s == IR_S_shared__cluster                 ? IR_SPACE_SHARED_CLUSTER
           : s == IR_S_shared || s == IR_S_shared__cta ? IR_SPACE_SHARED
                                                       : IR_SPACE_GENERIC;
}

/* One end of a copy: decoded as an instruction of its own and taken out of the code again. */
void emu_set_end(emu_decode *d, const ir_insn *i, const ir_operand *address, ir_space space,
                 acc_op op, uint32_t flags, emu_end *end)
{
    end->mem = *emu_mem_new(d, i, space, op);
    end->mem.flags |= (uint16_t)flags;
    end->mem.count = 1;
    emu_insn *in = emu_emit_mem(d, EMU_H_nothing, address, &end->mem);
    end->insn = *in;
    end->insn.extra = &end->mem;
    if (d->status == WL_OK)
        d->code.count--;
}

static bool allow_copy(emu_decode *d, const ir_insn *i)
{
    for (uint32_t s = 0; s < i->nsuffixes; s++) {
        ir_suffix suffix = (ir_suffix)i->suffixes[s];
        switch (ir_suffix_class_of(suffix)) {
        case IR_SC_TYPE:
        case IR_SC_SPACE:
        case IR_SC_CACHE:
        case IR_SC_OP:
        case IR_SC_BOOL: break;
        default:
            if (suffix == IR_S_async || suffix == IR_S_bulk || suffix == IR_S_reduce ||
                suffix == IR_S_bulk_group || suffix == IR_S_mbarrier__complete_tx__bytes ||
                suffix == IR_S_noftz)
                break;
            emu_unsupported(d, "the modifier .%s is not supported here", ir_suffix_text(suffix));
            return false;
        }
    }
    return d->status == WL_OK;
}

static emu_copy *new_copy(emu_decode *d)
{
    emu_copy *c = wl_new(d->arena, emu_copy);
    if (!c) {
        emu_decode_nomem(d);
        return NULL;
    }
    c->size = c->ignore = EMU_NOREF;
    return c;
}

/* cp.async [to], [from], bytes{, bytes read | predicate}{, cache policy} */
static void small_copy(emu_decode *d, const ir_insn *i)
{
    emu_copy *c = new_copy(d);
    if (!c || !allow_copy(d, i))
        return;
    c->bytes = (uint32_t)i->operands[2].imm;
    for (uint32_t k = 3; k < i->noperands; k++) {
        unsigned bits = emu_reg_bits(d, &i->operands[k]);
        if (bits == 1)
            c->ignore = emu_pred_src(d, &i->operands[k], NULL);
        else if (bits != 64)
            c->size = emu_src(d, &i->operands[k], 32);
    }
    emu_set_end(d, i, &i->operands[0], emu_nth_space(i, 0), ACC_STORE, ACC_ASYNC, &c->to);
    emu_set_end(d, i, &i->operands[1], emu_nth_space(i, 1), ACC_LOAD,
                ACC_ASYNC | (ir_has(i, IR_S_ca) ? ACC_CACHED : 0), &c->from);
    emu_emit_fn(d, emu_run_copy)->extra = c;
}

bool emu_reduction_of(const ir_insn *i, emu_atomic_op *op)
{
    static const struct {
        ir_suffix suffix;
        emu_atomic_op op;
    } names[] = {{IR_S_and, EMU_ATOMIC_AND}, {IR_S_or, EMU_ATOMIC_OR},   {IR_S_xor, EMU_ATOMIC_XOR},
                 {IR_S_add, EMU_ATOMIC_ADD}, {IR_S_inc, EMU_ATOMIC_INC}, {IR_S_dec, EMU_ATOMIC_DEC},
                 {IR_S_min, EMU_ATOMIC_MIN}, {IR_S_max, EMU_ATOMIC_MAX}};
    for (size_t k = 0; k < sizeof names / sizeof *names; k++)
        if (ir_has(i, names[k].suffix)) {
            *op = names[k].op;
            return true;
        }
    return false;
}

/* [to], [from], size{, [mbarrier]}{, cache policy} */
static void bulk_copy(emu_decode *d, const ir_insn *i)
{
    emu_copy *c = new_copy(d);
    emu_atomic_op op;
    if (!c || !allow_copy(d, i))
        return;
    if (ir_has(i, IR_S_reduce)) {
        c->combine = emu_reduction_of(i, &op) ? emu_combine_of(op, i->types[0]) : NULL;
        c->element = emu_type(i, 0)->bits / 8u;
        if (!c->combine) {
            emu_unsupported(d, "this reduction is not supported");
            return;
        }
    }
    c->size = emu_src(d, &i->operands[2], 32);
    emu_set_end(d, i, &i->operands[0], emu_nth_space(i, 0), c->combine ? ACC_REDUCTION : ACC_STORE,
                ACC_ASYNC | ACC_BULK, &c->to);
    emu_set_end(d, i, &i->operands[1], emu_nth_space(i, 1), ACC_LOAD, ACC_ASYNC | ACC_BULK,
                &c->from);
    c->has_barrier = ir_has(i, IR_S_mbarrier__complete_tx__bytes);
    if (c->has_barrier)
        emu_set_end(d, i, &i->operands[3], emu_nth_space(i, 0), ACC_ATOMIC, 0, &c->barrier);
    emu_emit_fn(d, emu_run_bulk)->extra = c;
}

/* ---- mbarrier ---- */

static acc_op access_of(emu_mbarrier_op op)
{
    switch (op) {
    case EMU_MBARRIER_INIT:
    case EMU_MBARRIER_INVAL: return ACC_STORE;
    case EMU_MBARRIER_WAIT:
    case EMU_MBARRIER_WAIT_PARITY: return ACC_LOAD;
    default: return ACC_ATOMIC;
    }
}

static emu_mbarrier *new_mbarrier(emu_decode *d, const ir_insn *i, emu_mbarrier_op op)
{
    emu_mbarrier *m = wl_new(d->arena, emu_mbarrier);
    if (!m) {
        emu_decode_nomem(d);
        return NULL;
    }
    m->mem = *emu_mem_new(d, i, i->space, access_of(op));
    m->mem.count = 1;
    m->op = op;
    m->value = EMU_NOREF;
    return m;
}

static void emit_mbarrier(emu_decode *d, emu_mbarrier *m, const ir_operand *address, emu_ref dst)
{
    emu_insn *in = emu_emit_mem(d, EMU_H_nothing, address, &m->mem);
    in->fn[0] = in->fn[1] = emu_run_mbarrier;
    in->dst = dst;
}

/* Copies are complete when they are made, so their arrival happens at once; without .noinc it was
 * counted in before. */
static void arrive_on_copies(emu_decode *d, const ir_insn *i)
{
    emu_mbarrier *m = new_mbarrier(d, i, EMU_MBARRIER_ARRIVE);
    if (!m)
        return;
    if (!ir_has(i, IR_S_noinc))
        m->value = emu_const(d, 32, 0);
    emit_mbarrier(d, m, &i->operands[0], EMU_NOREF);
}

/* Copies are complete when they are made: there is nothing to group, to wait for or to fetch ahead. */
static bool only_orders_copies(const ir_insn *i)
{
    return ir_has(i, IR_S_commit_group) || ir_has(i, IR_S_wait_group) || ir_has(i, IR_S_wait_all) ||
           ir_has(i, IR_S_prefetch);
}

void emu_decode_cp(emu_decode *d, const ir_insn *i)
{
    if (only_orders_copies(i))
        return;
    if (ir_has(i, IR_S_tensor))
        emu_decode_box(d, i);
    else if (ir_has(i, IR_S_mbarrier))
        arrive_on_copies(d, i);
    else if (ir_has(i, IR_S_bulk))
        bulk_copy(d, i);
    else
        small_copy(d, i);
}

static bool allow_mbarrier(emu_decode *d, const ir_insn *i)
{
    for (uint32_t s = 0; s < i->nsuffixes; s++) {
        ir_suffix suffix = (ir_suffix)i->suffixes[s];
        ir_suffix_class class = ir_suffix_class_of(suffix);
        bool ok = class == IR_SC_TYPE || class == IR_SC_SPACE || class == IR_SC_SEM ||
                  class == IR_SC_SCOPE;
        static const uint16_t words[] = {IR_S_init,        IR_S_inval,        IR_S_expect_tx,
                                         IR_S_complete_tx, IR_S_arrive,       IR_S_arrive_drop,
                                         IR_S_noComplete,  IR_S_test_wait,    IR_S_try_wait,
                                         IR_S_parity,      IR_S_pending_count};
        for (size_t k = 0; k < sizeof words / sizeof *words && !ok; k++)
            ok = words[k] == suffix;
        if (!ok) {
            emu_unsupported(d, "the modifier .%s is not supported here", ir_suffix_text(suffix));
            return false;
        }
    }
    return d->status == WL_OK;
}

static void mbarrier_wait(emu_decode *d, const ir_insn *i)
{
    bool parity = ir_has(i, IR_S_parity);
    emu_mbarrier *m = new_mbarrier(d, i, parity ? EMU_MBARRIER_WAIT_PARITY : EMU_MBARRIER_WAIT);
    if (!m)
        return;
    m->value = emu_src(d, &i->operands[2], parity ? 32 : 64);
    emit_mbarrier(d, m, &i->operands[1], emu_pred_dst(d, &i->operands[0]));
}

static void mbarrier_arrive(emu_decode *d, const ir_insn *i)
{
    bool drop = ir_has(i, IR_S_arrive_drop), tx = ir_has(i, IR_S_expect_tx);
    emu_mbarrier_op op = tx ? (drop ? EMU_MBARRIER_DROP_EXPECT_TX : EMU_MBARRIER_ARRIVE_EXPECT_TX)
                         : drop ? EMU_MBARRIER_DROP
                                : EMU_MBARRIER_ARRIVE;
    emu_mbarrier *m = new_mbarrier(d, i, op);
    if (!m)
        return;
    uint32_t at = i->operands[0].kind == IR_OPD_ADDR ? 0 : 1;
    if (i->noperands > at + 1)
        m->value = emu_src(d, &i->operands[at + 1], 32);
    bool state = at == 1 && i->operands[0].kind != IR_OPD_SINK;
    emit_mbarrier(d, m, &i->operands[at], state ? emu_dst(d, &i->operands[0], 64) : EMU_NOREF);
}

void emu_decode_mbarrier(emu_decode *d, const ir_insn *i)
{
    if (!allow_mbarrier(d, i))
        return;
    if (ir_has(i, IR_S_pending_count)) {
        emu_ref state = emu_src(d, &i->operands[1], 64), dst = emu_dst(d, &i->operands[0], 32);
        emu_insn *in = emu_emit_fn(d, emu_run_pending);
        in->dst = dst;
        in->src[0] = state;
        return;
    }
    if (ir_has(i, IR_S_test_wait) || ir_has(i, IR_S_try_wait)) {
        mbarrier_wait(d, i);
        return;
    }
    if (ir_has(i, IR_S_arrive) || ir_has(i, IR_S_arrive_drop)) {
        mbarrier_arrive(d, i);
        return;
    }
    emu_mbarrier *m = new_mbarrier(d, i,
                                   ir_has(i, IR_S_init)        ? EMU_MBARRIER_INIT
                                   : ir_has(i, IR_S_inval)     ? EMU_MBARRIER_INVAL
                                   : ir_has(i, IR_S_expect_tx) ? EMU_MBARRIER_EXPECT_TX
                                                               : EMU_MBARRIER_COMPLETE_TX);
    if (!m)
        return;
    if (i->noperands > 1)
        m->value = emu_src(d, &i->operands[1], 32);
    emit_mbarrier(d, m, &i->operands[0], EMU_NOREF);
}
