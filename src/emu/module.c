/* The machine and its modules: variables are placed and initialised, kernels decoded when they are
 * asked for. */
#include "emu/decode.h"
#include "emu/pool.h"
#include "emu/texture.h"

enum { PARAM_BYTES = 64 << 10 };

/* ---- machine ---- */

static bool internal_memory(emu_machine *m, uint64_t size, uint64_t *address)
{
    return emu_mem_alloc(m, size, 512, EMU_ALLOC_INTERNAL, 0, address) == WL_OK;
}

static wl_status new_machine(const emu_device *device, uint64_t hint, uint64_t bytes,
                             emu_machine **out, wl_error *err)
{
    emu_machine *m = calloc(1, sizeof *m);
    if (!m)
        return wl_fail(err, WL_NOMEM, "out of memory for an emulated device");
    m->device = *device;
    pthread_mutex_init(&m->launching, NULL);
    wl_status status = emu_memory_init(m, hint, bytes, err);
    if (status == WL_OK &&
        (!internal_memory(m, PARAM_BYTES, &m->params) || !internal_memory(m, 64, &m->grid_barrier)))
        status = wl_fail(err, WL_NOMEM, "out of memory for an emulated device");
    if (status != WL_OK) {
        emu_machine_free(m);
        return status;
    }
    *out = m;
    return WL_OK;
}

wl_status emu_machine_new(const emu_device *device, emu_machine **out, wl_error *err)
{
    return new_machine(device, EMU_RANGE_HINT, EMU_RANGE_BYTES, out, err);
}

wl_status emu_machine_new_replay(const emu_device *device, emu_machine **out, wl_error *err)
{
    return new_machine(device, EMU_REPLAY_HINT, EMU_WINDOW_BYTES * 4, out, err);
}

void emu_machine_free(emu_machine *m)
{
    if (!m)
        return;
    while (m->modules)
        emu_module_unload(m->modules);
    emu_pool_free(m->pool);
    emu_texture_table_free(m->textures);
    emu_memory_free(m);
    pthread_mutex_destroy(&m->launching);
    free(m);
}

/* ---- initialisers ---- */

typedef struct init_state {
    emu_module *module;
    uint8_t *to;
    uint64_t size, at; /* bytes of the variable; the next element */
    uint32_t element;  /* bytes */
    bool ok;
} init_state;

static uint64_t symbol_value(init_state *s, const ir_init *i)
{
    const emu_module *m = s->module;
    if (i->sym.kind == IR_SYM_FUNC)
        return emu_function_token(m->ptx, i->sym.func);
    for (uint32_t k = 0; k < m->nsymbols; k++)
        if (strcmp(m->symbols[k].var->name, i->sym.var->name) == 0)
            return m->symbols[k].address + i->bits;
    s->ok = false;
    return 0;
}

static uint64_t item_value(init_state *s, const ir_init *i, ir_kind kind)
{
    uint64_t value = i->kind == IR_INIT_ADDRESS ? symbol_value(s, i) : i->bits;
    if (i->mask)
        return value >> 8 * (i->mask - 1) & 0xff;
    if (kind != IR_KIND_F)
        return value;
    if (i->kind == IR_INIT_F64 && s->element == 4)
        return f32_bits((f32)f64_of(value));
    if (i->kind == IR_INIT_F32 && s->element == 8)
        return f64_bits((f64)f32_of((u32)value));
    if (i->kind == IR_INIT_INT && s->element >= 4)
        return s->element == 4 ? f32_bits((f32)(s64)value) : f64_bits((f64)(s64)value);
    return value;
}

static uint64_t dimension_stride(const ir_var *var, uint32_t level, uint32_t element)
{
    uint64_t n = element;
    for (uint32_t d = level + 1; d < var->ndims; d++)
        n *= var->dims[d];
    return level < var->ndims ? n * var->vector : element;
}

/* `level` is the dimension that the items of a list run over. Missing elements stay zero. */
static void write_init(init_state *s, const ir_var *var, const ir_init *i, uint32_t level,
                       uint64_t at)
{
    if (i->kind == IR_INIT_LIST) {
        for (uint32_t k = 0; k < i->count; k++) {
            bool nested = i->items[k].kind == IR_INIT_LIST;
            uint64_t step = nested ? dimension_stride(var, level, s->element) : s->element;
            write_init(s, var, &i->items[k], level + 1, at);
            at += step;
        }
        return;
    }
    uint64_t value = item_value(s, i, ir_type_get(var->type)->kind);
    if (at + s->element <= s->size)
        memcpy(s->to + at, &value, s->element < 8 ? s->element : 8);
}

