/* A kernel in PTX as order.h sees it: its code through the profile, as it would be after a run with
 * one launch. */
#ifndef TESTS_ANALYSIS_ORDERED_H
#define TESTS_ANALYSIS_ORDERED_H

#include "analysis/shared/order.h"

typedef struct ordered {
    wl_arena *arena;
    prof_kernel kernel;
    prof_launch launch;
    ana_program program;
    ana_input input;
    order_barriers all;
} ordered;

/* `body`: of "kernel", with the parameters in, out and n, a declaration first. The accesses to global
 * memory are `count` rows. */
void ordered_begin(ordered *o, const char *ptx, const uint32_t block[3], prof_access *accesses,
                   uint32_t count);
void ordered_end(ordered *o);

/* What the n-th barrier of whole blocks is needed for. */
footprint_order ordered_needs(const ordered *o, uint32_t n);

#endif
