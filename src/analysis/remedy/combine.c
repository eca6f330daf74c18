/* Updates of one element, combined before they are made. */
#include "analysis/remedy/tried.h"

/* Does a single lane of each warp update it? */
static bool is_of_lone_lanes(const prof_trial *t)
{
    uint64_t lanes = 0, requests = 0;
    for (uint32_t i = 0; i < t->nbefore; i++) {
        lanes += t->before[i].active_lanes;
        requests += t->before[i].requests;
    }
    return lanes < 2 * requests;
}

const char *tried_combine(const ana_input *input, const prof_trial *t)
{
    uint32_t elements = t->pad / tried_most_bytes(t);
    const char *first = is_of_lone_lanes(t) ? "Combine the values"
                                            : "Combine the values of a warp's lanes "
                                              "(__reduce_add_sync, shuffles), then those";
    const char *last = elements == 1
                           ? "let one thread update " ANA_OBJECT " for all of them"
                           : wl_arena_printf(input->arena,
                                             "let %u threads update an element of " ANA_OBJECT
                                             " each for all of them",
                                             elements);
    return last ? wl_arena_printf(input->arena,
                                  "%s of the block's warps in shared memory, and %s, once a block.",
                                  first, last)
                : NULL;
}
