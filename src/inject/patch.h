/* Redirects NVIDIA's static runtime where it is inside the program or one of its libraries. */
#ifndef WL_INJECT_PATCH_H
#define WL_INJECT_PATCH_H

#include "inject/front.h"

typedef struct inj_patching {
    inj_find find; /* where a function of the runtime leads */
    /* Called for a file that cannot be redirected; `why` is a clause without its full stop. */
    void (*failed)(const char *path, const char *why);
    bool (*active)(void); /* false: files that come now are left as they are */
    bool late;            /* the program runs already: a runtime that is there has begun, and it is
                             left as it is and told of as `failed` */
} inj_patching;

/* Whether the linker loaded us with the program, as LD_PRELOAD asks it to, and nothing opened us
 * since. */
bool inj_loaded_at_start(void);

/* Writes jumps over the runtime's functions in everything that is loaded now, and sees to it that
 * what dlopen loads later is treated so before its constructors run. Called once, before the
 * program's own constructors, unless it is late. */
void inj_patch_start(const inj_patching *patching);

#endif
