/* Kernels that record, in modules of their own: the program's own module stays as it is, and
 * whatever does not record runs it.
 *
 * The driver loads a module only when nothing runs in the context: it would wait for what runs, and
 * that may wait for the program, whose launch we hold up. So we wait ourselves, for a while; a
 * launch that comes while the device is busy for longer is made as the program made it, and a later
 * one tries again. */
#include "ptx/written.h"
#include "shim/probe/recording_impl.h"

#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* What a program may set at its function, and read there. */
static const int attributes[] = {
    CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES,
    CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT,
    CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_WIDTH,
    CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_HEIGHT,
    CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_DEPTH,
    CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED,
    CU_FUNC_ATTRIBUTE_CLUSTER_SCHEDULING_POLICY_PREFERENCE,
};
enum { ATTRIBUTES = sizeof attributes / sizeof *attributes, REASON = 256 };

typedef struct constant { /* the program's, and the copy */
    CUdeviceptr from, to;
    size_t bytes;
} constant;

struct probe_own {
    CUcontext context;
    CUmodule module;
    CUfunction function; /* NULL: it cannot be had; `why` */
    probe_resources resources, original;
    int values[ATTRIBUTES];
    int cache_config;
    constant *constants;      /* [kernel->alone.nconstants] */
    bool mirrored;            /* constants were copied, */
    uint64_t version, stream; /* as of then, in the order of that stream */
    char why[REASON];
    struct probe_own *next;
};

static pthread_cond_t made = PTHREAD_COND_INITIALIZER;
static uint64_t constants_version; /* counts what may have written to constants */
static bool mirrors;               /* there are copies of constants */
static int64_t compiling_ns;
static uint32_t compiled;

/* ---- is the device idle? ---- */

enum { PATIENCE_NS = 500000000, PAUSE_NS = 20000 };
static int64_t patience = PATIENCE_NS; /* halved with each wait that was in vain */

/* Waits at most so long. */
static bool wait_for_event(CUevent event, int64_t most)
{
    int64_t end = rec_now() + most;
    CUresult result;
    while ((result = DRIVER(CUDA_ERROR_NOT_SUPPORTED, cuEventQuery, (CUevent), event)) ==
               CUDA_ERROR_NOT_READY &&
           rec_now() < end)
        nanosleep(&(struct timespec){0, PAUSE_NS}, NULL);
    return result == CUDA_SUCCESS;
}

static bool wait_patiently(CUevent event)
{
    int64_t most = __atomic_load_n(&patience, __ATOMIC_RELAXED);
    bool over = wait_for_event(event, most);
    __atomic_store_n(&patience, over ? PATIENCE_NS : most / 2, __ATOMIC_RELAXED);
    return over;
}

/* With the lock held: an event after all that runs in the context. To ask for it while a stream is
 * captured would end the capture. */
static CUresult record_all(CUcontext context, CUevent event)
{
    return drv_capturing() ? CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED
                           : DRIVER(CUDA_ERROR_NOT_SUPPORTED, cuCtxRecordEvent,
                                    (CUcontext, CUevent), context, event);
}

static bool new_event(CUevent *event)
{
    return DRIVER(CUDA_ERROR_NOT_SUPPORTED, cuEventCreate, (CUevent *, unsigned), event,
                  CU_EVENT_DISABLE_TIMING) == CUDA_SUCCESS;
}

bool probe_wait_idle(CUcontext context)
{
    CUevent event;
    if (!new_event(&event))
        return false;
    pthread_mutex_lock(&rec_g.lock);
    CUresult result = record_all(context, event);
    pthread_mutex_unlock(&rec_g.lock);
    bool idle = result == CUDA_ERROR_NOT_SUPPORTED ||
                (result == CUDA_SUCCESS && wait_patiently(event));
    DRIVER(CUDA_ERROR_NOT_SUPPORTED, cuEventDestroy_v2, (CUevent), event);
    return idle;
}

bool probe_context_idle(CUcontext context)
{
    enum { MOST_NS = 1000000 };
    CUevent event;
    if (!new_event(&event))
        return false;
    CUresult result = record_all(context, event);
    bool idle = result == CUDA_ERROR_NOT_SUPPORTED ||
                (result == CUDA_SUCCESS && wait_for_event(event, MOST_NS));
    DRIVER(CUDA_ERROR_NOT_SUPPORTED, cuEventDestroy_v2, (CUevent), event);
    return idle;
}

