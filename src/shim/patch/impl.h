/* The inside of this room. With rec_g.lock held unless said otherwise. */
#ifndef WL_SHIM_PATCH_IMPL_H
#define WL_SHIM_PATCH_IMPL_H

#include "base/arena.h"
#include "shim/patch/api.h"
#include "shim/patch/patch.h"

/* Without the lock: as the options say. */
bool patch_wanted(void);

/* counter.S: the functions that patched instructions call, as cubins. */
typedef struct patch_counter {
    uint64_t sm; /* 90 for 9.0; runs on later ones with the same first digits. 0: ends the list */
    const void *cubin;
} patch_counter;

extern const patch_counter patch_counters[];

/* ---- unproven.c ---- */

/* Whether what a kernel of machine code accesses does not follow from its launches, or is not
 * understood: as replay would have it, but for what a launch's own parameters decide. */
bool patch_is_unproven(const void *cubin, size_t bytes, const char *kernel);

#endif
