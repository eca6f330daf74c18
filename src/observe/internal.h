/* What observe.c and finish.c share. */
#ifndef WL_OBSERVE_INTERNAL_H
#define WL_OBSERVE_INTERNAL_H

#include "observe/choice.h"
#include "observe/filled.h"
#include "observe/heat.h"
#include "observe/reuse.h"
#include "observe/rows.h"
#include "observe/sequences.h"
#include "observe/uses.h"

#include <pthread.h>

struct obs_block {
    struct obs_block *next,
        *previous; /* of the worker's live blocks; next also links the spare ones */
    obs_worker *worker;
    uint64_t index;
    obs_heat_block *heat; /* NULL where the block has no map (yet) */
    bool asked;           /* for its map */
    bool logging;
    uint64_t number;                          /* of its log, from 1 */
    obs_log log;                              /* of a block that may be chosen */
    obs_walks *walks;                         /* NULL: what its warps do is not kept as it comes */
    uint64_t instructions, requests, sectors; /* requests that move sectors */
    obs_frame *frame;                         /* NULL: it has accessed no element that is counted */
    uint64_t passed; /* bits: barriers of config.filled that it has passed */
};

struct obs_worker {
    struct obs_worker *next;
    obs_launch *launch;
    obs_row **rows; /* by pc, the last used first */
    obs_block *live, *spare;
    obs_heats heats;
    obs_reuses reuses;
    obs_choice choice;
    obs_log spare_log;
    uint64_t nlogs;
    wl_vec(obs_sample) asked;
    obs_walks *spare_walks;
    obs_uses uses;
    obs_filled filled;
    uint64_t blocks_observed, dropped;
};

struct obs_launch {
    obs_config config; /* arrays are our own copies */
    obs_shared *shared;
    uint64_t *sampled;
    pthread_mutex_t lock; /* guards workers and commons */
    obs_worker *workers;
    obs_use_common *commons;         /* of large objects */
    uint64_t use_bytes, stamp_bytes; /* that counting has taken, by all workers; atomic */
    obs_read_plan reads;
    obs_sequences *sequences; /* NULL: none are kept */
};

/* A map of the block without its rows. */
obs_heat obs_heat_head(const obs_launch *launch, uint64_t block);
/* The array of shared memory that holds the offset: the first in the list that does, and 0 for all
 * others. */
uint32_t obs_array_at(const obs_config *config, uint64_t offset);
/* The offsets around `offset` that belong to the same array as it. */
void obs_array_range(const obs_config *config, uint64_t offset, uint64_t *low, uint64_t *high);
/* What the order of a block's accesses tells goes to the worker's: distances between uses, and the
 * steps of its warps. `log`: NULL where it is not complete. */
void obs_worker_add_order(obs_worker *worker, uint64_t block, const obs_log *log);
/* Ends the blocks of which no end came (a faulting launch). */
void obs_worker_end_blocks(obs_worker *worker);

#endif
