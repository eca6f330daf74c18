/* Parts of one object that are data of their own: a pool of one allocation holds several arrays,
 * and each may show another pattern. */
#ifndef WL_ANALYSIS_HEATMAP_PARTS_H
#define WL_ANALYSIS_HEATMAP_PARTS_H

#include "analysis/heatmap/map.h"

/* Splits the map's rows by the instructions that access them. Instructions of one family, and those
 * that come to the same sectors (but for a few, where two arrays meet), belong together. A few rows
 * amid those of the largest part stay with it, and so do the smallest parts where there are more
 * than eight. `out` are *count maps, the largest first, which share pcsets with `heat`; they lie in
 * `arena`. WL_NOMEM is the only failure. */
wl_status parts_split(const prof_heat *heat, const map_insn *insns, uint32_t ninsns,
                      wl_arena *arena, uint32_t *count, prof_heat **out);

#endif
