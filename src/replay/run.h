/* Runs a launch's slice over as many blocks as the time allows. */
#ifndef WL_REPLAY_RUN_H
#define WL_REPLAY_RUN_H

#include "replay/watch.h"

typedef struct replay_run {
    emu_machine *machine;
    emu_kernel *slice;
    emu_launch launch;       /* without `only` and the observer */
    const uint64_t *sampled; /* blocks that must be run; linear indices, ascending */
    uint32_t nsampled;
    double seconds; /* that it may take; 0: no limit */
    double end;     /* wl_seconds() when it is stopped, whatever it has; 0: never */
    bool (*go_on)(void *ctx);
    void *ctx;
} replay_run;

/* All blocks where they fit into the time, judged by the first; else some at equal distances,
 * among them the sampled ones. `result` has the sums of all runs and must be cleared with
 * emu_result_clear. *share is the part of the blocks that was run, 1 for all. WL_FAULT and
 * WL_LIMIT (go_on said no, or the end has come) with a text in err. */
wl_status replay_run_blocks(const replay_run *run, const acc_observer *observer, emu_result *result,
                            double *share, wl_error *err);

/* Scales the counts of a part of the blocks to all. Heat maps stay as they are, and so do the
 * rows of instructions in `recorded` (by pc; NULL: none). */
void replay_scale(obs_summary *summary, double share, uint64_t blocks, const uint8_t *recorded);
void replay_scale_row(obs_insn *row, double share);

#endif
