/* Structures split into arrays. */
#include "analysis/remedy/tried.h"

const char *tried_split(const ana_input *input, const prof_trial *t)
{
    return wl_arena_printf(input->arena,
                           "Split " ANA_OBJECT " into arrays, one for each field, so that the "
                           "lanes of a warp take neighbouring elements of each: of every %u bytes "
                           "the kernel uses %u.",
                           t->pitch, t->pad);
}
