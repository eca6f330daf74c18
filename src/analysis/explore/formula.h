/* How much two warps differ, operation by operation.
 *
 * The formula is that of "A Visual Approach to Investigating Shared and Global Memory Behavior of
 * CUDA Kernels" (Computer Graphics Forum 32, 2013), equations (1) to (5), with two changes. Threads
 * are compared by exclusive or: as printed, 32 less the threads that are active in both, a warp with
 * idle threads differs from itself (EXPLORE_AS_PRINTED). Transactions are compared in the order of
 * their addresses. */
#ifndef WL_ANALYSIS_EXPLORE_FORMULA_H
#define WL_ANALYSIS_EXPLORE_FORMULA_H

#include <stdint.h>

typedef enum explore_form { EXPLORE_EXCLUSIVE, EXPLORE_AS_PRINTED } explore_form;

/* What the formula asks of an operation of a warp. */
typedef struct explore_operation {
    uint32_t pc, lanes;   /* lanes: active ones, a bit each */
    const uint8_t *sizes; /* of its transactions in global memory, by address; bytes */
    uint32_t nsizes, conflicts;
} explore_operation;

typedef struct explore_difference { /* 0 where they are alike */
    double ins, thrd, glob, conf;
} explore_difference;

static inline uint32_t explore_lanes(uint32_t mask)
{
    return (uint32_t)__builtin_popcount(mask);
}

static inline double explore_apart(double a, double b)
{
    return a > b ? a - b : b - a;
}

static inline explore_difference explore_difference_of(const explore_operation *a,
                                                       const explore_operation *b,
                                                       explore_form form)
{
    explore_difference d = {.ins = a->pc != b->pc,
                            .thrd = form == EXPLORE_EXCLUSIVE
                                        ? explore_lanes(a->lanes ^ b->lanes)
                                        : 32 - explore_lanes(a->lanes & b->lanes),
                            .conf = explore_apart(a->conflicts, b->conflicts)};
    for (uint32_t i = 0; i < a->nsizes || i < b->nsizes; i++)
        d.glob += explore_apart(i < a->nsizes ? a->sizes[i] : 0, i < b->nsizes ? b->sizes[i] : 0);
    return d;
}

/* d_warp. */
static inline double explore_sum(const explore_difference *d)
{
    return d->ins + d->thrd / 32 + d->glob / 1024 + d->conf / 8;
}

/* The same from 0 to 1, as colours and means take it. */
static inline double explore_clamped(const explore_difference *d)
{
    double sum = explore_sum(d);
    return sum < 1 ? sum : 1;
}

#endif
