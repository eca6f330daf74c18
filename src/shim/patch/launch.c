/* Launches of patched kernels, one at a time.
 *
 * What is patched is the program's module, not a copy of it: a copy would have variables of its own. So
 * the module is patched when nothing runs in the context, since the API waits for whatever does, and made
 * as it was when the launch is over and nothing else runs.
 * Launches of its other kernels meanwhile run patched code that is told to count nothing; one of the
 * same kernel waits until the driver has taken ours, which alone is told where to count. */
#include "program/kernel_name.h"
#include "program/options.h"
#include "record/ranges.h"
#include "record/record.h"
#include "shim/patch/impl.h"
#include "shim/patch/read_table.h"
#include "shim/probe/probe.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum {
    PATIENCE_NS = 2000000000, /* that a launch is waited for, */
    LAST_NS = 50000000,       /* and at the end, */
    PAUSE_NS = 20000,         /* between looks */
    MOST_FAILURES = 3         /* then nothing is patched any more */
};

typedef struct patch_kernel {
    const drv_module *module;
    char *name;
    uint64_t launches;
    bool known, unproven; /* known: it was found out whether it is */
    patch_plan plan;      /* where it is */
    struct patch_kernel *next;
} patch_kernel;

typedef struct patch_count {
    patch_kernel *kernel; /* NULL: it went */
    char *name;
    CUcontext context;
    CUmodule module;
    CUfunction function;
    CUdeviceptr table;
    uint64_t bytes;
    CUevent done;
    bool armed;   /* the function counts into the table */
    bool aimed;   /* it may go on doing so: the table must stay */
    bool patched; /* the module is */
    bool pending; /* it was launched; it, or others, were not over when that was waited for */
    bool over, read, written;
    bool stuck; /* its patches could not be taken out */
    uint32_t note;
    cap_patched counted;
    char why[256];
} patch_count;

typedef struct patch_context { /* that has our functions */
    CUcontext context;
    struct patch_context *next;
} patch_context;

static patch_kernel *kernels;
static patch_context *contexts;
static patch_count *current;
static pthread_cond_t disarmed = PTHREAD_COND_INITIALIZER;
static uint32_t failures, lost, busy_launches;
static bool without_api; /* the user was told; read without the lock */

bool patch_wanted(void)
{
    const prog_options *o = prog_options_get();
    return *o->capture_dir && strcmp(o->collect, "replay") != 0 && strcmp(o->sanitizer, "off") != 0;
}

void patch_start(void)
{
    const char *why;
    if (patch_wanted() && patch_api_get(&why))
        drv_keep_cubins();
}

/* ---- kernels ---- */

static patch_kernel *find_patch_kernel(const drv_module *module, const char *name)
{
    for (patch_kernel *k = kernels; k; k = k->next)
        if (k->module == module && strcmp(k->name, name) == 0)
            return k;
    return NULL;
}

static patch_kernel *add_patch_kernel(const drv_module *module, const char *name)
{
    patch_kernel *k = calloc(1, sizeof *k);
    if (!k || !(k->name = strdup(name))) {
        free(k);
        return NULL;
    }
    k->module = module;
    k->next = kernels;
    return kernels = k;
}

/* NULL: it has no machine code that we know, or is not asked for. */
static patch_kernel *patch_kernel_of(drv_function *f)
{
    if (f->looked_for_patch)
        return f->patch;
    f->looked_for_patch = true;
    if (!f->module || !drv_module_has_cubin(f->module) || !prog_kernel_asked(f->name))
        return NULL;
    f->patch = find_patch_kernel(f->module, f->name);
    if (!f->patch)
        f->patch = add_patch_kernel(f->module, f->name);
    return f->patch;
}

static void find_out_whether_unproven(patch_kernel *k, const drv_module *module)
{
    size_t bytes;
    const void *cubin = drv_module_cubin(module, &bytes);
    if (!k->known)
        k->unproven = cubin && patch_is_unproven(cubin, bytes, k->name) &&
                      patch_plan_make(cubin, bytes, k->name, &k->plan);
    k->known = true;
}

