/* Arrays in global memory with longer rows. */
#include "analysis/remedy/tried.h"

const char *tried_spread(const ana_input *input, const prof_trial *t)
{
    uint32_t bytes = tried_least_bytes(t), to = t->pitch + t->pad;
    bool whole = t->pitch % bytes == 0 && to % bytes == 0;
    const char *unit = whole ? "elements" : "bytes";
    return wl_arena_printf(input->arena,
                           "Pad each row of " ANA_OBJECT " from %u to %u %s, so that all rows "
                           "begin where one of %u bytes does (cudaMallocPitch chooses such a "
                           "pitch, cudaMemcpy2D copies rows of it).",
                           t->pitch / (whole ? bytes : 1), to / (whole ? bytes : 1), unit,
                           to % OBS_LINE_BYTES ? OBS_SECTOR_BYTES : OBS_LINE_BYTES);
}
