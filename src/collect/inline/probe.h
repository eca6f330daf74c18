/* Probes in kernels: modules that were rewritten (probed.c), launches that record (probe.c). With shim_g.lock held unless
 * said otherwise. */
#ifndef WL_COLLECT_INLINE_PROBE_H
#define WL_COLLECT_INLINE_PROBE_H

#include "collect/inline/shim.h"
#include "rewrite/layout.h"

/* ---- probed.c: modules ---- */

typedef struct shim_resources {
    uint32_t registers, static_shared, local_bytes;
    uint32_t threads; /* the most that a block may have */
    int blocks;       /* of 256 threads that fit a multiprocessor */
} shim_resources;

typedef struct shim_probed shim_probed;

typedef struct shim_probed_kernel {
    const rewrite_kernel *kernel;
    shim_probed *owner;
    uint64_t launches;            /* so far */
    struct shim_recording *ready; /* prepared for its next launches */
    uint32_t nready;
    uint32_t rows;    /* of a warp's part of the trace in the next launch; 0: not chosen yet */
    bool everywhere;  /* it accesses more objects than its pointers lead to */
    bool known, told; /* `original` is; the user was told what changed */
    shim_resources original; /* of the kernel as the program has it */
} shim_probed_kernel;

struct shim_probed { /* a module */
    ptx_module *ptx;
    wl_arena *arena;
    rewrite_result result;
    shim_probed_kernel *kernels; /* [result.nkernels] */
};

/* Without the lock: as the options say. */
bool shim_probes_on(void);
bool shim_probes_everything(void);
uint32_t shim_probes_asked(void);

/* NULL where there is nothing to put probes into, or it cannot be done. */
shim_probed *shim_probed_make(const char *text, size_t length);
void shim_probed_free(shim_probed *probed); /* after shim_probe_gone; NULL is allowed */
/* NULL: the kernel is as it was. */
shim_probed_kernel *shim_probed_find(shim_probed *probed, const char *kernel);

shim_resources shim_resources_of(CUfunction f);
/* Asks about the kernels as the program has them; `original` is its image. */
void shim_probed_compare(shim_probed *probed, const void *original);
/* Whether blocks may still be as large as in the program, now that `handle` is loaded with probes (a CUlibrary or a
 * CUmodule). If not, *registers is how many a thread may take at most. */
bool shim_probed_fits(shim_probed *probed, void *handle, bool library, uint32_t *registers);
/* Says, once a kernel, what probes changed. */
void shim_probed_tell(shim_probed_kernel *kernel, const shim_resources *now);

/* ---- probe.c: launches ---- */

/* The parameters of one launch with ours behind them. Where the kernel is as it was, those of the application. */
typedef struct shim_probe {
    void **params, **extra;           /* for the driver */
    struct shim_recording *recording; /* NULL: the launch does not record */
    bool without_memory;              /* it would have */
    uint64_t stream;
    rewrite_param hidden;
    void *own_params[32], **long_params, *own_extra[5];
    char *buffer;
    size_t bytes;
} shim_probe;

typedef struct shim_probe_launch { /* that is about to be made */
    void *function;
    const shim_shape *shape;
    uint64_t stream; /* as shim_stream gives it */
    bool record;     /* false: it may not, whatever the options say */
} shim_probe_launch;

/* Without the lock, before and after the driver's function. `probe` must stay where it is until then. */
void shim_probe_begin(shim_probe *probe, const shim_probe_launch *launch, void **params,
                      void **extra);
/* The parameters only, with nothing to be recorded: graph nodes. */
void shim_probe_off(shim_probe *probe, void *function, void **params, void **extra);
void shim_probe_free(shim_probe *probe);

/* The launch got this note, or 0. */
void shim_probe_keep(shim_probe *probe, uint32_t note, CUresult result);
bool shim_probe_records(const shim_probe *probe);

/* Whether the kernel's launch with that number is to record. */
bool shim_probe_sampled(uint64_t number);
void shim_probe_tell_missing(void); /* launches for which there was no memory */

/* ---- reading.c ---- */

typedef enum shim_over { SHIM_OVER_NOTHING, SHIM_OVER_STREAM, SHIM_OVER_CONTEXT } shim_over;

/* What a wait of the application's says to be over: launches before the `launched`-th, of the stream or of the context. */
typedef struct shim_wait {
    shim_over over;
    CUcontext context; /* NULL: the current one */
    uint64_t stream;   /* as shim_stream gives it */
    uint64_t launched; /* shim_probes_launched() before it began */
} shim_wait;

/* Without the lock: launches that recorded, so far. */
uint64_t shim_probes_launched(void);
/* Takes the lock: writes what launches of the current context have recorded, as far as they are over. */
void shim_probes_resolve(const shim_wait *wait);
/* Takes the lock: an event behind what was launched on the stream, if that needs one, since the stream goes. */
void shim_probes_mark(uint64_t stream);
void shim_probes_last(void);              /* takes the lock: the current context is about to go */
void shim_probes_gone(CUcontext context); /* the context went */
void shim_probe_module_gone(
    const shim_probed *);      /* before it is unloaded: the last chance to read */
void shim_probes_finish(void); /* at the end of the process */

/* ---- events.c; without the lock but for shim_events_unknown ---- */

typedef struct shim_event { /* behind what it stands */
    CUcontext context;
    uint64_t stream, launched; /* launches of the stream before the `launched`-th */
    uint32_t begun;            /* counts its records */
} shim_event;

/* Around the driver's function that records an event; `launched` from before it. */
void shim_event_begin(CUevent event);
void shim_event_end(CUevent event, uint64_t stream, uint64_t launched, CUresult result);
/* Before a wait for it, and behind it once more: with the same `begun` it was for that. */
bool shim_event_find(CUevent event, shim_event *out);
/* Nothing is known of any event any more, until it is recorded again; those of the context are gone. */
void shim_events_unknown(CUcontext context);

#endif
