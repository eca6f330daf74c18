/* Machine code on the emulator: the cubin that a driver would take for the device, lifted a kernel at a
 * time, with variables where the module's PTX has them. */
#include "device/lifted.h"

#include "cuda/cubin.h"
#include "cuda/fatbin.h"
#include "emu/slice.h"
#include "program/options.h"
#include "replay/runnable.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { BANK_ALIGNMENT = 256, BANK_OF_PROGRAM = 3 };

/* ---- the cubin ---- */

static const dev_cubin *cubin_of(dev_module *module)
{
    dev_cubin *c = &module->cubin;
    if (c->tried)
        return c;
    c->tried = true;
    c->status = cuda_image_cubin(module->image, CUDA_SIZE_UNKNOWN,
                                 module->context->device->description.sm, &c->bytes, &c->size,
                                 &c->error);
    if (c->status != WL_OK)
        return c;
    c->sm = cuda_cubin_sm(c->bytes, c->size);
    cuda_cubin_variables(c->bytes, c->size, &c->variables);
    return c;
}

void dev_cubin_clear(dev_cubin *cubin)
{
    cuda_variables_clear(&cubin->variables);
    free(cubin->bytes);
    *cubin = (dev_cubin){0};
}

static uint32_t number_of_cubin(dev_module *module)
{
    dev_cubin *c = &module->cubin;
    if (c->id)
        return c->id;
    c->id = rec_module(CAP_MODULE_CUBIN, dev_module_file(module), (const char *)c->bytes, c->size,
                       0);
    rec_remark(
        "Kernels of %s are counted by its machine code for sm_%u, but for those that are named",
        dev_module_file(module), c->sm);
    return c->id;
}

/* ---- variables ---- */

typedef struct placing_lifted {
    dev_lifted *lifted;
    const dev_module *module;
} placing_lifted;

/* As lifted code names it. */
static bool is_bank_of_program(const ir_var *var)
{
    char name[16];
    snprintf(name, sizeof name, "__bank%u", BANK_OF_PROGRAM);
    return strcmp(var->name, name) == 0;
}

/* Banks are copies: the program's constants lie apart from each other in its PTX. */
static uint64_t place_bank(dev_lifted *l, const ir_var *var, uint64_t size)
{
    uint64_t at = 0;
    if (emu_mem_alloc(l->machine, size, BANK_ALIGNMENT, EMU_ALLOC_INTERNAL, 0, &at) != WL_OK)
        return 0;
    if (!wl_push(&l->banks, at)) {
        emu_mem_free(l->machine, at);
        return 0;
    }
    if (is_bank_of_program(var)) {
        l->program_bank = at;
        l->program_bytes = size;
    }
    return at;
}

static uint64_t place_lifted_variable(void *ctx, const ir_var *var, uint64_t size)
{
    const placing_lifted *p = ctx;
    uint64_t at = 0, bytes = 0;
    if (var->space == IR_SPACE_CONST)
        return place_bank(p->lifted, var, size);
    return emu_module_symbol(p->module->loaded, var->name, &at, &bytes) && bytes >= size ? at : 0;
}

/* What stands in the bank is copied there from where the program writes it. */
static wl_status place_constants_of(dev_lifted *l, const dev_module *module, wl_error *err)
{
    const cuda_variables *v = &module->cubin.variables;
    for (size_t i = 0; l->program_bank && i < v->count; i++) {
        const cuda_variable *c = &v->list[i];
        uint64_t from = 0, bytes = 0;
        if (!c->constant || c->offset + c->bytes > l->program_bytes)
            continue;
        if (!emu_module_symbol(module->loaded, c->name, &from, &bytes) || bytes != c->bytes)
            return wl_fail(err, WL_UNSUPPORTED, "the constant %s of its cubin is not in its PTX",
                           c->name);
        if (!wl_push(&l->constants, ((dev_constant){from, l->program_bank + c->offset, bytes})))
            return wl_fail(err, WL_NOMEM, "out of memory");
    }
    return l->program_bank && !l->constants.count
               ? wl_fail(err, WL_UNSUPPORTED, "its cubin does not say where constant variables lie")
               : WL_OK;
}