/* Counts the launch, but for those that are captured. */
static bool is_to_be_patched(patch_kernel *k, const patch_candidate *l)
{
    const uint32_t *grid = l->shape->grid;
    if (!prog_in_sample(k->launches, prog_options_get()->probe_launches)) {
        k->launches++;
        return false;
    }
    return rec_g.writer && grid[0] && grid[1] && grid[2] && !drv_in_capture(l->stream) &&
           !drv_capturing() && !rec_left_out(k->name, rec_ranges_asked());
}

/* ---- patching; without the lock ---- */

static bool fails(patch_count *c, const char *what, int result)
{
    if (result)
        snprintf(c->why, sizeof c->why, "%s (error %d)", what, result);
    else
        snprintf(c->why, sizeof c->why, "%s", what);
    return false;
}

static CUresult wait_for_launch(CUevent event, int64_t most)
{
    int64_t end = rec_now() + most;
    CUresult result;
    while ((result = DRIVER(CUDA_ERROR_NOT_SUPPORTED, cuEventQuery, (CUevent), event)) ==
               CUDA_ERROR_NOT_READY &&
           rec_now() < end)
        nanosleep(&(struct timespec){0, PAUSE_NS}, NULL);
    return result;
}

static bool has_our_functions(CUcontext context)
{
    pthread_mutex_lock(&rec_g.lock);
    const patch_context *c = contexts;
    while (c && c->context != context)
        c = c->next;
    pthread_mutex_unlock(&rec_g.lock);
    return c != NULL;
}

static void keep_context(CUcontext context)
{
    patch_context *c = calloc(1, sizeof *c);
    if (!c)
        return;
    c->context = context;
    pthread_mutex_lock(&rec_g.lock);
    c->next = contexts;
    contexts = c;
    pthread_mutex_unlock(&rec_g.lock);
}

/* NULL: there is none for the device. */
static const void *find_counter(unsigned sm)
{
    const void *found = NULL;
    for (const patch_counter *c = patch_counters; c->sm; c++)
        if (c->sm / 10 == sm / 10 && c->sm <= sm)
            found = c->cubin;
    return found;
}

static bool bring_functions(patch_count *c, const patch_api *a)
{
    const void *counter = find_counter(drv_sm());
    if (has_our_functions(c->context))
        return true;
    if (!counter)
        return fails(c, "this build of warplens has no code that counts on such a device", 0);
    int result = a->add_patches(counter, c->context);
    if (result != PATCH_API_SUCCESS)
        return fails(c, "the Compute Sanitizer does not take the code that counts", result);
    keep_context(c->context);
    return true;
}

static bool patch_code(patch_count *c, const patch_api *a)
{
    static const struct {
        uint32_t kind;
        const char *function;
    } kinds[] = {{PATCH_API_GLOBAL, "wl_global"},
                 {PATCH_API_SHARED, "wl_shared"},
                 {PATCH_API_LOCAL, "wl_local"},
                 {PATCH_API_COPIED, "wl_copied"}};
    int result = PATCH_API_SUCCESS;
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds && result == PATCH_API_SUCCESS; i++)
        result = a->patch_instructions(kinds[i].kind, c->module, kinds[i].function);
    if (result != PATCH_API_SUCCESS)
        return fails(c, "the Compute Sanitizer does not let its instructions be patched", result);
    result = a->patch_module(c->module);
    c->patched = result == PATCH_API_SUCCESS;
    return c->patched || fails(c, "the Compute Sanitizer cannot patch its module", result);
}

