/* Live ranges of shared arrays in launches that were counted in part. */
#include "replay/ranges.h"

#include "observe/filled.h"

#include <string.h>

static const bool *list_shown(const replay_arrays *code, const emu_kernel *slice,
                              const bool *counted, const bool *idle, wl_arena *arena)
{
    bool *shown = wl_new_array(arena, bool, code->code.npcs + 1);
    for (uint32_t pc = 0; shown && pc < code->code.npcs; pc++)
        shown[pc] = idle[pc] || (!counted[pc] && emu_slice_shows(slice, pc));
    return shown;
}

wl_status replay_ranges_find(const replay_arrays *code, const emu_kernel *slice,
                             const bool *counted, const bool *idle, wl_arena *arena,
                             replay_ranges *out)
{
    const bool *shown = list_shown(code, slice, counted, idle, arena);
    *out = (replay_ranges){.arrays = wl_new_array(arena, replay_array, code->found.count + 1)};
    if (!shown || !out->arrays)
        return WL_NOMEM;
    for (uint32_t i = 0; i < code->found.count; i++) {
        const flow_array *array = &code->found.arrays[i];
        if (array->object != FLOW_NONE)
            out->arrays[out->count++] = (replay_array){
                code->flow->objects[array->object].var,
                flow_judge_apart(&code->counts, &code->fills, &code->found, array, shown)};
    }
    return WL_OK;
}

const replay_array *replay_ranges_of(const replay_ranges *ranges, const char *name)
{
    for (uint32_t i = 0; i < ranges->count; i++)
        if (strcmp(ranges->arrays[i].var->name, name) == 0)
            return &ranges->arrays[i];
    return NULL;
}

/* ---- together ---- */

/* Accesses by class. */
static void add_up_times(const void *data, uint64_t size, uint64_t times[WL_CLASSES])
{
    wl_span_reader all = wl_spans_read(data, size, true);
    for (wl_span span; wl_span_next(&all, &span);)
        for (int c = 0; c < WL_CLASSES; c++)
            times[c] += span.count * span.times[c];
}

/* Had every block stored to these words by the array's barrier? */
static bool are_filled(const wl_spans *spans, const obs_launch *launch, uint32_t index)
{
    wl_span_reader all = wl_spans_read(spans->data, spans->size, spans->counted);
    for (wl_span span; wl_span_next(&all, &span);)
        for (uint64_t w = span.first; w < span.first + span.count; w++)
            if (!obs_is_filled(launch, index, w))
                return false;
    return true;
}

/* The accesses in ranges, which are known in all, by their origin, where all have the same. */
static void give_origin(uint64_t accesses, obs_use *use)
{
    int only = OBS_COMPUTED, found = 0;
    for (int origin = 0; origin < OBS_ORIGIN_COUNT; origin++)
        if (use->ranges[origin]) {
            only = origin;
            found++;
        }
    if (found > 1)
        return;
    use->reuse |= OBS_REUSE_ORIGINS;
    use->range_accesses[only] = accesses;
}

bool replay_ranges_follow(const replay_array *array, const obs_use *slice, const wl_spans *counted,
                          const obs_launch *launch, uint32_t index, obs_use *use)
{
    uint64_t times[WL_CLASSES] = {0}, accesses = 0;
    if (!replay_array_follows(array) || !slice || !(slice->reuse & OBS_REUSE_RANGES) ||
        !are_filled(counted, launch, index))
        return false;
    add_up_times(counted->data, counted->size, times);
    use->reuse = OBS_REUSE_RANGES;
    use->blocks = slice->blocks;
    use->unfilled = slice->unfilled;
    memcpy(use->ranges, slice->ranges, sizeof use->ranges);
    for (int origin = 0; origin < OBS_ORIGIN_COUNT; origin++)
        accesses += slice->range_accesses[origin];
    for (int c = 0; c < WL_CLASSES; c++)
        if (array->apart.classes[c].write == FLOW_FILLS)
            use->ranges[obs_origin_of((flow_origin)array->apart.classes[c].origin)] += times[c];
        else
            accesses += times[c];
    give_origin(accesses, use);
    return true;
}

bool replay_ranges_read(const rewrite_copy *copy, const char *name, obs_use *use)
{
    uint64_t times[WL_CLASSES] = {0};
    rewrite_live live;
    add_up_times(use->spans, use->length, times);
    uint64_t accesses = times[WL_LOADS] + times[WL_STORES] + times[WL_ATOMICS];
    if (!rewrite_read_live(copy, name, wl_spans_read(use->spans, use->length, true), &live))
        return false;
    use->reuse = OBS_REUSE_RANGES;
    use->blocks = copy->layout->blocks;
    use->unfilled = live.unfilled;
    accesses -= live.unfilled;
    for (int origin = 0; origin < FLOW_ORIGINS; origin++) {
        use->ranges[obs_origin_of((flow_origin)origin)] += live.begins[origin];
        accesses -= live.begins[origin];
    }
    give_origin(accesses, use);
    return true;
}
