/* Prints what a kernel in a module of its own has beside its code: variables, and the registers
 * with their addresses. */
#include "rewrite/code/body.h"

/* What the variable holds is copied there, and the host may change it: the compiler must not take
 * it for something else. */
static void print_constant(ptx_text *out, const ir_var *var)
{
    ptx_putf(out, ".visible .const .align %u .b8 %s[%llu];\n", (unsigned)ir_var_align(var),
             var->name, (unsigned long long)ir_var_size(var));
}

void rw_print_alone_variables(ptx_text *out, const rw_plan *plan)
{
    const rw_alone *a = plan->alone;
    if (a->nglobals)
        ptx_putf(out, "\n.visible .const .align 8 .u64 " REWRITE_GLOBALS "[%u];\n",
                 (unsigned)a->nglobals);
    for (uint32_t i = 0; i < a->nconstants; i++)
        print_constant(out, a->constants[i]);
    for (uint32_t i = 0; i < plan->module->written->nitems; i++) {
        const ptx_item *item = &plan->module->written->items[i];
        for (uint32_t s = 0; item->kind == PTX_ITEM_VAR && s < a->nshared; s++)
            if (plan->module->vars[item->index] == a->shared[s])
                ptx_print_item(out, plan->module, item);
    }
}

const ir_func *rw_printed(const rw_plan *plan, uint32_t index)
{
    return plan->alone ? plan->alone->bodies[index].func : plan->flow->funcs[index].func;
}

static void load_address(rw_body *b, const rw_by_address *body, uint32_t i)
{
    const rw_named *named = &body->named[i];
    rw_reg reg = rw_declare(b, RW_B64, "g", i);
    rw_do(b, ld_const_u64, reg, rw_address_of_name(REWRITE_GLOBALS, 8 * (int64_t)named->global));
    if (named->offset)
        rw_do(b, add_s64, reg, reg, rw_number((int64_t)named->offset));
}

void rw_load_addresses(rw_body *b)
{
    const rw_by_address *body = b->plan->alone ? &b->plan->alone->bodies[b->index] : NULL;
    if (!body || !body->nnamed)
        return;
    for (uint32_t i = 0; i < body->nnamed; i++)
        load_address(b, body, i);
}

rw_reg rw_address_of(const rw_body *b, const ir_var *var)
{
    rw_by_address *body = &b->plan->alone->bodies[b->index];
    return (rw_reg){.kind = RW_OPD_DECLARED,
                    .type = RW_B64,
                    .name = "g",
                    .number = rw_register_of(b->plan, body, var)};
}
