/* Words for reasons and for sets of warps. */
#ifndef WL_ANALYSIS_EXPLORE_WORDS_H
#define WL_ANALYSIS_EXPLORE_WORDS_H

#include "analysis/explore/reasons.h"

/* Whether reasons tell of the same number. */
bool explore_told_alike(double a, double b);

/* "leave the loop at haar.cu:31 after 3 of 8 rounds" (`many`), "leaves ..."; NULL when memory is
 * exhausted. */
const char *explore_reason_text(const explore_facts *facts, const explore_reason *reason, bool many,
                                wl_arena *arena);

/* "warps 12 to 15 of blocks 0 to 3", of the launch's rows that are marked; "" where none is. NULL when
 * memory is exhausted. */
const char *explore_warps_text(const explore_facts *facts, const prof_warp_rows *warps,
                               const uint32_t *rows, uint32_t count, wl_arena *arena);

/* The instruction by whose line a place is told; NULL: it is not known. */
const prof_code *explore_code_of(const explore_facts *facts, const explore_reason *reason);

#endif
