/* Which warps of a launch stand out by the paths that they took, where these are known by their hashes
 * only (the probe path, docs/probes.md): by how many instructions they ran. */
#ifndef WL_ANALYSIS_EXPLORE_HASHED_H
#define WL_ANALYSIS_EXPLORE_HASHED_H

#include "analysis/explore/explore.h"

typedef struct ana_hashed_outlier {
    obs_path path;
    double times;         /* its instructions to those of the representative */
    double difference;    /* 0..1: the part of the longer one's instructions that the other lacks */
    uint64_t blocks;      /* that have a warp which took it */
    ana_warp_place place; /* of the first of them */
    const char *which;    /* "warp 1 of block 5", "3 warps of 2 blocks" */
    const char *why;      /* "ran 3.2 times as many instructions" */
} ana_hashed_outlier;

typedef struct ana_hashed { /* of a launch */
    uint32_t launch, kernel;
    uint64_t warps, known;         /* of the launch; whose path is known */
    uint64_t blocks, blocks_known; /* likewise; those that have such a warp */
    uint32_t warps_of_block;
    uint32_t grid[3];
    uint32_t npaths;
    /* Of the warp in the middle of all, by instructions; of equal ones the path that more took. */
    obs_path representative;
    ana_warp_place place; /* of the first that took it */
    uint32_t
        noutliers; /* that ran half as much again, or less than two thirds; most different first */
    ana_hashed_outlier *outliers;
} ana_hashed;

typedef struct ana_hashed_rows {
    uint32_t count;
    ana_hashed *rows; /* by launch */
} ana_hashed_rows;

/* Of a launch with rows of its own, with its paths and who took them; out->npaths is 0 where nothing is
 * known of them. */
wl_status ana_hashed_launch(prof_db *profile, const prof_launch *launch, wl_arena *arena,
                            ana_hashed *out, prof_path_rows *paths, prof_path_run_rows *runs,
                            wl_error *err);

/* Of launches with rows of their own that have paths, the first `most`. */
wl_status ana_hashed_table(prof_db *profile, uint32_t most, wl_arena *arena, ana_hashed_rows *out,
                           wl_error *err);

#endif
