/* What copies and sets moved, as records; all with the lock held. */
#ifndef WL_SHIM_HOOKS_COPY_H
#define WL_SHIM_HOOKS_COPY_H

#include "shim/hooks/hook.h"

typedef struct hook_moved {
    uint64_t from, to, bytes; /* 0: no address */
    const void *host;         /* `from` where it is host memory whose bytes are there now */
    const void *from_array, *to_array; /* in the place of an address */
    bool waits;                        /* where it blocks: for the work of its stream */
    cap_shape shape;                   /* of rows and slices; else 0 */
} hook_moved;

hook_moved hook_moved_volume(const CUDA_MEMCPY3D *copy);
hook_moved hook_moved_set(const CUDA_MEMSET_NODE_PARAMS *set);
/* Writes a CALL of its own with the call's name, stack and stream, and SYMBOL where a constant was
 * written to. */
void hook_moved_write(const hook_call *call, cap_call_kind kind, const hook_moved *moved);

#endif
