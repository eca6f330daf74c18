/* What all trials share: a launch at hand, and runs of it with a change. */
#ifndef WL_REPLAY_TRIALS_TRIAL_H
#define WL_REPLAY_TRIALS_TRIAL_H

#include "flow/kernel.h"
#include "replay/trials/trials.h"
#include "replay/trials/view.h"

enum { TRIAL_MOST = 64 }; /* that are kept of a launch */

typedef struct trial_rows {
    obs_insn *rows;
    uint32_t count;  /* 0: the run came to no end */
    uint64_t blocks; /* that were run */
} trial_rows;

typedef struct trial_run { /* one change; all 0: none */
    bool transposed;
    emu_dim grid, block;    /* block {0, 0, 0}: the launch's */
    const trial_view *view; /* NULL: requests count as they are */
} trial_run;

typedef struct trial_work {
    const replay_tried *launch;
    wl_arena *arena;
    uint32_t count;
    obs_trial *rows; /* what was found so far */
    double seconds;  /* that a run may take */
    uint64_t freed;  /* bytes of shared memory that an array gives back, which is left out */
    bool few;        /* few blocks are run, however soon all were done */
    trial_rows base; /* without a change; empty until it is asked for */
    const flow_kernel *flow; /* NULL until it is asked for */
} trial_work;

/* What a run of all blocks may take; else few are run. */
extern const double trial_most_seconds;

/* Fill in `base`, and `flow`. */
wl_status trial_run_base(trial_work *t);
wl_status trial_analyse(trial_work *t);

/* Runs the blocks that `base` has, changed. No rows where the run came to no end. */
wl_status trial_run_changed(const trial_work *t, const trial_run *what, trial_rows *out);

/* Notes what was found; nothing where a side has no rows. */
void trial_add(trial_work *t, obs_trial trial, const trial_rows *before, const trial_rows *after);

/* Of the rows of `base` those on one array (ACC_SHARED) or object (ACC_GLOBAL). */
wl_status trial_rows_of(const trial_work *t, acc_space space, uint32_t object, trial_rows *out);

uint64_t trial_sectors(const trial_rows *rows);

/* ---- kinds of changes ---- */

/* May the change save anything? WL_NOMEM is the only failure of trying it. */
typedef bool trial_question(const obs_summary *s);
typedef wl_status trial_maker(trial_work *t);

trial_maker trial_transposed, trial_widened, trial_padded, trial_spread, trial_moved, trial_split,
    trial_regridded, trial_staged, trial_combined, trial_private, trial_direct, trial_swizzled,
    trial_kept, trial_exchanged;
trial_question trial_wastes_sectors, trial_has_conflicts, trial_has_misaligned, trial_has_records,
    trial_has_few_blocks, trial_has_loads, trial_has_common_updates, trial_has_scattered_updates,
    trial_has_shared_loads, trial_has_changes;

#endif
