/* Probes that know elements of objects in device memory: touch and frequency, and what they share
 * with objects: the ranges that addresses lie in; their part of the plan.
 *
 *   slots    accesses through one pointer share the range that it leads to, which the host gives
 *            with the launch
 *   walks    accesses of a loop whose addresses move by one step are noted once, after the loop
 *   merges   touch: accesses side by side are marked as one */
#ifndef WL_REWRITE_ELEMENTS_H
#define WL_REWRITE_ELEMENTS_H

#include "rewrite/plan/plan.h"

/* A site whose accesses are noted after a loop. Members from `low` on are those of heads. */
typedef struct rw_walk {
    uint32_t loop;       /* FLOW_NONE: none */
    uint32_t head;       /* the first site of its walk, which keeps the addresses */
    uint32_t leader;     /* the head that keeps what walks have in common */
    uint32_t count;      /* the leader whose register counts iterations */
    int64_t low, high;   /* bytes that the sites cover, from their common base */
    int64_t highest;     /* begin of the last of them */
    int64_t covered;     /* bytes, each as often as sites cover it */
    bool known;          /* flow knows the step: */
    int64_t step;        /* of the base in an iteration */
    bool given_up;       /* it is in none, since that would not be worth it */
    bool gapless, dense; /* all between first and last is touched; and once only */
    uint32_t table;      /* in rw_element_plan.walks, or IR_NONE */
} rw_walk;

/* What is marked at a site: also what others access that run whenever it does, from the same base,
 * with no gap. */
typedef struct rw_merge {
    uint32_t head;     /* the site that marks it */
    int64_t low, high; /* of the head: bytes from the base */
} rw_merge;

typedef struct rw_element_plan {
    uint32_t *slot_of; /* [nsites] IR_NONE: none */
    rewrite_pointer slots[REWRITE_SLOTS];
    uint32_t nslots;
    bool contended[REWRITE_SLOTS]; /* counters are spread where the object is small */
    rw_walk *walk;                 /* [nsites] */
    rewrite_walk_key walks[REWRITE_WALKS];
    uint32_t walk_leader[REWRITE_WALKS], nwalks;
    rw_merge *merges; /* [nsites] touch */
} rw_element_plan;

/* Dimensions of the launch (as rw_reuse_of()) that, where they are large, have warps touch the same
 * again and again: all blocks do, or the turns of a loop. Once a warp is seldom enough. */
uint32_t rw_crowd_of(const rw_plan *plan, const flow_function *f, uint32_t site);
/* Of the site: its offset from its base. */
int64_t rw_offset_of(const rw_plan *plan, uint32_t site);

static inline bool rw_is_in_walk(const rw_plan *plan, uint32_t site)
{
    return plan->elements->walk[site].loop != FLOW_NONE;
}

/* Would the site be in a walk, if that were worth it? */
static inline bool rw_left_walk(const rw_plan *plan, uint32_t site)
{
    return plan->elements->walk[site].given_up;
}

/* Is the site the head of a walk? */
static inline bool rw_heads_walk(const rw_plan *plan, uint32_t site)
{
    return rw_is_in_walk(plan, site) && plan->elements->walk[site].head == site;
}

#endif
