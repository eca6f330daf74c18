/* What observe.c and finish.c share. */
#ifndef WL_OBSERVE_INTERNAL_H
#define WL_OBSERVE_INTERNAL_H

#include "observe/heat.h"
#include "observe/rows.h"

#include <pthread.h>

struct obs_block {
    struct obs_block *next,
        *previous; /* of the worker's live blocks; next also links the spare ones */
    obs_worker *worker;
    uint64_t index;
    obs_heat_block *heat; /* NULL where the block is not sampled */
};

struct obs_worker {
    struct obs_worker *next;
    obs_launch *launch;
    obs_row **rows; /* by pc, the last used first */
    obs_block *live, *spare;
    obs_heats heats;
    uint64_t blocks_observed, blocks_sampled, dropped;
};

struct obs_launch {
    obs_config config; /* arrays are our own copies */
    obs_shared *shared;
    uint64_t *sampled;
    pthread_mutex_t lock; /* guards workers */
    obs_worker *workers;
};

/* Ends the blocks of which no end came (a faulting launch). */
void obs_worker_end_blocks(obs_worker *worker);

#endif
