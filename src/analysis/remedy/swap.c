/* x and y of the indices exchanged. */
#include "analysis/remedy/tried.h"

#include <string.h>

/* "from matrix.cu:21 on", the line of the first that reads them; "" where that is not known. */
static const char *place_of(const ana_input *input, uint32_t pc)
{
    const prof_code *code = prof_find_code(&input->code, input->kernel->id, pc);
    const prof_file *file = code ? prof_find_file(&input->program->files, code->file) : NULL;
    const char *name = file ? strrchr(file->path, '/') : NULL;
    return !file || !code->line ? ""
                                : wl_arena_printf(input->arena, ", from %s:%u on",
                                                  name ? name + 1 : file->path, code->line);
}

/* Of square blocks nothing changes but the indices; others have their shape exchanged, too, or all
 * indices are exchanged and the grid's shape with them. */
const char *tried_swap(const ana_input *input, const prof_trial *t)
{
    static const char why[] = "so that the lanes of a warp run along the other index";
    const prof_launch *l = prof_find_launch(&input->program->launches, t->launch);
    const char *place = place_of(input, t->pc);
    if (!l || !place)
        return NULL;
    const uint32_t *block = l->block, *grid = l->grid;
    if (block[0] == block[1])
        return wl_arena_printf(
            input->arena, "Swap threadIdx.x and threadIdx.y where the kernel reads them%s, %s.",
            place, why);
    if (t->block[0] == block[0])
        return wl_arena_printf(
            input->arena,
            "Swap .x and .y of threadIdx, blockIdx and blockDim where the kernel "
            "reads them%s, %s. Blocks stay as they are; the grid covers the "
            "exchanged ranges: %u x %u blocks.",
            place, why, grid[1] * block[1] / block[0], grid[0] * block[0] / block[1]);
    return wl_arena_printf(
        input->arena,
        "Swap .x and .y of threadIdx and blockDim where the kernel reads them%s, "
        "%s, and start blocks of %u x %u threads in place of %u x %u.",
        place, why, t->block[0], t->block[1], block[0], block[1]);
}
