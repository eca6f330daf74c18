/* What warps of the sample's first launch did, made by hand. */
#ifndef TESTS_REPORT_WARPS_H
#define TESTS_REPORT_WARPS_H

#include "report/report.h"

enum { SAMPLE_SEQUENCES = 3, SAMPLE_STEPS = 5000, SAMPLE_WARPS = 48, SAMPLE_SLOTS = 2 };

/* Everything lies in the arena. Steps of every kind, of regular and of random lanes, in two pages a
 * sequence; warps of blocks with gaps between them, in two groups of the first sequence. */
void sample_warps(ana_explore *out, wl_arena *arena);
/* The same, read back, as JSON: a row a warp. */
wl_status sample_warps_json(const rep_data *data, FILE *out, wl_error *err);

#endif
