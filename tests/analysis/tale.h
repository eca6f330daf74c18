/* Traces of objects written by hand, a line an operation. Each function gives the operation's number.
 * Queue 0 is the host thread, 1 the legacy stream of its context; queues and events are made as they
 * are named. */
#ifndef TESTS_ANALYSIS_TALE_H
#define TESTS_ANALYSIS_TALE_H

#include "analysis/objects/trace.h"

enum { TALE_HOST = 0, TALE_LEGACY = 1 };

/* An empty trace of one context and device. */
void tale_begin(obj_trace *trace);
uint32_t tale_queue(obj_trace *trace, obj_queue_kind kind);

/* The next object, allocated by the host or, where `queue` is a stream, in its order. *object may
 * be NULL. */
uint32_t tale_allocate(obj_trace *trace, uint32_t queue, uint64_t bytes, uint32_t *object);
/* The next object, a part of another that the program divides, each a pool by itself. */
uint32_t tale_part(obj_trace *trace, uint32_t whole, uint64_t bytes, uint32_t *part);
/* Of a part the queue does not matter. */
uint32_t tale_free(obj_trace *trace, uint32_t queue, uint32_t object);
/* A copy or set of the whole object by the host, which waits for a copy. */
uint32_t tale_set(obj_trace *trace, uint32_t queue, uint32_t object);
uint32_t tale_copy_in(obj_trace *trace, uint32_t queue, uint32_t object);
uint32_t tale_copy_out(obj_trace *trace, uint32_t queue, uint32_t object);
/* Of all of the object, by a copy. */
obj_access tale_access(obj_trace *trace, uint32_t object, unsigned how);
/* A launch that reads one object and writes another; OBJ_NONE: neither. */
uint32_t tale_launch(obj_trace *trace, uint32_t queue, uint32_t reads, uint32_t writes);
/* A launch that reads what is divided: perhaps the part. */
uint32_t tale_launch_around(obj_trace *trace, uint32_t queue, uint32_t part);
/* A launch of which nothing is known. */
uint32_t tale_launch_unknown(obj_trace *trace, uint32_t queue);
/* RECORD, WAIT, SYNC_*: `about` is the event, or nothing. */
uint32_t tale_order(obj_trace *trace, obj_op_kind kind, uint32_t queue, uint32_t about);
/* Objects that nothing freed leak. */
void tale_end(obj_trace *trace);

#endif
