/* How often elements are accessed, while a launch runs.
 *
 * Of each object and class a worker has a table of differences, in pages that are made where
 * something is written: an access to elements [a, b) adds 1 at a and takes 1 away at b, so a
 * request of 32 lanes side by side is two updates, and what walks on is joined before it gets
 * there. Numbers are taken modulo 2^32; a table is packed into spans, and cleared, before an
 * element can have been accessed that often.
 *
 * Of a large object all workers have one table, so that what counting takes does not grow with
 * them. Before a worker adds to it, it claims a part of the 2^32; when all of that is claimed,
 * workers go on in tables of their own. */
#ifndef WL_OBSERVE_USES_H
#define WL_OBSERVE_USES_H

#include "base/spans.h"
#include "observe/observe.h"
#include "observe/table.h"
#include "observe/within.h"

typedef struct obs_use_run { /* elements [first, end) were accessed so many times more */
    uint64_t first, end;
    uint32_t times;
} obs_use_run;

typedef struct obs_use_pages { /* differences of an object, by class; NULL: none */
    void *of[WL_CLASSES];      /* an array of pointers to pages */
    uint64_t bytes;
} obs_use_pages;

typedef struct obs_use_common { /* the table of a large object; all but `next` atomic */
    struct obs_use_common *next;
    uint64_t key, elements;
    obs_use_pages pages;
    uint64_t claimed;
} obs_use_common;

typedef struct obs_use_table {
    uint32_t object;
    uint8_t space;                   /* ACC_GLOBAL or ACC_SHARED */
    uint64_t low, high;              /* addresses that are its own; of an array offsets */
    uint64_t first, elements;        /* address / 4 of the object's begin; its elements */
    obs_use_run pending[WL_CLASSES]; /* not in the pages yet */
    obs_use_pages pages;             /* its own */
    obs_use_common *common;          /* NULL: there is none */
    uint64_t claim;                  /* that is left */
    bool alone;                      /* nothing is added to the common one any more */
    uint64_t adds;                   /* since the pages were packed: no element has more */
    wl_spans packed;                 /* until then; counted */
    bool lost;                       /* something is not in it */
    bool divided;                    /* other objects lie in it */
    uint32_t number;                 /* in the worker's tables */
    obs_within within;               /* what blocks that have ended did to it */
    obs_part *part;                  /* of the frame that accessed it last */
} obs_use_table;

/* Requests of a warp, by whatever instruction, in each of which every lane accesses what lies behind
 * what it accessed before: of each lane they are one run of elements. */
typedef struct obs_use_walk {
    obs_use_table *table; /* of an object; NULL: nobody walks */
    obs_frame *frame;
    uint32_t warp, mask;
    int class_;
    uint64_t bytes, most;     /* of a lane so far, and as many as stay in the table */
    uint64_t next[ACC_LANES]; /* addresses */
} obs_use_walk;

enum { OBS_USE_LAST = 16, OBS_USE_WALKS = 4 };

typedef struct obs_uses { /* of a worker; all zero: nothing */
    obs_use_table **tables;
    uint32_t count, capacity;
    obs_table by_object;               /* space << 32 | object: index + 1 */
    obs_use_table *last[OBS_USE_LAST]; /* used, by instruction */
    obs_use_walk walks[OBS_USE_WALKS]; /* in no order */
    uint32_t last_walk;                /* that began last */
    bool lost_objects, lost_arrays;    /* of some nobody knows which */
    obs_frame *spare;                  /* of blocks that have ended */
} obs_uses;

void obs_uses_free(obs_uses *uses);
void obs_commons_free(obs_use_common *commons);

/* The block has ended. */
void obs_uses_end_block(obs_block *block);

/* Of all workers, in `arena`: uses, objects_known, arrays_known. */
wl_status obs_uses_finish(obs_launch *launch, wl_arena *arena, obs_summary *out);

/* Makes *use of spans: in `arena`, reduced to what `known` asks for, and to less where that would
 * be more than a summary may hold (`room`: bytes left, which it takes from). `use->object` and
 * `use->space` are the caller's. */
wl_status obs_use_make(const wl_spans *spans, obs_known known, uint64_t *room, wl_arena *arena,
                       obs_use *use);
enum { OBS_USE_ROOM = 256 << 20 }; /* of all uses of a summary */

#endif
