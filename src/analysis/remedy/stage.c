/* Parts of objects loaded into shared memory. */
#include "analysis/remedy/tried.h"

const char *tried_keep(const ana_input *input, const prof_trial *t)
{
    return wl_arena_printf(input->arena,
                           "Keep the block's part of " ANA_OBJECT
                           " in shared memory while the block "
                           "runs: %u elements (%u bytes). All threads load together what is read "
                           "before it is written, and store together what was written, at the end "
                           "where it is needed after the kernel.",
                           t->pad / tried_most_bytes(t), t->pad);
}

const char *tried_stage(const ana_input *input, const prof_trial *t)
{
    const char *how = t->pitch ? "tile by tile" : "once",
               *what = t->pitch ? "before the turns of the loop that take them"
                                : "before any thread takes them";
    return wl_arena_printf(input->arena,
                           "Load the block's part of " ANA_OBJECT " into shared memory %s: %u "
                           "elements (%u bytes), %s. All threads load them together, "
                           "neighbouring threads neighbouring elements, and read them from there.",
                           how, t->pad / tried_most_bytes(t), t->pad, what);
}
