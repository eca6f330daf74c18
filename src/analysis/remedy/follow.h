/* What a kernel's instructions would do once the remedy of a finding were followed.
 *
 * Of each instruction that pays for a pattern, what it pays goes: sectors or wavefronts beyond the
 * need. What takes their place depends on the remedy: data that is staged in shared memory is read
 * there, a value that shuffles bring takes a shuffle. model_try() makes seconds of it. */
#ifndef WL_ANALYSIS_REMEDY_FOLLOW_H
#define WL_ANALYSIS_REMEDY_FOLLOW_H

#include "analysis/input.h"
#include "analysis/remedy/remedy.h"

/* The draft's remedy, but for its advice and worth, in the arena. False when memory is exhausted. */
bool remedy_follow(const ana_draft *draft, wl_arena *arena, ana_remedy *out);
/* Adds what the instruction does before and after the edit. */
void remedy_count_edit(ana_remedy *remedy, const obs_insn *insn, const model_edit *edit);
/* Offers one more, after those that the finding has. False when memory is exhausted. */
bool remedy_append(wl_arena *arena, ana_finding *finding, const ana_remedy *remedy);
#endif
