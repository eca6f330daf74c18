/* Shared arrays with longer rows. */
#include "analysis/remedy/tried.h"

/* Rows of 128 bytes may be no rows, but all banks once. */
const char *tried_pad(const ana_input *input, const prof_trial *t)
{
    enum { BANKS = 128 };
    uint32_t bytes = tried_most_bytes(t), more = t->pad / bytes;
    const char *some = more == 1 ? "an element"
                                 : wl_arena_printf(input->arena, "%u elements", more);
    const char *longer = more == 1 ? "one element" : some;
    if (!some)
        return NULL;
    if (t->pitch == BANKS)
        return wl_arena_printf(
            input->arena,
            "Leave %s free after every 128 bytes of " ANA_OBJECT ": make its rows %s longer where "
            "they have %u elements, else take index + index / %u%s for the index.",
            some, longer, BANKS / bytes, BANKS / bytes,
            more == 1 ? "" : wl_arena_printf(input->arena, " * %u", more));
    return wl_arena_printf(input->arena,
                           "Make each row of " ANA_OBJECT " %s longer: %u bytes in place of %u.",
                           longer, t->pitch + t->pad, t->pitch);
}
