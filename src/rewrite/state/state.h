/* The state of a launch on the host's side: what its parts are made of. */
#ifndef WL_REWRITE_STATE_H
#define WL_REWRITE_STATE_H

#include "rewrite/counting/counting.h"

uint32_t rw_threads_of(const rewrite_layout *layout); /* of a block */
uint32_t rw_warps_of(const rewrite_layout *layout);
/* Has the kernel marks, and not counters that say as much? */
bool rw_has_marks(const rewrite_kernel *kernel);

#endif
