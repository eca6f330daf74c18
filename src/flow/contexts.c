/* The ways that calls lead to functions, and forms in the terms of the kernel. */
#include "flow/affine.h"
#include "flow/counts.h"

enum { MAX_CONTEXTS = 256, MAX_DEPTH = 12 };

typedef flow_list(flow_context) context_list;

/* ---- contexts ---- */

static bool is_on_way(const flow_context *list, uint32_t context, uint32_t func)
{
    for (; context != FLOW_NONE; context = list[context].parent)
        if (list[context].func == func)
            return true;
    return false;
}

static void mark_cycle(flow_context *list, uint32_t context, uint32_t func)
{
    list[context].unknown = true;
    if (list[context].func != func)
        mark_cycle(list, list[context].parent, func);
}

static void add_callees(flow_counts *c, context_list *list, uint32_t context)
{
    const flow_function *f = &c->kernel->funcs[list->data[context].func];
    for (uint32_t i = 0; i < f->func->ninsns; i++) {
        uint32_t callee = f->func->insns[i].op == IR_call && f->blocks[f->block_of[i]].reached
                              ? flow_callee(c->kernel, &f->func->insns[i])
                              : FLOW_NONE;
        if (callee == FLOW_NONE)
            continue;
        if (is_on_way(list->data, context, callee))
            mark_cycle(list->data, context, callee);
        else if (list->count < MAX_CONTEXTS)
            flow_push(&c->kernel->mem, list, (flow_context){callee, context, i, false});
        else
            c->cut = true;
    }
}

static void add_uncalled(flow_counts *c, context_list *list)
{
    for (uint32_t n = 1; n < c->kernel->code->count; n++)
        if (c->kernel->funcs[n].pointed) {
            uint32_t first = list->count;
            flow_push(&c->kernel->mem, list, (flow_context){n, FLOW_NONE, FLOW_NONE, true});
            for (uint32_t i = first; i < list->count; i++)
                add_callees(c, list, i);
        }
}

/* What is called from an unknown context is unknown, too; callers stand first. */
static void spread_unknown(flow_context *list, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++)
        list[i].unknown |= list[i].parent != FLOW_NONE && list[list[i].parent].unknown;
}

void flow_find_contexts(flow_counts *c)
{
    context_list list = {0};
    flow_push(&c->kernel->mem, &list, (flow_context){0, FLOW_NONE, FLOW_NONE, false});
    for (uint32_t i = 0; i < list.count; i++)
        add_callees(c, &list, i);
    add_uncalled(c, &list);
    spread_unknown(list.data, list.count);
    c->contexts = list.data;
    c->ncontexts = list.count;
}

/* ---- forms ---- */

static const flow_affine *translate(const flow_counts *c, uint32_t context, const flow_affine *form,
                                    unsigned depth);

static const flow_function *function_in(const flow_counts *c, uint32_t context)
{
    return &c->kernel->funcs[c->contexts[context].func];
}

/* The form of what the only store to these bytes of a parameter stores, in the function's terms. */
static const flow_affine *stored_form(const flow_counts *c, const flow_function *f, uint32_t object,
                                      uint64_t offset)
{
    const flow_address *found = NULL;
    for (uint32_t a = 0; object != FLOW_NONE && a < f->address_first[f->func->ninsns]; a++) {
        const flow_address *at = &f->addresses[a];
        if (!(at->touch & FLOW_WRITE) || at->space != IR_SPACE_PARAM || !at->operand->has_sym ||
            flow_object_of(c->kernel, at->operand->sym.var) != object)
            continue;
        if (at->operand->reg != IR_NONE || (found && at->operand->imm == offset))
            return NULL;
        if (at->operand->imm == offset)
            found = at;
    }
    const ir_insn *insn = found ? &f->func->insns[found->insn] : NULL;
    if (!insn || insn->op != IR_st || insn->vector > 1 || insn->guard != IR_NONE)
        return NULL;
    if (insn->operands[1].kind == IR_OPD_INT)
        return flow_affine_constant(&c->kernel->mem, (int64_t)insn->operands[1].imm);
    for (uint32_t u = f->use_first[insn->pc]; u < f->use_first[insn->pc + 1]; u++)
        if (f->uses[u].role == FLOW_USE_STORED)
            return f->affine[f->uses[u].value];
    return NULL;
}

static uint32_t place_of(const flow_counts *c, ir_var *const *vars, uint32_t count, uint32_t object)
{
    for (uint32_t i = 0; i < count; i++)
        if (flow_object_of(c->kernel, vars[i]) == object)
            return i;
    return FLOW_NONE;
}

