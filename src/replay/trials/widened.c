/* Narrow blocks made a warp wide, and less high by as much. */
#include "replay/trials/threads.h"

/* As many threads, a warp wide, over the same range. */
static bool widen(const replay_tried *l, trial_run *run)
{
    emu_dim block = l->run.launch.block, grid = l->run.launch.grid;
    uint32_t by = block.x ? ACC_LANES / block.x : 0;
    run->block = (emu_dim){ACC_LANES, by ? block.y / by : 0, block.z};
    if (by < 2 || ACC_LANES % block.x || block.y % by || grid.x % by)
        return false;
    run->grid = (emu_dim){grid.x / by, grid.y * by, grid.z};
    return true;
}

wl_status trial_widened(trial_work *t)
{
    const replay_tried *l = t->launch;
    trial_run run = {0};
    trial_rows after = {0};
    if (!widen(l, &run) || !trial_asks_for_shape(l) || trial_reads_x(&l->facts->code) == IR_NONE)
        return WL_OK;
    obs_trial trial = {.kind = OBS_TRIAL_WIDENED, .block = {run.block.x, run.block.y}};
    wl_status status = trial_run_base(t);
    if (status == WL_OK)
        status = trial_run_changed(t, &run, &after);
    if (status == WL_OK && after.blocks == t->base.blocks)
        trial_add(t, trial, &t->base, &after);
    return status;
}
