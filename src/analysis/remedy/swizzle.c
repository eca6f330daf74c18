/* Shared arrays with their elements permuted within rows. */
#include "analysis/remedy/tried.h"

const char *tried_swizzle(const ana_input *input, const prof_trial *t)
{
    uint32_t columns = t->pitch / t->pad;
    return wl_arena_printf(
        input->arena,
        "Permute the elements of " ANA_OBJECT " within rows of %u elements (%u "
        "bytes): take column ^ (row %% %u) for the column wherever it is written "
        "or read. That takes no more memory.",
        columns, t->pitch, columns);
}
