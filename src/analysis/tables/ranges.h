/* Ranges of the program's own (NVTX) by what the launches in them cost. Pure functions; everything lies
 * in the caller's arena. */
#ifndef WL_ANALYSIS_TABLES_RANGES_H
#define WL_ANALYSIS_TABLES_RANGES_H

#include "analysis/finding.h"
#include "profile/profile.h"

/* What launches did together. */
typedef struct ana_launch_sums {
    uint64_t launches;
    uint64_t requests, sectors, sectors_min, wavefronts, wavefronts_min;
    double host_seconds; /* of those that were measured; negative: none was */
    double
        device_seconds; /* an estimate unless all were timed; negative: none of their kernels was */
} ana_launch_sums;

/* Ranges of one name within ranges of one name. */
typedef struct ana_range {
    uint32_t parent;           /* the row's number, from 1; 0: it is in none */
    uint32_t depth;            /* 0: it is in none */
    const char *domain, *name; /* name: as ana_range_name gives it */
    uint64_t times;            /* how often the program opened it, as far as it made calls in it */
    ana_launch_sums sums;      /* of all launches in it, those in ranges within it included */
    uint32_t nfindings;        /* numbers that people read, of kernels that were launched in it */
} ana_range;

typedef struct ana_ranges {
    uint32_t count;  /* 0: the program made no launch in any */
    ana_range *rows; /* each before those within it; costliest first */
    ana_launch_sums outside, all;
} ana_ranges;

/* `findings` may be NULL: then without their numbers. */
wl_status ana_range_table(prof_db *profile, const ana_findings *findings, wl_arena *arena,
                          ana_ranges *out, wl_error *err);

/* What a range is called that is opened over and over: "step 12" -> "step *", "aten::add, seq = 7" ->
 * "aten::add"; others are themselves. NULL when memory is exhausted. */
const char *ana_range_name(wl_arena *arena, const char *name);

#endif
