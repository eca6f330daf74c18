/* What is known of a module's PTX, and of its kernels that get probes. */
#include "shim/probe/recording_impl.h"

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

bool probe_on(void)
{
    pthread_once(&asked.once, read_options);
    return asked.on;
}

bool probe_everything(void)
{
    return asked.everything;
}

uint32_t probe_asked(void)
{
    return asked.probes;
}

void probe_start(void)
{
    if (probe_on())
        drv_keep_texts();
}

/* ---- modules ---- */

static probe_module *modules;

/* Takes the text, which is malloc'ed. NULL without memory. */
static probe_module *add_probe_module(const drv_module *module, char *text, size_t length)
{
    probe_module *m = calloc(1, sizeof *m);
    if (!m || !(m->arena = wl_arena_new())) {
        free(m);
        free(text);
        return NULL;
    }
    m->module = module;
    m->text = text;
    m->length = length;
    HASH_ADD_PTR(modules, module, m);
    return m;
}

static probe_module *find_probe_module(const drv_module *module)
{
    probe_module *m = NULL;
    HASH_FIND_PTR(modules, &module, m);
    return m;
}

/* NULL: it has no PTX. */
static probe_module *module_to_probe(drv_module *module)
{
    size_t length;
    probe_module *m = find_probe_module(module);
    char *text = m ? NULL : drv_module_take_text(module, &length);
    return text ? add_probe_module(module, text, length) : m;
}

static void free_kernel(probe_kernel *k)
{
    free(k->alone.text);
    free(k->name);
    free(k);
}

static void free_probe_module(probe_module *m)
{
    HASH_DEL(modules, m);
    for (probe_kernel *k = m->kernels, *next; k; k = next) {
        next = k->next;
        free_kernel(k);
    }
    wl_arena_free(m->arena);
    if (m->ptx)
        ir_module_free(m->ptx);
    free(m->text);
    free(m);
}

probe_own *probe_module_gone(const drv_module *module)
{
    probe_module *m = find_probe_module(module);
    if (!m)
        return NULL;
    probe_recordings_last(m);
    probe_own *own = probe_own_take(m);
    free_probe_module(m);
    return own;
}

void probe_modules_left(CUcontext context)
{
    for (probe_module *m = modules; m; m = m->hh.next)
        probe_own_gone(m, context);
}

/* ---- kernels ---- */

static probe_kernel *add_kernel(probe_module *p, const char *name)
{
    probe_kernel *k = calloc(1, sizeof *k);
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

/* NULL: it is not asked for, or there is no memory. */
static probe_kernel *find_kernel_to_probe(probe_module *p, const char *name)
{
    for (probe_kernel *k = p->kernels; k; k = k->next)
        if (strcmp(k->name, name) == 0)
            return k;
    return prog_kernel_asked(name) ? add_kernel(p, name) : NULL;
}

probe_kernel *probe_kernel_of(drv_function *f)
{
    if (!f->looked_for_probe && f->module) {
        probe_module *m = module_to_probe(f->module);
        f->probe = m ? find_kernel_to_probe(m, f->name) : NULL;
    }
    f->looked_for_probe = true;
    return f->probe;
}

/* ---- rewriting ---- */

static void parse_module_text(probe_module *p)
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

void probe_kernel_rewrite(probe_kernel *k, uint32_t threads)
{
    probe_module *p = k->owner;
    wl_error err = {0};
    rewrite_options options = {.probes = asked.probes,
                               .everything = asked.everything,
                               .most_bytes = REWRITE_QUICK_BYTES,
                               .threads = threads};
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
    if (k->kernel->no_paths)
        rec_remark("Which path its warps took is not known of %s: %s.", k->name,
                   k->kernel->no_paths);
}

/* ---- what a kernel takes ---- */

static uint32_t function_resource(CUfunction f, int which)
{
    int value = 0;
    DRIVER(CUDA_ERROR_NOT_SUPPORTED, cuFuncGetAttribute, (int *, int, CUfunction), &value, which,
           f);
    return value > 0 ? (uint32_t)value : 0;
}

probe_resources probe_resources_of(CUfunction f)
{
    probe_resources r = {.registers = function_resource(f, CU_FUNC_ATTRIBUTE_NUM_REGS),
                         .static_shared = function_resource(f, CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES),
                         .local_bytes = function_resource(f, CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES),
                         .threads = function_resource(f, CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK)};
    DRIVER(CUDA_ERROR_NOT_SUPPORTED, cuOccupancyMaxActiveBlocksPerMultiprocessor,
           (int *, CUfunction, int, size_t), &r.blocks, f, PROBE_TYPICAL_BLOCK, 0);
    return r;
}
