/* Kernels that record: a launch whose accesses cannot be proven runs, in a module of our own, the
 * kernel with probes in it; what that recorded is read when the application's own waits say that
 * the launch is over. The hooks tell of launches, waits and ends.
 *
 * With rec_g.lock held unless said otherwise. */
#ifndef WL_SHIM_PROBE_PROBE_H
#define WL_SHIM_PROBE_PROBE_H

#include "rewrite/layout.h"
#include "shim/driver/driver.h"

/* Before anything else, once it is known what the program asks for. */
void probe_start(void);

/* ---- launch.c: launches ---- */

/* What the driver is to launch: the kernel that records with one parameter more, or what the
 * application gave. */
typedef struct probe_launch {
    void *function, **params, **extra; /* for the driver */
    struct probe_kernel *kernel;       /* of the recording */
    struct probe_recording *recording; /* NULL: the launch does not record */
    bool without_memory, refused;      /* it would have: there is no memory left of what the options
                                          allow; the driver refused what that takes */
    uint64_t stream;
    /* Set where the launch records. */
    rewrite_param hidden;
    void *own_params[32], **long_params, *own_extra[5];
    char *buffer;
    size_t bytes;
} probe_launch;

typedef struct probe_candidate { /* a launch that is about to be made */
    void *function;
    const drv_shape *shape;
    uint64_t stream; /* as drv_stream gives it */
    bool record;     /* false: it may not, whatever the options say */
} probe_candidate;

/* Without the lock, before and after the driver's function. `probe` must stay where it is until
 * then. */
void probe_launch_begin(probe_launch *probe, const probe_candidate *launch, void **params,
                        void **extra);
/* The driver did not make the launch: whether it was ours, so that the application's is to be made
 * in its place. */
bool probe_launch_refused(probe_launch *probe, CUresult result);
void probe_launch_free(probe_launch *probe);

/* The launch got this note, or 0. */
void probe_launch_keep(probe_launch *probe, uint32_t note, CUresult result);
bool probe_launch_records(const probe_launch *probe); /* without the lock */

/* ---- own.c: what the program does to its kernels and constants ---- */

/* Takes the lock: the program set it at the function, a CUfunction or a CUkernel. */
void probe_cache_config(void *function, int config);
/* Something may have written to constants. Without the lock. */
void probe_constants_changed(void);
/* After a launch with these parameters, one of which may lead to constants. */
void probe_constants_given(drv_param_bytes params);

/* Without the lock. Waits, for a while, until nothing runs in the context; whether that is so. Before
 * CUDA 12.5 the driver cannot tell: there it is taken to be. */
bool probe_wait_idle(CUcontext context);
/* With the lock: whether nothing runs in the context, or only for a moment. */
bool probe_context_idle(CUcontext context);

/* ---- recording.c ---- */

/* A stream of our own that waits for no other; NULL: there is none. Without the lock where the context
 * has one. */
CUstream probe_own_stream(CUcontext context);
/* Our calls must not break a graph that any thread captures. Without the lock. */
bool probe_relax(CUstreamCaptureMode *mode);
void probe_restore(bool relaxed, CUstreamCaptureMode mode);

/* ---- reading.c: waits ---- */

typedef enum probe_over { PROBE_OVER_NOTHING, PROBE_OVER_STREAM, PROBE_OVER_CONTEXT } probe_over;

/* What a wait of the application's says to be over: launches before the `launched`-th, of the
 * stream or of the context. */
typedef struct probe_wait {
    probe_over over;
    CUcontext context; /* NULL: the current one */
    uint64_t stream;   /* as drv_stream gives it */
    uint64_t launched; /* probe_launched() before it began */
} probe_wait;

/* Without the lock: launches that recorded, so far. */
uint64_t probe_launched(void);
/* Takes the lock: writes what launches of the current context have recorded, as far as they are
 * over. */
void probe_resolve(const probe_wait *wait);
/* Takes the lock: an event after what was launched on the stream, if that needs one, since the
 * stream goes. */
void probe_mark(uint64_t stream);

/* ---- ends ---- */

/* Kernels of ours that are to be unloaded, of one of the program's modules. */
typedef struct probe_own probe_own;

/* The module is about to be unloaded: the last chance to read what its kernels recorded. Returns
 * what they recorded with, for probe_own_free. */
probe_own *probe_module_gone(const drv_module *module);
/* Without the lock: gives them back to the driver; in_driver false: they went with their
 * context. */
void probe_own_free(probe_own *list, bool in_driver);

void probe_context_ends(void);              /* takes the lock: the current context is about to go */
void probe_context_gone(CUcontext context); /* it went: launches and memory */
void probe_modules_left(CUcontext context); /* kernels that were loaded there are gone, too */
void probe_finish(void);                    /* at the end of the process */

#endif
