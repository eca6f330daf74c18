#include "ir/callorder.h"

typedef struct walk {
    const ir_module *module;
    ir_callorder *out;
    bool *listed;  /* by index of the function in the module */
    bool indirect; /* a call through a register without .calltargets was met */
} walk;

/* A prototype may stand before the definition; only the definition has code. */
static void list(walk *w, ir_func *func)
{
    if (func && !func->has_body) {
        func = ir_module_func(w->module, func->name);
    }
    if (!func || !func->has_body || w->listed[func->index]) {
        return;
    }
    w->listed[func->index] = true;
    w->out->funcs[w->out->count++] = func;
}

static void list_symbol(walk *w, const ir_symbol *symbol)
{
    if (symbol->kind == IR_SYM_FUNC) {
        list(w, symbol->func);
    }
}

static void list_operand(walk *w, const ir_operand *operand)
{
    if (operand->has_sym || operand->kind == IR_OPD_SYM) {
        list_symbol(w, &operand->sym);
    }
    for (uint32_t i = 0; i < operand->count; i++) {
        list_operand(w, &operand->items[i]);
    }
}

/* The callees of a .calltargets label among the operands; false without one. */
static bool list_targets(walk *w, const ir_func *func, const ir_insn *insn)
{
    for (uint32_t i = 0; i < insn->noperands; i++) {
        const ir_operand *operand = &insn->operands[i];
        if (operand->kind != IR_OPD_LABEL || operand->label >= func->nlabels) {
            continue;
        }
        const ir_label *label = &func->labels[operand->label];
        if (label->kind == IR_LABEL_CALLTARGETS) {
            for (uint32_t k = 0; k < label->count; k++) {
                list_symbol(w, &label->callees[k]);
            }
            return true;
        }
    }
    return false;
}

static bool has_register(const ir_insn *insn)
{
    for (uint32_t i = 0; i < insn->noperands; i++) {
        if (insn->operands[i].kind == IR_OPD_REG) {
            return true;
        }
    }
    return false;
}

static void list_named(walk *w, const ir_func *func)
{
    for (uint32_t i = 0; i < func->ninsns; i++) {
        const ir_insn *insn = &func->insns[i];
        for (uint32_t k = 0; k < insn->noperands; k++) {
            list_operand(w, &insn->operands[k]);
        }
        if (insn->op == IR_call && has_register(insn) && !list_targets(w, func, insn)) {
            w->indirect = true;
        }
    }
}

static void list_init(walk *w, const ir_init *init)
{
    if (init->kind == IR_INIT_ADDRESS) {
        list_symbol(w, &init->sym);
    }
    if (init->kind == IR_INIT_LIST) {
        for (uint32_t i = 0; i < init->count; i++) {
            list_init(w, &init->items[i]);
        }
    }
}

/* Marks what any initialiser or any instruction but a direct call names. */
static void mark_taken(walk *w)
{
    for (uint32_t i = 0; i < w->module->nvars; i++) {
        if (w->module->vars[i]->has_init) {
            list_init(w, &w->module->vars[i]->init);
        }
    }
    for (uint32_t f = 0; f < w->module->nfuncs; f++) {
        const ir_func *func = w->module->funcs[f];
        for (uint32_t i = 0; i < func->ninsns; i++) {
            const ir_insn *insn = &func->insns[i];
            for (uint32_t k = 0; insn->op != IR_call && k < insn->noperands; k++) {
                list_operand(w, &insn->operands[k]);
            }
        }
    }
}

/* All functions whose address is taken, in module order. */
static wl_status list_taken(walk *w, wl_arena *arena)
{
    uint32_t n = w->module->nfuncs;
    ir_callorder found = {.funcs = wl_new_array(arena, ir_func *, n ? n : 1)};
    walk taken = {w->module, &found, wl_new_array(arena, bool, n ? n : 1), false};
    if (!found.funcs || !taken.listed) {
        return WL_NOMEM;
    }
    mark_taken(&taken);
    for (uint32_t f = 0; f < n; f++) {
        if (taken.listed[f]) {
            list(w, w->module->funcs[f]);
        }
    }
    return WL_OK;
}

static wl_status number(ir_callorder *order, wl_arena *arena)
{
    order->first_pc = wl_new_array(arena, uint32_t, (size_t)order->count + 1);
    if (!order->first_pc) {
        return WL_NOMEM;
    }
    for (uint32_t k = 0; k < order->count; k++) {
        order->first_pc[k + 1] = order->first_pc[k] + order->funcs[k]->ninsns;
    }
    return WL_OK;
}

wl_status ir_callorder_of(const ir_module *module, ir_func *kernel, wl_arena *arena,
                          ir_callorder *out)
{
    *out = (ir_callorder){.funcs = wl_new_array(arena, ir_func *, (size_t)module->nfuncs + 1)};
    walk w = {module, out, wl_new_array(arena, bool, (size_t)module->nfuncs + 1), false};
    if (!out->funcs || !w.listed) {
        return WL_NOMEM;
    }
    list(&w, kernel);
    bool taken_listed = false;
    for (uint32_t k = 0; k < out->count; k++) {
        list_named(&w, out->funcs[k]);
        if (k + 1 == out->count && w.indirect && !taken_listed) {
            taken_listed = true;
            if (list_taken(&w, arena) != WL_OK) {
                return WL_NOMEM;
            }
        }
    }
    return number(out, arena);
}

uint32_t ir_callorder_find(const ir_callorder *order, uint32_t pc)
{
    uint32_t low = 0, high = order->count;
    while (high - low > 1) {
        uint32_t middle = low + (high - low) / 2;
        if (order->first_pc[middle] <= pc) {
            low = middle;
        } else {
            high = middle;
        }
    }
    return low;
}
