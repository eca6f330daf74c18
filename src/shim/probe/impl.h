/* The inside of this room: the program's kernels that get probes, and their modules that record.
 * With rec_g.lock held unless said otherwise. */
#ifndef WL_SHIM_PROBE_IMPL_H
#define WL_SHIM_PROBE_IMPL_H

#include "program/options.h"
#include "record/record.h"
#include "shim/probe/probe.h"

/* ---- module.c: what is known of a module's PTX ---- */

typedef struct probe_resources {
    uint32_t registers, static_shared, local_bytes;
    uint32_t threads; /* the most that a block may have */
    int blocks;       /* of PROBE_TYPICAL_BLOCK threads that fit a multiprocessor */
} probe_resources;

enum { PROBE_TYPICAL_BLOCK = 256 };

typedef struct probe_kernel {
    char *name;
    struct probe_module *owner;
    const rewrite_kernel *kernel; /* once it was rewritten; its `probes` is 0: it does not record */
    rewrite_alone alone;
    probe_own *own;                /* its modules, one a context */
    bool making;                   /* a thread makes one */
    bool unfit;                    /* the user was told of a launch that ran without recording */
    uint64_t launches;             /* so far */
    struct probe_recording *ready; /* prepared for its next launches */
    uint32_t nready;
    uint32_t rows;    /* of a warp's part of the trace in the next launch; 0: not chosen yet */
    bool everywhere;  /* it accesses more objects than its pointers lead to */
    int cache_config; /* as the program set it; -1: it did not */
    struct probe_kernel *next;
} probe_kernel;

typedef struct probe_module {
    const drv_module *module; /* the program's */
    char *text;               /* its PTX, malloc'ed; NULL once it was read */
    size_t length;
    ir_module *ptx; /* NULL: not read yet, or it cannot be */
    wl_arena *arena;
    probe_kernel *kernels;
    UT_hash_handle hh;
} probe_module;

/* Without the lock: as the options say. */
bool probe_on(void);
bool probe_everything(void);
uint32_t probe_asked(void);

/* What launches of the function can record with; NULL: they cannot. */
probe_kernel *probe_kernel_of(drv_function *f);
/* Once a kernel: puts probes into it, for blocks of so many threads. Where it gets none,
 * kernel->probes is 0, and the user is told why. */
void probe_kernel_rewrite(probe_kernel *kernel, uint32_t threads);

probe_resources probe_resources_of(CUfunction f);

/* ---- own.c: kernels that record ---- */

/* The kernel's module in the current context, made where there is none, for launches like this one:
 * this takes the lock away for as long as that takes. NULL: the launch cannot record. *later: but another one may. */
probe_own *probe_own_get(probe_kernel *kernel, const drv_function *f, const drv_shape *shape,
                         bool *later);
/* The function to launch. */
CUfunction probe_own_function(const probe_own *own);
/* Makes it as the program's: whether the launch can be made with it. */
bool probe_own_fits(probe_own *own, probe_kernel *kernel, const drv_function *f,
                    const drv_shape *shape);
/* Its constants become the program's, as the stream has them. */
bool probe_own_mirror(probe_own *own, uint64_t stream);
/* A launch of the kernel's ran as the program's: tells the user so, once. */
void probe_own_unfit(probe_kernel *kernel, const char *why);

/* Takes the modules of all kernels out. */
probe_own *probe_own_take(probe_module *m);
void probe_own_gone(probe_module *m, CUcontext context); /* the context went */
void probe_own_finish(void);                             /* at the end of the process */

/* ---- launch.c ---- */

/* Whether the kernel's launch with that number is to record. */
bool probe_sampled(uint64_t number);
void probe_tell_missing(void); /* launches for which there was no memory */

#endif
