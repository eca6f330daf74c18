/* Tries each kind of change. */
#include "replay/trials/trial.h"

static const struct {
    trial_question *is_worth;
    trial_maker *try;
} kinds[OBS_TRIAL_COUNT] = {
    [OBS_TRIAL_TRANSPOSED] = {trial_wastes_sectors, trial_transposed},
    [OBS_TRIAL_PADDED] = {trial_has_conflicts, trial_padded},
    [OBS_TRIAL_WIDENED] = {trial_wastes_sectors, trial_widened},
    [OBS_TRIAL_SPREAD] = {trial_has_misaligned, trial_spread},
    [OBS_TRIAL_MOVED] = {trial_has_misaligned, trial_moved},
    [OBS_TRIAL_SPLIT] = {trial_has_records, trial_split},
    [OBS_TRIAL_REGRIDDED] = {trial_has_few_blocks, trial_regridded},
    [OBS_TRIAL_STAGED] = {trial_has_loads, trial_staged},
    [OBS_TRIAL_COMBINED] = {trial_has_common_updates, trial_combined},
    [OBS_TRIAL_PRIVATE] = {trial_has_scattered_updates, trial_private},
    [OBS_TRIAL_DIRECT] = {trial_has_shared_loads, trial_direct},
    [OBS_TRIAL_SWIZZLED] = {trial_has_conflicts, trial_swizzled},
    [OBS_TRIAL_KEPT] = {trial_has_changes, trial_kept},
    [OBS_TRIAL_EXCHANGED] = {trial_has_shared_loads, trial_exchanged},
};

bool replay_is_worth_trying(const obs_summary *s)
{
    for (int k = 0; k < OBS_TRIAL_COUNT; k++)
        if (kinds[k].is_worth(s))
            return true;
    return false;
}

void trial_add(trial_work *t, obs_trial trial, const trial_rows *before, const trial_rows *after)
{
    trial.blocks = after->blocks;
    trial.before = before->rows;
    trial.nbefore = before->count;
    trial.after = after->rows;
    trial.nafter = after->count;
    if (t->count < TRIAL_MOST && before->count && after->count)
        t->rows[t->count++] = trial;
}

wl_status replay_try(const replay_tried *launch, wl_arena *arena, uint32_t *count, obs_trial **out)
{
    trial_work t = {
        .launch = launch, .arena = arena, .rows = wl_new_array(arena, obs_trial, TRIAL_MOST)};
    wl_status status = t.rows ? WL_OK : WL_NOMEM;
    for (int k = 0; k < OBS_TRIAL_COUNT && launch->facts->whole && status == WL_OK; k++)
        if (kinds[k].is_worth(launch->summary))
            status = kinds[k].try(&t);
    *count = t.count;
    *out = t.rows;
    return status;
}
