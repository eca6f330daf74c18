/* Launches: noted as they ran. */
#include "cuda/args.h"
#include "record/ranges.h"
#include "shim/hooks/hook.h"

#include <stdlib.h>
#include <string.h>

enum { MAX_PARAMS = 32 << 10 };

typedef struct launch {
    hook_call call;
    hook_time time;
    void *function;
    drv_shape shape;
    void **params, **extra; /* of the application */
    probe_launch probe;     /* with what we add */
    patch_launch patch;     /* of a kernel without PTX */
} launch;

/* ---- arguments ---- */

drv_param_bytes hook_pack_params(const drv_function *f, void **params, void **extra)
{
    static char packed[MAX_PARAMS];
    const void *buffer;
    size_t length;
    if (!params && extra) {
        bool known = cuda_read_extra(extra, &buffer, &length) && buffer && length <= MAX_PARAMS;
        return known ? (drv_param_bytes){buffer, length, true} : (drv_param_bytes){"", 0, false};
    }
    if (!f->params_known || f->param_bytes > MAX_PARAMS)
        return (drv_param_bytes){"", 0, false};
    memset(packed, 0, f->param_bytes);
    for (size_t i = 0; params && i < f->params.count; i++)
        memcpy(packed + f->params.data[i].offset, params[i], f->params.data[i].bytes);
    return (drv_param_bytes){packed, f->param_bytes, true};
}

/* ---- records ---- */

static void set_cluster(const drv_shape *shape, const drv_function *f, cap_note *note)
{
    for (int i = 0; i < 3; i++) {
        note->cluster[i] = shape->cluster[i] ? shape->cluster[i] : f->cluster[i];
        note->cluster[i] += note->cluster[i] == 0;
    }
}

uint32_t hook_note(hook_call *call, const drv_function *f, const drv_shape *shape,
                   drv_param_bytes params)
{
    drv_context context = drv_current();
    hook_place(call, context);
    uint32_t module = f->module ? drv_module_use(f->module) : 0;
    hook_write_call(call, CUDA_SUCCESS);
    const char *reason = rec_choose(f->name, rec_ranges_asked());
    if (reason) {
        rec_skipped(call->rec.id, f->name, "%s", reason);
        return 0;
    }
    cap_note note = {.id = ++rec_g.next_launch,
                     .call = call->rec.id,
                     .module = module,
                     .kernel = f->name,
                     .dynamic_shared = shape->shared,
                     .static_shared = f->static_shared,
                     .local_bytes = f->local_bytes,
                     .registers = f->registers,
                     .flags = shape->flags | (params.known ? 0 : CAP_NOTE_NO_PARAMS),
                     .device = context.device,
                     .context = context.id,
                     .stream = call->rec.record.stream,
                     .ordinal = rec_ordinal(),
                     .params = params.data,
                     .nparams = params.length};
    memcpy(note.grid, shape->grid, sizeof note.grid);
    memcpy(note.block, shape->block, sizeof note.block);
    set_cluster(shape, f, &note);
    REC_WRITE(note, &note);
    probe_constants_given(params);
    return note.id;
}

/* ---- around the driver's function ---- */

/* What the application asks for. The launch is not cleared: it is large, most of it is set where it
 * is needed, and this is the application's time. */
static void ask_launch(launch *l, void *function, const drv_shape *shape, void **params,
                       void **extra)
{
    l->function = function;
    l->shape = *shape;
    l->params = params;
    l->extra = extra;
}

static bool records(const launch *l)
{
    return probe_launch_records(&l->probe) || patch_launch_records(&l->patch);
}

/* `timed`: nothing speaks against work of ours before and after the launch. */
static void begin_launch(launch *l, const char *api, CUstream stream, bool per_thread, bool timed)
{
    hook_begin_launch(&l->call, api);
    l->call.stream = drv_stream(stream, per_thread);
    l->time = (hook_time){0};
    probe_launch_begin(&l->probe,
                       &(probe_candidate){.function = l->function,
                                          .shape = &l->shape,
                                          .stream = l->call.stream,
                                          .record = l->call.rec.active && timed},
                       l->params, l->extra);
    l->patch = (patch_launch){0};
    if (l->call.rec.active && timed && !probe_launch_records(&l->probe))
        patch_launch_begin(&l->patch, &(patch_candidate){l->function, &l->shape, l->call.stream});
    if (records(l))
        l->shape.flags |= CAP_NOTE_PROBED;
    if (l->call.rec.active && timed)
        hook_time_begin(&l->time, l->function, &l->shape, l->call.stream, records(l));
}

