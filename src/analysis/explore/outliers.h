/* Which warps stand out of a launch, and why: classes compared, and put together where they differ
 * alike. */
#ifndef WL_ANALYSIS_EXPLORE_OUTLIERS_H
#define WL_ANALYSIS_EXPLORE_OUTLIERS_H

#include "analysis/explore/reasons.h"

/* All of a launch whose warps, launch and kernel are in *e already; in the arena. False when memory is
 * exhausted. */
bool explore_of_warps(const explore_facts *facts, wl_arena *arena, ana_explore *e);

#endif