/* What the call that leads to the context gave for the function's n-th parameter. */
static const flow_affine *argument(const flow_counts *c, uint32_t context, uint32_t n,
                                   uint64_t offset, unsigned depth)
{
    const flow_context *at = &c->contexts[context];
    if (at->parent == FLOW_NONE)
        return NULL;
    const flow_function *f = function_in(c, at->parent);
    flow_call call = flow_call_of(f->func, &f->func->insns[at->call]);
    if (!call.args || n >= call.args->count)
        return NULL;
    const flow_affine *form = stored_form(c, f, flow_named_object(c->kernel, &call.args->items[n]),
                                          offset);
    return translate(c, at->parent, form, depth + 1);
}

/* What the call that fills the variable returned. */
static const flow_affine *returned(const flow_counts *c, uint32_t context, uint32_t object,
                                   uint64_t offset, unsigned depth)
{
    for (uint32_t i = 0; i < c->ncontexts; i++) {
        if (c->contexts[i].parent != context)
            continue;
        const flow_function *f = function_in(c, context), *to = function_in(c, i);
        flow_call call = flow_call_of(f->func, &f->func->insns[c->contexts[i].call]);
        for (uint32_t r = 0; call.rets && r < call.rets->count && r < to->func->nrets; r++)
            if (flow_named_object(c->kernel, &call.rets->items[r]) == object)
                return translate(c, i,
                                 stored_form(c, to, flow_object_of(c->kernel, to->func->rets[r]),
                                             offset),
                                 depth + 1);
    }
    return NULL;
}

/* What a value that was loaded from a parameter is elsewhere; NULL: nothing better. */
static const flow_affine *elsewhere(const flow_counts *c, uint32_t context, uint32_t value,
                                    unsigned depth)
{
    const flow_function *f = function_in(c, context);
    const flow_value *v = &f->values[value];
    const ir_insn *insn = v->kind == FLOW_VALUE_INSN ? &f->func->insns[v->insn] : NULL;
    if (depth == MAX_DEPTH || !insn || v->old != FLOW_NONE || insn->op != IR_ld ||
        insn->space != IR_SPACE_PARAM || insn->vector > 1 || !insn->operands[1].has_sym ||
        insn->operands[1].reg != IR_NONE || insn->operands[1].sym.kind != IR_SYM_VAR)
        return NULL;
    uint32_t object = flow_object_of(c->kernel, insn->operands[1].sym.var);
    uint32_t n = place_of(c, f->func->params, f->func->nparams, object);
    return n != FLOW_NONE ? argument(c, context, n, insn->operands[1].imm, depth)
                          : returned(c, context, object, insn->operands[1].imm, depth);
}

static const flow_affine *symbol_form(const flow_counts *c, uint32_t context, flow_symbol s,
                                      bool expand, unsigned depth)
{
    const flow_affine *form = expand && s.kind == FLOW_SYM_VALUE ? elsewhere(c, context, s.a, depth)
                                                                 : NULL;
    if (s.kind == FLOW_SYM_VALUE || s.kind == FLOW_SYM_LOOP)
        s.b = context;
    return form ? form : flow_affine_symbol(&c->kernel->mem, s);
}

static const flow_affine *mapped(const flow_counts *c, uint32_t context, const flow_affine *form,
                                 bool expand, unsigned depth)
{
    flow_mem *mem = &c->kernel->mem;
    const flow_affine *sum = flow_affine_constant(mem, 0);
    for (uint32_t t = 0; t < form->nterms && sum; t++) {
        const flow_affine *product = flow_affine_constant(mem, form->terms[t].coefficient);
        for (int i = 0; i < form->terms[t].nfactors; i++)
            product = flow_affine_mul(mem, product,
                                      symbol_form(c, context, form->terms[t].factors[i], expand,
                                                  depth));
        sum = flow_affine_add(mem, sum, product, 1);
    }
    return sum && form->assumes_no_wrap ? flow_affine_narrow(mem, sum) : sum;
}

static const flow_affine *translate(const flow_counts *c, uint32_t context, const flow_affine *form,
                                    unsigned depth)
{
    if (!form)
        return NULL;
    const flow_affine *whole = mapped(c, context, form, true, depth);
    return whole ? whole : mapped(c, context, form, false, depth);
}

const flow_affine *flow_in_context(const flow_counts *c, uint32_t context, const flow_affine *form)
{
    return translate(c, context, form, 0);
}
