/* The state of a launch on the host's side: what its parts are made of. */
#ifndef WL_REWRITE_STATE_H
#define WL_REWRITE_STATE_H

#include "rewrite/counting/counting.h"

uint32_t rw_threads_of(const rewrite_layout *layout); /* of a block */
uint32_t rw_warps_of(const rewrite_layout *layout);

#endif
