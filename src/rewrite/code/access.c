/* PTX that several probes need. */
#include "rewrite/code/body.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

void rw_text(rw_body *b, const char *text)
{
    ptx_put(b->out, text);
}

void rw_line(rw_body *b, const char *format, ...)
{
    va_list args;
    ptx_put(b->out, "\t");
    va_start(args, format);
    ptx_vputf(b->out, format, args);
    va_end(args);
    ptx_put(b->out, "\n");
}

/* The registers of every copy: __wl_state and __wl_lane keep their values, the others are anybody's. */
void rw_declare(rw_body *b)
{
    rw_text(b, "\t.reg .b64 __wl_state, __wl_frame, __wl_a, __wl_x, __wl_y, __wl_z;\n"
               "\t.reg .b32 __wl_lane, __wl_active, __wl_mask, __wl_lead, __wl_t, __wl_lo, "
               "__wl_hi, __wl_u, __wl_v;\n"
               "\t.reg .pred __wl_leads, __wl_g, __wl_p, __wl_q;\n");
}

/* ---- addresses ---- */

/* In the address's own width, which may be 32 bits. */
static void add_offset(rw_body *b, const ir_operand *o)
{
    ir_operand base = {
        .kind = IR_OPD_REG, .reg = o->reg, .component = o->component, .selector = o->selector};
    ptx_text name = {0};
    ptx_print_operand(&name, b->func, &base);
    const ir_type_info *type = ir_type_get(b->func->regs[o->reg].type);
    size_t length;
    char *text = ptx_text_take(&name, &length);
    if (!text) {
        b->out->failed = true;
    } else if (type->bits == 64) {
        rw_line(b, "add.s64 __wl_a, %s, %lld;", text, (long long)o->imm);
    } else {
        rw_line(b, "add.s32 __wl_t, %s, %d;", text, (int32_t)o->imm);
        rw_line(b, "cvt.u64.u32 __wl_a, __wl_t;");
    }
    free(text);
}

/* Generic addresses become addresses of their space, with a tag (layout.h). */
static void tag_generic(rw_body *b)
{
    rw_text(b, "\tisspacep.shared __wl_p, __wl_a;\n"
               "\tisspacep.local __wl_q, __wl_a;\n"
               "\t@__wl_p cvta.to.shared.u64 __wl_a, __wl_a;\n"
               "\t@__wl_p or.b64 __wl_a, __wl_a, 0x4000000000000000;\n"
               "\t@__wl_q cvta.to.local.u64 __wl_a, __wl_a;\n"
               "\t@__wl_q or.b64 __wl_a, __wl_a, 0x8000000000000000;\n");
}

static bool is_elsewhere(const rw_body *b, const ir_operand *o)
{
    return b->plan->alone && o->has_sym && o->sym.var->space == IR_SPACE_GLOBAL;
}

/* Fills __wl_a; changes __wl_t, __wl_p, __wl_q. */
void rw_address(rw_body *b, uint32_t site)
{
    const ir_operand *o = b->plan->addresses[site]->operand;
    char name[RW_NAME_BYTES];
    if (o->reg != IR_NONE)
        add_offset(b, o);
    else if (is_elsewhere(b, o))
        rw_line(b, "add.s64 __wl_a, %s, %lld;", rw_address_of(b, o->sym.var, name),
                (long long)o->imm);
    else if (o->has_sym)
        rw_line(b, "mov.u64 __wl_a, %s+%lld;", o->sym.var->name, (long long)o->imm);
    else
        rw_line(b, "mov.u64 __wl_a, %lld;", (long long)o->imm);
    if (b->plan->sites[site].flags & REWRITE_GENERIC)
        tag_generic(b);
}

/* ---- which lanes ---- */

static void print_into(char *buffer, size_t size, const rw_body *b, const ir_operand *o)
{
    ptx_text text = {0};
    size_t length;
    ptx_print_operand(&text, b->func, o);
    char *s = ptx_text_take(&text, &length);
    snprintf(buffer, size, "%s", s ? s : "");
    free(s);
}

