#ifndef WL_SHIM_HOOKS_UNSEEN_H
#define WL_SHIM_HOOKS_UNSEEN_H

#include <stdbool.h>
#include <stddef.h>

typedef struct shim_unseen {
    char *text; /* PTX; malloc'ed */
    size_t length;
    char *file; /* malloc'ed; may be NULL */
} shim_unseen;

/* The PTX of the module with this kernel or variable, out of the files that the process has mapped: one that was not found for
 * this context before. With the lock held. */
bool shim_unseen_find(const char *name, unsigned sm, const void *context, shim_unseen *found);

#endif
