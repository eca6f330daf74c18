#include "lifting.h"

#include "observe/cost.h"
#include "ptx/ptx.h"
#include "sass/operands.h"
#include "support/random.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ---- ptxas ---- */

static char scratch[256];

static void remove_scratch(void)
{
    char command[300];
    snprintf(command, sizeof command, "rm -rf '%s'", scratch);
    if (system(command) != 0)
        fprintf(stderr, "cannot remove %s\n", scratch);
}

static const char *scratch_dir(void)
{
    if (*scratch)
        return scratch;
    const char *tmp = getenv("TMPDIR");
    snprintf(scratch, sizeof scratch, "%s/wl-lift-XXXXXX", tmp && strlen(tmp) < 200 ? tmp : "/tmp");
    if (!mkdtemp(scratch))
        fail_msg("cannot make %s", scratch);
    atexit(remove_scratch);
    return scratch;
}

void lifting_need_ptxas(void)
{
    if (!*WL_CUDA_HOME || access(WL_CUDA_HOME "/bin/ptxas", X_OK) != 0)
        skip();
}

char *lifting_assemble(const char *ptx, const char *options, bool may_fail, size_t *size)
{
    char path[300], out[300], log[300], command[5000];
    snprintf(path, sizeof path, "%s/a.ptx", scratch_dir());
    snprintf(out, sizeof out, "%s/a.cubin", scratch);
    snprintf(log, sizeof log, "%s/log", scratch);
    test_write(path, ptx, strlen(ptx));
    snprintf(command, sizeof command, "'%s' %s '%s' -o '%s' > '%s' 2>&1", WL_CUDA_HOME "/bin/ptxas",
             options, path, out, log);
    if (system(command) == 0)
        return test_read(out, size);
    if (!may_fail)
        fail_msg("ptxas %s:\n%.4000s", options, test_read(log, NULL));
    return NULL;
}

/* ---- runs ---- */

emu_machine *lifting_machine(void)
{
    static const emu_device device = {.sm = 100,
                                      .num_sms = 4,
                                      .max_threads_per_block = 1024,
                                      .registers_per_thread = 255,
                                      .max_shared_per_block = 227 << 10,
                                      .max_blocks_per_sm = 32,
                                      .max_threads_per_sm = 2048,
                                      .shared_per_sm = 228 << 10,
                                      .global_bytes = UINT64_C(1) << 33,
                                      .clock_khz = 1000000};
    emu_machine *machine;
    wl_error err;
    if (emu_machine_new(&device, &machine, &err) != WL_OK)
        fail_msg("%s", err.text);
    return machine;
}

void *lifting_alloc(emu_machine *m, uint64_t bytes)
{
    uint64_t address = 0;
    assert_int_equal(emu_mem_alloc(m, bytes, 256, EMU_ALLOC_DEVICE, 1, &address), WL_OK);
    return (void *)(uintptr_t)address;
}

static void *pass_on(void *ctx, uint32_t worker)
{
    (void)worker;
    return ctx;
}

static void *block_of(void *worker, uint64_t block)
{
    (void)block;
    return worker;
}

/* Atomics that only machine code has cost otherwise (tests/observe): compared is what words they want. */
static void on_access(void *block, const acc_request *request)
{
    lifting_traffic *t = block;
    acc_request plain = *request, *a = &plain;
    obs_run run;
    plain.flags &= ~(uint32_t)(ACC_POPC | ACC_SPIN);
    obs_cost cost = obs_find_run(a, &run) ? obs_cost_run(a, &run) : obs_cost_irregular(a);
    t->requests[a->space][a->op]++;
    uint64_t lanes = (uint64_t)a->warp << 32 | a->mask;
    t->lanes[a->space][a->op] += random_next(&lanes);
    t->cost[a->space][a->op] += cost.sectors + cost.wavefronts;
}

static bool run_kernel(emu_machine *m, emu_kernel *kernel, const lifting_launch *launch,
                       lifting_traffic *traffic, wl_error *why)
{
    acc_observer observer = {
        .ctx = traffic, .worker_begin = pass_on, .block_begin = block_of, .access = on_access};
    emu_launch l = {.grid = launch->grid,
                    .block = launch->block,
                    .dynamic_shared = launch->dynamic_shared,
                    .params = launch->params,
                    .threads = 1,
                    .time_limit = launch->time_limit > 0 ? launch->time_limit : 60,
                    .observer = &observer};
    emu_result result = {0};
    wl_status status = emu_run(m, kernel, &l, &result, why);
    if (status == WL_FAULT)
        snprintf(why->text, sizeof why->text, "%s", result.fault.text);
    emu_result_clear(&result);
    return status == WL_OK;
}

bool lifting_run(emu_machine *m, const char *ptx, const char *kernel, const lifting_launch *launch,
                 lifting_traffic *traffic, wl_error *why)
{
    ir_module *parsed = NULL;
    emu_module *module = NULL;
    emu_kernel *found = NULL;
    *traffic = (lifting_traffic){0};
    bool good = ptx_parse(ptx, strlen(ptx), kernel, &parsed, why) == WL_OK &&
                emu_module_load(m, parsed, NULL, NULL, &module, why) == WL_OK &&
                emu_module_kernel(module, kernel, &found, why) == WL_OK;
    if (good && emu_kernel_get(found)->param_bytes > launch->param_bytes)
        good = wl_fail(why, WL_ARG, "it takes %u bytes of parameters",
                       emu_kernel_get(found)->param_bytes) == WL_OK;
    good = good && run_kernel(m, found, launch, traffic, why);
    if (module)
        emu_module_unload(module);
    if (parsed)
        ir_module_free(parsed);
    return good;
}

const char *lifting_unknown(const sass_lifted *lifted)
{
    static char text[600];
    const sass_code *code = &lifted->code;
    for (uint32_t i = 0; i < code->count; i++) {
        sass_details insn;
        if (lifted->known[i])
            continue;
        (void)sass_read(code->bytes + (size_t)i * SASS_BYTES, i, code->sm, &insn);
        (void)sass_print(&insn, code->sm, text, sizeof text);
        return text;
    }
    return NULL;
}
