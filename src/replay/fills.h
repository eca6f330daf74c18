/* What a kernel's instructions write to shared memory (flow/fills.h): found once a kernel, where
 * live ranges are asked for. */
#ifndef WL_REPLAY_FILLS_H
#define WL_REPLAY_FILLS_H

#include "flow/fills.h"

typedef struct replay_fills { /* all zero at first; belongs to whoever has the kernel */
    bool tried;
    wl_arena *arena;
    flow_fills found;
} replay_fills;

/* NULL when memory is exhausted. */
const flow_fills *replay_fills_of(replay_fills *fills, const ir_module *module,
                                  const ir_func *kernel);
void replay_fills_clear(replay_fills *fills);

#endif
