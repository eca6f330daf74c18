/* What observe.c and finish.c share. */
#ifndef WL_OBSERVE_INTERNAL_H
#define WL_OBSERVE_INTERNAL_H

#include "observe/choice.h"
#include "observe/heat.h"
#include "observe/rows.h"

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
    uint64_t instructions, requests, sectors; /* requests that move sectors */
};

struct obs_worker {
    struct obs_worker *next;
    obs_launch *launch;
    obs_row **rows; /* by pc, the last used first */
    obs_block *live, *spare;
    obs_heats heats;
    obs_choice choice;
    obs_log spare_log;
    uint64_t nlogs;
    wl_vec(obs_sample) asked;
    uint64_t blocks_observed, dropped;
};

struct obs_launch {
    obs_config config; /* arrays are our own copies */
    obs_shared *shared;
    uint64_t *sampled;
    pthread_mutex_t lock; /* guards workers */
    obs_worker *workers;
};

/* A map of the block without its rows. */
obs_heat obs_heat_head(const obs_launch *launch, uint64_t block);
/* Ends the blocks of which no end came (a faulting launch). */
void obs_worker_end_blocks(obs_worker *worker);

#endif
