/* Remedies that trials have counted: a kernel's instructions as they would be with the change. */
#ifndef WL_ANALYSIS_REMEDY_TRIAL_H
#define WL_ANALYSIS_REMEDY_TRIAL_H

#include "analysis/input.h"

/* Gives the findings of the input's kernel the remedies that were tried and that mend at least half
 * of what they pay, after their own; worths are left for later. All lies in input->arena. */
wl_status remedy_add_tried(const ana_input *input, ana_finding *findings, size_t count,
                           wl_error *err);

#endif
