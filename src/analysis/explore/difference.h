/* Two warps, operation by operation: which belong together, and how much they differ. */
#ifndef WL_ANALYSIS_EXPLORE_DIFFERENCE_H
#define WL_ANALYSIS_EXPLORE_DIFFERENCE_H

#include "analysis/explore/align.h"
#include "analysis/explore/formula.h"
#include "analysis/explore/path.h"

/* Operations of two warps that stand side by side: of both at one instruction, or `count` one after
 * the other that only one of them executes, or that access no memory. All of it `times` times. */
typedef struct explore_pair {
    const explore_visit *a, *b;          /* NULL: only the other has them */
    const explore_request *asked, *than; /* of `a` and `b`, where count is 1; NULL: none */
    uint32_t pc, count, times;           /* pc: of the first */
    explore_difference each;
} explore_pair;

/* Calls `each` for all operations of both; where both repeat, once for all rounds that are alike. */
void explore_walk(const explore_path *a, const explore_path *b, const explore_runs *runs,
                  void (*each)(void *ctx, const explore_pair *pair), void *ctx);

/* Aligns the paths by the blocks that they enter, as explore_align does with the keys of all visits,
 * and `most` as there. *work: what is added to it are the visits that had to be looked at. */
bool explore_align_paths(const explore_path *a, const explore_path *b, uint32_t most,
                         explore_runs *out, uint64_t *work);

#endif
