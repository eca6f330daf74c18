/* Copies in shared memory that a block updates. */
#include "analysis/remedy/tried.h"

const char *tried_private(const ana_input *input, const prof_trial *t)
{
    return wl_arena_printf(input->arena,
                           "Give each block a copy of its part of " ANA_OBJECT
                           " in shared memory: %u elements (%u bytes). Update that, and "
                           "then " ANA_OBJECT " by it, once a block, neighbouring threads "
                           "neighbouring elements.",
                           t->pad / tried_most_bytes(t), t->pad);
}
