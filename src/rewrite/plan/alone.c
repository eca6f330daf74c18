/* A kernel in a module of its own, which names variables of the module that it comes from by their
 * addresses.
 *
 * Each function loads the addresses of the global variables that it names from a table in constant
 * memory, which is what ptxas makes of a name, too. Constant variables keep their names: the module
 * has copies. Shared ones are the kernel's anyway. */
#include "rewrite/plan/plan.h"

#include <string.h>

/* ---- what the kernel names ---- */

typedef struct naming {
    rw_plan *plan;
    rw_alone *alone;
    const char *refused;
} naming;

static bool add_var_to_list(const ir_var **list, uint32_t *count, const ir_var *var)
{
    for (uint32_t i = 0; i < *count; i++)
        if (list[i] == var)
            return false;
    list[(*count)++] = var;
    return true;
}

static void name_var(naming *n, const ir_var *var)
{
    rw_alone *a = n->alone;
    if (var->opaque)
        n->refused = "it names a texture, a sampler or a surface";
    else if (var->func && (var->space == IR_SPACE_GLOBAL || var->space == IR_SPACE_CONST))
        n->refused = "it has a variable within a function that keeps its value";
    else if (var->space == IR_SPACE_GLOBAL)
        add_var_to_list(a->globals, &a->nglobals, var);
    else if (var->space == IR_SPACE_CONST && !ir_var_size(var))
        n->refused = "it names a constant without a size";
    else if (var->space == IR_SPACE_CONST)
        add_var_to_list(a->constants, &a->nconstants, var);
    else if (var->space == IR_SPACE_SHARED && !var->func)
        add_var_to_list(a->shared, &a->nshared, var);
}

/* What the driver has for any module. */
static bool is_system_call(const char *name)
{
    static const char *const known[] = {"vprintf", "malloc", "free", "__assertfail"};
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (strcmp(known[i], name) == 0)
            return true;
    return false;
}

static void name_callee(naming *n, const ir_func *func)
{
    const ir_func *callee = ir_module_func(n->plan->module, func->name);
    if (!callee || callee->alias)
        n->refused = "it calls a function by another name";
    else if (!callee->has_body && !is_system_call(callee->name))
        n->refused = "it calls a function without PTX";
    else
        n->alone->funcs[callee->index] = true;
}

static void name_operand_symbols(naming *n, const ir_operand *o, bool callee)
{
    if (o->has_sym && o->sym.kind == IR_SYM_VAR)
        name_var(n, o->sym.var);
    else if (o->has_sym && callee)
        name_callee(n, o->sym.func);
    else if (o->has_sym)
        n->refused = "it takes the address of a function";
    for (uint32_t i = 0; i < o->count; i++)
        name_operand_symbols(n, &o->items[i], false);
}

static void name_insn(naming *n, const ir_func *func, const ir_insn *insn)
{
    const ir_operand *target = insn->op == IR_call ? flow_call_of(func, insn).target : NULL;
    if (insn->op == IR_call && (!target || !target->has_sym))
        n->refused = "it calls functions through pointers";
    for (uint32_t i = 0; i < insn->noperands; i++)
        name_operand_symbols(n, &insn->operands[i], target && target == &insn->operands[i]);
}

static void name_all(naming *n)
{
    const ir_kernel *code = &n->plan->code;
    n->alone->funcs[code->funcs[0]->index] = true;
    for (uint32_t k = 0; k < code->count && !n->refused; k++)
        for (uint32_t i = 0; i < code->funcs[k]->ninsns && !n->refused; i++)
            name_insn(n, code->funcs[k], &code->funcs[k]->insns[i]);
}

/* ---- registers in the place of names ---- */

typedef struct renaming {
    rw_plan *plan;
    rw_by_address *body;
    bool failed;
} renaming;

static uint32_t global_of(const rw_plan *plan, const ir_var *var)
{
    uint32_t i = 0;
    while (plan->alone->globals[i] != var)
        i++;
    return i;
}

/* The number of the register, new where there was none. */
static uint32_t register_of_address(rw_by_address *body, uint32_t global, uint64_t offset)
{
    for (uint32_t i = 0; i < body->nnamed; i++)
        if (body->named[i].global == global && body->named[i].offset == offset)
            return i;
    body->named[body->nnamed] = (rw_named){global, offset};
    return body->nnamed++;
}

static bool names_global(const ir_operand *o)
{
    return o->has_sym && o->sym.kind == IR_SYM_VAR && o->sym.var->space == IR_SPACE_GLOBAL;
}

