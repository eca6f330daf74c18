/* Joins the emulator's observer to src/observe, for runs of whole kernels and of slices: the one
 * way to a launch summary. */
#ifndef WL_REPLAY_WATCH_H
#define WL_REPLAY_WATCH_H

#include "base/arena.h"
#include "emu/slice.h"
#include "observe/observe.h"
#include "replay/followed.h"
#include "replay/ranges.h"
#include "replay/renumbered.h"
#include "replay/settings.h"

typedef struct replay_watched { /* what is watched */
    const replay_settings *settings;
    emu_machine *machine;
    emu_kernel *kernel; /* whole, or a slice */
    emu_dim grid, block;
    uint32_t dynamic_shared;
    emu_dim cluster; /* {0, 0, 0}: none */
    bool cooperative;
    /* Blocks that get heat maps in place of those that the settings say; linear indices,
     * ascending. NULL: the settings. */
    const uint64_t *blocks;
    uint32_t nblocks;
    bool unmapped;   /* no block gets a heat map, whatever the settings say */
    bool incomplete; /* some accesses are not shown, or in another order: no sequences are kept,
                        nor is it told how soon sectors are used again */
    bool
        traced_steps; /* sequences are kept all the same, of `blocks` alone: theirs are whole, and in
                          order */
    /* Whose counts by element are asked for besides those that the settings name: bits. */
    uint32_t probes;
    /* Of the kernel; NULL: of live ranges nothing is told. */
    const flow_fills *fills;
    /* Of arrays of which some accesses are not shown; NULL: there are none. */
    const replay_ranges *ranges;
    /* Of the kernel; NULL: its warps' paths are not asked for. */
    const rewrite_path *path;
    /* What the kernel was lifted from; NULL: it is PTX. The summary then has the machine's numbers and
     * basic blocks, and no accesses to constant banks, which are operands there. */
    const sass_body *lifted;
} replay_watched;

typedef struct replay_watch {
    wl_arena *arena; /* owns the summary */
    obs_launch *launch;
    emu_kernel *kernel;
    const flow_proof *proof;   /* of a slice, else NULL */
    replay_followed *followed; /* NULL: paths are not told */
    const sass_body *lifted;
    replay_renumbered *renumbered; /* with `lifted` */
    acc_observer
        observer; /* for emu_launch; several runs of one launch may use it, one after another */
    uint32_t nsampled; /* blocks that the settings name for a heat map: linear indices, ascending */
    const uint64_t *sampled; /* in `arena` */
} replay_watch;

/* Blocks get heat maps, and elements are counted, as the settings say (replay/sampling.h). */
wl_status replay_watch_begin(const replay_watched *what, const flow_proof *proof,
                             replay_watch *out);
/* The summary, with the execution counts of `result`. Of a slice those that follow from the
 * launch alone: basic blocks after unknown branches are left out, and the totals and the mix
 * are without them. */
wl_status replay_watch_finish(replay_watch *watch, const emu_result *result, obs_summary *out);
void replay_watch_end(replay_watch *watch); /* frees the summary, too */

#endif
