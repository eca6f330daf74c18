/* Blocks a warp wide. */
#include "analysis/remedy/tried.h"

const char *tried_widen(const ana_input *input, const prof_trial *t)
{
    const prof_launch *l = prof_find_launch(&input->program->launches, t->launch);
    if (!l)
        return NULL;
    uint32_t by = t->block[0] / l->block[0];
    return wl_arena_printf(
        input->arena,
        "Start blocks of %u x %u threads in place of %u x %u, and %u x %u blocks "
        "in place of %u x %u, so that the lanes of a warp run along one row.",
        t->block[0], t->block[1], l->block[0], l->block[1], l->grid[0] / by, l->grid[1] * by,
        l->grid[0], l->grid[1]);
}
