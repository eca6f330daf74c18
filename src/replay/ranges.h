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
#include "rewrite/layout.h"

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

/* What becomes known of the array's ranges, in all blocks, to *use, which has its elements. False, and
 * *use as it was: nothing.
 *
 * From what the slice showed (`slice`: NULL where that is nothing) and what was counted of each word.
 * `launch`: of the slice, with the array as number `index`. */
bool replay_ranges_follow(const replay_array *array, const obs_use *slice, const wl_spans *counted,
                          const obs_launch *launch, uint32_t index, obs_use *use);
/* From what the kernel told of the array of that name. */
bool replay_ranges_read(const rewrite_copy *copy, const char *name, obs_use *use);

#endif
