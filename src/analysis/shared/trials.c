/* Findings that rest on trials: which trials, and what they cost. */
#include "analysis/shared/trials.h"

#include "analysis/remedy/tried.h"

wl_status trials_each(const ana_input *input, bool (*wants)(const prof_trial *trial),
                      trial_draft *draft, ana_drafts *drafts, wl_error *err)
{
    prof_trial_rows trials = {0};
    wl_status status = prof_load_trials(input->program->db, input->kernel->id, input->arena,
                                        &trials, err);
    for (uint32_t i = 0; status == WL_OK && i < trials.count; i++)
        if (wants(&trials.rows[i]) && remedy_is_largest(&trials, i) &&
            !draft(input, &trials.rows[i], drafts))
            status = wl_fail(err, WL_NOMEM, "Cannot analyse the profile: out of memory.");
    return status;
}

static bool has_instruction(const prof_trial *t, const obs_insn *c)
{
    for (uint32_t i = 0; i < t->nbefore; i++)
        if (t->before[i].pc == c->pc && t->before[i].space == c->space)
            return true;
    return false;
}

void trials_charge(const trial_cost *cost, const ana_drafts *drafts, ana_draft *d)
{
    for (uint32_t i = 0; i < d->ninsns; i++) {
        const obs_insn *c = &d->insns[i].c;
        double all = (double)(cost->wavefronts ? c->wavefronts : c->sectors);
        double own = cost->of_trial && !has_instruction(cost->trial, c) ? 0 : cost->part * all;
        double left = all - ana_charged(drafts, cost->group, i);
        d->insn_excess[i] = own < left ? own : left > 0 ? left : 0;
        d->excess += d->insn_excess[i];
        d->alone += own;
        d->requests += c->requests;
    }
    d->launches = (uint32_t)cost->group->launches;
    d->example_launch = cost->trial->launch;
}
