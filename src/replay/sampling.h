/* Which launches, and which blocks of them, get heat maps, and whether elements are counted, as the settings say. */
#ifndef WL_REPLAY_SAMPLING_H
#define WL_REPLAY_SAMPLING_H

#include "base/arena.h"
#include "emu/emu.h"
#include "observe/observe.h"
#include "replay/settings.h"

/* What tells launches of one kernel apart when those with heat maps are chosen. */
typedef struct replay_shape {
    emu_dim grid, block, cluster;
    uint32_t dynamic_shared;
} replay_shape;

/* How many launches of one kernel each shape had; NULL at first. */
typedef struct replay_shapes replay_shapes;

/* Counts a launch. True where it is among those of its shape that get heat maps, or where there is
 * no memory to count it. */
bool replay_shape_mapped(replay_shapes **shapes, const replay_shape *shape,
                         const replay_settings *settings);
/* Counts a launch. True where it is the first of its shape, or where there is no memory to count it. */
bool replay_shape_is_new(replay_shapes **shapes, const replay_shape *shape);
void replay_shapes_free(replay_shapes *shapes); /* NULL is allowed */

/* Fills in sampled, nsampled (in `arena`), automatic and the limits. `together`:
 * blocks that are in flight at one time, so that what is kept of each stays in bounds. False
 * when memory is exhausted. */
bool replay_sampling(const replay_settings *settings, wl_arena *arena, emu_dim grid,
                     uint64_t together, obs_config *config);

/* Bytes of the steps of a block while it runs, of so many that must run together. */
uint64_t replay_step_limit(uint64_t together);

/* Fills in what is to be known of elements: what these probes (bits) count. */
void replay_counting(uint32_t probes, obs_config *config);

#endif