/* The source of a copy is read by lanes whose size is not 0, and that do not ignore it. */
static rw_guard source_guard(rw_body *b, const ir_insn *insn, rw_guard guard)
{
    for (uint32_t i = 3; i < insn->noperands; i++) {
        const ir_operand *o = &insn->operands[i];
        bool reg = o->kind == IR_OPD_REG;
        const ir_type_info *type = reg ? ir_type_get(b->func->regs[o->reg].type) : NULL;
        char text[RW_REGISTER_BYTES + 2];
        print_into(text, sizeof text, b, o);
        if (reg && type->kind == IR_KIND_P)
            rw_line(b, "selp.b32 __wl_t, %d, %d, %s;", o->neg, !o->neg, text + o->neg);
        else if ((reg && type->bits == 32) || o->kind == IR_OPD_INT)
            rw_line(b, "mov.b32 __wl_t, %s;", text);
        else
            continue;
        if (*guard.text)
            rw_line(b, "setp.ne.and.u32 __wl_g, __wl_t, 0, %s;", guard.text);
        else
            rw_line(b, "setp.ne.u32 __wl_g, __wl_t, 0;");
        return (rw_guard){"__wl_g"};
    }
    return guard;
}

/* Of .x1 and .x2 only the first lanes give addresses. */
static rw_guard row_guard(rw_body *b, const ir_insn *insn)
{
    uint32_t rows = rw_matrix_rows(insn);
    if (rows == REWRITE_LANES)
        return (rw_guard){""};
    rw_line(b, "setp.lt.u32 __wl_g, __wl_lane, %u;", rows);
    return (rw_guard){"__wl_g"};
}

/* The condition under which a lane accesses memory. Changes __wl_t, __wl_g. */
rw_guard rw_guard_of(rw_body *b, uint32_t site)
{
    const rewrite_site *s = &b->plan->sites[site];
    const ir_insn *insn = &b->func->insns[s->pc - b->f->first_pc];
    rw_guard guard = {""};
    if (insn->op == IR_ldmatrix || insn->op == IR_stmatrix)
        return row_guard(b, insn);
    if (insn->guard != IR_NONE)
        snprintf(guard.text, sizeof guard.text, "%s%s", insn->guard_neg ? "!" : "",
                 b->func->regs[insn->guard].name);
    if (insn->op == IR_cp && s->op == REWRITE_LOAD)
        return source_guard(b, insn, guard);
    return guard;
}

void rw_forget_lanes(rw_body *b)
{
    b->lanes = RW_LANES_UNKNOWN;
    for (unsigned i = 0; i < RW_SHAPES; i++)
        b->shapes[i] = FLOW_NONE;
}

/* __wl_active: lanes here. */
void rw_active(rw_body *b)
{
    rw_line(b, "activemask.b32 __wl_active;");
}

/* And __wl_mask: those of them whose guard holds; __wl_lead: the first of these, 0xffffffff without; __wl_leads: whether this
 * lane is it. Changes __wl_t. */
void rw_group(rw_body *b, const rw_guard *guard)
{
    rw_active(b);
    if (*guard->text)
        rw_line(b, "vote.sync.ballot.b32 __wl_mask, %s, __wl_active;", guard->text);
    else
        rw_line(b, "mov.b32 __wl_mask, __wl_active;");
    rw_text(b, "\tbrev.b32 __wl_t, __wl_mask;\n"
               "\tbfind.shiftamt.u32 __wl_lead, __wl_t;\n"
               "\tsetp.eq.u32 __wl_leads, __wl_lead, __wl_lane;\n");
}

void rw_find_lanes(rw_body *b, rw_lanes needed)
{
    bool guarded = *b->guard.text;
    if (needed == RW_LANES_GROUP && (guarded || b->lanes < RW_LANES_GROUP)) {
        rw_group(b, &b->guard);
        b->lanes = guarded ? RW_LANES_ACTIVE : RW_LANES_GROUP;
    } else if (needed == RW_LANES_ACTIVE && b->lanes < RW_LANES_ACTIVE) {
        rw_active(b);
        b->lanes = RW_LANES_ACTIVE;
    }
}
