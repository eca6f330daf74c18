/* What is known of a kernel's barriers (__syncthreads) together: whether its code proves that they
 * order nothing, so that advice about an array may say that they can go. */
#ifndef WL_ANALYSIS_HEATMAP_BARRIERS_H
#define WL_ANALYSIS_HEATMAP_BARRIERS_H

#include "analysis/input.h"

typedef enum barriers_order {                /* what the barriers of the kernel may be there for */
                              BARRIERS_NONE, /* the kernel has none */
                              BARRIERS_ORDER_NOTHING, /* all of them can go */
                              BARRIERS_ORDER_WARPS,   /* __syncwarp() can take the place of each */
                              BARRIERS_SOME_ORDER,    /* only some can go, or be kept by warps */
                              BARRIERS_MAY_ORDER /* all may be needed, as far as the code tells */
} barriers_order;

/* By shared/order.h, which tells of each. BARRIERS_MAY_ORDER also where memory is exhausted. */
barriers_order barriers_of(const ana_input *input);

#endif
