/* Objects that begin elsewhere. */
#include "analysis/remedy/tried.h"

const char *tried_align(const ana_input *input, const prof_trial *t)
{
    return wl_arena_printf(input->arena,
                           "Leave %u bytes free before " ANA_OBJECT ", so that what the lanes of a "
                           "warp take together begins at a multiple of %u bytes; now it begins %u "
                           "bytes after one.",
                           t->pad, OBS_LINE_BYTES, OBS_LINE_BYTES - t->pad);
}
