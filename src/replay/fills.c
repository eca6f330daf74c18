/* What a kernel's instructions write to shared memory, found once. */
#include "replay/fills.h"

static bool find_kernel_fills(replay_fills *fills, const ir_module *module, const ir_func *kernel)
{
    ir_kernel code;
    fills->arena = wl_arena_new();
    return fills->arena && ir_kernel_of(module, kernel, fills->arena, &code) == WL_OK &&
           flow_find_fills(&code, fills->arena, &fills->found) == WL_OK;
}

void replay_fills_clear(replay_fills *fills)
{
    wl_arena_free(fills->arena);
    *fills = (replay_fills){0};
}

const flow_fills *replay_fills_of(replay_fills *fills, const ir_module *module,
                                  const ir_func *kernel)
{
    if (!fills->tried && !find_kernel_fills(fills, module, kernel))
        replay_fills_clear(fills);
    fills->tried = true;
    return fills->arena ? &fills->found : NULL;
}
