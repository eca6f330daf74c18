/* Where parameters, shared variables and local memory of a kernel lie. */
#include "emu/decode.h"

enum {
    LOCAL_RECURSION = 64 << 10
}; /* bytes of local memory a thread gets where calls may recurse */

static uint32_t align_up(uint32_t x, uint32_t align)
{
    return align > 1 ? (x + align - 1) & ~(align - 1) : x;
}

uint64_t emu_function_token(const ir_module *module, const ir_func *func)
{
    const ir_func *body = ir_module_func(module, func->name);
    return UINT64_C(0xf0000000) + 16 * (uint64_t)(body ? body->index : func->index);
}

/* PTX ISA, "Parameter state space": each parameter at its own alignment, in order. */
static bool lay_out_params(emu_decode *d)
{
    const ir_func *func = d->kernel->func;
    emu_kernel_info *info = &d->kernel->info;
    uint32_t *offsets = wl_new_array(d->arena, uint32_t, func->nparams + 1);
    uint32_t *sizes = wl_new_array(d->arena, uint32_t, func->nparams + 1);
    if (!offsets || !sizes)
        return false;
    uint32_t at = 0;
    for (uint32_t n = 0; n < func->nparams; n++) {
        at = align_up(at, ir_var_align(func->params[n]));
        offsets[n] = at;
        sizes[n] = (uint32_t)ir_var_size(func->params[n]);
        at += sizes[n];
    }
    info->param_bytes = at;
    info->nparams = func->nparams;
    info->param_offsets = offsets;
    info->param_sizes = sizes;
    return true;
}

static bool add_shared(emu_decode *d, const ir_var *var)
{
    for (size_t k = 0; k < d->shared.count; k++)
        if (d->shared.data[k].var == var)
            return true;
    return wl_push(&d->shared, (emu_shared_place){var, 0, (uint32_t)ir_var_size(var)});
}

static bool find_shared(emu_decode *d, const ir_operand *o)
{
    bool symbol = o->kind == IR_OPD_SYM || (o->kind == IR_OPD_ADDR && o->has_sym);
    if (symbol && o->sym.kind == IR_SYM_VAR && o->sym.var->space == IR_SPACE_SHARED &&
        !add_shared(d, o->sym.var))
        return false;
    for (uint32_t k = 0; k < o->count; k++)
        if (!find_shared(d, &o->items[k]))
            return false;
    return true;
}

static bool is_dynamic_shared(const emu_shared_place *place)
{
    return place->bytes == 0;
}

/* Static variables in the order in which the code names them; every unsized one starts where they
 * end. */
static bool lay_out_shared_variables(emu_decode *d)
{
    const ir_kernel *code = &d->kernel->code;
    for (uint32_t f = 0; f < code->count; f++)
        for (uint32_t n = 0; n < code->funcs[f]->ninsns; n++)
            for (uint32_t k = 0; k < code->funcs[f]->insns[n].noperands; k++)
                if (!find_shared(d, &code->funcs[f]->insns[n].operands[k]))
                    return false;
    uint32_t at = 0, dynamic_align = 16;
    for (size_t k = 0; k < d->shared.count; k++) {
        emu_shared_place *place = &d->shared.data[k];
        uint32_t align = ir_var_align(place->var);
        if (is_dynamic_shared(place)) {
            dynamic_align = align > dynamic_align ? align : dynamic_align;
            d->has_dynamic_shared = true;
            continue;
        }
        place->offset = align_up(at, align);
        at = place->offset + place->bytes;
    }
    d->kernel->info.static_shared = at;
    d->kernel->dynamic_at = d->has_dynamic_shared ? align_up(at, dynamic_align) : at;
    for (size_t k = 0; k < d->shared.count; k++)
        if (is_dynamic_shared(&d->shared.data[k]))
            d->shared.data[k].offset = d->kernel->dynamic_at;
    return true;
}

