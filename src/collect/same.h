/* Launches that do what an earlier one did: they run unobserved, at full speed, and are recorded as its repeats. What they
 * access must follow from the launch, all of it, and so must how often they execute what. */
#ifndef WL_COLLECT_SAME_H
#define WL_COLLECT_SAME_H

#include "collect/impl.h"
#include "collect/replay/memo.h"

typedef struct collect_known {
    bool keyed; /* the key is set: the launch may be repeated */
    bool known; /* it repeats `launch` */
    replay_key key;
    replay_known launch;
} collect_known;

/* What is known of the launch before it runs. A kernel is proven when it is launched for the second time. */
void collect_same_find(const collect_op *op, collect_known *out);
/* The launch that is next, as a note without parameters. */
cap_note collect_note_of(const collect_op *op, const collect_stream *stream, uint32_t call);
/* Remembers a launch that was recorded with this id, for `out` of collect_same_find. */
void collect_same_keep(const collect_op *op, const collect_known *known, uint32_t launch,
                       const obs_summary *summary);
/* Records a launch that ran as a repeat. False where it did not execute what it should have: no repeat is trusted then. */
bool collect_same_write(const collect_op *op, const collect_stream *stream, uint32_t call,
                        const collect_known *known, const emu_result *result);
void collect_same_forget(collect_function *function); /* its facts */

#endif
