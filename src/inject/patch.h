/* Redirects NVIDIA's static runtime where it is inside the program or one of its libraries. */
#ifndef WL_INJECT_PATCH_H
#define WL_INJECT_PATCH_H

#include "inject/front.h"

typedef struct inj_patching {
    inj_find find; /* where a function of the runtime leads */
    /* Called for a file that cannot be redirected; `why` is a clause without its full stop. */
    void (*failed)(const char *path, const char *why);
    bool (*active)(void); /* false: files that come now are left as they are */
} inj_patching;

/* Writes jumps over the runtime's functions in everything that is loaded now, and sees to it that
 * what dlopen loads later is treated so before its constructors run. Called once, before the
 * program's own constructors. */
void inj_patch_start(const inj_patching *patching);

#endif
