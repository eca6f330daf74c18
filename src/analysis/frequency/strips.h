/* Where in an object the accesses of a kernel go. */
#ifndef WL_ANALYSIS_FREQUENCY_STRIPS_H
#define WL_ANALYSIS_FREQUENCY_STRIPS_H

#include "analysis/finding.h"

enum { ANA_STRIP_BINS = 256 };

typedef struct ana_strip_bin { /* elements side by side */
    uint64_t touched, accesses;
} ana_strip_bin;

typedef struct ana_strip { /* of an object in a launch of a kernel: the one that accesses it most */
    uint32_t object, kernel, launch;
    bool measured; /* else only what was touched is known: `frequency` and accesses are 0 */
    ana_frequency frequency;
    uint64_t elements, width; /* width: elements of a bin */
    uint32_t nbins;           /* ANA_STRIP_BINS at most; the last may be shorter */
    ana_strip_bin *bins;
} ana_strip;

typedef struct ana_strips {
    uint32_t count;
    ana_strip *rows; /* by object, kernel */
} ana_strips;

wl_status ana_strip_table(prof_db *profile, wl_arena *arena, ana_strips *out, wl_error *err);

#endif