static bool fill_count_table(patch_count *c, const void *begin, uint64_t bytes)
{
    CUstream stream = probe_own_stream(c->context);
    return stream &&
           DRIVER(CUDA_ERROR_NOT_SUPPORTED, cuMemAlloc_v2, (CUdeviceptr *, size_t), &c->table,
                  c->bytes) == CUDA_SUCCESS &&
           DRIVER(CUDA_ERROR_NOT_SUPPORTED, cuMemsetD8Async,
                  (CUdeviceptr, unsigned char, size_t, CUstream), c->table, 0, c->bytes,
                  stream) == CUDA_SUCCESS &&
           DRIVER(CUDA_ERROR_NOT_SUPPORTED, cuMemcpyHtoDAsync_v2,
                  (CUdeviceptr, const void *, size_t, CUstream), c->table, begin, bytes,
                  stream) == CUDA_SUCCESS &&
           DRIVER(CUDA_ERROR_NOT_SUPPORTED, cuEventCreate, (CUevent *, unsigned), &c->done,
                  CU_EVENT_DISABLE_TIMING) == CUDA_SUCCESS &&
           DRIVER(CUDA_ERROR_NOT_SUPPORTED, cuStreamSynchronize, (CUstream), stream) ==
               CUDA_SUCCESS;
}

static bool make_table(patch_count *c, const patch_api *a)
{
    const patch_plan *plan = &c->kernel->plan;
    uint64_t pc = 0, size = 0, bytes;
    int result = a->place(c->module, c->name, &pc, &size);
    if (result != PATCH_API_SUCCESS || !size || size > (uint64_t)plan->insns * PATCH_INSN_BYTES)
        return fails(c, "the Compute Sanitizer does not say where its code lies", result);
    void *begin = patch_table_begin(plan, pc, &bytes);
    c->bytes = plan->bytes;
    bool made = begin && fill_count_table(c, begin, bytes);
    free(begin);
    return made ||
           fails(c, "the driver refused the memory, the copies or the event that counting takes",
                 0);
}

static bool prepare_count(patch_count *c, const patch_api *a)
{
    CUresult result = DRIVER(CUDA_ERROR_NOT_SUPPORTED, cuFuncGetModule, (CUmodule *, CUfunction),
                             &c->module, c->function);
    if (result != CUDA_SUCCESS)
        return fails(c, "the driver does not say which module it is of", (int)result);
    if (!bring_functions(c, a) || !patch_code(c, a) || !make_table(c, a))
        return false;
    int set = a->set_data(c->function, (const void *)(uintptr_t)c->table);
    c->armed = set == PATCH_API_SUCCESS;
    return c->armed || fails(c, "the Compute Sanitizer does not take the place to count in", set);
}

static void disarm(patch_count *c, const patch_api *a)
{
    c->aimed = c->armed && a->set_data(c->function, NULL) != PATCH_API_SUCCESS;
    pthread_mutex_lock(&rec_g.lock);
    c->armed = false;
    pthread_cond_broadcast(&disarmed);
    pthread_mutex_unlock(&rec_g.lock);
}

/* With the lock or without: nothing of it runs any more. */
static void undo_patches(patch_count *c, const patch_api *a)
{
    c->stuck = c->patched && a->unpatch_module(c->module) != PATCH_API_SUCCESS;
    c->patched = false;
    if (c->table && !c->aimed)
        DRIVER(CUDA_ERROR_NOT_SUPPORTED, cuMemFree_v2, (CUdeviceptr), c->table);
    if (c->done)
        DRIVER(CUDA_ERROR_NOT_SUPPORTED, cuEventDestroy_v2, (CUevent), c->done);
    c->table = 0;
    c->done = NULL;
}

static void read_count(patch_count *c)
{
    CUstream stream = probe_own_stream(c->context);
    char *data = malloc(c->bytes);
    c->read = data && stream &&
              DRIVER(CUDA_ERROR_NOT_SUPPORTED, cuMemcpyDtoHAsync_v2,
                     (void *, CUdeviceptr, size_t, CUstream), data, c->table, c->bytes,
                     stream) == CUDA_SUCCESS &&
              DRIVER(CUDA_ERROR_NOT_SUPPORTED, cuStreamSynchronize, (CUstream), stream) ==
                  CUDA_SUCCESS &&
              patch_table_read(data, c->bytes, &c->counted);
    free(data);
}

