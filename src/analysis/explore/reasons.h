/* How much a warp differs from another, and why, in words. */
#ifndef WL_ANALYSIS_EXPLORE_REASONS_H
#define WL_ANALYSIS_EXPLORE_REASONS_H

#include "analysis/explore/difference.h"

typedef enum explore_why {
#define X(id, many, one, tail) EXPLORE_##id,
#include "analysis/explore/reasons.def"
#undef X
    EXPLORE_WHYS
} explore_why;

typedef struct explore_reason {
    explore_why why;
    uint32_t pc, object;          /* where; object: 0: none, or unknown */
    double least, most;           /* of the warp, or of several */
    double than_least, than_most; /* of what it is compared with, likewise */
    double weight;                /* its part of the sum of differences */
} explore_reason;

typedef struct explore_comparison {
    double difference;         /* mean over the operations of both, 0..1 */
    uint32_t nreasons;         /* 0: they are alike */
    explore_reason reasons[2]; /* the weightier first */
} explore_comparison;

typedef struct explore_spot explore_spot;

typedef struct explore_comparer { /* all zero but for `facts`: new */
    const explore_facts *facts;
    uint32_t nspots;
    explore_spot *spots; /* by instruction */
    explore_runs runs;
    uint64_t work; /* visits, and pairs of operations, that were looked at for all comparisons */
} explore_comparer;

/* Compares warp `a` with `b`. False when memory is exhausted. */
bool explore_compare(explore_comparer *c, const explore_path *a, const explore_path *b,
                     uint32_t most, explore_comparison *out);
void explore_comparer_free(explore_comparer *c);

#endif