static CUresult after(launch *l, CUresult result)
{
    probe_launch_free(&l->probe);
    if (!records(l))
        l->shape.flags &= ~(uint32_t)CAP_NOTE_PROBED;
    if (!l->call.rec.active)
        return hook_end(&l->call, result);
    hook_time_end(&l->time, result);
    patch_launch_end(&l->patch, l->call.stream);
    hook_stack(&l->call);
    bool captured = result == CUDA_SUCCESS && !l->time.taken && drv_in_capture(l->call.stream);
    pthread_mutex_lock(&rec_g.lock);
    drv_function *f = l->function ? drv_function_of(l->function) : NULL;
    uint32_t note = 0;
    if (captured)
        l->call.rec.record.flags |= CAP_CALL_CAPTURED;
    if (captured || !f || !rec_g.writer) { /* into a graph: it runs when that is launched */
        hook_write_call(&l->call, result);
    } else if (result != CUDA_SUCCESS) {
        hook_write_call(&l->call, result);
        rec_skipped(l->call.rec.id, f->name, "its launch failed (error %d)", (int)result);
    } else {
        note = hook_note(&l->call, f, &l->shape, hook_pack_params(f, l->params, l->extra));
    }
    hook_time_keep(&l->time, note);
    probe_launch_keep(&l->probe, note, result);
    patch_launch_keep(&l->patch, note);
    pthread_mutex_unlock(&rec_g.lock);
    return hook_end(&l->call, result);
}

/* ---- hooks ---- */

/* Makes the launch l with `call`, which goes by l.probe; if what we put in the place of the
 * program's is refused, with `plain`. */
#define LAUNCH(l, call, plain)                           \
    ({                                                   \
        CUresult result_ = (call);                       \
        if (probe_launch_refused(&(l).probe, result_) || \
            patch_launch_refused(&(l).patch, result_))   \
            result_ = (plain);                           \
        after(&(l), result_);                            \
    })

