/* Which blocks of a launch get heat maps, and whether elements are counted, as the settings say. */
#ifndef WL_REPLAY_SAMPLING_H
#define WL_REPLAY_SAMPLING_H

#include "base/arena.h"
#include "emu/emu.h"
#include "observe/observe.h"
#include "replay/settings.h"

/* Fills in sampled, nsampled (in `arena`), automatic and the limits. `together`:
 * blocks that are in flight at one time, so that what is kept of each stays in bounds. False
 * when memory is exhausted. */
bool replay_sampling(const replay_settings *settings, wl_arena *arena, emu_dim grid,
                     uint64_t together, obs_config *config);

/* Fills in what is to be known of elements: what these probes (bits) count. */
void replay_counting(uint32_t probes, obs_config *config);

#endif
