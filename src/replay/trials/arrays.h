/* Trials that lay out a shared array otherwise, so that banks conflict less. */
#ifndef WL_REPLAY_TRIALS_ARRAYS_H
#define WL_REPLAY_TRIALS_ARRAYS_H

#include "replay/trials/trial.h"

enum {
    TRIAL_PITCHES = 4,
    TRIAL_BANKS = 128,        /* bytes of all banks */
    TRIAL_ELSEWHERE = 1 << 30 /* beyond all arrays, in the same banks */
};

/* `array`: its index in the summary; `bytes`: that a lane takes at most. */
typedef wl_status trial_of_array(trial_work *t, uint32_t array, uint32_t bytes);

/* Calls `try` for each array whose banks conflict. */
wl_status trial_each_conflicting(trial_work *t, trial_of_array *try);

/* Lengths of rows that the array of this name seems to have, in bytes, ascending: the distances by
 * which threads and iterations step through it, beyond an element. Returns how many. */
uint32_t trial_pitches(const flow_kernel *k, const char *array, uint32_t element,
                       uint32_t out[TRIAL_PITCHES]);

/* Of all rows; `fewest`: without bank conflicts. */
uint64_t trial_wavefronts(const trial_rows *rows, bool fewest);

/* May the array be so many bytes longer? A block has at most 48 KiB unless the program asks for more;
 * where it does, how much there is depends on the device. */
bool trial_fits_longer(const obs_summary *s, uint64_t more);

/* Rows of moved requests are of no array: says which it was. */
void trial_set_array(trial_rows *rows, uint32_t array);

#endif