static bool initialise(emu_module *m, const emu_symbol *symbol)
{
    const ir_var *var = symbol->var;
    if (!var->has_init)
        return true;
    init_state s = {.module = m,
                    .to = (uint8_t *)(uintptr_t)symbol->address,
                    .size = symbol->size,
                    .element = ir_type_get(var->type)->bytes,
                    .ok = true};
    write_init(&s, var, &var->init, 0, 0);
    return s.ok;
}

/* ---- modules ---- */

static bool has_place(const ir_var *var)
{
    bool space = var->space == IR_SPACE_GLOBAL || var->space == IR_SPACE_CONST;
    return space && !var->opaque && var->linkage != IR_LINK_EXTERN;
}

/* An unsized array is as large as its initialiser. */
static uint64_t variable_bytes(const ir_var *var)
{
    uint64_t size = ir_var_size(var);
    if (size == 0 && var->has_init && var->init.kind == IR_INIT_LIST)
        size = (uint64_t)var->init.count * dimension_stride(var, 0, ir_type_get(var->type)->bytes);
    return size;
}

static wl_status lay_out_symbol(emu_module *m, const ir_var *var, emu_id_of id_of, void *ctx,
                                wl_error *err)
{
    emu_symbol *symbol = &m->symbols[m->nsymbols];
    emu_alloc_kind kind = var->space == IR_SPACE_CONST ? EMU_ALLOC_CONST : EMU_ALLOC_SYMBOL;
    symbol->var = var;
    symbol->size = variable_bytes(var);
    if (m->address_of) {
        symbol->address = m->address_of(m->address_ctx, var, symbol->size);
        m->nsymbols += symbol->address != 0;
        return WL_OK;
    }
    if (emu_mem_alloc(m->machine, symbol->size, ir_var_align(var), kind, 0, &symbol->address) !=
        WL_OK)
        return wl_fail(err, WL_NOMEM, "no memory for the variable %s of %llu bytes", var->name,
                       (unsigned long long)symbol->size);
    m->nsymbols++;
    if (id_of)
        emu_memory_set_id(&m->machine->memory, symbol->address,
                          id_of(ctx, var, symbol->address, symbol->size));
    return WL_OK;
}

static bool is_backed(const emu_module *m, const emu_symbol *symbol)
{
    return !m->address_of || symbol->var->space == IR_SPACE_CONST;
}

static wl_status lay_out_symbols(emu_module *m, emu_id_of id_of, void *ctx, wl_error *err)
{
    const ir_module *ptx = m->ptx;
    wl_status status = WL_OK;
    m->symbols = wl_new_array(m->arena, emu_symbol, ptx->nvars + 1);
    if (!m->symbols)
        return wl_fail(err, WL_NOMEM, "out of memory for a module");
    for (uint32_t k = 0; k < ptx->nvars && status == WL_OK; k++)
        if (has_place(ptx->vars[k]))
            status = lay_out_symbol(m, ptx->vars[k], id_of, ctx, err);
    for (uint32_t k = 0; k < m->nsymbols && status == WL_OK; k++)
        if (is_backed(m, &m->symbols[k]) && !initialise(m, &m->symbols[k]))
            status = wl_fail(err, WL_UNSUPPORTED,
                             "the initialiser of %s names a variable that has no address",
                             m->symbols[k].var->name);
    return status;
}

static wl_status load_onto_machine(emu_machine *m, const ir_module *ptx, emu_id_of id_of,
                                   emu_address_of address_of, void *ctx, emu_module **out,
                                   wl_error *err)
{
    wl_arena *arena = wl_arena_new();
    emu_module *module = arena ? wl_new(arena, emu_module) : NULL;
    if (!module) {
        wl_arena_free(arena);
        return wl_fail(err, WL_NOMEM, "out of memory for a module");
    }
    *module = (emu_module){
        .machine = m, .ptx = ptx, .arena = arena, .address_of = address_of, .address_ctx = ctx};
    pthread_mutex_init(&module->lock, NULL);
    pthread_mutex_lock(&m->launching);
    module->next = m->modules;
    m->modules = module;
    pthread_mutex_unlock(&m->launching);
    wl_status status = ptx->address_size == 64 || ptx->address_size == 0
                           ? lay_out_symbols(module, id_of, ctx, err)
                           : wl_fail(err, WL_UNSUPPORTED, "addresses of %u bits are not emulated",
                                     ptx->address_size);
    if (status != WL_OK) {
        emu_module_unload(module);
        return status;
    }
    *out = module;
    return WL_OK;
}

