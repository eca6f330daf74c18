/* The threads of a block that may make an access, by its premise (flow/premises.h). Internal to the
 * folder. */
#ifndef WL_ANALYSIS_SHARED_CROWD_H
#define WL_ANALYSIS_SHARED_CROWD_H

#include "base/arena.h"

#include <stdbool.h>
#include <stdint.h>

enum { CROWD_WARPS = 32, CROWD_LANES = 32 };

typedef struct crowd {
    uint32_t lanes[CROWD_WARPS]; /* of each warp, bit l: lane l */
} crowd;

/* Of a block with so many threads, 1024 at most; `premise` NULL: all of them. A premise that cannot be
 * read leaves none out. False where memory in `arena` is exhausted. */
bool crowd_of(const char *premise, const uint32_t block[3], wl_arena *arena, crowd *out);

static inline bool crowd_has(const crowd *c, uint32_t thread)
{
    return c->lanes[thread / CROWD_LANES] >> thread % CROWD_LANES & 1;
}

#endif
