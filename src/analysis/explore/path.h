/* The way of one warp through its kernel: which basic blocks it entered, one after the other, and
 * what it asked of memory in each. Made from the steps of a warp. */
#ifndef WL_ANALYSIS_EXPLORE_PATH_H
#define WL_ANALYSIS_EXPLORE_PATH_H

#include "analysis/explore/explore.h"
#include "analysis/explore/transactions.h"
#include "base/vec.h"

/* What is known of the launch and its kernel. */
typedef struct explore_facts {
    const ana_arch *arch;          /* that requests are split by */
    prof_code_rows code;           /* by pc */
    prof_static_block_rows blocks; /* by first_pc */
    prof_loop_rows loops;          /* by header */
    prof_instruction_rows insns;   /* of the launch; by pc, object, space */
    prof_object_rows objects;
    prof_file_rows files;
    uint32_t grid[3], block[3];
    bool mix_whole; /* prof_launch's */
    /* Made by explore_prepare(): the innermost loop of each instruction, the loop around each loop; as
     * 1 + a row of `loops`, 0: none. */
    const uint32_t *loop_at, *loop_around;
} explore_facts;

/* Once all else is there. False when memory is exhausted. */
bool explore_prepare(explore_facts *facts, wl_arena *arena);

/* What an operation asks of memory; transactions of global and local memory by address. */
typedef struct explore_request {
    uint32_t pc, mask;
    uint32_t object;             /* of the first that it accesses; 0: unknown */
    uint32_t first_size, nsizes; /* in the path's sizes: of transactions */
    uint32_t passes, extra;      /* of shared memory; those that bank conflicts add */
} explore_request;

/* A basic block that lanes of the warp ran through once. Where no entry says so, what is known is an
 * instruction, or a barrier. */
typedef struct explore_visit {
    uint32_t pc, ninsns, mask;
    uint32_t first, nrequests; /* in the path's requests, ascending by pc */
} explore_visit;

typedef struct explore_path { /* all zero: empty, and of no warp */
    wl_vec(explore_visit) visits;
    wl_vec(explore_request) requests;
    wl_vec(uint8_t) sizes; /* bytes of transactions: 32, 64 or 128 */
    ana_warp_counts counts;
    uint64_t like;     /* equal for warps that differ in nothing that is compared */
    ana_served served; /* room for a request */
} explore_path;

/* Fills the path, whose memory is used again. False when memory is exhausted. */
bool explore_path_of(const explore_facts *facts, const prof_warp *warp, explore_path *out);
void explore_path_free(explore_path *path);

/* The block that holds the instruction; NULL: none is known. */
const prof_static_block *explore_block_at(const explore_facts *facts, uint32_t pc);

#endif
