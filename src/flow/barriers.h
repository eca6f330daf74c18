/* The barriers of a kernel, where it can be followed what they order.
 *
 * That is so where all threads come to the same barriers of the block in the same order, and nothing
 * but these barriers, and those of warps, orders what threads load and store: then what each thread
 * does between two barriers is all that another may see too early or too late without one. Atomics
 * order nothing but themselves; what one in global memory tells other blocks is the reader's matter. */
#ifndef WL_FLOW_BARRIERS_H
#define WL_FLOW_BARRIERS_H

#include "flow/kernel.h"

typedef enum flow_meets {
    FLOW_MEETS_BLOCK,  /* all threads of the block: __syncthreads() */
    FLOW_MEETS_RESULT, /* the same, with a result that threads need: __syncthreads_or() */
    FLOW_MEETS_WARP,   /* all lanes of a warp: __syncwarp() */
    FLOW_MEETS_COUNT
} flow_meets;

typedef struct flow_barrier {
    uint32_t pc;
    uint8_t meets; /* flow_meets */
} flow_barrier;

typedef struct flow_barriers {
    /* Why the kernel cannot be followed, as a clause; NULL: it can. Then `rows` are all barriers that
     * it reaches; else there are none. Barriers of some lanes of a warp are left out. */
    const char *why_not;
    uint32_t count;
    flow_barrier *rows; /* by pc */
} flow_barriers;

/* Of a kernel on which the passes up to uniform have run. The rows lie in `arena`. Fails with
 * WL_NOMEM only. */
wl_status flow_find_barriers(const flow_kernel *kernel, wl_arena *arena, flow_barriers *out);

#endif