wl_status emu_module_load(emu_machine *m, const ir_module *ptx, emu_id_of id_of, void *ctx,
                          emu_module **out, wl_error *err)
{
    return load_onto_machine(m, ptx, id_of, NULL, ctx, out, err);
}

wl_status emu_module_load_at(emu_machine *m, const ir_module *ptx, emu_address_of address_of,
                             void *ctx, emu_module **out, wl_error *err)
{
    return load_onto_machine(m, ptx, NULL, address_of, ctx, out, err);
}

void emu_module_unload(emu_module *module)
{
    if (!module)
        return;
    emu_machine *m = module->machine;
    pthread_mutex_lock(&m->launching);
    for (emu_module **at = &m->modules; *at; at = &(*at)->next)
        if (*at == module) {
            *at = module->next;
            break;
        }
    pthread_mutex_unlock(&m->launching);
    for (uint32_t k = 0; k < module->nsymbols && !module->address_of; k++)
        emu_mem_free(m, module->symbols[k].address);
    while (module->kernels) {
        emu_kernel *next = module->kernels->next;
        wl_arena_free(module->kernels->arena);
        module->kernels = next;
    }
    pthread_mutex_destroy(&module->lock);
    wl_arena_free(module->arena);
}

bool emu_module_symbol(emu_module *module, const char *name, uint64_t *address, uint64_t *size)
{
    for (uint32_t k = 0; k < module->nsymbols; k++)
        if (strcmp(module->symbols[k].var->name, name) == 0) {
            if (address)
                *address = module->symbols[k].address;
            if (size)
                *size = module->symbols[k].size;
            return true;
        }
    return false;
}

/* ---- kernels ---- */

static wl_status find_or_decode(emu_module *module, const char *name, const flow_proof *proof,
                                emu_kernel **out, wl_error *err)
{
    for (emu_kernel *k = module->kernels; k; k = k->next)
        if (k->proof == proof && strcmp(k->func->name, name) == 0) {
            *out = k;
            return WL_OK;
        }
    const ir_func *func = ir_module_kernel(module->ptx, name);
    if (!func)
        return wl_fail(err, WL_NOENT, "the module has no kernel %s", name);
    wl_status status = emu_decode_kernel(module, func, proof, out, err);
    if (status == WL_OK) {
        (*out)->next = module->kernels;
        module->kernels = *out;
    }
    return status;
}

wl_status emu_module_slice(emu_module *module, const char *name, const flow_proof *proof,
                           emu_kernel **out, wl_error *err)
{
    pthread_mutex_lock(&module->lock);
    wl_status status = find_or_decode(module, name, proof, out, err);
    pthread_mutex_unlock(&module->lock);
    return status;
}

wl_status emu_module_kernel(emu_module *module, const char *name, emu_kernel **out, wl_error *err)
{
    return emu_module_slice(module, name, NULL, out, err);
}

bool emu_slice_shows(const emu_kernel *slice, uint32_t pc)
{
    return pc < slice->info.ncode && slice->shows[pc];
}

const emu_kernel_info *emu_kernel_get(const emu_kernel *kernel)
{
    return &kernel->info;
}

emu_code emu_kernel_code(const emu_kernel *kernel, uint32_t pc)
{
    if (pc >= kernel->info.ncode)
        return (emu_code){0};
    ir_place at = ir_kernel_at(&kernel->code, pc);
    return (emu_code){at.func, at.insn, kernel->bb_of_pc[pc], (ir_cost)kernel->cost_of_pc[pc]};
}

uint32_t emu_kernel_nshared(const emu_kernel *kernel)
{
    return kernel->nshared;
}

emu_shared_var emu_kernel_shared(const emu_kernel *kernel, uint32_t index, uint32_t dynamic_shared)
{
    emu_shared_var var = kernel->shared[index];
    if (var.size == 0)
        var.size = dynamic_shared;
    return var;
}

const ir_module *emu_kernel_module(const emu_kernel *kernel)
{
    return kernel->module->ptx;
}
