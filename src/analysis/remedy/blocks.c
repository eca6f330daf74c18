/* More blocks for the same work. */
#include "analysis/remedy/tried.h"

const char *tried_blocks(const ana_input *input, const prof_trial *t)
{
    const prof_launch *l = prof_find_launch(&input->program->launches, t->launch);
    return !l ? NULL
              : wl_arena_printf(input->arena,
                                "Start %u blocks, one for each multiprocessor, or several times as "
                                "many, in place of %u. The kernel's code stays as it is: its loops "
                                "go on by the size of the grid, and more blocks access as much.",
                                t->block[0], l->grid[0]);
}
