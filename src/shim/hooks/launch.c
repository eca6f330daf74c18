/* Launches: noted as they ran. */
#include "cuda/args.h"
#include "shim/probe/probe.h"

#include <stdlib.h>
#include <string.h>

enum { MAX_PARAMS = 32 << 10 };

typedef struct launch {
    shim_call call;
    shim_time time;
    void *function;
    shim_shape shape;
    void **params, **extra; /* of the application */
    shim_probe probe;       /* with what we add */
} launch;

/* ---- arguments ---- */

shim_bytes shim_pack(const shim_function *f, void **params, void **extra)
{
    static char packed[MAX_PARAMS];
    const void *buffer;
    size_t length;
    if (!params && extra) {
        bool known = cuda_read_extra(extra, &buffer, &length) && buffer && length <= MAX_PARAMS;
        return known ? (shim_bytes){buffer, length, true} : (shim_bytes){"", 0, false};
    }
    if (!f->params_known || f->param_bytes > MAX_PARAMS)
        return (shim_bytes){"", 0, false};
    memset(packed, 0, f->param_bytes);
    for (size_t i = 0; params && i < f->params.count; i++)
        memcpy(packed + f->params.data[i].offset, params[i], f->params.data[i].bytes);
    return (shim_bytes){packed, f->param_bytes, true};
}

/* ---- records ---- */

static void set_cluster(const shim_shape *shape, const shim_function *f, cap_note *note)
{
    for (int i = 0; i < 3; i++) {
        note->cluster[i] = shape->cluster[i] ? shape->cluster[i] : f->cluster[i];
        note->cluster[i] += note->cluster[i] == 0;
    }
}

uint32_t shim_note(shim_call *call, const shim_function *f, const shim_shape *shape,
                   shim_bytes params)
{
    shim_context context = shim_current();
    shim_place(call, context);
    uint32_t module = f->module ? shim_module_use(f->module) : 0;
    shim_write_call(call, CUDA_SUCCESS);
    const char *reason = rec_choose(f->name);
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
    shim_constants_given(params);
    return note.id;
}

bool shim_in_capture(uint64_t stream)
{
    CUstreamCaptureStatus status = CU_STREAM_CAPTURE_STATUS_NONE;
    enum { PER_THREAD = 2 };
    CUstream handle = (CUstream)(uintptr_t)(stream >> 48 ? PER_THREAD : stream);
    CUresult result = DRIVER(CUDA_SUCCESS, cuStreamIsCapturing, (CUstream, CUstreamCaptureStatus *),
                             handle, &status);
    /* Another failure is one of earlier work on the device. */
    return result == CUDA_ERROR_STREAM_CAPTURE_IMPLICIT || status != CU_STREAM_CAPTURE_STATUS_NONE;
}

/* ---- around the driver's function ---- */

/* `timed`: nothing speaks against work of ours before and behind the launch. */
static void begin_launch(launch *l, const char *api, CUstream stream, bool per_thread, bool timed)
{
    shim_begin_launch(&l->call, api);
    l->call.stream = shim_stream(stream, per_thread);
    l->time = (shim_time){0};
    shim_probe_begin(&l->probe,
                     &(shim_probe_launch){.function = l->function,
                                          .shape = &l->shape,
                                          .stream = l->call.stream,
                                          .record = l->call.rec.active && timed},
                     l->params, l->extra);
    if (shim_probe_records(&l->probe))
        l->shape.flags |= CAP_NOTE_PROBED;
    if (l->call.rec.active && timed)
        shim_time_begin(&l->time, l->function, &l->shape, l->call.stream,
                        shim_probe_records(&l->probe));
}

static CUresult after(launch *l, CUresult result)
{
    shim_probe_free(&l->probe);
    if (!shim_probe_records(&l->probe))
        l->shape.flags &= ~(uint32_t)CAP_NOTE_PROBED;
    if (!l->call.rec.active)
        return shim_end(&l->call, result);
    shim_time_end(&l->time, result);
    shim_stack(&l->call);
    bool captured = result == CUDA_SUCCESS && !l->time.taken && shim_in_capture(l->call.stream);
    pthread_mutex_lock(&rec_g.lock);
    shim_function *f = l->function ? shim_function_of(l->function) : NULL;
    uint32_t note = 0;
    if (captured)
        l->call.rec.record.flags |= CAP_CALL_CAPTURED;
    if (captured || !f || !rec_g.writer) { /* into a graph: it runs when that is launched */
        shim_write_call(&l->call, result);
    } else if (result != CUDA_SUCCESS) {
        shim_write_call(&l->call, result);
        rec_skipped(l->call.rec.id, f->name, "its launch failed (error %d)", (int)result);
    } else {
        note = shim_note(&l->call, f, &l->shape, shim_pack(f, l->params, l->extra));
    }
    shim_time_keep(&l->time, note);
    shim_probe_keep(&l->probe, note, result);
    pthread_mutex_unlock(&rec_g.lock);
    return shim_end(&l->call, result);
}

/* ---- hooks ---- */

