/* What each barrier of a kernel is there for, as far as its code tells: whether it could be left out,
 * or order the lanes of single warps alone.
 *
 * A barrier can go where no access of a thread after it meets one of another thread before it, back to
 * the barrier before on every path and on to the next, unless both are loads; in shared memory as in
 * global. Barriers are judged together: all that are not needed can go at once. Those on one source line
 * are one: an unrolled loop has several. An access counts for the threads that its guards leave it to
 * (crowd.h), but for barriers that never ran. Nothing is told unless it is proven, for every launch
 * that was observed: footprint.h, flow/barriers.h. */
#ifndef WL_ANALYSIS_SHARED_ORDER_H
#define WL_ANALYSIS_SHARED_ORDER_H

#include "analysis/input.h"
#include "analysis/shared/footprint.h"

typedef struct order_barrier {
    uint32_t pc;
    uint32_t file, line;   /* where it stands in the source; 0, 0: not known */
    footprint_order needs; /* APART: it can go; WARPS: __syncwarp() in its place suffices */
    uint64_t executions;   /* by warps, over all launches */
} order_barrier;

typedef struct order_barriers {
    bool known; /* else there are no rows: the kernel could not be followed */
    uint32_t count;
    order_barrier *rows; /* those of whole blocks, by pc */
} order_barriers;

/* In input->scratch. */
wl_status order_of(const ana_input *input, order_barriers *out, wl_error *err);

#endif
