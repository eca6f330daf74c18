/* Which bytes the threads of a block may access by an instruction, as its form tells, and whether
 * those of two instructions can meet.
 *
 * A form is a sum: what the thread's index says, what iterations add, and what is the same for all
 * threads of the block while the kernel runs (parameters, the block's index). Of the last it is enough that two
 * forms have the same. Iterations are taken to be any, in one form independent of those in the other. Which
 * threads access at all is told beside (crowd.h). Internal to the folder. */
#ifndef WL_ANALYSIS_SHARED_FOOTPRINT_H
#define WL_ANALYSIS_SHARED_FOOTPRINT_H

#include "analysis/shared/crowd.h"
#include "profile/profile.h"

/* What two accesses need between them, so that one comes after the other. */
typedef enum footprint_order {
    FOOTPRINT_APART, /* no thread meets another */
    FOOTPRINT_WARPS, /* only lanes of one warp meet */
    FOOTPRINT_BLOCK  /* others may */
} footprint_order;

typedef struct footprint {
    bool known;       /* else of the rest only `base` may be */
    const char *base; /* the variable in the form, "&tile"; NULL: none */
    uint32_t base_length;
    uint64_t same;               /* stands for the sum of what is the same for all threads */
    int64_t thread[3], constant; /* bytes */
    uint64_t step; /* iterations move it by any multiple of so many bytes; 0: they do not */
    uint32_t bytes;
} footprint;

/* For blocks of so many threads; `form` may be NULL. */
footprint footprint_of(const prof_form *form, const uint32_t block[3]);

bool footprint_same_base(const footprint *a, const footprint *b);

/* Is the distance between the two addresses known, whatever the launch is? */
bool footprint_comparable(const footprint *a, const footprint *b);

/* Of two that are comparable, by these threads of a block of 1024 at most. */
footprint_order footprint_meet(const footprint *a, const crowd *by_a, const footprint *b,
                               const crowd *by_b, const uint32_t block[3]);
/* Of accesses by these threads that may be anywhere. */
footprint_order footprint_meet_anywhere(const crowd *a, const crowd *b);

#endif