/* ---- loading ---- */

enum { MAX_OPTIONS = 8 };

typedef struct compiling {
    CUjit_option options[MAX_OPTIONS];
    void *values[MAX_OPTIONS];
    uint32_t count;
} compiling;

static void ask_for(compiling *c, CUjit_option option, uintptr_t value)
{
    uint32_t i = 0;
    while (i < c->count && c->options[i] != option)
        i++;
    c->count += i == c->count;
    c->options[i] = option;
    c->values[i] = (void *)value;
}

/* As the program's, but for what the text does not say; code that is to be debugged is not
 * optimised. */
static void choose_options(compiling *c, const probe_kernel *k, const drv_function *f,
                           uint32_t registers)
{
    c->count = drv_module_jit_options(f->module, c->options, c->values, MAX_OPTIONS - 2);
    if (strstr(k->owner->ptx->written->target, "debug"))
        ask_for(c, CU_JIT_OPTIMIZATION_LEVEL, 0);
    if (registers)
        ask_for(c, CU_JIT_MAX_REGISTERS, registers);
}

static CUresult load_own_module(probe_own *o, const probe_kernel *k, const drv_function *f,
                                uint32_t registers)
{
    compiling c;
    choose_options(&c, k, f, registers);
    int64_t begin = rec_now();
    CUresult result = DRIVER(CUDA_ERROR_NOT_SUPPORTED, cuModuleLoadDataEx,
                             (CUmodule *, const void *, unsigned, CUjit_option *, void **),
                             &o->module, k->alone.text, c.count, c.options, c.values);
    if (result == CUDA_SUCCESS)
        result = DRIVER(CUDA_ERROR_NOT_SUPPORTED, cuModuleGetFunction,
                        (CUfunction *, CUmodule, const char *), &o->function, o->module, k->name);
    __atomic_add_fetch(&compiling_ns, rec_now() - begin, __ATOMIC_RELAXED);
    return result;
}

static void unload(probe_own *o)
{
    if (o->module)
        DRIVER(CUDA_ERROR_NOT_SUPPORTED, cuModuleUnload, (CUmodule), o->module);
    o->module = NULL;
    o->function = NULL;
}

