/* Trials that lay out one object otherwise. */
#ifndef WL_REPLAY_TRIALS_OBJECTS_H
#define WL_REPLAY_TRIALS_OBJECTS_H

#include "replay/trials/forms.h"

typedef struct trial_object {
    emu_alloc alloc;
    trial_rows rows; /* of `base`: what the launch does to it */
    trial_forms forms;
} trial_object;

/* Does the row cost what the trial may save? */
typedef bool trial_pays(const obs_insn *row);
typedef wl_status trial_of_object(trial_work *t, const trial_object *o);
/* Where the bytes of an access to the object lie then. */
typedef uint64_t trial_move(const void *how, uint64_t address);

bool trial_any_pays(const obs_summary *s, trial_pays *pays);

/* Calls `try` for each object of which a row pays, and whose instructions access nothing else. */
wl_status trial_each_object(trial_work *t, trial_pays *pays, trial_of_object *try);

/* The same, for trials that a few of the launch's blocks suffice for, and that move what the launch
 * does to an object to another time: where it does nothing to unknown memory but load from it. */
wl_status trial_each_of_few(trial_work *t, trial_pays *pays, trial_of_object *try);

/* What the launch would do to the object, its bytes moved; no rows unless it saves sectors. */
wl_status trial_move_object(const trial_work *t, const trial_object *o, trial_move *move,
                            const void *how, trial_rows *out);

/* Do lanes run along memory, but a quarter of the requests or more from off a sector's boundary? */
bool trial_is_misaligned(const obs_insn *row);

#endif
