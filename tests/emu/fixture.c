#include "fixture.h"

#include "ptx/ptx.h"

#include <stdio.h>

static const emu_device device = {.sm = 90,
                                  .num_sms = 4,
                                  .max_threads_per_block = 1024,
                                  .registers_per_thread = 255,
                                  .max_shared_per_block = 227 << 10,
                                  .max_blocks_per_sm = 32,
                                  .max_threads_per_sm = 2048,
                                  .shared_per_sm = 228 << 10,
                                  .global_bytes = UINT64_C(1) << 33,
                                  .clock_khz = 1000000};

void fixture_begin(fixture *f, const char *ptx)
{
    memset(f, 0, sizeof *f);
    f->threads = 1;
    f->time_limit = 120; /* of a sanitizer on a busy machine */
    if (ptx_parse(ptx, strlen(ptx), "test", &f->ptx, &f->err) != WL_OK)
        fail_msg("%s", f->err.text);
    if (emu_machine_new(&device, &f->machine, &f->err) != WL_OK)
        fail_msg("%s", f->err.text);
    if (emu_module_load(f->machine, f->ptx, NULL, NULL, &f->module, &f->err) != WL_OK)
        fail_msg("%s", f->err.text);
}

void fixture_end(fixture *f)
{
    emu_result_clear(&f->result);
    emu_module_unload(f->module);
    emu_machine_free(f->machine);
    ir_module_free(f->ptx);
}

void *fixture_alloc(fixture *f, uint64_t bytes)
{
    uint64_t address = 0;
    assert_int_equal(emu_mem_alloc(f->machine, bytes, 256, EMU_ALLOC_DEVICE, 1, &address), WL_OK);
    return (void *)(uintptr_t)address;
}

emu_kernel *fixture_kernel(fixture *f, const char *name)
{
    emu_kernel *kernel = NULL;
    if (emu_module_kernel(f->module, name, &kernel, &f->err) != WL_OK)
        fail_msg("%s", f->err.text);
    return kernel;
}

wl_status fixture_try(fixture *f, const char *name, emu_dim grid, emu_dim block, uint32_t count,
                      const uint64_t *params)
{
    uint8_t buffer[4096] = {0};
    emu_kernel *kernel = fixture_kernel(f, name);
    const emu_kernel_info *info = emu_kernel_get(kernel);
    for (uint32_t k = 0; k < info->nparams && k < count; k++)
        memcpy(buffer + info->param_offsets[k], &params[k],
               info->param_sizes[k] < 8 ? info->param_sizes[k] : 8);
    emu_launch launch = {.grid = grid,
                         .block = block,
                         .cluster = f->cluster,
                         .dynamic_shared = f->dynamic_shared,
                         .params = buffer,
                         .cooperative = f->cooperative,
                         .threads = f->threads,
                         .time_limit = f->time_limit,
                         .observer = f->observer,
                         .print = f->print,
                         .print_ctx = f->print_ctx};
    emu_result_clear(&f->result);
    return emu_run(f->machine, kernel, &launch, &f->result, &f->err);
}

void fixture_ok(fixture *f, wl_status status)
{
    if (status == WL_FAULT)
        fail_msg("%s", f->result.fault.text);
    if (status != WL_OK)
        fail_msg("%s", f->err.text);
}
