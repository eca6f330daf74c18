/* The search for findings with detectors of the caller's choice, for tests; others call
 * ana_find. */
#ifndef WL_ANALYSIS_FIND_H
#define WL_ANALYSIS_FIND_H

#include "analysis/detect.h"

wl_status find_with(const detect_row *detectors, size_t ndetectors, prof_db *profile,
                    const ana_thresholds *thresholds, wl_arena *arena, ana_findings *out,
                    wl_error *err);

#endif
