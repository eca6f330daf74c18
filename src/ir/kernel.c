/* What a kernel reaches, found by a walk over what its instructions name. */
#include "ir/kernel.h"

#include "ir/blocks.h"

typedef struct walk {
    const ir_module *module;
    ir_kernel *out;
    bool *listed;  /* by index of the function in the module */
    bool indirect; /* a call through a register without .calltargets was met */
} walk;

/* A prototype may stand before the definition; only the definition has code. */
static void list_function(walk *w, const ir_func *func)
{
    if (func && !func->has_body)
        func = ir_module_func(w->module, func->name);
    if (!func || !func->has_body || w->listed[func->index])
        return;
    w->listed[func->index] = true;
    w->out->funcs[w->out->count++] = w->module->funcs[func->index];
}

static void list_symbol(walk *w, const ir_symbol *symbol)
{
    if (symbol->kind == IR_SYM_FUNC)
        list_function(w, symbol->func);
}

static void list_operand(walk *w, const ir_operand *operand)
{
    if (operand->has_sym || operand->kind == IR_OPD_SYM)
        list_symbol(w, &operand->sym);
    for (uint32_t i = 0; i < operand->count; i++)
        list_operand(w, &operand->items[i]);
}

/* The callees of a .calltargets label among the operands; false without one. */
static bool list_targets(walk *w, const ir_func *func, const ir_insn *insn)
{
    for (uint32_t i = 0; i < insn->noperands; i++) {
        const ir_operand *operand = &insn->operands[i];
        if (operand->kind != IR_OPD_LABEL || operand->label >= func->nlabels)
            continue;
        const ir_label *label = &func->labels[operand->label];
        if (label->kind == IR_LABEL_CALLTARGETS) {
            for (uint32_t k = 0; k < label->count; k++)
                list_symbol(w, &label->callees[k]);
            return true;
        }
    }
    return false;
}

static bool has_register(const ir_insn *insn)
{
    for (uint32_t i = 0; i < insn->noperands; i++)
        if (insn->operands[i].kind == IR_OPD_REG)
            return true;
    return false;
}

static void list_named_functions(walk *w, const ir_func *func)
{
    for (uint32_t i = 0; i < func->ninsns; i++) {
        const ir_insn *insn = &func->insns[i];
        for (uint32_t k = 0; k < insn->noperands; k++)
            list_operand(w, &insn->operands[k]);
        if (insn->op == IR_call && has_register(insn) && !list_targets(w, func, insn))
            w->indirect = true;
    }
}

static void list_init(walk *w, const ir_init *init)
{
    if (init->kind == IR_INIT_ADDRESS)
        list_symbol(w, &init->sym);
    if (init->kind == IR_INIT_LIST)
        for (uint32_t i = 0; i < init->count; i++)
            list_init(w, &init->items[i]);
}

/* Marks what any initialiser or any instruction but a direct call names. */
static void mark_address_taken(walk *w)
{
    for (uint32_t i = 0; i < w->module->nvars; i++)
        if (w->module->vars[i]->has_init)
            list_init(w, &w->module->vars[i]->init);
    for (uint32_t f = 0; f < w->module->nfuncs; f++) {
        const ir_func *func = w->module->funcs[f];
        for (uint32_t i = 0; i < func->ninsns; i++) {
            const ir_insn *insn = &func->insns[i];
            for (uint32_t k = 0; insn->op != IR_call && k < insn->noperands; k++)
                list_operand(w, &insn->operands[k]);
        }
    }
}

/* All functions whose address is taken, in module order. */
static wl_status list_taken(walk *w, wl_arena *arena)
{
    uint32_t n = w->module->nfuncs;
    ir_kernel found = {.funcs = wl_new_array(arena, ir_func *, n ? n : 1)};
    walk taken = {w->module, &found, wl_new_array(arena, bool, n ? n : 1), false};
    if (!found.funcs || !taken.listed)
        return WL_NOMEM;
    mark_address_taken(&taken);
    for (uint32_t f = 0; f < n; f++)
        if (taken.listed[f])
            list_function(w, w->module->funcs[f]);
    return WL_OK;
}

static wl_status number_pcs(ir_kernel *kernel, wl_arena *arena)
{
    kernel->first_pc = wl_new_array(arena, uint32_t, (size_t)kernel->count + 1);
    if (!kernel->first_pc)
        return WL_NOMEM;
    for (uint32_t k = 0; k < kernel->count; k++)
        kernel->first_pc[k + 1] = kernel->first_pc[k] + kernel->funcs[k]->ninsns;
    kernel->npcs = kernel->first_pc[kernel->count];
    return WL_OK;
}

static wl_status mark_blocks(ir_kernel *kernel, wl_arena *arena)
{
    kernel->leader = wl_new_array(arena, uint8_t, (size_t)kernel->npcs + kernel->count + 1);
    for (uint32_t k = 0; kernel->leader && k < kernel->count; k++)
        ir_block_leaders(kernel->funcs[k], kernel->leader + kernel->first_pc[k] + k);
    return kernel->leader ? WL_OK : WL_NOMEM;
}

static wl_status list_reachable(walk *w, const ir_func *func, wl_arena *arena)
{
    bool taken_listed = false;
    list_function(w, func);
    for (uint32_t k = 0; k < w->out->count; k++) {
        list_named_functions(w, w->out->funcs[k]);
        if (k + 1 == w->out->count && w->indirect && !taken_listed) {
            taken_listed = true;
            if (list_taken(w, arena) != WL_OK)
                return WL_NOMEM;
        }
    }
    return WL_OK;
}

wl_status ir_kernel_of(const ir_module *module, const ir_func *func, wl_arena *arena,
                       ir_kernel *out)
{
    *out = (ir_kernel){.module = module,
                       .funcs = wl_new_array(arena, ir_func *, (size_t)module->nfuncs + 1)};
    walk w = {module, out, wl_new_array(arena, bool, (size_t)module->nfuncs + 1), false};
    if (!out->funcs || !w.listed || list_reachable(&w, func, arena) != WL_OK ||
        number_pcs(out, arena) != WL_OK) {
        return WL_NOMEM;
    }
    return mark_blocks(out, arena);
}

const ir_func *ir_module_kernel(const ir_module *module, const char *name)
{
    const ir_func *func = ir_module_func(module, name);
    return func && func->entry && func->has_body ? func : NULL;
}

ir_place ir_kernel_at(const ir_kernel *kernel, uint32_t pc)
{
    uint32_t low = 0, high = kernel->count;
    while (high - low > 1) {
        uint32_t middle = low + (high - low) / 2;
        if (kernel->first_pc[middle] <= pc)
            low = middle;
        else
            high = middle;
    }
    const ir_func *func = kernel->funcs[low];
    return (ir_place){low, func, &func->insns[pc - kernel->first_pc[low]]};
}
