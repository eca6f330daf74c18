/* Live ranges of shared arrays in a launch of which some accesses were counted on the device.
 *
 * The slice shows the others, one after the other, so that the observer tells the ranges of an array
 * whose accesses it shows all. Of an array that has both kinds, it is known how often each word was
 * loaded, stored and updated, but not in what order. That suffices where all that was counted of a
 * class does the same to whatever word it is to: begins a range, or not; and where all of it comes
 * after a barrier before which the words have been stored to. */
#ifndef WL_REPLAY_RANGES_H
#define WL_REPLAY_RANGES_H

#include "emu/slice.h"
#include "flow/apart.h"
#include "observe/observe.h"
#include "replay/arrays.h"

typedef struct replay_array {
    const ir_var *var;
    flow_apart apart; /* what was counted on the device, apart from what the slice shows */
} replay_array;

/* Do its ranges follow from counts, if its words were stored to before the barrier? */
static inline bool replay_array_follows(const replay_array *array)
{
    return array->apart.any && array->apart.alike && array->apart.barrier != FLOW_NONE;
}

typedef struct replay_ranges {
    uint32_t count;
    replay_array *arrays;
} replay_ranges;

/* counted[pc]: accesses of the instruction to arrays were counted; idle[pc]: it did not run. WL_NOMEM
 * is the only failure. */
wl_status replay_ranges_find(const replay_arrays *code, const emu_kernel *slice,
                             const bool *counted, const bool *idle, wl_arena *arena,
                             replay_ranges *out);
/* NULL: nothing is known of the array. */
const replay_array *replay_ranges_of(const replay_ranges *ranges, const char *name);

/* What the slice showed of an array, and what was counted, become what is known of its ranges in all
 * blocks. `slice`: NULL where it showed nothing. `launch`: of the slice, with the array as number
 * `index`. False, and *use as it was: they are not known. */
bool replay_ranges_join(const replay_array *array, const obs_use *slice, const wl_spans *counted,
                        const obs_launch *launch, uint32_t index, obs_use *use);

#endif
