/* Which hits have one fix, and which are simplest to follow. */
#ifndef WL_ANALYSIS_OBJECTS_BUNDLES_H
#define WL_ANALYSIS_OBJECTS_BUNDLES_H

#include "analysis/objects/patterns.h"

/* Hits of one pattern, device and certainty on objects of one place of the program, which reuse
 * those of one place if any. */
typedef struct obj_bundles {
    uint32_t count;
    uint32_t *first; /* count + 1: where each begins in `hits` */
    uint32_t *hits;  /* ascend within each; bundles by their first hit */
} obj_bundles;

/* Sets `bundle` of the hits. False when memory is exhausted; obj_bundles_free() is due either way. */
bool obj_bundles_of(const obj_trace *trace, obj_hits *hits, obj_bundles *out);
void obj_bundles_free(obj_bundles *bundles);

/* Does it do nothing but let memory be in use for a shorter time, or less of it? */
bool obj_shortens(const obj_hit *hit);

/* All hits, on the heap: what shortens lives first, then by what they save, their objects' size, and
 * how much there is to change. NULL when memory is exhausted. */
uint32_t *obj_rank_hits(const obj_hits *hits);

#endif
