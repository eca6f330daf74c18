/* What an access needs to be known about: its address, the lanes that make it. */
#include "rewrite/code/body.h"

#include <stdlib.h>

/* ---- addresses ---- */

/* The operand as it is printed, as if it were a register. */
static rw_reg printed_register(rw_body *b, const ir_operand *o)
{
    ptx_text text = {0};
    size_t length;
    ptx_print_operand(&text, b->func, o);
    char *s = ptx_text_take(&text, &length);
    rw_reg reg = rw_kernels(b, o->reg);
    reg.name = s ? wl_arena_strdup(b->plan->arena, s) : NULL;
    free(s);
    if (!reg.name) {
        b->out->failed = true;
        reg.name = "";
    }
    return reg;
}

/* In the address's own width, which may be 32 bits. */
static rw_reg add_offset(rw_body *b, const ir_operand *o)
{
    ir_operand base = {
        .kind = IR_OPD_REG, .reg = o->reg, .component = o->component, .selector = o->selector};
    rw_reg reg = printed_register(b, &base);
    if (reg.type == RW_B64)
        return rw_get(b, add_s64, reg, rw_number((int64_t)o->imm));
    rw_reg narrow = rw_get(b, add_s32, reg, rw_number((int32_t)o->imm));
    return rw_get(b, cvt_u64_u32, narrow);
}

static void tag_generic(rw_body *b, rw_reg address)
{
    rw_reg shared = rw_get(b, isspacep_shared, address);
    rw_reg local = rw_get(b, isspacep_local, address);
    rw_when(b, shared, cvta_to_shared_u64, address, address);
    rw_when(b, shared, or_b64, address, address, rw_number((int64_t)REWRITE_TAG_SHARED));
    rw_when(b, local, cvta_to_local_u64, address, address);
    rw_when(b, local, or_b64, address, address, rw_number((int64_t)REWRITE_TAG_LOCAL));
}

static bool is_elsewhere(const rw_body *b, const ir_operand *o)
{
    return b->plan->alone && o->has_sym && o->sym.var->space == IR_SPACE_GLOBAL;
}

rw_reg rw_find_address(rw_body *b, uint32_t site)
{
    const ir_operand *o = b->plan->addresses[site]->operand;
    rw_reg address;
    if (o->reg != IR_NONE)
        address = add_offset(b, o);
    else if (is_elsewhere(b, o))
        address = rw_get(b, add_s64, rw_address_of(b, o->sym.var), rw_number((int64_t)o->imm));
    else if (o->has_sym)
        address = rw_get(b, mov_u64, rw_address_of_name(o->sym.var->name, (int64_t)o->imm));
    else
        address = rw_get(b, mov_u64, rw_number((int64_t)o->imm));
    if (b->plan->sites[site].flags & ACC_GENERIC)
        tag_generic(b, address);
    return address;
}

/* ---- guards ---- */

void rw_compare(rw_body *b, rw_instruction plain, rw_instruction and, rw_reg to, rw_opd x, rw_opd y,
                rw_opd guard)
{
    const rw_opd operands[] = {to, x, y, guard};
    if (rw_is_some(guard))
        rw_emit(b, (rw_opd){0}, and, operands, 4);
    else
        rw_emit(b, (rw_opd){0}, plain, operands, 3);
}

/* Not 0 in lanes that read a copy's source, by the operand that says so; false where it does
 * not. */
static bool find_reads(rw_body *b, const ir_operand *o, rw_reg *out)
{
    bool reg = o->kind == IR_OPD_REG;
    const ir_type_info *type = reg ? ir_type_get(b->func->regs[o->reg].type) : NULL;
    if (reg && type->kind == IR_KIND_P)
        *out = rw_get(b, selp_b32, rw_number(o->neg), rw_number(!o->neg), rw_kernels(b, o->reg));
    else if (reg && type->bits == 32)
        *out = rw_get(b, mov_b32, printed_register(b, o));
    else if (o->kind == IR_OPD_INT)
        *out = rw_get(b, mov_b32, rw_number((int64_t)o->imm));
    else
        return false;
    return true;
}

