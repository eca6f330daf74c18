/* Counts by instruction and object, one set a worker. */
#ifndef WL_OBSERVE_ROWS_H
#define WL_OBSERVE_ROWS_H

#include "base/steps.h"
#include "base/vec.h"
#include "observe/cost.h"
#include "observe/log.h"

typedef struct obs_stride_count {
    int64_t stride;
    uint64_t count;
} obs_stride_count;

/* How often each stride came, ascending by stride: exact, so that the commonest does not depend on
 * any order. */
typedef wl_vec(obs_stride_count) obs_strides;

/* The last run and what it cost: most instructions repeat one shape, whose costs depend on no more
 * than this. */
typedef struct obs_memo {
    int64_t stride;
    uint32_t phase, mask, bytes, flags; /* phase: first address modulo 128 */
    uint64_t times;                     /* not yet in the row's counts */
    obs_cost cost;
} obs_memo;

/* The same for requests that are no run: the lanes' distances from the first active one decide,
 * and where that lies within a sector or a unit of shared memory. Tiles of two dimensions repeat
 * them, random accesses do not: patterns that bring little are replaced more and more seldom. */
typedef struct obs_pattern {
    uint64_t distance[OBS_LANES], care[OBS_LANES]; /* care: all ones for active lanes, else 0 */
    int64_t low, high;                             /* of the distances */
    uint32_t phase, mask, bytes, flags;
    uint32_t misses, patience; /* since it was learnt; how many until another is */
    uint64_t times;            /* that it came; not yet in the row's counts */
    obs_cost cost;
    obs_log_place place;
    wl_lanes lanes; /* as steps have it, where one of this pattern has been made */
} obs_pattern;

typedef struct obs_row {
    struct obs_row *next; /* of the same pc */
    obs_memo memo;
    obs_pattern pattern;
    obs_insn insn;      /* counts so far, without the memo's and the pattern's */
    uint64_t low, high; /* shared memory: the array's offsets; else 0, UINT64_MAX */
    obs_strides strides;
    uint64_t strides_lost; /* strided requests whose stride found no memory */
    uint64_t *slices;      /* of atomics in global memory: turns of OBS_SLICES, else NULL */
    uint32_t width;        /* of the block, where its requests may be pieces of rows; else 0 */
    uint64_t pieces;       /* requests that are */
} obs_row;

/* Whether the row's pattern has the request's lanes. */
bool obs_row_knows(const obs_row *row, const acc_request *access);
/* run is NULL where the request is none; then `known` is what obs_row_knows says. Returns the
 * sectors moved. */
uint32_t obs_row_count(obs_row *row, const acc_request *access, const obs_run *run, bool known);
void obs_row_flush(obs_row *row); /* memo and pattern into counts */

bool obs_strides_add(obs_strides *strides, int64_t stride, uint64_t count);
/* The commonest; of equally common ones the smallest, and the positive one. 0 without any. */
int64_t obs_strides_commonest(const obs_strides *strides);

/* Adds the counts of `from` to `to`; strides are the caller's. */
void obs_insn_add(obs_insn *to, const obs_insn *from);

#endif
