/* The machine code that stands beside a module's PTX in the file that it came from. */
#ifndef WL_PROFILE_CUBINS_H
#define WL_PROFILE_CUBINS_H

#include "base/error.h"

#include <stddef.h>
#include <stdint.h>

typedef struct found_cubin {
    unsigned char *bytes; /* malloc'ed; NULL: none */
    size_t size;
    uint32_t sm;         /* that it was made for, compute capability times ten */
    const char *why_not; /* where there is none */
} found_cubin;

/* The cubin for compute capability `sm` / 10 in the fat binary of the file at `path` that holds this
 * PTX; where there is none for it, the nearest of the same major number, else the nearest.
 * WL_NOMEM is the only failure. */
wl_status cubin_beside(const char *path, const char *ptx, size_t length, uint32_t sm,
                       found_cubin *out);

#endif