/* With the lock or without: reads what it counted once it is over. A launch that failed has no counts. */
static bool look_whether_over(patch_count *c, int64_t most)
{
    if (c->over)
        return true;
    CUresult result = wait_for_launch(c->done, most);
    c->over = result != CUDA_ERROR_NOT_READY;
    if (result == CUDA_SUCCESS)
        read_count(c);
    return c->over;
}

/* ---- with the lock ---- */

/* What cannot be made as it was is not done to another kernel. */
static void stop_where_stuck(const patch_count *c)
{
    if (!c->stuck && !c->aimed)
        return;
    failures = MOST_FAILURES;
    rec_message(
        WL_LOG_WARN,
        "The Compute Sanitizer does not take its code out of the module of %s: launches of its "
        "kernels may be slow from here on, and no more kernels are patched.",
        c->name);
}

static void free_count(patch_count *c)
{
    stop_where_stuck(c);
    if (current == c)
        current = NULL;
    free(c->counted.insns);
    free(c->name);
    free(c);
}

static void write_count(patch_count *c)
{
    c->counted.note = c->note;
    if (c->read && c->note)
        REC_WRITE(patched, &c->counted);
    lost += !c->read;
    c->written = true;
}

/* What is pending is read if it is over; false where it is not. */
static bool take_pending(int64_t most)
{
    const char *why;
    const patch_api *a = patch_api_get(&why);
    patch_count *c = current;
    if (!c || !c->pending)
        return true;
    if (!a || drv_current().handle != c->context)
        return false;
    if (!look_whether_over(c, most))
        return false;
    if (!c->written)
        write_count(c);
    if (!probe_context_idle(c->context))
        return false;
    undo_patches(c, a);
    free_count(c);
    return true;
}

static void tell_missing_api(const char *why)
{
    if (*why)
        rec_message(WL_LOG_INFO,
                    "What kernels without PTX access where that depends on data is not known: %s.",
                    why);
    __atomic_store_n(&without_api, true, __ATOMIC_RELAXED);
}

static void tell_failure(const patch_count *c)
{
    rec_remark("%s was not patched: %s.", c->name, c->why);
    if (++failures == MOST_FAILURES)
        rec_message(WL_LOG_INFO,
                    "No more kernels without PTX are patched, since that has failed %u times: %s.",
                    failures, c->why);
}

static patch_count *new_count(patch_kernel *k, const drv_function *f)
{
    patch_count *c = calloc(1, sizeof *c);
    if (!c || !(c->name = strdup(k->name))) {
        free(c);
        return NULL;
    }
    c->kernel = k;
    c->context = drv_current().handle;
    c->function = drv_function_handle(f);
    return current = c;
}

/* Takes the lock away for as long as it takes to patch. NULL: it could not be done. */
static patch_count *start_count(patch_kernel *k, const drv_function *f, const patch_api *a)
{
    patch_count *c = new_count(k, f);
    CUstreamCaptureMode mode;
    if (!c)
        return NULL;
    pthread_mutex_unlock(&rec_g.lock);
    bool relaxed = probe_relax(&mode), idle = c->context && probe_wait_idle(c->context);
    bool ready = idle && prepare_count(c, a);
    if (!ready) {
        disarm(c, a);
        undo_patches(c, a);
    }
    probe_restore(relaxed, mode);
    pthread_mutex_lock(&rec_g.lock);
    if (ready)
        return c;
    busy_launches += !idle;
    if (idle)
        tell_failure(c);
    free_count(c);
    return NULL;
}

static patch_count *choose_count(const patch_candidate *l)
{
    const char *why;
    drv_function *f = l->function ? drv_function_of(l->function) : NULL;
    patch_kernel *k = f ? patch_kernel_of(f) : NULL;
    while (k && current && current->armed && current->kernel == k)
        pthread_cond_wait(&disarmed, &rec_g.lock);
    const patch_api *a = k ? patch_api_get(&why) : NULL;
    if (k && !a)
        tell_missing_api(why);
    if (!a || failures >= MOST_FAILURES || !is_to_be_patched(k, l))
        return NULL;
    find_out_whether_unproven(k, f->module);
    if (!k->unproven)
        return NULL;
    if (current && !take_pending(0))
        return NULL;
    patch_count *c = current ? NULL : start_count(k, f, a);
    k->launches += c != NULL;
    return c;
}