static bool unload_saying_why(probe_own *o, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
static bool unload_saying_why(probe_own *o, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    vsnprintf(o->why, sizeof o->why, format, args);
    va_end(args);
    unload(o);
    return false;
}

enum {
    REGISTERS = 64 << 10,
    REGISTERS_UNIT = 8
}; /* of a multiprocessor; a thread's come in this many */

static bool is_small(const probe_own *o)
{
    return o->resources.threads < o->original.threads;
}

/* So that blocks may be as large as the program's, with fewer registers if need be. */
static bool load_fitting(probe_own *o, const probe_kernel *k, const drv_function *f)
{
    CUresult result = load_own_module(o, k, f, 0);
    if (result != CUDA_SUCCESS)
        return unload_saying_why(o, "the driver refused it with probes (error %d)", (int)result);
    o->resources = probe_resources_of(o->function);
    if (!is_small(o))
        return true;
    uint32_t most = REGISTERS / o->original.threads / REGISTERS_UNIT * REGISTERS_UNIT;
    unload(o);
    if (load_own_module(o, k, f, most) != CUDA_SUCCESS)
        return unload_saying_why(o, "with probes its blocks could not be as large as without");
    o->resources = probe_resources_of(o->function);
    return !is_small(o) ||
           unload_saying_why(o, "with probes its blocks could not be as large as without");
}

static bool is_roomier(const probe_resources *now, const probe_resources *was)
{
    return now->blocks > was->blocks && now->local_bytes <= was->local_bytes;
}

/* Probes take registers, so that fewer blocks may run at once than without. One unit less costs
 * nothing where the compiler manages without memory in place of it. */
static void load_roomier(probe_own *o, const probe_kernel *k, const drv_function *f)
{
    const probe_own was = *o;
    uint32_t most = (was.resources.registers - 1) / REGISTERS_UNIT * REGISTERS_UNIT;
    if (was.resources.blocks >= was.original.blocks || most < was.original.registers)
        return;
    o->module = NULL;
    if (load_own_module(o, k, f, most) == CUDA_SUCCESS)
        o->resources = probe_resources_of(o->function);
    probe_own other = is_roomier(&o->resources, &was.resources) ? was : *o;
    if (other.module != was.module)
        *o = was;
    unload(&other);
}

/* ---- variables ---- */

static bool find_here(const probe_own *o, const char *name, CUdeviceptr *address, size_t *bytes)
{
    return DRIVER(CUDA_ERROR_NOT_SUPPORTED, cuModuleGetGlobal_v2,
                  (CUdeviceptr *, size_t *, CUmodule, const char *), address, bytes, o->module,
                  name) == CUDA_SUCCESS;
}

static bool find_addresses(probe_own *o, const rewrite_alone *a, const drv_module *m,
                           CUdeviceptr *addresses)
{
    size_t bytes;
    for (uint32_t i = 0; i < a->nglobals; i++)
        if (!drv_module_variable(m, a->globals[i]->name, &addresses[i], &bytes))
            return unload_saying_why(o, "the driver does not say where %s is", a->globals[i]->name);
    return true;
}

static bool write_table(probe_own *o, const CUdeviceptr *addresses, uint32_t count, CUstream stream)
{
    CUdeviceptr table;
    size_t bytes;
    return (find_here(o, REWRITE_GLOBALS, &table, &bytes) && bytes >= count * sizeof *addresses &&
            DRIVER(CUDA_ERROR_NOT_SUPPORTED, cuMemcpyHtoDAsync_v2,
                   (CUdeviceptr, const void *, size_t, CUstream), table, addresses,
                   count * sizeof *addresses, stream) == CUDA_SUCCESS &&
            DRIVER(CUDA_ERROR_NOT_SUPPORTED, cuStreamSynchronize, (CUstream), stream) ==
                CUDA_SUCCESS) ||
           unload_saying_why(o, "addresses of variables could not be written");
}

static bool name_globals(probe_own *o, const rewrite_alone *a, const drv_module *m, CUstream stream)
{
    CUdeviceptr *addresses = calloc(a->nglobals + 1, sizeof *addresses);
    bool done = addresses && find_addresses(o, a, m, addresses) &&
                (!a->nglobals || write_table(o, addresses, a->nglobals, stream));
    free(addresses);
    return done;
}

static bool find_constants(probe_own *o, const rewrite_alone *a, const drv_module *m)
{
    size_t here, there;
    o->constants = calloc(a->nconstants + 1, sizeof *o->constants);
    for (uint32_t i = 0; o->constants && i < a->nconstants; i++) {
        constant *c = &o->constants[i];
        if (!drv_module_variable(m, a->constants[i]->name, &c->from, &there) ||
            !find_here(o, a->constants[i]->name, &c->to, &here))
            return unload_saying_why(o, "the driver does not say where %s is",
                                     a->constants[i]->name);
        c->bytes = here < there ? here : there;
    }
    return o->constants != NULL;
}

/* ---- making ---- */

static void read_function_attributes(probe_own *o)
{
    o->cache_config = -1;
    for (int i = 0; i < ATTRIBUTES; i++)
        if (DRIVER(CUDA_ERROR_NOT_SUPPORTED, cuFuncGetAttribute, (int *, int, CUfunction),
                   &o->values[i], attributes[i], o->function) != CUDA_SUCCESS)
            o->values[i] = 0;
}

/* Without the lock. NULL: it was not tried. */
static probe_own *make_own_module(const probe_kernel *k, const drv_function *f, CUcontext context,
                                  CUstream stream)
{
    CUstreamCaptureMode mode;
    bool relaxed = probe_relax(&mode);
    probe_own *o = probe_wait_idle(context) ? calloc(1, sizeof *o) : NULL;
    if (o) {
        o->context = context;
        o->original = probe_resources_of(drv_function_handle(f));
        bool fits = load_fitting(o, k, f);
        if (fits)
            load_roomier(o, k, f);
        if (fits && name_globals(o, &k->alone, f->module, stream) &&
            find_constants(o, &k->alone, f->module))
            read_function_attributes(o);
    }
    probe_restore(relaxed, mode);
    return o;
}

static bool same_resources(const probe_resources *a, const probe_resources *b)
{
    return a->registers == b->registers && a->local_bytes == b->local_bytes &&
           a->static_shared == b->static_shared && a->blocks == b->blocks;
}

static void remark_on_resources(const probe_own *o, const char *name)
{
    const probe_resources *now = &o->resources, *was = &o->original;
    if (!o->function)
        rec_remark("%s has no probes: %s.", name, o->why);
    else if (!same_resources(now, was))
        rec_remark(
            "With probes %s takes %u registers (without: %u), %u bytes of local memory (%u), "
            "%u of shared memory (%u); %d blocks of %d threads fit a multiprocessor (%d).",
            name, now->registers, was->registers, now->local_bytes, was->local_bytes,
            now->static_shared, was->static_shared, now->blocks, PROBE_TYPICAL_BLOCK, was->blocks);
}

static probe_own *find_own_module(const probe_kernel *k, CUcontext context)
{
    probe_own *o = k->own;
    while (o && o->context != context)
        o = o->next;
    return o;
}

static void keep_own_module(probe_kernel *k, probe_own *o)
{
    compiled++;
    remark_on_resources(o, k->name);
    o->next = k->own;
    k->own = o;
}

/* For one thread; the others wait. */
static void make_once(probe_kernel *k, const drv_function *f, CUcontext context)
{
    CUstream stream = probe_own_stream(context);
    k->making = true;
    pthread_mutex_unlock(&rec_g.lock);
    probe_own *o = make_own_module(k, f, context, stream);
    pthread_mutex_lock(&rec_g.lock);
    k->making = false;
    if (o)
        keep_own_module(k, o);
    pthread_cond_broadcast(&made);
}

static uint64_t product_of_dims(const uint32_t dims[3])
{
    return (uint64_t)dims[0] * dims[1] * dims[2];
}

probe_own *probe_own_get(probe_kernel *k, const drv_function *f, const drv_shape *shape,
                         bool *later)
{
    CUcontext context = drv_current().handle;
    *later = false;
    while (k->making)
        pthread_cond_wait(&made, &rec_g.lock);
    probe_kernel_rewrite(k, (uint32_t)product_of_dims(shape->block));
    if (!k->kernel->probes)
        return NULL;
    if (!context || !drv_module_in(f->module, context)) {
        probe_own_unfit(k, "it is not known that their module is in the current context");
        return NULL;
    }
    if (!find_own_module(k, context))
        make_once(k, f, context);
    probe_own *o = find_own_module(k, context);
    *later = !o;
    return o && o->function ? o : NULL;
}

CUfunction probe_own_function(const probe_own *o)
{
    return o->function;
}

/* ---- as the program's ---- */

/* What the program set at its function since, and the driver tells. */
static bool follow_attributes(probe_own *o, CUfunction original)
{
    for (int i = 0; i < ATTRIBUTES; i++) {
        int value;
        if (DRIVER(CUDA_ERROR_NOT_SUPPORTED, cuFuncGetAttribute, (int *, int, CUfunction), &value,
                   attributes[i], original) != CUDA_SUCCESS ||
            value == o->values[i])
            continue;
        if (DRIVER(CUDA_ERROR_NOT_SUPPORTED, cuFuncSetAttribute, (CUfunction, int, int),
                   o->function, attributes[i], value) != CUDA_SUCCESS)
            return false;
        o->values[i] = value;
    }
    return true;
}

static void follow_cache_config(probe_own *o, const probe_kernel *k)
{
    if (o->cache_config == k->cache_config)
        return;
    o->cache_config = k->cache_config;
    DRIVER(CUDA_ERROR_NOT_SUPPORTED, cuFuncSetCacheConfig, (CUfunction, int), o->function,
           k->cache_config);
}

/* All blocks of a cooperative launch must be there at once. */
static bool has_room(const probe_own *o, const drv_shape *shape)
{
    CUdevice device = 0;
    int blocks = 0, multiprocessors = 0;
    if (!(shape->flags & CAP_NOTE_COOPERATIVE))
        return true;
    DRIVER(CUDA_ERROR_NOT_SUPPORTED, cuCtxGetDevice, (CUdevice *), &device);
    DRIVER(CUDA_ERROR_NOT_SUPPORTED, cuDeviceGetAttribute, (int *, int, CUdevice), &multiprocessors,
           CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT, device);
    DRIVER(CUDA_ERROR_NOT_SUPPORTED, cuOccupancyMaxActiveBlocksPerMultiprocessor,
           (int *, CUfunction, int, size_t), &blocks, o->function,
           (int)product_of_dims(shape->block), shape->shared);
    return product_of_dims(shape->grid) <= (uint64_t)blocks * (uint64_t)multiprocessors;
}

bool probe_own_fits(probe_own *o, probe_kernel *k, const drv_function *f, const drv_shape *shape)
{
    if (!follow_attributes(o, drv_function_handle(f)))
        probe_own_unfit(k, "with probes it cannot have the attributes that the program set");
    else if (!has_room(o, shape))
        probe_own_unfit(k, "with probes not all of its blocks can run at once");
    else {
        follow_cache_config(o, k);
        return true;
    }
    return false;
}

void probe_own_unfit(probe_kernel *k, const char *why)
{
    if (!k->unfit)
        rec_remark("Launches of %s ran without recording: %s.", k->name, why);
    k->unfit = true;
}

void probe_cache_config(void *function, int config)
{
    if (!probe_on() || !rec_g.writer)
        return;
    pthread_mutex_lock(&rec_g.lock);
    drv_function *f = drv_function_of(function);
    probe_kernel *k = f ? probe_kernel_of(f) : NULL;
    if (k)
        k->cache_config = config;
    pthread_mutex_unlock(&rec_g.lock);
}

/* ---- constants ---- */

void probe_constants_changed(void)
{
    __atomic_add_fetch(&constants_version, 1, __ATOMIC_RELEASE);
}

/* A kernel may write to a constant whose address it is given. */
void probe_constants_given(drv_param_bytes params)
{
    uint64_t word;
    if (!mirrors || !params.known)
        return;
    for (uint64_t at = 0; at + sizeof word <= params.length; at += sizeof word) {
        memcpy(&word, params.data + at, sizeof word);
        const drv_object *o = word ? drv_object_find(word) : NULL;
        if (o && o->kind == CAP_OBJECT_CONST)
            probe_constants_changed();
    }
}

static bool copy(const constant *c, CUstream stream)
{
    return DRIVER(CUDA_ERROR_NOT_SUPPORTED, cuMemcpyDtoDAsync_v2,
                  (CUdeviceptr, CUdeviceptr, size_t, CUstream), c->to, c->from, c->bytes,
                  stream) == CUDA_SUCCESS;
}

/* On another stream than last time nothing tells that the copies are there. */
bool probe_own_mirror(probe_own *o, uint64_t stream)
{
    uint64_t version = __atomic_load_n(&constants_version, __ATOMIC_ACQUIRE);
    if (!o->constants[0].bytes || (o->mirrored && o->version == version && o->stream == stream))
        return true;
    for (const constant *c = o->constants; c->bytes; c++)
        if (!copy(c, drv_stream_handle(stream)))
            return false;
    mirrors = true;
    o->mirrored = true;
    o->version = version;
    o->stream = stream;
    return true;
}

/* ---- ends ---- */

probe_own *probe_own_take(probe_module *m)
{
    probe_own *all = NULL;
    for (probe_kernel *k = m->kernels; k; k = k->next)
        for (probe_own *o = k->own, *next; o; o = next) {
            next = o->next;
            o->next = all;
            all = o;
            k->own = NULL;
        }
    return all;
}

static void unload_in_context(probe_own *o)
{
    CUcontext previous;
    if (o->module && DRIVER(CUDA_ERROR_NOT_SUPPORTED, cuCtxPushCurrent_v2, (CUcontext),
                            o->context) == CUDA_SUCCESS) {
        unload(o);
        DRIVER(CUDA_ERROR_NOT_SUPPORTED, cuCtxPopCurrent_v2, (CUcontext *), &previous);
    }
}

void probe_own_free(probe_own *list, bool in_driver)
{
    CUstreamCaptureMode mode = CU_STREAM_CAPTURE_MODE_GLOBAL;
    bool relaxed = in_driver && list && probe_relax(&mode);
    for (probe_own *o = list, *next; o; o = next) {
        next = o->next;
        if (in_driver)
            unload_in_context(o);
        free(o->constants);
        free(o);
    }
    probe_restore(relaxed, mode);
}

void probe_own_gone(probe_module *m, CUcontext context)
{
    for (probe_kernel *k = m->kernels; k; k = k->next)
        for (probe_own **at = &k->own; *at;) {
            probe_own *o = *at;
            if (o->context != context) {
                at = &o->next;
                continue;
            }
            *at = o->next;
            o->next = NULL;
            probe_own_free(o, false);
        }
}

void probe_own_finish(void)
{
    enum { WORTH_TELLING = 100000000 }; /* ns */
    if (compiling_ns >= WORTH_TELLING)
        rec_remark("The driver took %.1f s to compile %u kernels with probes.",
                   (double)compiling_ns / 1e9, compiled);
}