/* The source of a copy is read by lanes whose size is not 0, and that do not ignore it. */
static rw_opd source_guard(rw_body *b, const ir_insn *insn, rw_opd guard)
{
    for (uint32_t i = 3; i < insn->noperands; i++) {
        rw_reg reads;
        if (!find_reads(b, &insn->operands[i], &reads))
            continue;
        rw_reg to = rw_temp(b, RW_PRED);
        rw_compare(b, RW_I_setp_ne_u32, RW_I_setp_ne_and_u32, to, reads, rw_number(0), guard);
        return to;
    }
    return guard;
}

/* Of .x1 and .x2 only the first lanes give addresses. */
static rw_opd row_guard(rw_body *b, const ir_insn *insn)
{
    uint32_t rows = rw_matrix_rows(insn);
    if (rows == REWRITE_LANES)
        return (rw_opd){0};
    return rw_get(b, setp_lt_u32, b->lane, rw_number(rows));
}

rw_opd rw_guard_of(rw_body *b, uint32_t site)
{
    const rewrite_probe_site *s = &b->plan->sites[site];
    const ir_insn *insn = &b->func->insns[s->pc - b->f->first_pc];
    rw_opd guard = {0};
    if (rw_is_matrix(insn))
        return row_guard(b, insn);
    if (insn->guard != IR_NONE) {
        guard = rw_kernels(b, insn->guard);
        guard.negated = insn->guard_neg;
    }
    if (insn->op == IR_cp && s->op == ACC_LOAD)
        return source_guard(b, insn, guard);
    return guard;
}

/* ---- which lanes ---- */

rw_reg rw_nowhere(rw_body *b)
{
    return rw_get(b, setp_ne_u32, b->lane, b->lane);
}

rw_reg rw_everywhere(rw_body *b)
{
    return rw_get(b, setp_eq_u32, b->lane, b->lane);
}

void rw_forget_lanes(rw_body *b)
{
    b->lanes = RW_LANES_UNKNOWN;
    for (unsigned i = 0; i < RW_COMPARED; i++)
        b->shared.compared[i] = FLOW_NONE;
}

void rw_active(rw_body *b)
{
    rw_do(b, activemask_b32, b->warp.active);
}

void rw_group(rw_body *b, rw_opd guard)
{
    const rw_warp *w = &b->warp;
    rw_active(b);
    if (rw_is_some(guard))
        rw_do(b, vote_sync_ballot_b32, w->mask, guard, w->active);
    else
        rw_do(b, mov_b32, w->mask, w->active);
    rw_reg reversed = rw_get(b, brev_b32, w->mask);
    rw_do(b, bfind_shiftamt_u32, w->lead, reversed);
    rw_do(b, setp_eq_u32, w->leads, w->lead, b->lane);
}

void rw_find_lanes(rw_body *b, rw_lanes needed)
{
    bool guarded = rw_is_some(b->guard);
    if (needed == RW_LANES_GROUP && (guarded || b->lanes < RW_LANES_GROUP)) {
        rw_group(b, b->guard);
        b->lanes = guarded ? RW_LANES_ACTIVE : RW_LANES_GROUP;
    } else if (needed == RW_LANES_ACTIVE && b->lanes < RW_LANES_ACTIVE) {
        rw_active(b);
        b->lanes = RW_LANES_ACTIVE;
    }
}

rw_reg rw_of_leader(rw_body *b, rw_reg value)
{
    return rw_get(b, shfl_sync_idx_b32, value, b->warp.lead, rw_number(31), b->warp.active);
}

void rw_add_to_each(rw_body *b, unsigned n, rw_reg counter, rw_reg guard, rw_opd amount)
{
    for (unsigned e = 0; e < n; e++)
        rw_when(b, guard, red_global_add_u32, rw_at(counter, 4 * e), amount);
}
