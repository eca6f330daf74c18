/* A module with some kernels rewritten. */
#include "rewrite/code/body.h"

#include <stdlib.h>
#include <string.h>

/* ---- names ---- */

static const char *const probe_names[] = {
#define X(id, name) name,
#include "rewrite/probes.def"
#undef X
};

const char *rewrite_probe_name(rewrite_probe probe)
{
    return probe_names[probe];
}

static uint32_t probe_named(const char *name, size_t length)
{
    if (length == 3 && memcmp(name, "all", 3) == 0)
        return (1u << REWRITE_PROBE_COUNT) - 1;
    for (unsigned i = 0; i < REWRITE_PROBE_COUNT; i++)
        if (strlen(probe_names[i]) == length && memcmp(probe_names[i], name, length) == 0)
            return 1u << i;
    return 0;
}

bool rewrite_probes_parse(const char *names, uint32_t *out)
{
    *out = 0;
    for (const char *at = names;; at++) {
        size_t length = strcspn(at, ",");
        uint32_t found = probe_named(at, length);
        if (!found)
            return false;
        *out |= found;
        at += length;
        if (!*at)
            return true;
    }
}

typedef struct writer {
    const ir_module *module;
    wl_arena *arena;
    ptx_text text;
    rw_plan **plans; /* [module->nfuncs], NULL where the function stays as it is */
    bool *taken;     /* [module->nfuncs], see mark_taken_functions() */
    rw_plan
        *alone; /* the kernel that is to have a module of its own; NULL: all stay where they are */
} writer;

/* ---- what cannot be rewritten ---- */

static void take_symbol(const ir_symbol *symbol, bool *taken)
{
    if (symbol->kind == IR_SYM_FUNC)
        taken[symbol->func->index] = true;
}

static void take_operand(const ir_operand *o, bool *taken)
{
    if (o->has_sym)
        take_symbol(&o->sym, taken);
    for (uint32_t i = 0; i < o->count; i++)
        take_operand(&o->items[i], taken);
}

static void take_init(const ir_init *init, bool *taken)
{
    if (init->kind == IR_INIT_ADDRESS)
        take_symbol(&init->sym, taken);
    for (uint32_t i = 0; init->kind == IR_INIT_LIST && i < init->count; i++)
        take_init(&init->items[i], taken);
}

/* taken[index]: something names the function; where it is a kernel, device code may launch it. */
static void mark_taken_functions(const ir_module *m, bool *taken)
{
    for (uint32_t v = 0; v < m->nvars; v++)
        if (m->vars[v]->has_init)
            take_init(&m->vars[v]->init, taken);
    for (uint32_t f = 0; f < m->nfuncs; f++)
        for (uint32_t i = 0; i < m->funcs[f]->ninsns; i++)
            for (uint32_t o = 0; o < m->funcs[f]->insns[i].noperands; o++)
                take_operand(&m->funcs[f]->insns[i].operands[o], taken);
}

static uint32_t param_bytes(const ir_func *func)
{
    uint64_t at = 0;
    for (uint32_t i = 0; i < func->nparams; i++) {
        uint64_t align = ir_var_align(func->params[i]);
        at = (at + align - 1) / align * align + ir_var_size(func->params[i]);
    }
    return (uint32_t)((at + 7) / 8 * 8);
}

/* PTX ISA, "Kernel Function Parameters". */
static uint32_t param_limit(const ir_module *m)
{
    bool large = m->sm >= 70 && (m->written->version_major > 8 || (m->written->version_major == 8 &&
                                                                   m->written->version_minor >= 1));
    return large ? 32764 : 4096;
}

/* Variables in an inner scope would be declared once a copy. */
static bool has_inner_variables(const ir_func *func)
{
    for (uint32_t i = 0; i < func->nvars; i++)
        if (func->vars[i]->scope != 0 && func->vars[i]->space != IR_SPACE_PARAM)
            return true;
    return false;
}

static const char *why_refused(const writer *w, const ir_func *func, uint32_t at)
{
    if (at + sizeof(rewrite_param) > param_limit(w->module))
        return "its parameters leave no room for another";
    if (w->taken[func->index])
        return "kernels may launch it";
    if (has_inner_variables(func))
        return "it has variables in inner scopes";
    return NULL;
}

