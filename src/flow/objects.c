/* Variables of a kernel and what values may point to. */
#include "flow/kernel.h"

enum { MAX_CELLS = 1024, MIN_CELL = 4 };

static uint32_t variable_slot(const flow_kernel *k, const ir_var *var)
{
    uint64_t hash = (uint64_t)(uintptr_t)var * UINT64_C(0x9e3779b97f4a7c15);
    uint32_t slot = (uint32_t)(hash >> 32) & (k->object_room - 1);
    while (k->object_keys[slot] && k->object_keys[slot] != var)
        slot = (slot + 1) & (k->object_room - 1);
    return slot;
}

uint32_t flow_object_of(const flow_kernel *k, const ir_var *var)
{
    uint32_t slot = variable_slot(k, var);
    return k->object_keys[slot] ? k->object_slots[slot] : FLOW_NONE;
}

uint32_t flow_named_object(const flow_kernel *k, const ir_operand *o)
{
    return o->kind == IR_OPD_SYM && o->sym.kind == IR_SYM_VAR ? flow_object_of(k, o->sym.var)
                                                              : FLOW_NONE;
}

static bool is_dynamic_array(const ir_var *var)
{
    return var->space == IR_SPACE_SHARED && ir_var_size(var) == 0;
}

static uint32_t new_variable_object(flow_kernel *k, const ir_var *var, uint32_t func)
{
    uint64_t bytes = ir_var_size(var), cell = MIN_CELL;
    while (bytes / cell > MAX_CELLS)
        cell *= 2;
    k->objects[k->nobjects] = (flow_object){
        .space = var->space == IR_SPACE_SHARED_CLUSTER ? IR_SPACE_SHARED : var->space,
        .var = var,
        .func = func,
        .bytes = bytes,
        .element = FLOW_NONE,
        .cells = bytes ? (uint32_t)((bytes + cell - 1) / cell) : 1,
        .cell_bytes = (uint32_t)cell};
    return k->nobjects++;
}

static void add_variable_object(flow_kernel *k, const ir_var *var, uint32_t func)
{
    uint32_t slot = variable_slot(k, var);
    if (k->object_keys[slot])
        return;
    uint32_t object;
    if (!is_dynamic_array(var))
        object = new_variable_object(k, var, func);
    else if (k->dynamic_shared != FLOW_NONE)
        object = k->dynamic_shared;
    else
        object = k->dynamic_shared = new_variable_object(k, var, FLOW_NONE);
    k->object_keys[slot] = var;
    k->object_slots[slot] = object;
}

static void add_operand(flow_kernel *k, const ir_operand *o)
{
    if ((o->has_sym || o->kind == IR_OPD_SYM) && o->sym.kind == IR_SYM_VAR && !o->sym.var->func)
        add_variable_object(k, o->sym.var, FLOW_NONE);
    for (uint32_t i = 0; i < o->count; i++)
        add_operand(k, &o->items[i]);
}

/* At most as many as there are: own variables, and one an operand for those of the module. */
static size_t count_vars(const flow_kernel *k)
{
    size_t count = k->module->nvars;
    for (uint32_t f = 0; f < k->code->count; f++) {
        const ir_func *func = k->code->funcs[f];
        count += (size_t)func->nparams + func->nrets + func->nvars;
    }
    return count;
}

static void add_function_objects(flow_kernel *k, uint32_t index)
{
    const ir_func *func = k->code->funcs[index];
    for (uint32_t i = 0; i < func->nparams; i++)
        add_variable_object(k, func->params[i], index);
    for (uint32_t i = 0; i < func->nrets; i++)
        add_variable_object(k, func->rets[i], index);
    for (uint32_t i = 0; i < func->nvars; i++)
        add_variable_object(k, func->vars[i], index);
    for (uint32_t i = 0; i < func->ninsns; i++)
        for (uint32_t o = 0; o < func->insns[i].noperands; o++)
            add_operand(k, &func->insns[i].operands[o]);
}

/* ---- elements ---- */

typedef flow_list(flow_element) element_list;

static void add_named(flow_kernel *k, element_list *list, const ir_operand *o)
{
    if (o->kind == IR_OPD_SYM && o->sym.kind == IR_SYM_VAR) {
        uint32_t object = flow_object_of(k, o->sym.var);
        if (k->objects[object].element == FLOW_NONE) {
            k->objects[object].element = list->count;
            flow_push(&k->mem, list, (flow_element){.kind = FLOW_TO_OBJECT, .object = object});
        }
    }
    for (uint32_t i = 0; i < o->count; i++)
        add_named(k, list, &o->items[i]);
}

static void add_param_pointer(flow_kernel *k, element_list *list, uint32_t param, uint64_t offset)
{
    for (uint32_t i = 0; i < list->count; i++)
        if (list->data[i].kind == FLOW_TO_PARAM && list->data[i].param == param &&
            list->data[i].offset == offset)
            return;
    flow_push(&k->mem, list,
              (flow_element){.kind = FLOW_TO_PARAM, .param = param, .offset = (uint32_t)offset});
}

