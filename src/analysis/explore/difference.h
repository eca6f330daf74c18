/* How much two warps differ, operation by operation.
 *
 * The formula is that of "A Visual Approach to Investigating Shared and Global Memory Behavior of
 * CUDA Kernels" (Computer Graphics Forum 32, 2013), equations (1) to (5), with two changes. Threads
 * are compared by exclusive or: as printed, 32 less the threads that are active in both, a warp with
 * idle threads differs from itself (EXPLORE_AS_PRINTED). Transactions are compared in the order of
 * their addresses. */
#ifndef WL_ANALYSIS_EXPLORE_DIFFERENCE_H
#define WL_ANALYSIS_EXPLORE_DIFFERENCE_H

#include "analysis/explore/align.h"
#include "analysis/explore/path.h"

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

explore_difference explore_difference_of(const explore_operation *a, const explore_operation *b,
                                         explore_form form);
/* d_warp: 1 * ins + thrd / 32 + glob / 1024 + conf / 8. */
double explore_sum(const explore_difference *d);
/* The same from 0 to 1, as colours and means take it. */
double explore_clamped(const explore_difference *d);

/* Operations of two warps that stand side by side: of both at one instruction, or `count` one after
 * the other that only one of them executes, or that access no memory. */
typedef struct explore_pair {
    const explore_visit *a, *b;          /* NULL: only the other has them */
    const explore_request *asked, *than; /* of `a` and `b`, where count is 1; NULL: none */
    uint32_t pc, count;                  /* pc: of the first */
    explore_difference each;
} explore_pair;

/* Calls `each` for all operations of both, in their order. */
void explore_walk(const explore_path *a, const explore_path *b, const explore_runs *runs,
                  void (*each)(void *ctx, const explore_pair *pair), void *ctx);

/* Aligns the paths by the blocks that they enter; `most` as in explore_align. */
bool explore_align_paths(const explore_path *a, const explore_path *b, uint32_t most,
                         explore_runs *out);

#endif
