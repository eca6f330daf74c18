/* Hostile PTX behind the parser: what parses and verifies must be analysed, decoded for emulation
 * and given probes without harm. */
#include "base/arena.h"
#include "emu/emu.h"
#include "flow/kernel.h"
#include "ptx_input.h"
#include "rewrite/rewrite.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static emu_machine *machine(void)
{
    static emu_machine *m;
    const emu_device device = {.sm = 90,
                               .num_sms = 132,
                               .max_threads_per_block = 1024,
                               .max_shared_per_block = 232448,
                               .max_blocks_per_sm = 32,
                               .max_threads_per_sm = 2048,
                               .shared_per_sm = 233472,
                               .global_bytes = UINT64_C(1) << 28,
                               .clock_khz = 1980000};
    if (!m && emu_machine_new(&device, &m, NULL) != WL_OK)
        abort();
    return m;
}

static bool is_kernel(const ir_func *func)
{
    return func->entry && func->has_body;
}

static void analyse(const ir_module *module, ir_func *func)
{
    wl_arena *arena = wl_arena_new();
    ir_kernel code;
    flow_proof proof;
    flow_kernel *kernel = NULL;
    if (ir_kernel_of(module, func, arena, &code) == WL_OK)
        kernel = flow_kernel_new(&code, arena);
    if (kernel && flow_prove_kernel(kernel, arena, &proof) == WL_OK)
        (void)flow_run(kernel, FLOW_PASS_ilp);
    wl_arena_free(arena);
}

static void decode(const ir_module *module)
{
    emu_module *loaded;
    emu_kernel *kernel;
    wl_error err;
    if (emu_module_load(machine(), module, NULL, NULL, &loaded, &err) != WL_OK)
        return;
    for (uint32_t i = 0; i < module->nfuncs; i++)
        if (is_kernel(module->funcs[i]))
            (void)emu_module_kernel(loaded, module->funcs[i]->name, &kernel, &err);
    emu_module_unload(loaded);
}

/* What comes out with probes must be PTX, too. */
static void rewrite(const ir_module *module)
{
    rewrite_options options = {.probes = (1u << REWRITE_PROBE_COUNT) - 1};
    rewrite_result out = {0};
    wl_arena *arena = wl_arena_new();
    ir_module *again;
    wl_error err;
    if (rewrite_module(module, &options, arena, &out, &err) == WL_OK && out.text) {
        if (ptx_parse(out.text, out.length, "rewritten", &again, &err) != WL_OK ||
            ptx_verify(again, "rewritten", &err) != WL_OK)
            abort();
        ir_module_free(again);
    }
    free(out.text);
    wl_arena_free(arena);
}

static void analyse_all(const ir_module *module, bool verified)
{
    if (!verified)
        return;
    for (uint32_t i = 0; i < module->nfuncs; i++)
        if (is_kernel(module->funcs[i]))
            analyse(module, module->funcs[i]);
    decode(module);
    rewrite(module);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    use_ptx(data, size, analyse_all);
    return 0;
}
