/* Turns the requests of a launch into its summary. One obs_launch observes one launch: obs_observer
 * is what a run of its kernel, or of a slice of it, shows its requests to. */
#ifndef WL_OBSERVE_OBSERVE_H
#define WL_OBSERVE_OBSERVE_H

#include "base/arena.h"
#include "base/error.h"
#include "flow/fills.h"
#include "observe/summary.h"

typedef struct obs_launch obs_launch;
typedef struct obs_worker obs_worker; /* one a host thread */
typedef struct obs_block obs_block;   /* one a block in flight; belongs to its worker */

typedef struct obs_range { /* of an allocation */
    uint32_t object;
    uint64_t base, bytes;
    bool constant; /* memory that kernels cannot write to */
    bool divided;  /* other objects lie in it */
} obs_range;

typedef struct obs_filled_by {
    uint32_t array; /* in obs_config.shared */
    uint32_t pc;    /* of the barrier */
} obs_filled_by;

enum { OBS_MOST_FILLED = 64 };

typedef struct obs_config {
    uint32_t ncode; /* static instructions of the kernel */
    uint32_t grid[3], block[3];
    uint32_t nshared;
    const obs_shared *shared; /* arrays of the kernel, [0] covers the rest */
    /* Linear indices of the blocks that get a heat map, ascending. */
    uint32_t nsampled;
    const uint64_t *sampled;
    obs_why why; /* they are: ASKED or TRACED */
    /* Chooses blocks besides these: see choice.h. `log_limit`: bytes of accesses that are kept of a
     * block until it is known whether it is chosen (32 to 288 a request); 0: OBS_LOG_BYTES. A block
     * that exceeds it can only be chosen where its map may be drawn at once: the first, and of 64
     * blocks or more the middle and the last. */
    bool automatic;
    uint64_t log_limit;
    /* Some requests are not shown, or in another order than they have on a device: nothing is told
     * of how soon sectors are used again. */
    bool incomplete;
    uint64_t heat_limit; /* sectors a map holds at most; 0: no limit */
    /* Bytes of what warps did, step by step, the warps of all blocks or only of those that get a
     * map; 0: none is kept. `step_limit`: bytes of the steps of one block while it runs, 0:
     * OBS_STEP_BYTES. Entries of basic blocks are among the steps of all blocks only: of those with
     * a map steps are made from their logs. */
    uint64_t sequence_limit, step_limit;
    bool all_warps;
    bool asked_warps; /* with `all_warps`: steps as of all blocks, but of `sampled` only */
    /* Number of the innermost object that holds an address, for requests whose lanes fall in
     * several. */
    uint32_t (*object_at)(void *ctx, uint64_t address);
    void *object_ctx;
    /* The innermost object that holds an address, false where there is none. */
    bool (*range_at)(void *ctx, uint64_t address, obs_range *out);
    /* What is to be known of the elements of global memory, and of shared arrays: by
     * obs_record_use. `use_limit`: bytes that counting may take, 0: OBS_USE_BYTES; of what does not
     * fit nothing is known. */
    obs_known objects, arrays;
    uint64_t use_limit;
    /* What the kernel's instructions write to shared memory, for as long as the launch is observed.
     * NULL: of live ranges nothing is told. */
    const flow_fills *fills;
    /* Arrays of which is told whether a block has stored to each word when it passes a barrier for
     * the first time: filled.h. At most OBS_MOST_FILLED. */
    uint32_t nfilled;
    const obs_filled_by *filled;
} obs_config;

enum { OBS_LOG_BYTES = 512 << 10, OBS_STEP_BYTES = 64 << 20, OBS_USE_BYTES = 1 << 30 };

wl_status obs_launch_new(const obs_config *config, obs_launch **out);
/* Its workers are obs_workers, its blocks obs_blocks; a request goes to its rows and maps
 * (obs_record) and, where the configuration asks for elements, to these. Several runs of one launch
 * may use it, one after another. Blocks of which no instruction is told at their end are told apart
 * by their sectors. */
acc_observer obs_observer(obs_launch *launch);
void obs_launch_free(obs_launch *launch);

void obs_record(obs_block *block, const acc_request *access); /* the hot path */
/* Nothing is known of what the warp of the block did, step by step; UINT32_MAX: of all of them. */
void obs_lose_steps(obs_block *block, uint32_t warp);
/* Counts the elements that the request accesses, as far as the configuration asks for them. */
void obs_record_use(obs_block *block, const acc_request *access);

obs_origin obs_origin_of(flow_origin origin);

/* Merges the workers; the summary lies in `arena`. Execution counts and mix are the caller's to
 * fill in. */
wl_status obs_finish(obs_launch *launch, wl_arena *arena, obs_summary *out);

#endif
