/* Which warps of a launch stand out by the paths that they took, where these are known by their hashes
 * only (the probe path, docs/probes.md): by how many instructions they ran. */
#ifndef WL_ANALYSIS_EXPLORE_HASHED_H
#define WL_ANALYSIS_EXPLORE_HASHED_H

#include "profile/profile.h"

typedef struct ana_hashed_outlier {
    obs_path path;
    double times;    /* its instructions to those of the representative */
    uint64_t blocks; /* that have a warp which took it */
} ana_hashed_outlier;

typedef struct ana_hashed { /* of a launch */
    uint32_t launch, kernel;
    uint64_t warps, known; /* of the launch; whose path is known */
    uint32_t warps_of_block;
    uint32_t npaths;
    /* Of the warp in the middle of all, by instructions; of equal ones the path that more took. */
    obs_path representative;
    uint32_t
        noutliers; /* that ran half as much again, or less than two thirds; most different first */
    ana_hashed_outlier *outliers;
} ana_hashed;

typedef struct ana_hashed_rows {
    uint32_t count;
    ana_hashed *rows; /* by launch */
} ana_hashed_rows;

/* Of launches with rows of their own that have paths, the first `most`. */
wl_status ana_hashed_table(prof_db *profile, uint32_t most, wl_arena *arena, ana_hashed_rows *out,
                           wl_error *err);

#endif
