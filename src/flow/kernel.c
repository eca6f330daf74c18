#include "flow/kernel.h"

#include <string.h>

flow_kernel *flow_kernel_new(const ir_kernel *code, wl_arena *arena)
{
    flow_kernel *kernel = wl_new(arena, flow_kernel);
    flow_function *funcs = wl_new_array(arena, flow_function, code->count ? code->count : 1);
    if (!kernel || !funcs)
        return NULL;
    *kernel = (flow_kernel){
        .mem.arena = arena, .module = code->module, .code = code, .funcs = funcs};
    for (uint32_t i = 0; i < code->count; i++) {
        funcs[i].func = code->funcs[i];
        funcs[i].index = i;
        funcs[i].first_pc = code->first_pc[i];
    }
    return kernel;
}

static void (*const passes[])(flow_kernel *) = {
#define X(name, summary) flow_pass_##name,
#include "flow/passes.def"
#undef X
};

typedef struct run {
    flow_kernel *kernel;
    flow_pass pass;
} run;

static void run_pass(void *ctx)
{
    run *r = ctx;
    passes[r->pass](r->kernel);
}

wl_status flow_run(flow_kernel *kernel, flow_pass pass)
{
    for (int p = 0; p <= (int)pass; p++) {
        if (kernel->done >> p & 1)
            continue;
        run r = {kernel, (flow_pass)p};
        if (flow_guard(&kernel->mem, run_pass, &r) != WL_OK)
            return WL_NOMEM;
        kernel->done |= 1u << p;
    }
    return WL_OK;
}

/* ---- calls ---- */

flow_call flow_call_of(const ir_func *func, const ir_insn *insn)
{
    flow_call call = {0};
    for (uint32_t i = 0; i < insn->noperands; i++) {
        const ir_operand *o = &insn->operands[i];
        if (o->kind == IR_OPD_LIST)
            *(call.target ? &call.args : &call.rets) = o;
        else if (o->kind == IR_OPD_LABEL && call.target)
            call.table = &func->labels[o->label];
        else if (!call.target)
            call.target = o;
    }
    return call;
}

static const ir_func *defined(const ir_module *module, const ir_func *func)
{
    for (int hops = 0; func && func->alias && hops < 8; hops++)
        func = func->alias;
    if (func && !func->has_body)
        func = ir_module_func(module, func->name);
    return func;
}

static const ir_func *called(const ir_operand *target)
{
    return target && target->kind == IR_OPD_SYM && target->sym.kind == IR_SYM_FUNC
               ? target->sym.func
               : NULL;
}

uint32_t flow_callee(const flow_kernel *kernel, const ir_insn *insn)
{
    const ir_operand *target = NULL;
    for (uint32_t i = 0; !target && i < insn->noperands; i++)
        if (insn->operands[i].kind != IR_OPD_LIST)
            target = &insn->operands[i];
    const ir_func *func = defined(kernel->module, called(target));
    for (uint32_t i = 0; func && i < kernel->code->count; i++)
        if (kernel->code->funcs[i] == func)
            return i;
    return FLOW_NONE;
}

flow_extern flow_extern_of(const ir_func *func)
{
    static const struct {
        const char *name;
        flow_extern effect;
    } known[] = {
#define X(name, effect) {#name, FLOW_EXTERN_##effect},
#include "flow/externs.def"
#undef X
    };
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (strcmp(known[i].name, func->name) == 0)
            return known[i].effect;
    return func->noreturn ? FLOW_EXTERN_NORETURN : FLOW_EXTERN_ANY;
}

/* ---- names ---- */

static const struct {
    const char *name, *text;
} reasons[] = {
    {"proven", "nothing but the launch"},
#define X(id, name, text) {name, text},
#include "flow/reasons.def"
#undef X
};

const char *flow_reason_name(flow_reason reason)
{
    return reasons[reason].name;
}

const char *flow_reason_text(flow_reason reason)
{
    return reasons[reason].text;
}

const char *flow_through_name(flow_through through)
{
    static const char *const names[] = {"none", "address", "guard", "branch"};
    return names[through];
}

const char *flow_class_name(flow_class class_)
{
    static const char *const names[] = {"no memory", "independent", "partly", "dependent"};
    return names[class_];
}
