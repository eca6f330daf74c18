/* Runs a launch's slice with a change, over the same blocks each time. */
#include "replay/trials/trial.h"

const double trial_most_seconds = 0.1;
static const double no_limit = 0, as_few_as_possible = 1e-9;

/* All is of the blocks that were run. */
static wl_status keep_rows(const trial_work *t, replay_watch *watch, const emu_result *result,
                           trial_rows *out)
{
    obs_summary summary;
    wl_status status = replay_watch_finish(watch, result, &summary);
    if (status != WL_OK)
        return status;
    out->rows = wl_arena_copy(t->arena, summary.insns, summary.ninsns * sizeof *out->rows);
    out->count = summary.ninsns;
    out->blocks = result->blocks_run;
    return out->rows ? WL_OK : WL_NOMEM;
}

static replay_run run_of(const trial_work *t, const trial_run *what)
{
    replay_run run = t->launch->run;
    if (what->block.x) {
        run.launch.grid = what->grid;
        run.launch.block = what->block;
    }
    run.nsampled = 0;
    run.seconds = t->seconds;
    run.launch.transposed = what->transposed;
    return run;
}

static wl_status begin_run_watch(const trial_work *t, const replay_run *run,
                                 const replay_settings *settings, replay_watch *watch)
{
    replay_watched watched = {.settings = settings,
                              .machine = run->machine,
                              .kernel = run->slice,
                              .grid = run->launch.grid,
                              .block = run->launch.block,
                              .cluster = run->launch.cluster,
                              .dynamic_shared = run->launch.dynamic_shared,
                              .cooperative = run->launch.cooperative,
                              .unmapped = true};
    return replay_watch_begin(&watched, &t->launch->facts->proof, watch);
}

wl_status trial_run_changed(const trial_work *t, const trial_run *what, trial_rows *out)
{
    replay_settings settings = *t->launch->settings;
    replay_run run = run_of(t, what);
    emu_result result = {0};
    replay_watch watch;
    wl_error ignored;
    double share;
    settings.probes = 0;
    *out = (trial_rows){0};
    wl_status status = begin_run_watch(t, &run, &settings, &watch);
    trial_view view = what->view ? *what->view : (trial_view){0};
    view.inner = &watch.observer;
    acc_observer observer = what->view ? trial_view_observer(&view) : watch.observer;
    if (status == WL_OK)
        status = replay_run_blocks(&run, &observer, &result, &share, &ignored);
    if (status == WL_OK)
        status = keep_rows(t, &watch, &result, out);
    emu_result_clear(&result);
    replay_watch_end(&watch);
    return status == WL_NOMEM ? status : WL_OK;
}

/* All blocks, where that is soon done. */
wl_status trial_run_base(trial_work *t)
{
    const emu_dim grid = t->launch->run.launch.grid;
    if (t->base.count)
        return WL_OK;
    t->seconds = t->few ? as_few_as_possible : trial_most_seconds;
    wl_status status = trial_run_changed(t, &(trial_run){0}, &t->base);
    bool all = t->base.blocks == (uint64_t)grid.x * grid.y * grid.z;
    t->seconds = all ? no_limit : as_few_as_possible;
    return status == WL_OK && !all && !t->few ? trial_run_changed(t, &(trial_run){0}, &t->base)
                                              : status;
}

wl_status trial_analyse(trial_work *t)
{
    flow_kernel *flow = t->flow ? NULL : flow_kernel_new(&t->launch->facts->code, t->arena);
    wl_status status = t->flow ? WL_OK : flow ? flow_run(flow, FLOW_PASS_affine) : WL_NOMEM;
    if (flow && status == WL_OK)
        t->flow = flow;
    return status;
}

wl_status trial_rows_of(const trial_work *t, acc_space space, uint32_t object, trial_rows *out)
{
    *out = (trial_rows){.rows = wl_new_array(t->arena, obs_insn, (size_t)t->base.count + 1),
                        .blocks = t->base.blocks};
    for (uint32_t i = 0; out->rows && i < t->base.count; i++)
        if (t->base.rows[i].space == space && t->base.rows[i].object == object)
            out->rows[out->count++] = t->base.rows[i];
    return out->rows ? WL_OK : WL_NOMEM;
}

uint64_t trial_sectors(const trial_rows *rows)
{
    uint64_t sum = 0;
    for (uint32_t i = 0; i < rows->count; i++)
        sum += rows->rows[i].sectors;
    return sum;
}
