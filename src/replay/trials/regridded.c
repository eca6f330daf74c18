/* A block for each multiprocessor, where fewer were started: a kernel whose loops go on by the size of
 * its grid does the same work. */
#include "replay/trials/threads.h"

enum {
    MANY_BLOCKS = 256,
    LONG_BLOCK = 2000 /* instructions of its warps: shorter ones are over too soon */
};

bool trial_has_few_blocks(const obs_summary *s)
{
    return s->blocks_run < MANY_BLOCKS && s->blocks_observed == s->blocks_run &&
           s->warp_instructions >= LONG_BLOCK * s->blocks_run;
}

static uint64_t lanes_like(const obs_insn *rows, uint32_t count, const obs_insn *like)
{
    uint64_t sum = 0;
    for (uint32_t i = 0; i < count; i++)
        if (rows[i].pc == like->pc && rows[i].space == like->space &&
            rows[i].object == like->object && rows[i].op == like->op)
            sum += rows[i].active_lanes;
    return sum;
}

/* Do as many lanes access global memory, by each instruction and to each object? */
static bool is_same_work(const obs_summary *s, const trial_rows *then)
{
    uint64_t now_all = 0, then_all = 0;
    for (uint32_t i = 0; i < then->count; i++)
        then_all += then->rows[i].space == ACC_GLOBAL ? then->rows[i].active_lanes : 0;
    for (uint32_t i = 0; i < s->ninsns; i++) {
        const obs_insn *row = &s->insns[i];
        if (row->space == ACC_GLOBAL &&
            lanes_like(then->rows, then->count, row) != row->active_lanes)
            return false;
        now_all += row->space == ACC_GLOBAL ? row->active_lanes : 0;
    }
    return now_all == then_all && now_all > 0;
}

wl_status trial_regridded(trial_work *t)
{
    enum { IN_X = 1 };
    const replay_tried *l = t->launch;
    const emu_launch *launch = &l->run.launch;
    uint32_t sms = l->multiprocessors;
    trial_run run = {.grid = {sms, 1, 1}, .block = launch->block};
    trial_work timed = *t;
    trial_rows after;
    timed.seconds = trial_most_seconds;
    if (launch->grid.x >= sms || launch->grid.y * launch->grid.z != 1 || launch->cluster.x > 1 ||
        !trial_reads_sreg(&l->facts->code, IR_SR_nctaid, IN_X))
        return WL_OK;
    wl_status status = trial_run_changed(&timed, &run, &after);
    const trial_rows before = {l->summary->insns, l->summary->ninsns, l->summary->blocks_run};
    obs_trial trial = {.kind = OBS_TRIAL_REGRIDDED, .block = {sms, 1}};
    if (status == WL_OK && after.blocks == sms && is_same_work(l->summary, &after))
        trial_add(t, trial, &before, &after);
    return status;
}
