/* What the warps of a launch have in common, and which stand out: the kinds of warps, the warp and
 * the block that stand for most of them, and those that differ, with the reason in words.
 *
 * Everything follows from the steps of warps (base/steps.h), so that there is a row only for
 * launches with sequences. Work grows with the number of kinds, not of warps; docs/comparing-warps.md says how
 * warps are compared and where that is cut short. */
#ifndef WL_ANALYSIS_EXPLORE_EXPLORE_H
#define WL_ANALYSIS_EXPLORE_EXPLORE_H

#include "profile/profile.h"

typedef struct ana_warp_place {
    uint64_t block;    /* linear index */
    uint32_t index[3]; /* the same by x, y, z */
    uint32_t warp;     /* its number in the block */
} ana_warp_place;

ana_warp_place ana_warp_place_of(const uint32_t grid[3], uint64_t block, uint32_t warp);

typedef struct ana_block_name {
    char text[48];
} ana_block_name;

/* "block (3, 2)": with as many numbers as the grid has dimensions. */
ana_block_name ana_block_name_of(const uint32_t grid[3], const ana_warp_place *place);

/* Of one warp. An operation is one instruction that it executed. */
typedef struct ana_warp_counts {
    uint64_t entries;                      /* of basic blocks; 0: its path is not known */
    uint64_t operations, lanes;            /* lanes: active ones, summed over its operations */
    uint64_t requests, sectors;            /* sectors: of global and local memory */
    uint64_t wavefronts, wavefronts_extra; /* of shared memory; those that bank conflicts add */
    uint64_t barriers;                     /* of its block, that it came to */
} ana_warp_counts;

/* Warps of one sequence over the same objects, whose begins there are equal modulo 128 bytes: they
 * cost the same. */
typedef struct ana_warp_kind {
    uint32_t first;    /* the first of them: a row of `warps` */
    uint32_t warps;    /* how many */
    uint32_t sequence; /* from 0: which of the launch's */
    uint32_t cluster;
    ana_warp_counts counts;
    double difference; /* from the warp that its cluster is compared with, 0..1 */
} ana_warp_kind;

/* Kinds that differ alike from the warp that they are compared with. */
typedef struct ana_warp_cluster {
    uint32_t first, warps, kinds; /* first: a row of `warps` */
    ana_warp_place place;         /* of the first */
    double difference;            /* mean over its warps, 0..1 */
    ana_warp_place than;          /* what they are compared with */
    const char *which;            /* "warps 12 to 15 of blocks 0 to 3" */
    const char *why;     /* "leave the loop at haar.cu:31 after 3 of 8 rounds"; "" of the first */
    uint32_t file, line; /* that the reason is about; 0: not known */
    uint64_t least_operations, most_operations; /* of its warps */
} ana_warp_cluster;

typedef struct ana_explore { /* of a launch */
    uint32_t launch, kernel;
    uint64_t blocks;       /* of the launch */
    uint64_t blocks_known; /* that have a warp here */
    uint64_t dropped;      /* warps that found no room */
    bool
        paths; /* the path of each warp is known, so that `operations` are all; else only steps are */
    bool
        cut; /* there were more kinds than are compared: the rest stands with what is nearest by counts */
    uint32_t nwarps;
    prof_warp_rows warps; /* by block, number; this and the next: empty in a table */
    uint32_t *kind_of;    /* of each */
    uint32_t nsequences;
    uint32_t nkinds;
    ana_warp_kind *kinds; /* most warps first, then by first */
    ana_warp_place representative;
    uint32_t representative_row, representative_kind; /* of `warps`, of `kinds` */
    uint32_t nclusters;
    /* The representative's first, then the outliers: most different first. */
    ana_warp_cluster *clusters;
} ana_explore;

/* Of a launch with rows of its own. *out has no warps where it has no sequences. */
wl_status ana_explore_launch(prof_db *profile, uint32_t launch, wl_arena *arena, ana_explore *out,
                             wl_error *err);

typedef struct ana_explore_rows {
    uint32_t count;
    ana_explore *rows; /* by launch */
} ana_explore_rows;

/* Of the launches that have sequences the first ones, `most` at most, and no more of them than take a
 * few seconds. Without the warps themselves. */
wl_status ana_explore_table(prof_db *profile, uint32_t most, wl_arena *arena, ana_explore_rows *out,
                            wl_error *err);

#endif