static bool keep_shared(emu_decode *d)
{
    emu_shared_var *vars = wl_new_array(d->arena, emu_shared_var, d->shared.count + 1);
    if (!vars)
        return false;
    for (size_t k = 0; k < d->shared.count; k++)
        vars[k] = (emu_shared_var){d->shared.data[k].var, d->shared.data[k].offset,
                                   d->shared.data[k].bytes};
    d->kernel->shared = vars;
    d->kernel->nshared = (uint32_t)d->shared.count;
    return true;
}

void emu_lay_out_kernel(emu_decode *d)
{
    emu_kernel *k = d->kernel;
    k->nfunctions = k->code.count;
    k->functions = wl_new_array(d->arena, emu_function, k->nfunctions);
    if (!k->functions || !lay_out_params(d) || !lay_out_shared_variables(d) || !keep_shared(d)) {
        emu_decode_nomem(d);
        k->nfunctions = 0;
        return;
    }
    for (uint32_t f = 0; f < k->nfunctions; f++) {
        k->functions[f].func = k->code.funcs[f];
        k->functions[f].index = f;
    }
}

/* ---- local memory ---- */

/* Local memory of the deepest chain of calls from a function; 0 in *recursive's place says how deep
 * is not known. */
static uint64_t deepest_local_memory(const emu_kernel *k, uint32_t f, uint8_t *state,
                                     uint64_t *known, bool *recursive)
{
    if (state[f] == 2)
        return known[f];
    if (state[f] == 1) {
        *recursive = true;
        return 0;
    }
    state[f] = 1;
    uint64_t below = 0;
    for (uint32_t b = 0; b < k->nbbs; b++) {
        const emu_call *call = k->bbs[b].extra;
        if (k->bbs[b].function != f || k->bbs[b].term != EMU_TERM_CALL || call->builtin)
            continue;
        for (uint32_t g = 1; g < k->nfunctions; g++)
            if (call->callee ? call->callee->index == g : true) {
                uint64_t n = deepest_local_memory(k, g, state, known, recursive);
                below = n > below ? n : below;
            }
    }
    state[f] = 2;
    return known[f] = below + align_up(k->functions[f].local_bytes, 16);
}

static bool measure_local(emu_kernel *k)
{
    uint8_t *state = calloc(k->nfunctions, 1);
    uint64_t *known = calloc(k->nfunctions, sizeof *known);
    bool recursive = false;
    if (state && known) {
        uint64_t bytes = deepest_local_memory(k, 0, state, known, &recursive);
        bytes += recursive ? LOCAL_RECURSION : 0;
        bytes += k->uses_alloca ? LOCAL_RECURSION : 0;
        k->local_stack = bytes < UINT32_MAX / 2 ? (uint32_t)bytes : UINT32_MAX / 2;
    }
    bool ok = state && known;
    free(state);
    free(known);
    return ok;
}

/* ---- limits ---- */

static uint32_t max_threads(const emu_decode *d)
{
    const ir_func *func = d->kernel->func;
    uint32_t most = d->module->machine->device.max_threads_per_block;
    if (func->max_threads && func->max_threads < most)
        most = func->max_threads;
    return most;
}

/* Functions may be called from where all of the kernel's own registers are live; the larger need is
 * what is shown. */
static uint32_t most_registers(const emu_kernel *k)
{
    uint32_t most = 0;
    for (uint32_t f = 0; f < k->nfunctions; f++)
        most = k->functions[f].registers > most ? k->functions[f].registers : most;
    return most;
}

/* What a thread cannot have is spilt to local memory. */
static uint32_t fitting_registers(const emu_decode *d, uint32_t live)
{
    uint32_t most = d->module->machine->device.registers_per_thread;
    return most && live > most ? most : live;
}

void emu_finish_info(emu_decode *d)
{
    emu_kernel *k = d->kernel;
    k->info.name = k->func->name;
    k->info.func = k->func;
    k->info.local_bytes = k->functions[0].local_bytes;
    k->info.max_threads = max_threads(d);
    k->info.registers = fitting_registers(d, most_registers(k));
    k->info.ncode = k->code.npcs;
    if (emu_order_blocks(k) != WL_OK || !measure_local(k))
        emu_decode_nomem(d);
}
