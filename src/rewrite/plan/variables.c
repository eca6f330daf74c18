/* Variables whose addresses in their space a kernel with probes writes down, so that the host can
 * tell an address as variable and offset. */
#include "rewrite/plan/plan.h"

/* One that the code at the begin of a function can name. */
static bool listed(const ir_var *var)
{
    return (var->space == IR_SPACE_SHARED || var->space == IR_SPACE_CONST) &&
           (!var->func || var->scope == 0);
}

static void add_plan_var(rw_plan *p, const ir_var *var)
{
    for (uint32_t i = 0; i < p->nvars; i++)
        if (p->vars[i].var == var)
            return;
    p->vars[p->nvars++].var = var;
}

static uint32_t list_vars(rw_plan *p, const ir_operand *o, bool count)
{
    uint32_t n = 0;
    if (o->has_sym && o->sym.kind == IR_SYM_VAR && listed(o->sym.var)) {
        if (!count)
            add_plan_var(p, o->sym.var);
        n++;
    }
    for (uint32_t i = 0; i < o->count; i++)
        n += list_vars(p, &o->items[i], count);
    return n;
}

/* Needs: nothing. Fills: vars. */
wl_status rw_pass_variables(rw_plan *p)
{
    uint32_t room = 0;
    for (int count = 1; count >= 0; count--) {
        for (uint32_t k = 0; k < p->code.count; k++)
            for (uint32_t i = 0; i < p->code.funcs[k]->ninsns; i++) {
                const ir_insn *insn = &p->code.funcs[k]->insns[i];
                for (uint32_t o = 0; o < insn->noperands; o++)
                    room += list_vars(p, &insn->operands[o], count) * (uint32_t)count;
            }
        if (count && !(p->vars = wl_new_array(p->arena, rewrite_var, (size_t)room + 1)))
            return WL_NOMEM;
    }
    p->out->nvars = p->nvars, p->out->vars = p->vars;
    return WL_OK;
}

uint32_t rw_var_listed_as(const rw_plan *p, const ir_var *var)
{
    bool written = p->out->probes >> REWRITE_SHARED & 1 && var->space == IR_SPACE_SHARED;
    for (uint32_t i = 0; written && i < p->nvars; i++)
        if (p->vars[i].var == var)
            return i;
    return IR_NONE;
}

uint32_t rw_var_listed(const rw_plan *p, const ir_symbol *symbol)
{
    return symbol->kind == IR_SYM_VAR ? rw_var_listed_as(p, symbol->var) : IR_NONE;
}

uint32_t rw_param_at(const ir_func *kernel, uint32_t param)
{
    uint64_t at = 0;
    for (uint32_t i = 0;; i++) {
        uint64_t align = ir_var_align(kernel->params[i]);
        at = (at + align - 1) / align * align;
        if (i == param)
            return (uint32_t)at;
        at += ir_var_size(kernel->params[i]);
    }
}