void patch_launch_begin(patch_launch *p, const patch_candidate *l)
{
    p->count = NULL;
    if (!patch_wanted() || rec_g.forked || __atomic_load_n(&without_api, __ATOMIC_RELAXED))
        return;
    pthread_mutex_lock(&rec_g.lock);
    p->count = choose_count(l);
    pthread_mutex_unlock(&rec_g.lock);
}

bool patch_launch_refused(patch_launch *p, CUresult result)
{
    const char *why;
    const patch_api *a = patch_api_get(&why);
    patch_count *c = p->count;
    if (!c || result == CUDA_SUCCESS || !a)
        return false;
    disarm(c, a);
    undo_patches(c, a);
    pthread_mutex_lock(&rec_g.lock);
    fails(c, "the driver refused it with patches", (int)result);
    tell_failure(c);
    free_count(c);
    pthread_mutex_unlock(&rec_g.lock);
    p->count = NULL;
    return true;
}

void patch_launch_end(patch_launch *p, uint64_t stream)
{
    const char *why;
    const patch_api *a = patch_api_get(&why);
    CUstreamCaptureMode mode;
    patch_count *c = p->count;
    if (!c || !a)
        return;
    disarm(c, a);
    bool relaxed = probe_relax(&mode);
    c->over = DRIVER(CUDA_ERROR_NOT_SUPPORTED, cuEventRecord, (CUevent, CUstream), c->done,
                     drv_stream_handle(stream)) != CUDA_SUCCESS;
    c->pending = !look_whether_over(c, PATIENCE_NS) || !probe_wait_idle(c->context);
    if (!c->pending)
        undo_patches(c, a);
    probe_restore(relaxed, mode);
}

void patch_launch_keep(patch_launch *p, uint32_t note)
{
    patch_count *c = p->count;
    if (!c)
        return;
    p->count = NULL;
    c->note = note;
    if (c->over)
        write_count(c);
    if (!c->pending)
        free_count(c);
}

/* ---- ends ---- */

/* It will not be read any more. */
static void drop_current(void)
{
    lost += !current->written;
    free_count(current);
}

void patch_module_gone(const drv_module *module)
{
    if (current && current->pending && current->kernel && current->kernel->module == module &&
        !take_pending(LAST_NS))
        drop_current();
    for (patch_kernel **at = &kernels; *at;) {
        patch_kernel *k = *at;
        if (k->module != module) {
            at = &k->next;
            continue;
        }
        *at = k->next;
        if (current && current->kernel == k)
            current->kernel = NULL;
        patch_plan_clear(&k->plan);
        free(k->name);
        free(k);
    }
}

void patch_context_gone(CUcontext context)
{
    if (current && current->pending && current->context == context)
        drop_current();
    for (patch_context **at = &contexts; *at;) {
        patch_context *c = *at;
        if (c->context != context) {
            at = &c->next;
            continue;
        }
        *at = c->next;
        free(c);
    }
}

static void take_last(void)
{
    CUcontext previous;
    bool pushed = DRIVER(CUDA_ERROR_NOT_SUPPORTED, cuCtxPushCurrent_v2, (CUcontext),
                         current->context) == CUDA_SUCCESS;
    if (!pushed || !take_pending(LAST_NS))
        drop_current();
    if (pushed)
        DRIVER(CUDA_ERROR_NOT_SUPPORTED, cuCtxPopCurrent_v2, (CUcontext *), &previous);
}

void patch_finish(void)
{
    if (current && current->pending)
        take_last();
    if (lost)
        rec_message(WL_LOG_INFO,
                    "What patches counted in %u launches is lost: they had not ended, or "
                    "it could not be read from the device.",
                    lost);
    if (busy_launches)
        rec_message(
            WL_LOG_INFO,
            "%u launches ran without patches: the device was busy, so that they could not be "
            "put in.",
            busy_launches);
}
