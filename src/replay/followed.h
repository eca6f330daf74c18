/* Paths of warps (the probe path, docs/probes.md): from the basic blocks that an emulator shows, and
 * what a launch is told by. */
#ifndef WL_REPLAY_FOLLOWED_H
#define WL_REPLAY_FOLLOWED_H

#include "access/access.h"
#include "observe/summary.h"
#include "rewrite/path/lanes.h"

/* How a kernel's threads hash their paths: found once a kernel. */
typedef struct replay_path { /* all zero at first; belongs to whoever has the kernel */
    bool tried;
    wl_arena *arena;
    rewrite_path found;
} replay_path;

/* NULL where memory is exhausted, or its paths cannot be told, or are all the same. */
const rewrite_path *replay_path_of(replay_path *path, const ir_module *module,
                                   const ir_func *kernel);
void replay_path_clear(replay_path *path);

/* Follows the warps of a launch of so many blocks. NULL: there is no memory for them. `path` must
 * live as long. */
typedef struct replay_followed replay_followed;
replay_followed *replay_followed_new(const rewrite_path *path, uint64_t blocks,
                                     uint32_t warps_of_block);
void replay_followed_free(replay_followed *followed); /* NULL is allowed */
/* An observer that gives `inner` all that it is given. Its blocks are not those of `inner`. */
acc_observer replay_followed_observer(replay_followed *followed, const acc_observer *inner);
/* Fills the summary's paths. Warps that did not end are not known. */
wl_status replay_followed_finish(const replay_followed *followed, wl_arena *arena,
                                 obs_summary *summary);

/* The summary's paths, of warps in the grid's order; one whose instructions are 0 is not known. */
wl_status replay_fold_paths(const rewrite_warp_path *warps, uint64_t count, wl_arena *arena,
                            obs_summary *summary);

#endif
