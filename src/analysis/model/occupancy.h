/* How many warps of a launch are resident on a multiprocessor at once, and what keeps more out. */
#ifndef WL_ANALYSIS_MODEL_OCCUPANCY_H
#define WL_ANALYSIS_MODEL_OCCUPANCY_H

#include "cuda/device.h"
#include "profile/profile.h"

typedef enum model_limit {
#define X(id, name, words) MODEL_LIMIT_##id,
#include "analysis/model/limits.def"
#undef X
    MODEL_LIMITS
} model_limit;

const char *model_limit_name(model_limit limit);  /* "shared" */
const char *model_limit_words(model_limit limit); /* "shared memory" */

/* The smallest change of what limits that lets more warps in. */
typedef struct model_step {
    model_limit of;
    /* Registers of a thread, bytes of shared memory of a block, threads of a block (THREADS and
     * BLOCKS), blocks of the grid. */
    uint32_t now, wanted;
    uint32_t blocks, warps; /* resident then */
} model_step;

typedef struct model_occupancy {
    uint32_t most;          /* warps that a multiprocessor holds; 0: nothing is known */
    uint32_t blocks, warps; /* resident on the one that has most of the grid's blocks */
    uint32_t used, sms;     /* multiprocessors that have a block; all */
    uint32_t limits;        /* 1 << model_limit, or'ed; 0: as many warps as can be are resident */
    bool estimated;         /* registers are limits, but how many there are is an estimate */
    bool has_step;          /* false where no single change helps */
    model_step step;
} model_occupancy;

cuda_footprint model_footprint_of(const prof_launch *launch);
model_occupancy model_occupancy_of(const cuda_device *device, const prof_launch *launch);

#endif
