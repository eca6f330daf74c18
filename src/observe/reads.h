/* Which stores to shared memory update what they overwrite: the loads that a stored value may depend
 * on (flow/fills.h), and which words these read in a block, while a launch runs. */
#ifndef WL_OBSERVE_READS_H
#define WL_OBSERVE_READS_H

#include "observe/observe.h"

typedef struct obs_read_plan { /* all zero: nothing is kept of any load */
    const flow_fills *fills;
    uint32_t npcs, nloads; /* loads that a stored value may depend on */
    uint32_t *load_of;     /* [npcs] their numbers, or FLOW_NONE */
    uint8_t *keep;         /* [npcs] what of their executions matters: bits */
} obs_read_plan;

/* `fills`: of the kernel, NULL where they are not known. False when memory is exhausted. */
bool obs_read_plan_make(const flow_fills *fills, uint32_t ncode, obs_read_plan *out);
void obs_read_plan_free(obs_read_plan *plan);
/* What the instruction writes to shared memory; NULL where nobody knows of it. */
const flow_fill *obs_fill_of(const obs_read_plan *plan, uint32_t pc);

typedef struct obs_reads obs_reads; /* of a block in flight */

/* NULL when memory is exhausted. `warps`: of a block. */
obs_reads *obs_reads_new(const obs_read_plan *plan, uint32_t warps);
void obs_reads_free(obs_reads *reads);  /* NULL is allowed */
void obs_reads_clear(obs_reads *reads); /* for the next block */

/* A load or an atomic of the block in shared memory. False when memory is exhausted. */
bool obs_reads_keep(obs_reads *reads, const acc_request *access);
/* Lanes whose store to their `index`-th word depends on a read of that word. */
uint32_t obs_reads_update(const obs_reads *reads, const flow_fill *fill, const acc_request *access,
                          uint32_t index);

#endif
