/* An array in shared memory, and a part of an object that is better kept there. */
#include "analysis/remedy/tried.h"

const char *tried_exchange(const ana_input *input, const prof_trial *t)
{
    return wl_arena_printf(
        input->arena,
        "Keep the block's part of " ANA_OBJECT " in shared memory (%u elements, %u bytes), in the "
        "place of %s: load what that holds from device memory where it is read now.",
        t->pad / tried_most_bytes(t), t->pad, ana_object_text(tried_array(input, t)));
}