/* 64 bits loaded from the kernel's parameters may be a pointer. */
static void add_pointers(flow_kernel *k, element_list *list, const ir_insn *insn)
{
    const ir_operand *from = insn->noperands > 1 ? &insn->operands[1] : NULL;
    const ir_func *kernel = k->code->funcs[0];
    if (!from || insn->op != IR_ld || insn->space != IR_SPACE_PARAM || from->kind != IR_OPD_ADDR ||
        !from->has_sym || from->sym.kind != IR_SYM_VAR || from->reg != IR_NONE ||
        ir_type_get(insn->types[0])->bytes != 8)
        return;
    for (uint32_t p = 0; p < kernel->nparams; p++)
        for (uint32_t i = 0; kernel->params[p] == from->sym.var && i < insn->vector; i++)
            add_param_pointer(k, list, p, from->imm + 8 * i);
}

static void find_pointed_elements(flow_kernel *k)
{
    element_list list = {0};
    flow_push(&k->mem, &list, (flow_element){.kind = FLOW_TO_UNKNOWN});
    flow_push(&k->mem, &list, (flow_element){.kind = FLOW_TO_SHARED});
    flow_push(&k->mem, &list, (flow_element){.kind = FLOW_TO_LOCAL});
    for (uint32_t f = 0; f < k->code->count; f++) {
        const ir_func *func = k->code->funcs[f];
        for (uint32_t i = 0; i < func->ninsns; i++) {
            const ir_insn *insn = &func->insns[i];
            for (uint32_t o = 0; insn->op != IR_call && o < insn->noperands; o++)
                add_named(k, &list, &insn->operands[o]);
            if (f == 0)
                add_pointers(k, &list, insn);
        }
    }
    k->elements = list.data;
    k->nelements = list.count;
    k->words = (list.count + 63) / 64;
}

/* ---- functions that a call through a pointer may reach ---- */

static void mark_symbol(flow_kernel *k, const ir_symbol *sym)
{
    for (uint32_t f = 0; sym->kind == IR_SYM_FUNC && sym->func && f < k->code->count; f++) {
        const ir_func *func = sym->func->has_body ? sym->func
                                                  : ir_module_func(k->module, sym->func->name);
        k->funcs[f].pointed |= k->code->funcs[f] == func ||
                               (sym->func->alias && k->code->funcs[f] == sym->func->alias);
    }
}

static void mark_operand(flow_kernel *k, const ir_operand *o)
{
    if (o->has_sym || o->kind == IR_OPD_SYM)
        mark_symbol(k, &o->sym);
    for (uint32_t i = 0; i < o->count; i++)
        mark_operand(k, &o->items[i]);
}

static void mark_init(flow_kernel *k, const ir_init *init)
{
    if (init->kind == IR_INIT_ADDRESS)
        mark_symbol(k, &init->sym);
    for (uint32_t i = 0; init->kind == IR_INIT_LIST && i < init->count; i++)
        mark_init(k, &init->items[i]);
}

static bool through_register(const ir_func *func, const ir_insn *insn)
{
    if (insn->op != IR_call)
        return false;
    flow_call call = flow_call_of(func, insn);
    return call.target && call.target->kind == IR_OPD_REG;
}

static void mark_pointed(flow_kernel *k)
{
    for (uint32_t f = 0; f < k->code->count; f++)
        for (uint32_t i = 0; i < k->code->funcs[f]->ninsns; i++)
            k->calls_unknown |= through_register(k->code->funcs[f], &k->code->funcs[f]->insns[i]);
    if (!k->calls_unknown)
        return;
    for (uint32_t i = 0; i < k->module->nvars; i++)
        if (k->module->vars[i]->has_init)
            mark_init(k, &k->module->vars[i]->init);
    for (uint32_t f = 0; f < k->module->nfuncs; f++) {
        const ir_func *func = k->module->funcs[f];
        for (uint32_t i = 0; i < func->ninsns; i++)
            for (uint32_t o = 0; func->insns[i].op != IR_call && o < func->insns[i].noperands; o++)
                mark_operand(k, &func->insns[i].operands[o]);
        for (uint32_t l = 0; l < func->nlabels; l++)
            for (uint32_t c = 0;
                 func->labels[l].kind == IR_LABEL_CALLTARGETS && c < func->labels[l].count; c++)
                mark_symbol(k, &func->labels[l].callees[c]);
    }
}

/* Needs: nothing. Fills: objects, their hash table, dynamic_shared, elements, words, calls_unknown,
 * pointed. */
void flow_pass_objects(flow_kernel *k)
{
    size_t most = count_vars(k);
    k->object_room = 16;
    while (k->object_room < 2 * most)
        k->object_room *= 2;
    k->objects = flow_new(&k->mem, flow_object, most);
    k->object_keys = flow_new(&k->mem, const ir_var *, k->object_room);
    k->object_slots = flow_new(&k->mem, uint32_t, k->object_room);
    k->dynamic_shared = FLOW_NONE;
    for (uint32_t f = 0; f < k->code->count; f++)
        add_function_objects(k, f);
    find_pointed_elements(k);
    mark_pointed(k);
}