static uint32_t count_globals(const ir_operand *operands, uint32_t count)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < count; i++)
        n += names_global(&operands[i]) + count_globals(operands[i].items, operands[i].count);
    return n;
}

uint32_t rw_register_of(const rw_plan *plan, rw_by_address *body, const ir_var *var)
{
    return register_of_address(body, global_of(plan, var), 0);
}

/* An address keeps its offset, the value of a name is a register with it. */
static ir_operand *rename_operands(renaming *r, const ir_operand *operands, uint32_t count)
{
    uint32_t first = r->body->func->nregs;
    ir_operand *copy = wl_arena_copy(r->plan->arena, operands, count * sizeof *operands);
    for (uint32_t i = 0; copy && i < count; i++) {
        ir_operand *o = &copy[i];
        if (names_global(o)) {
            bool address = o->kind == IR_OPD_ADDR;
            uint32_t global = global_of(r->plan, o->sym.var);
            o->reg = first + register_of_address(r->body, global, address ? 0 : o->imm);
            o->kind = address ? IR_OPD_ADDR : IR_OPD_REG;
            o->imm = address ? o->imm : 0;
            o->has_sym = false;
        }
        if (count_globals(o->items, o->count))
            o->items = rename_operands(r, o->items, o->count);
    }
    r->failed |= !copy;
    return copy;
}

static bool add_registers(rw_plan *plan, rw_by_address *body)
{
    ir_func *func = body->func;
    ir_reg *regs = wl_new_array(plan->arena, ir_reg, (size_t)func->nregs + body->nnamed + 1);
    if (!regs)
        return false;
    if (func->nregs)
        memcpy(regs, func->regs, func->nregs * sizeof *regs);
    for (uint32_t i = 0; i < body->nnamed; i++) {
        ir_reg *reg = &regs[func->nregs + i];
        *reg = (ir_reg){.type = IR_T_b64, .vector = 1};
        if (!(reg->name = wl_arena_printf(plan->arena, RW_PREFIX "g%u", i)))
            return false;
    }
    func->regs = regs;
    func->nregs += body->nnamed;
    return true;
}

static bool rename_body(rw_plan *plan, const ir_func *func, rw_by_address *body)
{
    renaming r = {plan, body, false};
    uint32_t names = 0;
    for (uint32_t i = 0; i < func->ninsns; i++)
        names += count_globals(func->insns[i].operands, func->insns[i].noperands);
    body->func = wl_arena_copy(plan->arena, func, sizeof *func);
    body->named = wl_new_array(plan->arena, rw_named, (size_t)names + 1);
    if (!body->func || !body->named)
        return false;
    if (!names)
        return true;
    ir_insn *insns = wl_arena_copy(plan->arena, func->insns, func->ninsns * sizeof *insns);
    for (uint32_t i = 0; insns && i < func->ninsns; i++)
        if (count_globals(insns[i].operands, insns[i].noperands))
            insns[i].operands = rename_operands(&r, insns[i].operands, insns[i].noperands);
    body->func->insns = insns;
    return insns && !r.failed && add_registers(plan, body);
}

/* ---- the plan ---- */

static uint32_t count_names(const rw_plan *plan)
{
    uint32_t n = plan->module->nvars;
    for (uint32_t k = 0; k < plan->code.count; k++)
        n += plan->code.funcs[k]->nvars;
    return n;
}

static rw_alone *new_alone(const rw_plan *plan)
{
    size_t vars = (size_t)count_names(plan) + 1;
    rw_alone *a = wl_new(plan->arena, rw_alone);
    if (!a)
        return NULL;
    *a = (rw_alone){.globals = wl_new_array(plan->arena, const ir_var *, vars),
                    .constants = wl_new_array(plan->arena, const ir_var *, vars),
                    .shared = wl_new_array(plan->arena, const ir_var *, vars),
                    .funcs = wl_new_array(plan->arena, bool, (size_t)plan->module->nfuncs + 1),
                    .bodies = wl_new_array(plan->arena, rw_by_address, plan->code.count)};
    return a->globals && a->constants && a->shared && a->funcs && a->bodies ? a : NULL;
}

wl_status rw_plan_alone(rw_plan *plan)
{
    naming n = {plan, new_alone(plan), NULL};
    if (!n.alone)
        return WL_NOMEM;
    name_all(&n);
    plan->alone = n.alone;
    plan->out->refused = n.refused;
    for (uint32_t k = 0; !n.refused && k < plan->code.count; k++)
        if (!rename_body(plan, plan->code.funcs[k], &n.alone->bodies[k]))
            return WL_NOMEM;
    return WL_OK;
}
