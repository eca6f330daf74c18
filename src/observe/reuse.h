/* How soon a block comes back to what it accessed in global memory, made from the block's log. */
#ifndef WL_OBSERVE_REUSE_H
#define WL_OBSERVE_REUSE_H

#include "base/vec.h"
#include "observe/log.h"

typedef wl_vec(obs_reuse) obs_reuses;

/* Appends the rows of the block, which ascend by object and distance; summary.h says what they
 * count. The warps of the block are taken to run in turn, a burst of requests each (reuse.c): the log has
 * them in the order in which the emulator ran them, which no GPU does. Atomics do not go through L1 and are
 * left out. Of a long log some lines are followed, by a hash of their places in the objects, as many
 * as it takes: counts and distances are then estimates, and bursts are counted that loaded any of these
 * lines, by the farthest of them. False (and nothing
 * appended) when memory is exhausted. */
bool obs_reuse_of(uint64_t block, const obs_log *log, obs_reuses *out);

#endif
