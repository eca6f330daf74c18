/* Patches: kernels that came without PTX, and whose accesses do not follow from the launch, are counted
 * by code that the user's Compute Sanitizer puts into them (docs/patches.md). Only launches that
 * record run it: the module is patched before such a launch, and unpatched when it is over, which is
 * waited for.
 *
 * With rec_g.lock held unless said otherwise. */
#ifndef WL_SHIM_PATCH_PATCH_H
#define WL_SHIM_PATCH_PATCH_H

#include "shim/driver/driver.h"

/* Without the lock, before CUDA starts: loads the API where it is wanted. */
void patch_start(void);

typedef struct patch_candidate { /* a launch that is about to be made */
    void *function;
    const drv_shape *shape;
    uint64_t stream; /* as drv_stream gives it */
} patch_candidate;

typedef struct patch_launch { /* what it counts into; NULL: it is made as the program made it */
    struct patch_count *count;
} patch_launch;

/* Without the lock, around the driver's function. */
void patch_launch_begin(patch_launch *p, const patch_candidate *launch);
/* The driver refused the launch: whether it was patched, so that it is to be made again without. */
bool patch_launch_refused(patch_launch *p, CUresult result);
/* Waits for it, for a while. */
void patch_launch_end(patch_launch *p, uint64_t stream);
static inline bool patch_launch_records(const patch_launch *p)
{
    return p->count != NULL;
}

/* The launch got this note, or 0. */
void patch_launch_keep(patch_launch *p, uint32_t note);

void patch_module_gone(const drv_module *module); /* before it is unloaded */
void patch_context_gone(CUcontext context);
void patch_finish(void); /* at the end of the process */

#endif
