/* The shared arrays of a kernel, and what its instructions do to them (flow/arrays.h): found once a
 * kernel, where probes counted accesses to some of them. */
#ifndef WL_REPLAY_ARRAYS_H
#define WL_REPLAY_ARRAYS_H

#include "flow/arrays.h"

typedef struct replay_arrays { /* all zero at first; belongs to whoever has the kernel */
    bool tried;
    wl_arena *arena;
    flow_kernel *flow;
    ir_kernel code;
    flow_proof proof;
    flow_counts counts;
    flow_fills fills;
    flow_arrays found;
} replay_arrays;

/* False when memory is exhausted. */
bool replay_arrays_find(replay_arrays *arrays, const ir_module *module, const ir_func *kernel);
void replay_arrays_clear(replay_arrays *arrays);

#endif
