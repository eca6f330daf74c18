/* What happened to each object between its allocation and its free. */
#ifndef WL_ANALYSIS_OBJECTS_LIVES_H
#define WL_ANALYSIS_OBJECTS_LIVES_H

#include "analysis/finding.h"
#include "analysis/objects/trace.h"

typedef struct obj_gap { /* between two accesses that follow each other */
    uint32_t object;
    uint32_t from, to; /* operations */
    uint32_t calls;    /* calls that run in between: levels without these two */
    double seconds;    /* of what ran in between; negative: some of it was not measured */
    double copies;     /* seconds that copies of the object out and in again take */
} obj_gap;

typedef struct obj_dead_write { /* a copy or set that the next one covers, unread */
    uint32_t object, write, next;
    uint64_t bytes; /* of the first */
} obj_dead_write;

/* Operations that may have accessed more than they name count as accesses of every object alive
 * then: what follows from the gaps between accesses is certain so. */
typedef struct obj_life {
    uint32_t first, last; /* operations that access it, certainly or possibly; OBJ_NONE: none */
    /* The last copy from the host, or set, of it alone before anything else accesses it, and what
     * does so first: until then all that fills it can be put off. OBJ_NONE: there is none. */
    uint32_t filled, used;
    uint32_t accesses : 30;  /* certain ones, as far as the field counts */
    uint32_t possibly : 1;   /* there are possible ones, too */
    uint32_t idle_first : 1; /* until that first use there is a time long enough for `gaps` */
    /* Of the certain ones: the lowest and the highest level, and the queue that they are in, OBJ_NONE
     * where they are in several. */
    uint32_t soonest, latest, queue;
    /* Between two accesses, where it is longest: by seconds where all are measured, else by calls. 0
     * calls: nowhere. */
    uint32_t idle_calls;
    double idle_seconds; /* negative: not measured */
} obj_life;

enum { OBJ_MOST_ACCESSES = INT32_MAX };

enum { OBJ_MOST_GAPS = 1000000, OBJ_LEAST_GAPS = 4 };

typedef struct obj_lives {
    obj_life *rows; /* by object */
    wl_vec(obj_dead_write) dead;
    /* Those long enough for an object to be given back, by `to`: of each object at most as many as let
     * OBJ_MOST_GAPS be enough for all, but OBJ_LEAST_GAPS. */
    wl_vec(obj_gap) gaps;
} obj_lives;

/* `levels` is obj_order()'s. A gap is long enough where copies out and in again fit into it, as
 * fast as those of the trace that have a mebibyte or more were, where any was measured (else,
 * where its time was not measured, by its calls). False when memory is exhausted; obj_lives_free() is due either way. */
bool obj_lives_of(const obj_trace *trace, const uint32_t *levels, const ana_thresholds *thresholds,
                  obj_lives *out);
/* The gaps are of no use any more when patterns were found. */
void obj_lives_forget_gaps(obj_lives *lives);
void obj_lives_free(obj_lives *lives);

#endif
