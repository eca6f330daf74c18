/* The heat maps of one sampled block while it runs. */
#ifndef WL_OBSERVE_HEAT_H
#define WL_OBSERVE_HEAT_H

#include "base/vec.h"
#include "observe/cost.h"

typedef struct obs_heat_block obs_heat_block;
typedef wl_vec(obs_heat) obs_heats; /* rows and pcsets on the heap, see obs_heat_clear */

obs_heat_block *obs_heat_begin(uint64_t limit); /* NULL when memory is exhausted */
/* A request on one object; `run` describes its lanes or is NULL. False when memory is exhausted:
 * the request is missing from the map, at least in part. Local memory has no map. */
bool obs_heat_record(obs_heat_block *heat, const acc_request *access, const obs_run *run);
/* Appends the block's maps to `out`, with block, index and warps of `about`. False when memory is
 * exhausted. */
bool obs_heat_end(obs_heat_block *heat, const obs_heat *about, obs_heats *out);
void obs_heat_free(obs_heat_block *heat); /* NULL is allowed */

void obs_heat_clear(obs_heat *heat);

#endif
