/* Launches that do what an earlier one of this process did: proofs of kernels, and the memo. */
#include "replay/repeats.h"

#include <stdlib.h>

enum { MOST_BYTES = 64 << 20 }; /* of the memo */

struct replay_repeats {
    replay_memo *memo;
    uint64_t last_number; /* of a kernel */
    bool distrusted;      /* a repeat was none */
};

/* ---- kernels ---- */

void replay_proven_clear(replay_proven *proven)
{
    wl_arena_free(proven->arena);
    *proven = (replay_proven){0};
}

/* Leaves `facts` NULL where the kernel is not proven as a whole. */
static void prove_for_repeats(replay_repeats *repeats, replay_proven *proven,
                              const ir_module *module, const emu_kernel *kernel)
{
    const emu_kernel_info *info = emu_kernel_get(kernel);
    proven->arena = wl_arena_new();
    replay_facts *facts = proven->arena ? wl_new(proven->arena, replay_facts) : NULL;
    if (facts && replay_facts_of(module, info->func, NULL, proven->arena, facts) == WL_OK &&
        facts->whole && facts->param_bytes == info->param_bytes) {
        proven->facts = facts;
        proven->number = ++repeats->last_number;
        return;
    }
    wl_arena_free(proven->arena);
    proven->arena = NULL;
}

const replay_facts *replay_repeats_prove(replay_repeats *repeats, replay_proven *proven,
                                         const ir_module *module, const emu_kernel *kernel)
{
    if (proven->launched++ == 0)
        return NULL;
    if (!proven->tried)
        prove_for_repeats(repeats, proven, module, kernel);
    proven->tried = true;
    return proven->facts;
}

/* ---- launches ---- */

replay_repeats *replay_repeats_new(void)
{
    replay_repeats *repeats = calloc(1, sizeof *repeats);
    if (repeats && (repeats->memo = replay_memo_new()))
        return repeats;
    free(repeats);
    return NULL;
}

void replay_repeats_free(replay_repeats *repeats)
{
    if (repeats)
        replay_memo_free(repeats->memo);
    free(repeats);
}

void replay_repeats_find(replay_repeats *repeats, const replay_proven *proven,
                         replay_launch *launch, replay_find find, void *ctx, replay_repeat *out)
{
    out->facts = repeats->distrusted ? NULL : proven->facts;
    out->known = false;
    if (!out->facts)
        return;
    launch->facts = proven->facts;
    launch->kernel = proven->number;
    replay_key_of(launch, find, ctx, &out->key);
    out->known = replay_memo_get(repeats->memo, &out->key, find, ctx, &out->launch);
}

/* All that was accessed is proven. */
static bool is_proven(const replay_repeat *repeat, const obs_summary *summary)
{
    const uint8_t *flags = repeat->facts->proof.flags;
    for (uint32_t i = 0; i < summary->ninsns && !repeat->renumbered; i++)
        if (!(flags[summary->insns[i].pc] & FLOW_PC_PROVEN))
            return false;
    return summary->dropped == 0;
}

void replay_repeats_keep(replay_repeats *repeats, const replay_repeat *repeat, uint32_t launch,
                         const obs_summary *summary, replay_find_object find, void *ctx)
{
    if (repeat->facts && replay_memo_bytes(repeats->memo) < MOST_BYTES &&
        is_proven(repeat, summary))
        replay_memo_put(repeats->memo, &repeat->key, launch, summary, find, ctx);
}

bool replay_repeats_confirm(replay_repeats *repeats, const replay_repeat *repeat,
                            const emu_result *result)
{
    bool same = result->warp_instructions == repeat->launch.warp_instructions &&
                result->thread_instructions == repeat->launch.thread_instructions;
    repeats->distrusted |= !same;
    return same;
}
