/* Probes in kernels: what is known of a module's PTX (probed.c), kernels that record in modules of their own (own.c), launches
 * that record (probe.c). With rec_g.lock held unless said otherwise. */
#ifndef WL_SHIM_PROBE_PROBE_H
#define WL_SHIM_PROBE_PROBE_H

#include "rewrite/layout.h"
#include "shim/hooks/shim.h"

/* ---- probed.c: the program's modules ---- */

typedef struct shim_resources {
    uint32_t registers, static_shared, local_bytes;
    uint32_t threads; /* the most that a block may have */
    int blocks;       /* of SHIM_TYPICAL_BLOCK threads that fit a multiprocessor */
} shim_resources;

enum { SHIM_TYPICAL_BLOCK = 256 };

typedef struct shim_probed shim_probed;
typedef struct shim_own shim_own;

typedef struct shim_probed_kernel {
    char *name;
    shim_probed *owner;
    const rewrite_kernel *kernel; /* once it was rewritten; its `probes` is 0: it does not record */
    rewrite_alone alone;
    shim_own *own;                /* its modules, one a context */
    bool making;                  /* a thread makes one */
    bool unfit;                   /* the user was told of a launch that ran without recording */
    uint64_t launches;            /* so far */
    struct shim_recording *ready; /* prepared for its next launches */
    uint32_t nready;
    uint32_t rows;    /* of a warp's part of the trace in the next launch; 0: not chosen yet */
    bool everywhere;  /* it accesses more objects than its pointers lead to */
    int cache_config; /* as the program set it; -1: it did not */
    struct shim_probed_kernel *next;
} shim_probed_kernel;

struct shim_probed { /* a module's PTX */
    char *text;      /* malloc'ed; NULL once it was read */
    size_t length;
    ir_module *ptx; /* NULL: not read yet, or it cannot be */
    wl_arena *arena;
    shim_probed_kernel *kernels;
};

/* Without the lock: as the options say. */
bool shim_probes_on(void);
bool shim_probes_everything(void);
uint32_t shim_probes_asked(void);

/* Takes the text, which is malloc'ed. NULL without memory. */
shim_probed *shim_probed_new(char *text, size_t length);
void shim_probed_free(shim_probed *probed); /* after shim_probe_gone; NULL is allowed */
/* NULL: it is not asked for, or there is no memory. */
shim_probed_kernel *shim_probed_find(shim_probed *probed, const char *kernel);
/* Once a kernel: puts probes into it. Where it gets none, kernel->probes is 0, and the user is told why. */
void shim_probed_rewrite(shim_probed_kernel *kernel);

shim_resources shim_resources_of(CUfunction f);

/* ---- own.c: kernels that record ---- */

/* The kernel's module in the current context, made where there is none: this takes the lock away for as long as that
 * takes. NULL: the launch cannot record. *later: but another one may. */
shim_own *shim_own_get(shim_probed_kernel *kernel, const shim_function *f, bool *later);
/* Whether nothing runs in the context, or only for a moment: the driver loads modules only then. */
bool shim_context_idle(CUcontext context);
/* The function to launch. */
CUfunction shim_own_function(const shim_own *own);
/* Makes it as the program's: whether the launch can be made with it. */
bool shim_own_fits(shim_own *own, shim_probed_kernel *kernel, const shim_function *f,
                   const shim_shape *shape);
/* Its constants become the program's, as the stream has them. */
bool shim_own_mirror(shim_own *own, uint64_t stream);
/* Something may have written to constants. Without the lock. */
void shim_constants_changed(void);
/* After a launch with these parameters, one of which may lead to constants. */
void shim_constants_given(shim_bytes params);
/* A launch of the kernel's ran as the program's: tells the user so, once. */
void shim_own_unfit(shim_probed_kernel *kernel, const char *why);

/* Takes the modules of all kernels out. */
shim_own *shim_own_take(shim_probed *probed);
/* Without the lock: gives them back to the driver; in_driver false: they went with their context. */
void shim_own_free(shim_own *list, bool in_driver);
void shim_own_gone(shim_probed *probed, CUcontext context); /* the context went */
void shim_own_finish(void);                                 /* at the end of the process */

/* ---- probe.c: launches ---- */

/* What the driver is to launch: the kernel that records with one parameter more, or what the application gave. */
typedef struct shim_probe {
    void *function, **params, **extra; /* for the driver */
    shim_probed_kernel *kernel;        /* of the recording */
    struct shim_recording *recording;  /* NULL: the launch does not record */
    bool without_memory;               /* it would have */
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
/* The driver did not make the launch: whether it was ours, so that the application's is to be made in its place. */
bool shim_probe_refused(shim_probe *probe, CUresult result);
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

/* Around the driver's function that records an event; `launched` from before it. The call's record gets the event. */
void shim_event_begin(shim_call *call, CUevent event);
void shim_event_end(CUevent event, uint64_t stream, uint64_t launched, CUresult result);
/* Before a wait for it: the call's record gets the event. */
void shim_event_wait(shim_call *call, CUevent event);
/* Before a wait for it, and behind it once more: with the same `begun` it was for that. */
bool shim_event_find(CUevent event, shim_event *out);
/* Nothing is known of any event any more, until it is recorded again; those of the context are gone. */
void shim_events_unknown(CUcontext context);

#endif
