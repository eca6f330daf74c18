/* What findings about shared memory that rest on trials have in common. Internal to the folder. */
#ifndef WL_ANALYSIS_SHARED_TRIALS_H
#define WL_ANALYSIS_SHARED_TRIALS_H

#include "analysis/input.h"

/* Drafts what a trial shows; false when memory is exhausted. */
typedef bool trial_draft(const ana_input *input, const prof_trial *trial, ana_drafts *drafts);

/* Shows `draft` those of the kernel's trials that are wanted, of each object that of the most work
 * (remedy_is_largest). */
wl_status trials_each(const ana_input *input, bool (*wants)(const prof_trial *trial),
                      trial_draft *draft, ana_drafts *drafts, wl_error *err);

typedef struct trial_cost {
    const ana_group *group;
    const prof_trial *trial;
    bool wavefronts; /* are what counts; else sectors */
    double part;     /* of what an instruction of the group takes, that goes with the change */
    bool of_trial;   /* only instructions that the trial has */
} trial_cost;

/* Charges the draft of the group for what goes, as far as no other pattern is charged for it. */
void trials_charge(const trial_cost *cost, const ana_drafts *drafts, ana_draft *d);

#endif
