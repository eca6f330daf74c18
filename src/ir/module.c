/* Modules as a whole, and what follows from the declaration of a variable. */
#include "ir/module.h"

#include <string.h>

ir_module *ir_module_new(void)
{
    wl_arena *arena = wl_arena_new();
    ir_module *m = arena ? wl_new(arena, ir_module) : NULL;
    if (!m) {
        wl_arena_free(arena);
        return NULL;
    }
    m->arena = arena;
    return m;
}

void ir_module_free(ir_module *module)
{
    if (module)
        wl_arena_free(module->arena);
}

ir_func *ir_module_func(const ir_module *module, const char *name)
{
    ir_func *declared = NULL;
    for (uint32_t i = 0; i < module->nfuncs; i++) {
        ir_func *func = module->funcs[i];
        if (strcmp(func->name, name) != 0)
            continue;
        if (func->has_body)
            return func;
        declared = func;
    }
    return declared;
}

const char *ir_module_file(const ir_module *module, uint32_t number)
{
    for (uint32_t i = 0; i < module->nfiles; i++)
        if (module->files[i].number == number)
            return module->files[i].path;
    return NULL;
}

uint64_t ir_var_size(const ir_var *var)
{
    uint64_t size = var->opaque ? 8 : ir_type_get(var->type)->bytes;
    if (__builtin_mul_overflow(size, (uint64_t)(var->vector ? var->vector : 1), &size))
        return 0;
    for (uint32_t i = 0; i < var->ndims; i++) {
        uint64_t dim = var->dims[i];
        if (dim == 0 && i == 0 && var->has_init)
            dim = var->init.count;
        if (__builtin_mul_overflow(size, dim, &size))
            return 0;
    }
    return size;
}

uint32_t ir_var_align(const ir_var *var)
{
    if (var->align)
        return var->align;
    uint32_t bytes = var->opaque ? 8
                                 : ir_type_get(var->type)->bytes *
                                       (uint32_t)(var->vector ? var->vector : 1);
    return bytes ? bytes : 1;
}

bool ir_param_place(const ir_func *kernel, const ir_var *var, uint32_t *from, uint32_t *to)
{
    *from = *to = 0;
    for (uint32_t i = 0; i < kernel->nparams; i++) {
        uint32_t align = ir_var_align(kernel->params[i]);
        *from = align > 1 ? (*to + align - 1) & ~(align - 1) : *to;
        *to = *from + (uint32_t)ir_var_size(kernel->params[i]);
        if (kernel->params[i] == var)
            return true;
    }
    return !var;
}
