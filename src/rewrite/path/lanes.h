/* Paths of warps, worked out from the basic blocks that their lanes begin: the same hashes and
 * counts as the probe path leaves. */
#ifndef WL_REWRITE_PATH_LANES_H
#define WL_REWRITE_PATH_LANES_H

#include "rewrite/layout.h"

/* How the kernel's threads hash their paths, whether it is to be rewritten or not. In `arena`. A path
 * without steps: it cannot be told, or all threads have one. */
wl_status rewrite_path_of(const ir_module *module, const ir_func *kernel, wl_arena *arena,
                          rewrite_path *out);

/* A warp on its way. */
typedef struct rewrite_path_lanes {
    uint32_t hash[REWRITE_LANES], count[REWRITE_LANES];
    uint32_t *turns; /* [nloops][REWRITE_LANES] */
} rewrite_path_lanes;

/* Lanes of the mask begin the basic block at pc. */
void rewrite_path_enter(const rewrite_path *path, rewrite_path_lanes *lanes, uint32_t pc,
                        uint32_t mask);
/* What its lanes did together. */
rewrite_warp_path rewrite_path_end(const rewrite_path_lanes *lanes);

#endif