static void renew_constants(dev_lifted *lifted)
{
    for (size_t i = 0; i < lifted->constants.count; i++) {
        const dev_constant *c = &lifted->constants.data[i];
        memcpy((void *)(uintptr_t)c->to, (const void *)(uintptr_t)c->from, c->bytes);
    }
}

/* ---- the kernel ---- */

static wl_status check_params(const dev_function *f, const emu_kernel *kernel, wl_error *err)
{
    uint32_t has = emu_kernel_get(f->kernel)->param_bytes,
             needs = emu_kernel_get(kernel)->param_bytes;
    return needs <= has
               ? WL_OK
               : wl_fail(err, WL_UNSUPPORTED,
                         "its machine code takes %u bytes of parameters, its PTX %u", needs, has);
}

static wl_status load_lifted_kernel(const dev_function *f, dev_lifted *l, wl_error *err)
{
    placing_lifted p = {l, f->module};
    wl_status status = emu_module_load_at(l->machine, l->body.module, place_lifted_variable, &p,
                                          &l->loaded, err);
    if (status == WL_OK)
        status = place_constants_of(l, f->module, err);
    if (status == WL_OK)
        status = emu_module_kernel(l->loaded, f->name, &l->kernel, err);
    return status == WL_OK ? check_params(f, l->kernel, err) : status;
}

static wl_status lift_function(const dev_function *f, const dev_cubin *cubin, dev_lifted *l,
                               wl_error *err)
{
    wl_status status = sass_body_read(cubin->bytes, cubin->size, cubin->sm, f->name, l->arena,
                                      &l->body, err);
    if (status == WL_OK)
        status = replay_runnable(&l->body, f->name, &l->alone, err);
    return status == WL_OK ? load_lifted_kernel(f, l, err) : status;
}

static dev_lifted *new_lifted(const dev_function *f)
{
    dev_lifted *l = calloc(1, sizeof *l);
    if (l && !(l->arena = wl_arena_new())) {
        free(l);
        return NULL;
    }
    if (l)
        l->machine = f->module->context->device->machine;
    return l;
}

static wl_status take_machine_code(dev_function *f, wl_error *err)
{
    const char *needed = replay_what_needs_ptx(dev_g.settings.probes);
    if (needed)
        return wl_fail(err, WL_UNSUPPORTED, "%s", needed);
    const dev_cubin *cubin = cubin_of(f->module);
    if (cubin->status != WL_OK) {
        *err = cubin->error;
        return cubin->status;
    }
    dev_lifted *l = new_lifted(f);
    wl_status status = l ? lift_function(f, cubin, l, err)
                         : wl_fail(err, WL_NOMEM, "out of memory");
    if (status != WL_OK) {
        dev_lifted_free(l);
        return status;
    }
    l->number = number_of_cubin(f->module);
    f->machine = l;
    return WL_OK;
}

static void seek_machine_code(dev_function *f)
{
    wl_error why = {0};
    if (f->sought_lifted || strcmp(prog_options_get()->code, "machine") != 0)
        return;
    f->sought_lifted = true;
    if (take_machine_code(f, &why) != WL_OK)
        rec_remark("%s is counted by its PTX, not by its machine code: %s", f->name, why.text);
}

void dev_lifted_choose(dev_function *function, bool clusters)
{
    seek_machine_code(function);
    dev_lifted *chosen = function->machine;
    if (chosen && clusters && chosen->alone) {
        if (!chosen->told)
            rec_remark("launches of %s with clusters are counted by its PTX, not by its machine "
                       "code: it needs to know "
                       "a block's rank",
                       function->name);
        chosen->told = true;
        chosen = NULL;
    }
    if (chosen != function->lifted)
        replay_proven_clear(&function->proven); /* what is proven is of other code */
    function->lifted = chosen;
    if (chosen)
        renew_constants(chosen);
}

void dev_lifted_free(dev_lifted *lifted)
{
    if (!lifted)
        return;
    emu_module_unload(lifted->loaded);
    for (size_t i = 0; i < lifted->banks.count; i++)
        emu_mem_free(lifted->machine, lifted->banks.data[i]);
    wl_vec_free(&lifted->banks);
    wl_vec_free(&lifted->constants);
    sass_body_clear(&lifted->body);
    wl_arena_free(lifted->arena);
    free(lifted);
}
