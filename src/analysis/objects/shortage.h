/* Allocations that failed for want of memory: what held it then, and what would have made room. */
#ifndef WL_ANALYSIS_OBJECTS_SHORTAGE_H
#define WL_ANALYSIS_OBJECTS_SHORTAGE_H

#include "analysis/objects/patterns.h"

typedef struct obj_held { /* memory of one site */
    uint32_t object;      /* the largest of its objects */
    uint32_t count;
    uint64_t bytes; /* of all */
    uint32_t place; /* its site, or, beyond these, the pool that `rest` is of */
    bool rest;      /* what the program divides, without the parts that it had handed out */
} obj_held;

typedef struct obj_room { /* that following a hit would have left free */
    uint32_t hit;
    uint64_t bytes;
} obj_room;

typedef struct obj_shortage {
    uint64_t in_use;        /* by objects of the process on the device, then */
    uint64_t missing;       /* of what was asked for, beyond what was free */
    wl_vec(obj_held) held;  /* most bytes first */
    wl_vec(obj_room) rooms; /* the largest first, until nothing is missing; of an object one */
    uint64_t room;          /* bytes of all rooms */
} obj_shortage;

/* False when memory is exhausted; obj_shortage_free() is due either way. Hits that are merely
 * possible make no room. */
bool obj_shortage_of(const obj_trace *trace, const obj_hits *hits, const obj_refusal *refusal,
                     obj_shortage *out);
void obj_shortage_free(obj_shortage *shortage);

/* Did the process do nothing on the device after an allocation had failed? Then nobody knows what
 * it would have used later. */
bool obj_ends_by_shortage(const obj_trace *trace);

#endif
