/* What the warps of a block did, step by step, packed as it comes. A step is a request on one
 * object, an entry (lanes began a basic block), or a barrier of the block, which all of its warps
 * have. A warp's steps come in the order in which it took them. */
#ifndef WL_OBSERVE_STEPS_H
#define WL_OBSERVE_STEPS_H

#include "base/steps.h"
#include "base/vec.h"
#include "observe/log.h"
#include "observe/observe.h"

typedef struct obs_page_end { /* of a page that is full */
    uint32_t count;
    size_t at; /* where it ends in the bytes of all pages */
} obs_page_end;

typedef struct obs_walk { /* a warp's steps so far */
    wl_page_writer page;  /* the bytes of all pages; the rest is of the last one */
    wl_vec(obs_page_end) ends;
    uint32_t nslots, last;                /* last: the slot that was accessed last */
    obs_step_object key[WL_MOST_SLOTS];   /* as its requests say */
    obs_step_object slots[WL_MOST_SLOTS]; /* the same, object 0 where nobody knows it */
    uint64_t first[WL_MOST_SLOTS];        /* address of the first access */
    int64_t begins[WL_MOST_SLOTS];        /* the same, from the object's begin */
    bool lost;                            /* something found no room: nothing is known */
} obs_walk;

typedef struct obs_walks { /* of the warps of a block */
    struct obs_walks *next;
    const obs_config *config;
    uint64_t bytes;     /* of all pages */
    obs_range known[8]; /* objects that were accessed, by their number modulo 8 */
    uint32_t nwarps;
    obs_walk warps[];
} obs_walks;

/* Nothing has been done. NULL when memory is exhausted. The configuration must live as long. */
obs_walks *obs_walks_new(const obs_config *config);
/* Begins another block with it, and keeps its memory. */
void obs_walks_clear(obs_walks *walks);
void obs_walks_free(obs_walks *walks);

/* A request on one object; `run` describes its lanes or is NULL. `lanes` (may be NULL) belongs to
 * a pattern of distances that the request repeats: what the first such one fills in serves the
 * others. Offsets are taken from the begin
 * of what config->range_at knows; of what it does not know they are addresses, and the object
 * is 0. */
void obs_walks_access(obs_walks *walks, const acc_request *access, const obs_run *run,
                      wl_lanes *lanes);
void obs_walks_entry(obs_walks *walks, uint32_t warp, uint32_t pc, uint32_t mask);
void obs_walks_barrier(obs_walks *walks, uint32_t pc);
/* Nothing is known of the warp, whatever comes. */
void obs_walks_lose(obs_walks *walks, uint32_t warp);
/* All that the log has. NULL, or a log that lacks some of it: the steps of no warp are known. */
void obs_walks_play(obs_walks *walks, const obs_log *log);

#endif
