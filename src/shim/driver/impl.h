/* The inside of this room: where the PTX of a module is found that came without any, or that no
 * hook saw. With the lock held. */
#ifndef WL_SHIM_DRIVER_IMPL_H
#define WL_SHIM_DRIVER_IMPL_H

#include "shim/driver/driver.h"

/* ---- compiled.c ---- */

/* The PTX that a cubin without any was made from, malloc'ed; false where it is not known. */
bool drv_compiled_find(const void *cubin, size_t size, char **text, size_t *length);

/* ---- unseen.c ---- */

typedef struct drv_unseen {
    char *text; /* PTX; malloc'ed */
    size_t length;
    char *file; /* malloc'ed; may be NULL */
} drv_unseen;

/* The PTX of the module with this kernel or variable, out of the files that the process has mapped:
 * one that was not found for this context before. */
bool drv_unseen_find(const char *name, unsigned sm, const void *context, drv_unseen *found);

/* ---- module.c ---- */

/* Uses the module. How a kernel's parameters lie, as the cubin tells that it came with in place of
 * PTX; NULL: it came with PTX, or does not tell. */
const cuda_layout *drv_module_layout(drv_module *m, const char *kernel);

/* ---- what goes together ---- */

void drv_streams_gone(uint64_t context); /* the context went, drv_context's id */
void drv_functions_gone(const drv_module *m);
void drv_module_objects_gone(const drv_module *m); /* writes FREE for its variables */

#endif
