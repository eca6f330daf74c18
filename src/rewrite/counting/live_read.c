/* Reading what flags and counters told of live ranges of shared arrays. */
#include "rewrite/counting/counting.h"

#include <string.h>

static const rw_live_array *live_array_named(const rw_live_plan *live, const char *name)
{
    for (uint32_t i = 0; i < live->narrays; i++)
        if (strcmp(live->arrays[i].var->name, name) == 0)
            return &live->arrays[i];
    return NULL;
}

static uint64_t sum_place(const rewrite_copy *copy, uint32_t place)
{
    const uint32_t *n = copy->layout->threads;
    uint64_t sum = 0;
    for (uint32_t thread = 0; thread < n[0] * n[1] * n[2]; thread++)
        sum += rw_read_place(copy, place, thread);
    return sum;
}

bool rewrite_read_live(const rewrite_copy *copy, const char *name,
                       const uint64_t times[WL_CLASSES], rewrite_live *out)
{
    const rw_live_array *a = live_array_named(copy->kernel->plan->live, name);
    *out = (rewrite_live){0};
    if (!a || !copy->layout->places_at)
        return false;
    out->unfilled = sum_place(copy, a->unfilled);
    for (int origin = 0; origin < FLOW_ORIGINS; origin++)
        if (a->begins[origin] != IR_NONE)
            out->begins[origin] = sum_place(copy, a->begins[origin]);
    for (int c = 0; c < WL_CLASSES; c++)
        if (a->alike && a->classes[c].write == FLOW_FILLS)
            out->begins[a->classes[c].origin] += times[c];
    return true;
}
