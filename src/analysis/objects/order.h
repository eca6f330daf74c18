/* When operations can run at the earliest: their levels in the graph of dependences. */
#ifndef WL_ANALYSIS_OBJECTS_ORDER_H
#define WL_ANALYSIS_OBJECTS_ORDER_H

#include "analysis/objects/trace.h"

/* The level T of each operation: as Kahn's algorithm removes them, all at once that wait for
 * nothing any more. One waits for
 *
 * - the one before it in its queue; in the legacy default stream and in blocking streams also for
 *   those of the other of the two;
 * - what its host thread has waited for, and what that did itself (allocations, frees);
 * - the last write of what it reads; the last write, and the reads since, of what it writes or
 *   frees; the allocation of what it accesses;
 * - what was before a recorded event that its stream waits for;
 * - in a graph: what the edges say, and all that stood in the stream before the graph.
 *
 * A free that is not stream-ordered waits for all of its context. Events and synchronisation have
 * the level that they pass on, which is no operation's of its own.
 *
 * One pass, since operations wait for earlier ones only: per queue, event and object it keeps the
 * level from which the next one can run. Memory: 4 bytes an operation. Returns an array of
 * trace->ops.count on the heap; NULL when memory is exhausted. */
uint32_t *obj_order(const obj_trace *trace);

#endif
