/* The way of one warp through its kernel: which basic blocks it entered, one after the other, and
 * what it asked of memory in each. Made from the steps of a warp. Visits of blocks that are alike in
 * all of this are kept once, and so is what repeats in their list. */
#ifndef WL_ANALYSIS_EXPLORE_PATH_H
#define WL_ANALYSIS_EXPLORE_PATH_H

#include "analysis/explore/explore.h"
#include "analysis/explore/transactions.h"
#include "base/repeats.h"
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

/* Visits that come so many times, one after the other. */
typedef struct explore_part {
    uint32_t first, length; /* in the path's list */
    uint32_t times;
    uint32_t start; /* visits before it */
} explore_part;

typedef struct explore_path {     /* all zero: empty, and of no warp */
    wl_vec(explore_visit) visits; /* those that differ, in the order in which they come first */
    wl_vec(explore_request) requests;
    wl_vec(uint8_t) sizes; /* bytes of transactions: 32, 64 or 128 */
    wl_vec(uint32_t) list; /* of `visits`, folded */
    wl_vec(explore_part) parts;
    uint32_t length; /* visits, unfolded */
    ana_warp_counts counts;
    uint64_t like;     /* equal for warps that differ in nothing that is compared */
    ana_served served; /* room for a request */
    struct {           /* room for making it */
        wl_vec(uint32_t) list;
        wl_vec(uint64_t) hashes; /* by visit */
        wl_vec(uint32_t) table;  /* of visits + 1, by their hash; a power of two, half empty */
        wl_repeats repeats;
    } making;
} explore_path;

/* Fills the path, whose memory is used again. False when memory is exhausted. */
bool explore_path_of(const explore_facts *facts, const prof_warp *warp, explore_path *out);
void explore_path_free(explore_path *path);

/* The part's visit with `index` others of its first round before it. */
static inline const explore_visit *explore_visit_of(const explore_path *path,
                                                    const explore_part *part, uint32_t index)
{
    return &path->visits.data[path->list.data[part->first + index]];
}

/* A place among the path's visits, unfolded. */
typedef struct explore_cursor {
    const explore_path *path;
    uint32_t part, at; /* at: visits of the part before it */
} explore_cursor;

/* Of the visit with `index` visits before it; at the end `part` is the number of parts. */
explore_cursor explore_cursor_at(const explore_path *path, uint32_t index);

static inline const explore_part *explore_part_of(const explore_cursor *c)
{
    return &c->path->parts.data[c->part];
}

/* Visits from there to the end of the part; 0 at the path's end. */
static inline uint32_t explore_left(const explore_cursor *c)
{
    if (c->part == c->path->parts.count)
        return 0;
    return explore_part_of(c)->length * explore_part_of(c)->times - c->at;
}

/* The visit that comes `after` visits later, within the part. */
static inline const explore_visit *explore_visit_after(const explore_cursor *c, uint32_t after)
{
    const explore_part *p = explore_part_of(c);
    return explore_visit_of(c->path, p, (c->at + after) % p->length);
}

/* So many visits on, at most as many as are left of the part. */
static inline void explore_go_on(explore_cursor *c, uint32_t count)
{
    bool end = count == explore_left(c);
    c->at = end ? 0 : c->at + count;
    c->part += end && count;
}

/* The block that holds the instruction; NULL: none is known. */
const prof_static_block *explore_block_at(const explore_facts *facts, uint32_t pc);

#endif
