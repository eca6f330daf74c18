/* Modules with probes: what src/rewrite makes of their PTX is loaded in their place, and kernels have one parameter more. */
#include "collect/inline/probe.h"

#include "ptx/ptx.h"

#include <stdlib.h>
#include <string.h>

static struct {
    pthread_once_t once;
    bool on, everything;
    uint32_t probes;
} asked = {.once = PTHREAD_ONCE_INIT};

static void read_options(void)
{
    const collect_options *o = collect_options_get();
    asked.everything = strcmp(o->collect, "probe") == 0;
    asked.on = *o->capture_dir && strcmp(o->collect, "replay") != 0 && *o->probes &&
               strcmp(o->probes, "none") != 0;
    if (asked.on && !rewrite_probes_parse(o->probes, &asked.probes)) {
        wl_log(WL_LOG_WARN, "WARPLENS_PROBES=%s cannot be read; there are no probes.", o->probes);
        asked.on = false;
    }
}

bool shim_probes_on(void)
{
    pthread_once(&asked.once, read_options);
    return asked.on;
}

bool shim_probes_everything(void)
{
    return asked.everything;
}

uint32_t shim_probes_asked(void)
{
    return asked.probes;
}

/* ---- rewriting ---- */

static bool wanted(void *ctx, const char *kernel)
{
    (void)ctx;
    return collect_options_match(kernel);
}

static bool parse(shim_probed *p, const char *text, size_t length, wl_error *err)
{
    return ptx_parse(text, length, "module", &p->ptx, err) == WL_OK &&
           ptx_verify(p->ptx, "module", err) == WL_OK;
}

static bool list_kernels(shim_probed *p)
{
    p->kernels = wl_new_array(p->arena, shim_probed_kernel, p->result.nkernels + 1);
    for (uint32_t i = 0; p->kernels && i < p->result.nkernels; i++)
        p->kernels[i] = (shim_probed_kernel){.kernel = &p->result.kernels[i], .owner = p};
    return p->kernels != NULL;
}

static void tell_left_out(const rewrite_result *r)
{
    const rewrite_kernel *left = NULL;
    uint32_t count = 0;
    for (uint32_t i = r->nkernels; i-- > 0;)
        if (r->kernels[i].refused && wanted(NULL, r->kernels[i].func->name)) {
            left = &r->kernels[i];
            count++;
        }
    if (left)
        shim_remark("%u of a module's %u kernels get no probes. %s: %s. -k chooses kernels.", count,
                    r->nkernels, left->func->name, left->refused);
}

static bool rewrite(shim_probed *p, wl_error *err)
{
    rewrite_options options = {.probes = asked.probes,
                               .everything = asked.everything,
                               .wants = wanted,
                               .most_bytes = REWRITE_QUICK_BYTES};
    p->arena = wl_arena_new();
    if (!p->arena || rewrite_module(p->ptx, &options, p->arena, &p->result, err) != WL_OK)
        return false;
    tell_left_out(&p->result);
    return p->result.text && list_kernels(p);
}

shim_probed *shim_probed_make(const char *text, size_t length)
{
    wl_error err = {0};
    shim_probed *p = shim_probes_on() ? calloc(1, sizeof *p) : NULL;
    if (!p)
        return NULL;
    if (parse(p, text, length, &err) && rewrite(p, &err))
        return p;
    if (err.status)
        shim_remark("A module has no probes: %s", err.text);
    shim_probed_free(p);
    return NULL;
}

void shim_probed_free(shim_probed *p)
{
    if (!p)
        return;
    free(p->result.text);
    wl_arena_free(p->arena);
    if (p->ptx)
        ptx_module_free(p->ptx);
    free(p);
}

shim_probed_kernel *shim_probed_find(shim_probed *p, const char *kernel)
{
    for (uint32_t i = 0; p && i < p->result.nkernels; i++)
        if (p->kernels[i].kernel->probes && strcmp(p->kernels[i].kernel->func->name, kernel) == 0)
            return &p->kernels[i];
    return NULL;
}

/* ---- what it costs a kernel ---- */

