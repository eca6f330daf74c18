/* What is known of a module's PTX, and of its kernels that get probes. */
#include "shim/probe/probe.h"

#include "program/kernel_name.h"
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
    const prog_options *o = prog_options_get();
    asked.everything = strcmp(o->collect, "probe") == 0;
    asked.on = *o->capture_dir && strcmp(o->collect, "replay") != 0 && o->probes;
    asked.probes = asked.on ? o->probes : 0;
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

/* ---- modules ---- */

shim_probed *shim_probed_new(char *text, size_t length)
{
    shim_probed *p = calloc(1, sizeof *p);
    if (!p || !(p->arena = wl_arena_new())) {
        free(p);
        free(text);
        return NULL;
    }
    p->text = text;
    p->length = length;
    return p;
}

static void free_kernel(shim_probed_kernel *k)
{
    free(k->alone.text);
    free(k->name);
    free(k);
}

void shim_probed_free(shim_probed *p)
{
    if (!p)
        return;
    for (shim_probed_kernel *k = p->kernels, *next; k; k = next) {
        next = k->next;
        free_kernel(k);
    }
    wl_arena_free(p->arena);
    if (p->ptx)
        ir_module_free(p->ptx);
    free(p->text);
    free(p);
}

static shim_probed_kernel *add_kernel(shim_probed *p, const char *name)
{
    shim_probed_kernel *k = calloc(1, sizeof *k);
    if (!k || !(k->name = strdup(name))) {
        free(k);
        return NULL;
    }
    k->owner = p;
    k->cache_config = -1;
    k->next = p->kernels;
    p->kernels = k;
    return k;
}

shim_probed_kernel *shim_probed_find(shim_probed *p, const char *name)
{
    for (shim_probed_kernel *k = p->kernels; k; k = k->next)
        if (strcmp(k->name, name) == 0)
            return k;
    return prog_kernel_asked(name) ? add_kernel(p, name) : NULL;
}

/* ---- rewriting ---- */

static void parse_module_text(shim_probed *p)
{
    wl_error err = {0};
    if (!p->text)
        return;
    if (ptx_parse(p->text, p->length, "module", &p->ptx, &err) != WL_OK ||
        ptx_verify(p->ptx, "module", &err) != WL_OK) {
        rec_remark("A module's kernels have no probes: %s", err.text);
        if (p->ptx)
            ir_module_free(p->ptx);
        p->ptx = NULL;
    }
    free(p->text);
    p->text = NULL;
}

void shim_probed_rewrite(shim_probed_kernel *k)
{
    shim_probed *p = k->owner;
    wl_error err = {0};
    rewrite_options options = {
        .probes = asked.probes, .everything = asked.everything, .most_bytes = REWRITE_QUICK_BYTES};
    if (k->kernel)
        return;
    k->kernel = &k->alone.kernel;
    parse_module_text(p);
    const ir_func *func = p->ptx ? ir_module_func(p->ptx, k->name) : NULL;
    if (!func || !func->entry || !func->has_body)
        return;
    wl_status status = rewrite_kernel_alone(p->ptx, func, &options, p->arena, &k->alone, &err);
    if (status != WL_OK)
        k->alone.kernel.probes = 0;
    if (status != WL_OK || k->kernel->refused)
        rec_remark("%s has no probes: %s.", k->name,
                   status == WL_OK ? k->kernel->refused : err.text);
}

/* ---- what a kernel takes ---- */

static uint32_t function_resource(CUfunction f, int which)
{
    int value = 0;
    DRIVER(CUDA_ERROR_NOT_SUPPORTED, cuFuncGetAttribute, (int *, int, CUfunction), &value, which,
           f);
    return value > 0 ? (uint32_t)value : 0;
}

shim_resources shim_resources_of(CUfunction f)
{
    shim_resources r = {.registers = function_resource(f, CU_FUNC_ATTRIBUTE_NUM_REGS),
                        .static_shared = function_resource(f, CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES),
                        .local_bytes = function_resource(f, CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES),
                        .threads = function_resource(f, CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK)};
    DRIVER(CUDA_ERROR_NOT_SUPPORTED, cuOccupancyMaxActiveBlocksPerMultiprocessor,
           (int *, CUfunction, int, size_t), &r.blocks, f, SHIM_TYPICAL_BLOCK, 0);
    return r;
}
