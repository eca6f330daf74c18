/* x and y of all indices exchanged: threads are numbered along y first, so that lanes run along what
 * y runs along now. */
#include "replay/trials/threads.h"

/* Would blocks of the same shape do after x and y of all indices were exchanged? */
static bool may_keep_shape(const replay_tried *l)
{
    emu_dim block = l->run.launch.block, grid = l->run.launch.grid;
    return block.x != block.y && (uint64_t)grid.x * block.x % block.y == 0 &&
           (uint64_t)grid.y * block.y % block.x == 0 && trial_asks_for_shape(l);
}

/* The kernel sees blocks of the shape exchanged; of these are as many as cover the same threads. */
static wl_status try_same_shape(const trial_work *t, obs_trial *trial, trial_rows *best)
{
    emu_dim block = t->launch->run.launch.block, grid = t->launch->run.launch.grid;
    trial_run run = {.transposed = true,
                     .grid = {grid.x * block.x / block.y, grid.y * block.y / block.x, grid.z},
                     .block = {block.y, block.x, block.z}};
    trial_rows rows;
    wl_status status = trial_run_changed(t, &run, &rows);
    if (rows.count && rows.blocks == t->base.blocks &&
        trial_sectors(&rows) <= trial_sectors(best)) {
        *best = rows;
        trial->block[0] = block.x;
        trial->block[1] = block.y;
    }
    return status;
}

wl_status trial_transposed(trial_work *t)
{
    const replay_tried *l = t->launch;
    emu_dim block = l->run.launch.block;
    obs_trial trial = {.kind = OBS_TRIAL_TRANSPOSED, .block = {block.y, block.x}};
    trial_rows after = {0};
    if (block.x < 2 || block.y < 2 || (trial.pc = trial_reads_x(&l->facts->code)) == IR_NONE)
        return WL_OK;
    wl_status status = trial_run_base(t);
    if (status == WL_OK)
        status = trial_run_changed(t, &(trial_run){.transposed = true}, &after);
    if (status == WL_OK && may_keep_shape(l))
        status = try_same_shape(t, &trial, &after);
    if (status == WL_OK)
        trial_add(t, trial, &t->base, &after);
    return status;
}
