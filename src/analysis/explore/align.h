/* Which basic blocks of two paths belong together: a diff of what the warps entered. */
#ifndef WL_ANALYSIS_EXPLORE_ALIGN_H
#define WL_ANALYSIS_EXPLORE_ALIGN_H

#include "base/vec.h"

#include <stdbool.h>
#include <stdint.h>

/* So many of the first that have a partner each, in order; or of one of them that have none. */
typedef struct explore_run {
    uint32_t a, b;   /* where it begins in each */
    uint32_t na, nb; /* as many of each: partners; one of them 0: what only the other has */
} explore_run;

typedef wl_vec(explore_run) explore_runs;

/* Aligns keys of two paths, so that as few as possible have no partner where at most `most` have
 * none; beyond that piece by piece, each as good as that. The time is at most about (na + nb) * most.
 * Runs are added to `out`, none of which is empty. False when memory is exhausted. */
bool explore_align(const uint32_t *a, uint32_t na, const uint32_t *b, uint32_t nb, uint32_t most,
                   explore_runs *out);

#endif
