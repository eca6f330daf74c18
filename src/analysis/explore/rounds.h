/* The steps of a warp, one by one but for rounds that ask for the same: of these there are the first few,
 * and how often the last of them comes again. */
#ifndef WL_ANALYSIS_EXPLORE_ROUNDS_H
#define WL_ANALYSIS_EXPLORE_ROUNDS_H

#include "analysis/explore/explore.h"

typedef struct explore_since { /* where a listener was when a round began */
    size_t visits;
    ana_warp_counts counts;
} explore_since;

typedef struct explore_listener {
    void *ctx;
    bool (*step)(void *ctx, const wl_step *step); /* false: none is wanted any more */
    /* A round begins; and all that came since it began comes so many times more. Its accesses cost what
     * they cost in the round before: they lie further on by a multiple of EXPLORE_ALIKE bytes. */
    explore_since (*round)(void *ctx);
    bool (*again)(void *ctx, const explore_since *since, uint32_t times);
} explore_listener;

/* Where a request lies, modulo this, decides what it costs, whatever the architecture. */
enum { EXPLORE_ALIKE = 256 };

/* False where the listener said so, or memory is exhausted. */
bool explore_each_step(const prof_warp *warp, const explore_listener *to);

#endif
