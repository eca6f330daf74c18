/* Data that a shared array only passes on, loaded where it is used. */
#include "analysis/remedy/tried.h"

static const prof_object *source_of(const ana_input *input, const prof_trial *t)
{
    for (uint32_t i = 0; i < t->nbefore; i++)
        if (t->before[i].space == ACC_GLOBAL)
            return prof_find_object(&input->program->objects, t->before[i].object);
    return NULL;
}

const char *tried_direct(const ana_input *input, const prof_trial *t)
{
    return wl_arena_printf(input->arena,
                           "Leave out " ANA_OBJECT ": load from %s where it is read now.",
                           ana_object_text(source_of(input, t)));
}
