/* How often elements are accessed, while a launch runs.
 *
 * Of each object and class a worker has a table of differences, in pages that are made where
 * something is written: an access to elements [a, b) adds 1 at a and takes 1 away at b, so a
 * request of 32 lanes side by side is two updates, and what walks on is joined before it gets
 * there. Numbers are taken modulo 2^32; a table is packed into spans, and cleared, before an
 * element can have been accessed that often. */
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

typedef struct obs_use_table {
    uint32_t object;
    uint8_t space;                   /* ACC_GLOBAL or ACC_SHARED */
    uint64_t low, high;              /* addresses that are its own; of an array offsets */
    uint64_t first, elements;        /* address / 4 of the object's begin; its elements */
    obs_use_run pending[WL_CLASSES]; /* not in the pages yet */
    uint32_t **pages[WL_CLASSES];    /* differences; NULL: none */
    uint64_t adds;                   /* since the pages were packed: no element has more */
    uint64_t bytes;                  /* of the pages */
    wl_spans packed;                 /* until then; counted */
    bool lost;                       /* something is not in it */
    bool divided;                    /* other objects lie in it */
    uint32_t number;                 /* in the worker's tables */
    obs_within within;               /* what blocks that have ended did to it */
    obs_part *part;                  /* of the frame that accessed it last */
} obs_use_table;

enum { OBS_USE_LAST = 16 };

typedef struct obs_uses { /* of a worker; all zero: nothing */
    obs_use_table **tables;
    uint32_t count, capacity;
    obs_table by_object;               /* space << 32 | object: index + 1 */
    obs_use_table *last[OBS_USE_LAST]; /* used, by instruction */
    bool lost_objects, lost_arrays;    /* of some nobody knows which */
    obs_frame *spare;                  /* of blocks that have ended */
} obs_uses;

void obs_uses_free(obs_uses *uses);

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