static uint32_t attribute(CUfunction f, int which)
{
    int value = 0;
    DRIVER(CUDA_ERROR_NOT_SUPPORTED, cuFuncGetAttribute, (int *, int, CUfunction), &value, which,
           f);
    return value > 0 ? (uint32_t)value : 0;
}

enum { TYPICAL_BLOCK = 256 };

shim_resources shim_resources_of(CUfunction f)
{
    shim_resources r = {.registers = attribute(f, CU_FUNC_ATTRIBUTE_NUM_REGS),
                        .static_shared = attribute(f, CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES),
                        .local_bytes = attribute(f, CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES),
                        .threads = attribute(f, CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK)};
    DRIVER(CUDA_ERROR_NOT_SUPPORTED, cuOccupancyMaxActiveBlocksPerMultiprocessor,
           (int *, CUfunction, int, size_t), &r.blocks, f, TYPICAL_BLOCK, 0);
    return r;
}

/* The program's own module is loaded for as long as it takes to ask about its kernels. */
void shim_probed_compare(shim_probed *p, const void *original)
{
    CUmodule module;
    if (DRIVER(CUDA_ERROR_NOT_SUPPORTED, cuModuleLoadData, (CUmodule *, const void *), &module,
               original) != CUDA_SUCCESS)
        return;
    for (uint32_t i = 0; i < p->result.nkernels; i++) {
        CUfunction f;
        shim_probed_kernel *k = &p->kernels[i];
        if (k->kernel->probes && DRIVER(CUDA_ERROR_NOT_SUPPORTED, cuModuleGetFunction,
                                        (CUfunction *, CUmodule, const char *), &f, module,
                                        k->kernel->func->name) == CUDA_SUCCESS) {
            k->known = true;
            k->original = shim_resources_of(f);
        }
    }
    DRIVER(CUDA_ERROR_NOT_SUPPORTED, cuModuleUnload, (CUmodule), module);
}

static CUfunction function_in(void *handle, bool library, const char *name)
{
    CUkernel kernel;
    CUfunction f = NULL;
    if (!library)
        DRIVER(CUDA_ERROR_NOT_SUPPORTED, cuModuleGetFunction,
               (CUfunction *, CUmodule, const char *), &f, (CUmodule)handle, name);
    else if (DRIVER(CUDA_ERROR_NOT_SUPPORTED, cuLibraryGetKernel,
                    (CUkernel *, CUlibrary, const char *), &kernel, (CUlibrary)handle,
                    name) == CUDA_SUCCESS)
        DRIVER(CUDA_ERROR_NOT_SUPPORTED, cuKernelGetFunction, (CUfunction *, CUkernel), &f, kernel);
    return f;
}

enum {
    REGISTERS = 64 << 10,
    REGISTERS_UNIT = 8
}; /* of a multiprocessor; a thread's come in this many */

bool shim_probed_fits(shim_probed *p, void *handle, bool library, uint32_t *registers)
{
    bool fits = true;
    *registers = UINT32_MAX;
    for (uint32_t i = 0; i < p->result.nkernels; i++) {
        const shim_probed_kernel *k = &p->kernels[i];
        CUfunction f = k->known ? function_in(handle, library, k->kernel->func->name) : NULL;
        if (!f || attribute(f, CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK) >= k->original.threads)
            continue;
        uint32_t most = REGISTERS / k->original.threads / REGISTERS_UNIT * REGISTERS_UNIT;
        *registers = most < *registers ? most : *registers;
        fits = false;
    }
    return fits;
}

void shim_probed_tell(shim_probed_kernel *k, const shim_resources *now)
{
    const shim_resources *o = &k->original;
    if (k->told || !k->known)
        return;
    k->told = true;
    if (o->registers == now->registers && o->local_bytes == now->local_bytes &&
        o->static_shared == now->static_shared && o->blocks == now->blocks)
        return;
    shim_remark("With probes %s takes %u registers (without: %u), %u bytes of local memory (%u), "
                "%u of shared memory (%u); %d blocks of %d threads fit a multiprocessor (%d).",
                k->kernel->func->name, now->registers, o->registers, now->local_bytes,
                o->local_bytes, now->static_shared, o->static_shared, now->blocks, TYPICAL_BLOCK,
                o->blocks);
}