static wl_status check_module(const ir_module *m, wl_error *err)
{
    if (m->address_size == 32)
        return wl_fail(err, WL_UNSUPPORTED, "PTX with 32-bit addresses cannot be probed");
    if (m->sm < 30)
        return wl_fail(err, WL_UNSUPPORTED, "PTX for sm_%u cannot be probed: sm_30 is the first",
                       m->sm);
    for (uint32_t f = 0; f < m->nfuncs; f++) {
        const ir_func *func = m->funcs[f];
        for (uint32_t i = 0; i < func->nregs; i++) {
            if (strlen(func->regs[i].name) >= RW_REGISTER_BYTES)
                return wl_fail(err, WL_UNSUPPORTED, "a register's name is too long");
            if (strncmp(func->regs[i].name, RW_PREFIX, strlen(RW_PREFIX)) == 0)
                return wl_fail(err, WL_UNSUPPORTED, "the PTX has probes already");
        }
    }
    return WL_OK;
}

/* ---- printing ---- */

/* The function with another name and one more parameter. */
static ir_func *with_param(const writer *w, const ir_func *func, ir_var *param, const char *name)
{
    ir_func *copy = wl_arena_copy(w->arena, func, sizeof *func);
    ir_var **params = wl_new_array(w->arena, ir_var *, (size_t)func->nparams + 1);
    if (!copy || !params)
        return NULL;
    for (uint32_t i = 0; i < func->nparams; i++)
        params[i] = func->params[i];
    params[copy->nparams++] = param;
    copy->params = params;
    if (name) {
        copy->name = wl_arena_strdup(w->arena, name);
        copy->linkage = IR_LINK_NONE;
    }
    return copy;
}

static void print_extended(writer *w, const ir_func *func, ir_var *param, const char *name)
{
    const ir_func *extended = with_param(w, func, param, name);
    if (extended && extended->name)
        ptx_print_head(&w->text, extended);
    else
        w->text.failed = true;
}

static void print_kernel_head(writer *w, const ir_func *func)
{
    static uint64_t dims[] = {sizeof(rewrite_param)};
    static ir_var param = {.name = RW_PREFIX "probe",
                           .space = IR_SPACE_PARAM,
                           .type = IR_T_b8,
                           .vector = 1,
                           .align = 8,
                           .ndims = 1,
                           .dims = dims};
    print_extended(w, func, &param, NULL);
}

static void print_clone_head(writer *w, const rw_plan *plan, uint32_t index, uint32_t set)
{
    static ir_var param = {
        .name = RW_PREFIX "caller", .space = IR_SPACE_PARAM, .type = IR_T_b64, .vector = 1};
    char name[RW_NAME_BYTES];
    print_extended(w, plan->code.funcs[index], &param, rw_clone_name(plan, index, set, name));
}

/* Calls `print` for each clone of the kernel: with all probes, and with those that run in all
 * blocks. */
static void each_clone(writer *w, rw_plan *plan,
                       void (*print)(writer *w, rw_plan *plan, uint32_t index, uint32_t set))
{
    uint32_t all = plan->out->probes, rest = all & ~(1u << REWRITE_TRACE);
    for (uint32_t k = 1; k < plan->code.count; k++) {
        if (!plan->cloned[k])
            continue;
        print(w, plan, k, all);
        if (rest && rest != all)
            print(w, plan, k, rest);
    }
}

static void print_clone_prototype(writer *w, rw_plan *plan, uint32_t index, uint32_t set)
{
    print_clone_head(w, plan, index, set);
    ptx_put(&w->text, "\n;\n");
}

static void print_clone(writer *w, rw_plan *plan, uint32_t index, uint32_t set)
{
    print_clone_head(w, plan, index, set);
    ptx_put(&w->text, "\n{\n");
    rw_print_clone_body(&w->text, plan, index, set);
    ptx_put(&w->text, "}\n");
}

static rw_plan *plan_of(const writer *w, const ir_func *func)
{
    const ir_func *kernel = func->entry ? ir_module_func(w->module, func->name) : NULL;
    return kernel ? w->plans[kernel->index] : NULL;
}

static void print_rewritten(writer *w, rw_plan *plan, const ir_func *func)
{
    if (func->has_body)
        each_clone(w, plan, print_clone_prototype);
    print_kernel_head(w, func);
    if (!func->has_body) {
        ptx_put(&w->text, "\n;\n");
        return;
    }
    ptx_put(&w->text, "\n{\n");
    rw_print_kernel_body(&w->text, plan);
    ptx_put(&w->text, "}\n");
}

