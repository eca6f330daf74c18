/* Which warps of a launch are alike: kinds, classes of kinds that differ in nothing that is compared,
 * and the warp and the block that stand for most. */
#ifndef WL_ANALYSIS_EXPLORE_KINDS_H
#define WL_ANALYSIS_EXPLORE_KINDS_H

#include "analysis/explore/path.h"

typedef struct explore_class { /* of kinds */
    uint64_t like;             /* explore_path's */
    uint32_t first;            /* the first warp, a row */
    uint32_t warps;
    ana_warp_counts counts; /* of each warp */
} explore_class;

typedef struct explore_classes {
    uint32_t count;
    explore_class *rows;
    uint32_t *of_kind;    /* by kind */
    uint32_t block, warp; /* rows: the first warp of the representative block; the representative */
} explore_classes;

/* Fills `kinds`, `kind_of` and `nsequences` of what has `warps`, and the classes; in the arena. False
 * when memory is exhausted. */
bool explore_find_kinds(const explore_facts *facts, wl_arena *arena, ana_explore *e,
                        explore_classes *out);

/* The class of the row of `warps`. */
static inline uint32_t explore_class_of(const ana_explore *e, const explore_classes *classes,
                                        uint32_t row)
{
    return classes->of_kind[e->kind_of[row]];
}

#endif
