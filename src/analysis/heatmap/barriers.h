/* What is known of a kernel's barriers (__syncthreads): whether its code proves that they order
 * nothing, so that advice may say that they can go. */
#ifndef WL_ANALYSIS_HEATMAP_BARRIERS_H
#define WL_ANALYSIS_HEATMAP_BARRIERS_H

#include "analysis/input.h"

typedef enum barriers_order {                /* what the barriers of the kernel may be there for */
                              BARRIERS_NONE, /* the kernel has none */
                              BARRIERS_ORDER_NOTHING, /* no thread reads or overwrites what another
                                                         wrote */
                              BARRIERS_ORDER_WARPS,   /* only threads of one warp do */
                              BARRIERS_MAY_ORDER      /* others may, as far as the code tells */
} barriers_order;

/* From the forms of addresses (forms.h), for the blocks of the observed launches. All shared arrays
 * are looked at together: a barrier that one of them does not need may guard another.
 * BARRIERS_MAY_ORDER also where memory is exhausted. */
barriers_order barriers_of(const ana_input *input);

#endif
