/* What the warps of a block did, step by step, made from the block's log. A step is a request on
 * one object, or none: a barrier of the block was met. A warp's steps come in the order in which it
 * took them, and all warps have the same barriers among them. */
#ifndef WL_OBSERVE_STEPS_H
#define WL_OBSERVE_STEPS_H

#include "base/arena.h"
#include "base/vec.h"
#include "observe/log.h"
#include "observe/observe.h"

typedef struct obs_steps { /* of one warp */
    bool known;            /* else there was no room for them: the rest is 0 */
    uint32_t nslots;
    obs_step_object *slots; /* what it accessed, in the order of the first accesses */
    int64_t *begins;        /* [nslots]: of the first access to each, from the object's begin */
    uint32_t npages;
    obs_page *pages;
} obs_steps;

typedef struct obs_block_steps {
    uint64_t block; /* linear index */
    uint32_t nwarps;
    obs_steps *warps; /* by their number in the block */
} obs_block_steps;

typedef wl_vec(obs_block_steps) obs_steps_list;

/* `log`: NULL where nothing of the block is known. Everything lies in `arena`. Offsets are taken
 * from the begin of what config->range_at knows; of what it does not know (any more) they are
 * addresses, and the object is 0. False when memory is exhausted. */
bool obs_steps_of(const obs_config *config, uint64_t block, const obs_log *log, wl_arena *arena,
                  obs_block_steps *out);

/* Keeps equal steps once, over all blocks, and puts warps that took the same over the same objects
 * together, as far as config->sequence_limit has room. The blocks come to be sorted. */
wl_status obs_sequences_of(const obs_config *config, obs_steps_list *blocks, wl_arena *arena,
                           obs_summary *out);

#endif
