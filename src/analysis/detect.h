/* Runs detectors, each on what its scope names, and makes findings of the drafts worth telling. */
#ifndef WL_ANALYSIS_DETECT_H
#define WL_ANALYSIS_DETECT_H

#include "analysis/input.h"
#include "base/vec.h"

typedef struct detect_row {
    ana_scope scope;
    ana_detector *detect;
} detect_row;

typedef struct detect_run {
    const detect_row *detectors;
    size_t ndetectors;
    ana_program program;
    double *traffic;           /* sectors and wavefronts by kernel id */
    wl_vec(ana_finding) found; /* those of a kernel stand together; not yet judged */
    ana_left_out left_out;
    double unnamed; /* sectors, of all kernels */
    bool replayed;  /* as ana_findings has it */
    uint64_t peak_after;
    wl_vec(ana_left_over) left_over;
    wl_arena *arena; /* of the results */
} detect_run;

/* Are so many sectors, of `all` that move, more than nothing? */
static inline bool find_is_much(const ana_thresholds *t, double sectors, double all)
{
    return sectors >= t->min_excess && sectors >= t->min_share * all;
}

/* What an analysis ends with when memory is exhausted. */
wl_status ana_nomem(wl_error *err);

/* `run` comes with detectors, program (its totals 0), traffic and arena filled in; frees
 * nothing. */
wl_status detect_all(detect_run *run, wl_error *err);

/* Findings on objects that are allocated at one place again and again, from found.data[first] on,
 * become one: with the text and evidence of the costlier, the lines of both. */
wl_status detect_merge(detect_run *run, size_t first, wl_arena *scratch, wl_error *err);

#endif
