/* Trials: what a launch would have done with a change of its kernel, counted by running its slice
 * again with that change.
 *
 * Only changes are tried that may save something. What cannot be tried, since its accesses do not
 * all follow from the launch, has no trials. Each kind of change (obs_trial_kind) is a file of this
 * folder and a row of the table in trials.c. */
#ifndef WL_REPLAY_TRIALS_TRIALS_H
#define WL_REPLAY_TRIALS_TRIALS_H

#include "replay/facts.h"
#include "replay/memo.h"
#include "replay/run.h"

typedef struct replay_tried { /* a launch that is known */
    const replay_facts *facts;
    const replay_settings *settings;
    replay_run run; /* as the launch was; `sampled` and `seconds` are not looked at */
    const obs_summary *summary;
    uint32_t multiprocessors; /* of the device; 0: not known */
    replay_find_object find;  /* the objects that it accesses */
    void *world;              /* find's */
} replay_tried;

/* Whether what the launch did leaves anything for a trial to save. */
bool replay_is_worth_trying(const obs_summary *summary);

/* All lies in `arena`. WL_NOMEM is the only failure: a trial that comes to no end in time, or that
 * `go_on` stops, is left out. */
wl_status replay_try(const replay_tried *launch, wl_arena *arena, uint32_t *count, obs_trial **out);

#endif
