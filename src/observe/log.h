/* The accesses of one block in the order in which they came, kept until it is known whether the
 * block gets a heat map: adding one costs a fraction of what the map would (bench/observe). What
 * its warps did, step by step, is made from the log where that is not kept of all blocks (steps.h). */
#ifndef WL_OBSERVE_LOG_H
#define WL_OBSERVE_LOG_H

#include "observe/heat.h"

typedef struct obs_log { /* all zero: empty */
    uint8_t *data;
    size_t used, capacity;
    size_t local; /* of `used`: accesses to local memory, which no map needs */
    bool partial; /* some of these are missing */
} obs_log;

/* Where a log has the distances between the lanes that an instruction repeats. */
typedef struct obs_log_place {
    uint64_t log; /* whose; 0: none */
    uint32_t at;
} obs_log_place;

/* Appends a request on one object; `run` describes its lanes or is NULL. `place` (may be NULL)
 * belongs to a pattern of distances that the request repeats: the log with this `number` holds them
 * once. False where the log would exceed `limit` bytes, of local memory or of all others, or memory
 * is exhausted; then it misses the request. */
bool obs_log_add(obs_log *log, size_t limit, const acc_request *access, const obs_run *run,
                 uint64_t number, obs_log_place *place);
/* Appends that a barrier of the block was met; false as above. */
bool obs_log_add_barrier(obs_log *log, size_t limit, uint32_t pc);
/* Records all of it in the heat maps. False when memory is exhausted. */
bool obs_log_play(const obs_log *log, obs_heat_block *heat);
/* Goes through the log: the request at byte `*at`, from 0, and then the next. `addr` has room for
 * the addresses of OBS_LANES lanes; the request refers to it. A barrier is a request without lanes. False at the end. */
bool obs_log_next(const obs_log *log, size_t *at, acc_request *request, uint64_t *addr);
/* Empties it and keeps its memory. */
void obs_log_clear(obs_log *log);
void obs_log_free(obs_log *log);

#endif
