/* Findings that one change in the source fixes, put together. They have one pattern, one remedy and
 * one gain, and are
 *   of one kernel (whose objects are used alike), or
 *   of one source line (instances of a template, a function that several kernels call), or
 *   of kernels of one file that are alike, on the same object: all their findings are the same,
 *   pair by pair; or of no kernel, and the end of the process mends them all. */
#ifndef WL_ANALYSIS_GROUP_H
#define WL_ANALYSIS_GROUP_H

#include "analysis/finding.h"

/* Is it about how much memory there is, or is copied, rather than about time? Such findings come
 * after those that are. */
bool find_saves_room(const ana_finding *finding);

/* Groups `rows` (costliest first), which are judged: gain and shares are set. The result lies in
 * `arena`. */
wl_status group_findings(const ana_finding *rows, uint32_t count, const prof_kernel_rows *kernels,
                         const prof_object_rows *objects, wl_arena *arena, ana_findings *out);

/* A remedy with names for ANA_OBJECT; NULL when memory is exhausted. */
const char *group_fill(wl_arena *arena, const char *remedy, const char *names);

/* The lines of both, those of `first` before others of `second`; NULL when memory is exhausted. */
ana_line *group_join_lines(wl_arena *arena, const ana_line *first, uint32_t nfirst,
                           const ana_line *second, uint32_t nsecond, uint32_t *count);

#endif