/* Makes the launch l with `call`, which goes by l.probe; if what we put in the place of the program's is refused, with `plain`. */
#define LAUNCH(l, call, plain)                       \
    ({                                               \
        CUresult result_ = (call);                   \
        if (shim_probe_refused(&(l).probe, result_)) \
            result_ = (plain);                       \
        after(&(l), result_);                        \
    })

#define PLAIN(symbol, per_thread, of_flags)                                                       \
    HOOK(symbol,                                                                                  \
         (CUfunction f, unsigned int gx, unsigned int gy, unsigned int gz, unsigned int bx,       \
          unsigned int by, unsigned int bz, unsigned int shared, CUstream stream, void **params,  \
          void **extra),                                                                          \
         (f, gx, gy, gz, bx, by, bz, shared, stream, params, extra))                              \
    {                                                                                             \
        launch l = {.function = f,                                                                \
                    .shape = {{gx, gy, gz}, {bx, by, bz}, {0}, shared, of_flags},                 \
                    .params = params,                                                             \
                    .extra = extra};                                                              \
        begin_launch(&l, #symbol, stream, per_thread, true);                                      \
        return LAUNCH(l,                                                                          \
                      real_##symbol((CUfunction)l.probe.function, gx, gy, gz, bx, by, bz, shared, \
                                    stream, l.probe.params, l.probe.extra),                       \
                      real_##symbol(f, gx, gy, gz, bx, by, bz, shared, stream, params, extra));   \
    }

PLAIN(cuLaunchKernel, false, 0)
PLAIN(cuLaunchKernel_ptsz, true, 0)

#define COOPERATIVE(symbol, per_thread)                                                           \
    HOOK(symbol,                                                                                  \
         (CUfunction f, unsigned int gx, unsigned int gy, unsigned int gz, unsigned int bx,       \
          unsigned int by, unsigned int bz, unsigned int shared, CUstream stream, void **params), \
         (f, gx, gy, gz, bx, by, bz, shared, stream, params))                                     \
    {                                                                                             \
        launch l = {.function = f,                                                                \
                    .shape = {{gx, gy, gz}, {bx, by, bz}, {0}, shared, CAP_NOTE_COOPERATIVE},     \
                    .params = params};                                                            \
        begin_launch(&l, #symbol, stream, per_thread, true);                                      \
        return LAUNCH(l,                                                                          \
                      real_##symbol((CUfunction)l.probe.function, gx, gy, gz, bx, by, bz, shared, \
                                    stream, l.probe.params),                                      \
                      real_##symbol(f, gx, gy, gz, bx, by, bz, shared, stream, params));          \
    }

COOPERATIVE(cuLaunchCooperativeKernel, false)
COOPERATIVE(cuLaunchCooperativeKernel_ptsz, true)

/* An event between two kernels that may overlap by programmatic launch would keep them apart: such a launch has no time. */
static bool read_launch_attributes(const CUlaunchConfig *c, shim_shape *s)
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
        launch l = {.function = f,                                                     \
                    .shape = {{c->gridDimX, c->gridDimY, c->gridDimZ},                 \
                              {c->blockDimX, c->blockDimY, c->blockDimZ},              \
                              {0},                                                     \
                              c->sharedMemBytes,                                       \
                              0},                                                      \
                    .params = params,                                                  \
                    .extra = extra};                                                   \
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

static void note_one(shim_call *call, const CUDA_LAUNCH_PARAMS *p)
{
    CUcontext own = NULL, previous;
    shim_shape shape = {{p->gridDimX, p->gridDimY, p->gridDimZ},
                        {p->blockDimX, p->blockDimY, p->blockDimZ},
                        {0},
                        p->sharedMemBytes,
                        CAP_NOTE_COOPERATIVE};
    DRIVER(CUDA_ERROR_NOT_SUPPORTED, cuStreamGetCtx, (CUstream, CUcontext *), p->hStream, &own);
    bool pushed = own && DRIVER(CUDA_ERROR_NOT_SUPPORTED, cuCtxPushCurrent_v2, (CUcontext), own) ==
                             CUDA_SUCCESS;
    shim_function *f = shim_function_of(p->function);
    call->stream = shim_stream(p->hStream, false);
    call->placed = false;
    rec_call_again(&call->rec); /* a record for each stream */
    if (f)
        shim_note(call, f, &shape, shim_pack(f, p->kernelParams, NULL));
    if (pushed)
        DRIVER(CUDA_ERROR_NOT_SUPPORTED, cuCtxPopCurrent_v2, (CUcontext *), &previous);
}

HOOK(cuLaunchCooperativeKernelMultiDevice,
     (CUDA_LAUNCH_PARAMS * list, unsigned int count, unsigned int flags), (list, count, flags))
{
    shim_call call;
    shim_begin_launch(&call, "cuLaunchCooperativeKernelMultiDevice");
    CUresult result = real_cuLaunchCooperativeKernelMultiDevice(list, count, flags);
    if (call.rec.active && list && result == CUDA_SUCCESS) {
        shim_stack(&call);
        pthread_mutex_lock(&rec_g.lock);
        for (unsigned i = 0; i < count; i++)
            note_one(&call, &list[i]);
        pthread_mutex_unlock(&rec_g.lock);
    }
    return shim_end(&call, result);
}