/* A function that keeps its code, in the module of its kernel. */
static void print_reached(writer *w, const ir_func *func)
{
    uint32_t index = 0;
    while (w->alone->code.funcs[index] != func)
        index++;
    ptx_print_head(&w->text, func);
    ptx_put(&w->text, "\n{\n");
    rw_print_plain_body(&w->text, w->alone, index);
    ptx_put(&w->text, "}\n");
}

static void print_function_item(writer *w, const ptx_item *item)
{
    const ir_func *func = w->module->funcs[item->index];
    rw_plan *plan = plan_of(w, func);
    size_t before = w->text.count;
    if (!plan && w->alone && func->has_body) {
        print_reached(w, func);
        return;
    }
    if (!plan) {
        ptx_print_item(&w->text, w->module, item);
        return;
    }
    print_rewritten(w, plan, func);
    plan->bytes = w->text.count - before;
}

static void print_clones(writer *w, rw_plan *plan)
{
    size_t before = w->text.count;
    each_clone(w, plan, print_clone);
    plan->bytes += w->text.count - before;
}

static uint32_t last_function(const ir_module *m)
{
    uint32_t last = 0;
    for (uint32_t i = 0; i < m->written->nitems; i++)
        if (m->written->items[i].kind == PTX_ITEM_FUNC)
            last = i;
    return last;
}

/* Without ", debug", which ptxas takes only together with tables of the whole module. */
static const char *target_alone(const writer *w)
{
    static const char word[] = ", debug";
    const char *target = w->module->written->target, *debug = strstr(target, word);
    return debug ? wl_arena_printf(w->arena, "%.*s%s", (int)(debug - target), target,
                                   debug + sizeof word - 1)
                 : target;
}

/* activemask came with PTX 6.2. */
static void print_begin(writer *w)
{
    ir_module head = *w->module;
    ptx_written_module written = *w->module->written;
    head.written = &written;
    if (w->alone)
        written.target = target_alone(w);
    if (!written.target) {
        w->text.failed = true;
        return;
    }
    if (written.version_major < 6 || (written.version_major == 6 && written.version_minor < 2))
        written.version_major = 6, written.version_minor = 2;
    ptx_print_begin(&w->text, &head);
}

/* Is it in the text? What a kernel's own module has of variables is printed apart; lines of the
 * source and what describes them are left out. */
static bool is_printed(const writer *w, const ptx_item *item)
{
    if (!w->alone)
        return true;
    if (item->kind != PTX_ITEM_FUNC)
        return item->kind == PTX_ITEM_PRAGMA || item->kind == PTX_ITEM_DIRECTIVE;
    const ir_func *func = ir_module_func(w->module, w->module->funcs[item->index]->name);
    return func && w->alone->alone->funcs[func->index];
}

static void print_module(writer *w)
{
    uint32_t last = last_function(w->module);
    print_begin(w);
    if (w->alone)
        rw_print_alone_variables(&w->text, w->alone);
    for (uint32_t i = 0; i < w->module->written->nitems; i++) {
        ptx_put(&w->text, "\n");
        if (!is_printed(w, &w->module->written->items[i]))
            ;
        else if (w->module->written->items[i].kind == PTX_ITEM_FUNC)
            print_function_item(w, &w->module->written->items[i]);
        else
            ptx_print_item(&w->text, w->module, &w->module->written->items[i]);
        for (uint32_t f = 0; i == last && f < w->module->nfuncs; f++)
            if (w->plans[f])
                print_clones(w, w->plans[f]);
    }
}

/* ---- the whole ---- */

static bool is_kernel_wanted(const rewrite_options *o, const ir_func *func)
{
    return !o->wants || o->wants(o->ctx, func->name);
}

static wl_status plan_kernel(writer *w, const rewrite_options *options, rewrite_kernel *out)
{
    out->param_index = out->func->nparams;
    out->param_offset = param_bytes(out->func);
    if (!is_kernel_wanted(options, out->func)) {
        out->refused = "not asked for";
        return WL_OK;
    }
    out->refused = why_refused(w, out->func, out->param_offset);
    if (out->refused)
        return WL_OK;
    rw_plan *plan = wl_new(w->arena, rw_plan);
    if (!plan)
        return WL_NOMEM;
    *plan = (rw_plan){.module = w->module,
                      .options = options,
                      .arena = w->arena,
                      .out = out,
                      .number = out->func->index};
    wl_status status = rw_plan_kernel(plan);
    if (status == WL_OK && out->probes)
        w->plans[out->func->index] = plan;
    return status;
}