#define PLAIN(symbol, per_thread, of_flags)                                                        \
    HOOK(symbol,                                                                                   \
         (CUfunction f, unsigned int gx, unsigned int gy, unsigned int gz, unsigned int bx,        \
          unsigned int by, unsigned int bz, unsigned int shared, CUstream stream, void **params,   \
          void **extra),                                                                           \
         (f, gx, gy, gz, bx, by, bz, shared, stream, params, extra))                               \
    {                                                                                              \
        launch l;                                                                                  \
        ask_launch(&l, f, &(drv_shape){{gx, gy, gz}, {bx, by, bz}, {0}, shared, of_flags}, params, \
                   extra);                                                                         \
        begin_launch(&l, #symbol, stream, per_thread, true);                                       \
        return LAUNCH(l,                                                                           \
                      real_##symbol((CUfunction)l.probe.function, gx, gy, gz, bx, by, bz, shared,  \
                                    stream, l.probe.params, l.probe.extra),                        \
                      real_##symbol(f, gx, gy, gz, bx, by, bz, shared, stream, params, extra));    \
    }

PLAIN(cuLaunchKernel, false, 0)
PLAIN(cuLaunchKernel_ptsz, true, 0)

#define COOPERATIVE(symbol, per_thread)                                                           \
    HOOK(symbol,                                                                                  \
         (CUfunction f, unsigned int gx, unsigned int gy, unsigned int gz, unsigned int bx,       \
          unsigned int by, unsigned int bz, unsigned int shared, CUstream stream, void **params), \
         (f, gx, gy, gz, bx, by, bz, shared, stream, params))                                     \
    {                                                                                             \
        launch l;                                                                                 \
        ask_launch(&l, f,                                                                         \
                   &(drv_shape){{gx, gy, gz}, {bx, by, bz}, {0}, shared, CAP_NOTE_COOPERATIVE},   \
                   params, NULL);                                                                 \
        begin_launch(&l, #symbol, stream, per_thread, true);                                      \
        return LAUNCH(l,                                                                          \
                      real_##symbol((CUfunction)l.probe.function, gx, gy, gz, bx, by, bz, shared, \
                                    stream, l.probe.params),                                      \
                      real_##symbol(f, gx, gy, gz, bx, by, bz, shared, stream, params));          \
    }

COOPERATIVE(cuLaunchCooperativeKernel, false)
COOPERATIVE(cuLaunchCooperativeKernel_ptsz, true)

/* An event between two kernels that may overlap by programmatic launch would keep them apart: such
 * a launch has no time. */
static bool read_launch_attributes(const CUlaunchConfig *c, drv_shape *s)
{
    bool timed = true;
    for (unsigned i = 0; c->attrs && i < c->numAttrs; i++) {
        const CUlaunchAttribute *a = &c->attrs[i];
        if (a->id == CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION) {
            s->cluster[0] = a->value.clusterDim.x;
            s->cluster[1] = a->value.clusterDim.y;
            s->cluster[2] = a->value.clusterDim.z;
        } else if (a->id == CU_LAUNCH_ATTRIBUTE_COOPERATIVE && a->value.cooperative) {
            s->flags |= CAP_NOTE_COOPERATIVE;
        } else if (a->id == CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION ||
                   a->id == CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_EVENT) {
            timed = false;
        }
    }
    return timed;
}

#define EXTENDED(symbol, per_thread)                                                   \
    HOOK(symbol, (const CUlaunchConfig *c, CUfunction f, void **params, void **extra), \
         (c, f, params, extra))                                                        \
    {                                                                                  \
        if (!c)                                                                        \
            return real_##symbol(c, f, params, extra);                                 \
        launch l;                                                                      \
        ask_launch(&l, f,                                                              \
                   &(drv_shape){{c->gridDimX, c->gridDimY, c->gridDimZ},               \
                                {c->blockDimX, c->blockDimY, c->blockDimZ},            \
                                {0},                                                   \
                                c->sharedMemBytes,                                     \
                                0},                                                    \
                   params, extra);                                                     \
        bool timed = read_launch_attributes(c, &l.shape);                              \
        begin_launch(&l, #symbol, c->hStream, per_thread, timed);                      \
        return LAUNCH(l,                                                               \
                      real_##symbol(c, (CUfunction)l.probe.function, l.probe.params,   \
                                    l.probe.extra),                                    \
                      real_##symbol(c, f, params, extra));                             \
    }

EXTENDED(cuLaunchKernelEx, false)
EXTENDED(cuLaunchKernelEx_ptsz, true)

/* ---- one kernel on several devices (until CUDA 12) ---- */

static void note_one(hook_call *call, const CUDA_LAUNCH_PARAMS *p)
{
    CUcontext own = NULL, previous;
    drv_shape shape = {{p->gridDimX, p->gridDimY, p->gridDimZ},
                       {p->blockDimX, p->blockDimY, p->blockDimZ},
                       {0},
                       p->sharedMemBytes,
                       CAP_NOTE_COOPERATIVE};
    DRIVER(CUDA_ERROR_NOT_SUPPORTED, cuStreamGetCtx, (CUstream, CUcontext *), p->hStream, &own);
    bool pushed = own && DRIVER(CUDA_ERROR_NOT_SUPPORTED, cuCtxPushCurrent_v2, (CUcontext), own) ==
                             CUDA_SUCCESS;
    drv_function *f = drv_function_of(p->function);
    call->stream = drv_stream(p->hStream, false);
    call->placed = false;
    rec_call_again(&call->rec); /* a record for each stream */
    if (f)
        hook_note(call, f, &shape, hook_pack_params(f, p->kernelParams, NULL));
    if (pushed)
        DRIVER(CUDA_ERROR_NOT_SUPPORTED, cuCtxPopCurrent_v2, (CUcontext *), &previous);
}

HOOK(cuLaunchCooperativeKernelMultiDevice,
     (CUDA_LAUNCH_PARAMS * list, unsigned int count, unsigned int flags), (list, count, flags))
{
    hook_call call;
    hook_begin_launch(&call, "cuLaunchCooperativeKernelMultiDevice");
    CUresult result = real_cuLaunchCooperativeKernelMultiDevice(list, count, flags);
    if (call.rec.active && list && result == CUDA_SUCCESS) {
        hook_stack(&call);
        pthread_mutex_lock(&rec_g.lock);
        for (unsigned i = 0; i < count; i++)
            note_one(&call, &list[i]);
        pthread_mutex_unlock(&rec_g.lock);
    }
    return hook_end(&call, result);
}
