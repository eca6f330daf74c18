/* What each lane of each warp did, of a slice against the whole kernel: where data decides some of
 * it, sequences cannot be compared as they are. */
#ifndef WL_REPLAY_PATHS_H
#define WL_REPLAY_PATHS_H

#include "base/error.h"
#include "emu/slice.h"
#include "observe/summary.h"

typedef struct replay_paths_differ {
    bool any;
    uint64_t block;
    uint32_t warp, lane; /* the first that differ */
} replay_paths_differ;

/* Warps that both summaries have: each lane's entries of the basic blocks that the slice counts,
 * and its accesses that the slice shows, one after another and where they lie. Lanes that have
 * parted may come in another order. WL_NOMEM. */
wl_status replay_compare_paths(const emu_kernel *slice, const obs_summary *a, const obs_summary *b,
                               replay_paths_differ *out);

#endif