static wl_status plan_all(writer *w, const rewrite_options *options, rewrite_result *out)
{
    wl_status status = WL_OK;
    for (uint32_t f = 0; status == WL_OK && f < w->module->nfuncs; f++) {
        const ir_func *func = w->module->funcs[f];
        if (!func->entry || !func->has_body)
            continue;
        out->kernels[out->nkernels] = (rewrite_kernel){.func = func};
        status = plan_kernel(w, options, &out->kernels[out->nkernels++]);
    }
    return status;
}

/* True where kernels now stay as they were, and the module has to be printed anew. */
static bool leave_out_large(writer *w, const rewrite_options *options)
{
    bool left = false;
    for (uint32_t f = 0; options->most_bytes && f < w->module->nfuncs; f++) {
        rw_plan *p = w->plans[f];
        if (!p || p->bytes <= options->most_bytes)
            continue;
        p->out->probes = 0;
        p->out->refused = "compiling it with probes would take too long";
        w->plans[f] = NULL;
        left = true;
    }
    return left;
}

static void print_again(writer *w)
{
    free(w->text.data);
    w->text = (ptx_text){0};
    print_module(w);
}

static bool any_rewritten(const rewrite_result *r)
{
    for (uint32_t i = 0; i < r->nkernels; i++)
        if (r->kernels[i].probes)
            return true;
    return false;
}

static wl_status out_of_memory(wl_error *err)
{
    return wl_fail(err, WL_NOMEM, "no memory to rewrite PTX");
}

static wl_status begin_writer(writer *w, const ir_module *module, wl_arena *arena, wl_error *err)
{
    *w = (writer){.module = module,
                  .arena = arena,
                  .plans = wl_new_array(arena, rw_plan *, (size_t)module->nfuncs + 1),
                  .taken = wl_new_array(arena, bool, (size_t)module->nfuncs + 1)};
    if (!w->plans || !w->taken)
        return out_of_memory(err);
    wl_status status = check_module(module, err);
    if (status == WL_OK)
        mark_taken_functions(module, w->taken);
    return status;
}

wl_status rewrite_module(const ir_module *module, const rewrite_options *options, wl_arena *arena,
                         rewrite_result *out, wl_error *err)
{
    writer w;
    *out = (rewrite_result){
        .kernels = wl_new_array(arena, rewrite_kernel, (size_t)module->nfuncs + 1)};
    wl_status status = out->kernels ? begin_writer(&w, module, arena, err) : out_of_memory(err);
    if (status != WL_OK)
        return status;
    if (plan_all(&w, options, out) != WL_OK)
        return out_of_memory(err);
    if (!any_rewritten(out))
        return WL_OK;
    print_module(&w);
    if (leave_out_large(&w, options))
        print_again(&w);
    if (!any_rewritten(out)) {
        free(w.text.data);
        return WL_OK;
    }
    out->text = ptx_text_take(&w.text, &out->length);
    return out->text ? WL_OK : out_of_memory(err);
}

/* The plan of a kernel that is to have probes; NULL in *plan where it gets none. */
static wl_status plan_alone(writer *w, const rewrite_options *options, rewrite_kernel *out,
                            rw_plan **plan)
{
    *plan = NULL;
    if (plan_kernel(w, options, out) != WL_OK)
        return WL_NOMEM;
    if (!out->probes)
        return WL_OK;
    *plan = w->plans[out->func->index];
    if (rw_plan_alone(*plan) != WL_OK)
        return WL_NOMEM;
    if (out->refused) {
        out->probes = 0;
        *plan = NULL;
    }
    return WL_OK;
}

wl_status rewrite_kernel_alone(const ir_module *module, const ir_func *func,
                               const rewrite_options *options, wl_arena *arena, rewrite_alone *out,
                               wl_error *err)
{
    writer w;
    *out = (rewrite_alone){.kernel = {.func = func}};
    wl_status status = begin_writer(&w, module, arena, err);
    if (status != WL_OK)
        return status;
    if (plan_alone(&w, options, &out->kernel, &w.alone) != WL_OK)
        return out_of_memory(err);
    if (!w.alone)
        return WL_OK;
    print_module(&w);
    if (leave_out_large(&w, options)) {
        free(w.text.data);
        return WL_OK;
    }
    out->nglobals = w.alone->alone->nglobals;
    out->globals = w.alone->alone->globals;
    out->nconstants = w.alone->alone->nconstants;
    out->constants = w.alone->alone->constants;
    out->text = ptx_text_take(&w.text, &out->length);
    return out->text ? WL_OK : out_of_memory(err);
}
