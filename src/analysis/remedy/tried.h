/* What is said of each kind of trial: a file of this folder for each remedy, a row of the table in
 * trial.c for each kind. */
#ifndef WL_ANALYSIS_REMEDY_TRIED_H
#define WL_ANALYSIS_REMEDY_TRIED_H

#include "analysis/input.h"

/* What to change, ANA_OBJECT in the object's place, in input->arena; NULL when memory is exhausted,
 * or the profile lacks the launch. */
typedef const char *tried_text(const ana_input *input, const prof_trial *t);

tried_text tried_swap, tried_widen, tried_pad, tried_spread, tried_align, tried_split, tried_blocks,
    tried_stage, tried_combine, tried_private, tried_direct, tried_swizzle, tried_keep,
    tried_exchange;

/* The array in shared memory that the trial is about, too; NULL: none. */
const prof_object *tried_array(const ana_input *input, const prof_trial *t);

/* Of launches of several shapes, the trial of the one that does most speaks for all: is it that? */
bool remedy_is_largest(const prof_trial_rows *all, uint32_t at);

/* Bytes that a lane takes at least and at most, of the instructions that the trial is about; 1 where
 * there are none. */
uint32_t tried_least_bytes(const prof_trial *t);
uint32_t tried_most_bytes(const prof_trial *t);

#endif
