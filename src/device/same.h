/* Launches that do what an earlier one did: they run unobserved, at full speed, and are recorded as
 * its repeats. What they access must follow from the launch, all of it, and so must how often they
 * execute what. */
#ifndef WL_DEVICE_SAME_H
#define WL_DEVICE_SAME_H

#include "device/impl.h"
#include "replay/repeats.h"

/* What is known of the launch before it runs. A kernel is proven when it is launched for the second
 * time. */
void dev_same_find(const dev_op *op, replay_repeat *out);
/* The launch that is next, as a note without parameters. */
cap_note dev_note_of(const dev_op *op, const dev_turn *turn);
/* Remembers a launch that was recorded with this id, for `out` of dev_same_find. */
void dev_same_keep(const dev_op *op, const replay_repeat *repeat, uint32_t launch,
                   const obs_summary *summary, const emu_result *result);
/* Records a launch that ran as a repeat. False where it did not execute what it should have: no
 * repeat is trusted then. */
bool dev_same_write(const dev_op *op, const dev_turn *turn, const replay_repeat *repeat,
                    const emu_result *result);
void dev_same_forget(dev_function *function); /* its facts and shapes */

#endif
