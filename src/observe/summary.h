/* The launch summary: what one kernel launch did to memory. Every collector fills it; everything
 * later reads it.
 *
 * Units: a request is a warp's execution of a memory instruction with at least one active lane; a
 * sector is an aligned 32-byte piece; a wavefront is a pass through shared memory. Counts are sums
 * over the observed blocks and do not depend on the number of threads that ran them. Rows are
 * sorted by (pc, object, space, op). observe/cost.h defines sectors, wavefronts and the five shapes
 * to the byte. */
#ifndef WL_OBSERVE_SUMMARY_H
#define WL_OBSERVE_SUMMARY_H

#include "access/access.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { OBS_LINE_BYTES = 128, OBS_SECTOR_BYTES = 32, OBS_WORD_BYTES = 4, OBS_WORDS_PER_SECTOR = 8 };

/* In an obs_insn's flags, beside those of the requests: most of these are pieces of rows, since the
 * block is less than a warp wide (cost.h); of some it is not known how many wavefronts they take, and they are counted
 * with the fewest. */
enum { OBS_PIECES = 1 << 16, OBS_UNCLEAR = 1 << 17 };

/* One static memory instruction on one object. */
typedef struct obs_insn {
    uint32_t pc;
    uint32_t object; /* number in the capture; for shared memory the index of the array in `shared`;
                        0: unknown */
    uint8_t space;   /* acc_space */
    uint8_t op;      /* acc_op */
    uint16_t bytes;  /* per lane, all elements of a vector */
    uint32_t flags;  /* acc_flag, OBS_PIECES, OBS_UNCLEAR */
    uint64_t requests;
    uint64_t active_lanes; /* summed over requests */
    uint64_t sectors;      /* distinct sectors moved, summed; 0 for shared memory */
    uint64_t sectors_min;  /* the fewest that could hold the distinct bytes touched */
    uint64_t wavefronts;   /* shared memory only */
    uint64_t
        wavefronts_min; /* with the same lanes, width and distinct words, without bank conflicts */
    uint64_t turns;     /* of atomics in global memory, else 0: see cost.h */
    uint64_t slice_turns; /* those of the slice of L2 that has most */
    /* How the requests' addresses look; each request counts in exactly one. */
    uint64_t uniform;    /* all active lanes the same address */
    uint64_t contiguous; /* neighbouring lanes take neighbouring elements, first one on a sector
                            boundary */
    uint64_t misaligned; /* contiguous, but the first address is off the sector boundary */
    uint64_t strided;    /* a constant difference other than the element size */
    uint64_t irregular;
    int64_t stride; /* bytes between lanes, the commonest of the strided requests */
} obs_insn;

typedef struct obs_block_count { /* a basic block of the kernel, in the emulator's numbering */
    uint32_t first_pc, ninsns;
    uint64_t executions, lanes;
} obs_block_count;

typedef enum obs_owner {
    OBS_OWNER_NONE,
    OBS_OWNER_THREAD,
    OBS_OWNER_WARP,
    OBS_OWNER_BLOCK
} obs_owner;

/* One sector of a heat map. Histories have bit w set where warp w of the block touched the word or
 * sector. */
typedef struct obs_heat_row {
    uint64_t sector;  /* address / 32; for shared memory offset / 32 */
    uint32_t history; /* of the sector */
    uint32_t word[OBS_WORDS_PER_SECTOR];
    uint32_t reads, writes, atomics; /* requests that touched the sector, saturating */
    uint16_t owner;                  /* two bits a word: obs_owner, shared memory only */
    uint16_t pcset; /* index in the map's pcsets: the instructions that touched the sector */
} obs_heat_row;

typedef struct obs_pcset {
    uint32_t count;
    uint32_t *pcs; /* ascending */
} obs_pcset;

/* The heat map of one sampled block over one object. Rows ascend by sector. */
typedef struct obs_heat {
    uint32_t object;
    uint8_t space;  /* acc_space: GLOBAL, SHARED or CONST */
    uint64_t block; /* linear index */
    uint32_t block_index[3];
    uint32_t warps; /* of the block */
    uint32_t nrows;
    obs_heat_row *rows;
    uint32_t npcsets;
    obs_pcset *pcsets;
    uint64_t dropped; /* sectors left out because the map was full; at least this many */
} obs_heat;

/* Why a block is sampled: the user named it, or asked for all; it stands for a population of blocks
 * that do much the same; it does something else than the populations; it is one of those that were
 * traced on the device. */
typedef enum obs_why {
    OBS_WHY_ASKED,
    OBS_WHY_TYPICAL,
    OBS_WHY_OUTLIER,
    OBS_WHY_TRACED,
    OBS_WHY_COUNT
} obs_why;

/* A block that was chosen for a heat map. Sums are over its requests that move sectors. */
typedef struct obs_sample {
    uint64_t block; /* linear index */
    uint32_t block_index[3];
    uint8_t why;           /* obs_why */
    uint8_t mapped;        /* 0: its accesses were too many to keep until it was chosen */
    uint64_t alike;        /* blocks that it stands for, itself included; 0: not known */
    uint64_t instructions; /* that its warps executed; 0: not known */
    uint64_t requests, sectors;
} obs_sample;

/* Uses of sectors of an object in global memory by a chosen block that come about as soon after the
 * use before: that is what tells how many a cache holds. A use is a request that takes any of the
 * sector's bytes. Between a load and the last load of the sector by the block, or between a store
 * and its last load or store, lies a number of other lines that the block touched, counted anew
 * whenever the sector's own line is touched; the largest of these numbers is the distance. A row
 * has the uses of an octave of distances (0, 1, 2 to 3, 4 to 7, ...) and their mean, rounded. Of a
 * block and object without any row nothing is known. A warp waits for all loads that go out in one
 * burst (observe/reuse.h) until the last has arrived: `waits` counts the bursts whose farthest use, a
 * first one if there is one, is of this row. */
typedef struct obs_reuse {
    uint64_t block;            /* linear index */
    uint32_t object, distance; /* distance: OBS_FIRST_USE of a sector's first load or store */
    uint64_t loads, stores, waits;
} obs_reuse;

#define OBS_FIRST_USE UINT32_MAX

/* A shared-memory array of the kernel, static by name or the dynamic part. Index 0 is what no array
 * covers. */
typedef struct obs_shared {
    const char *name; /* PTX name; "" for index 0 */
    uint32_t offset, bytes;
} obs_shared;

/* What launches are tried with. The values stand in captures and profiles. */
typedef enum obs_trial_kind {
    /* x and y of all indices exchanged, so that lanes run along what y runs along now, in blocks
     * whose shape is exchanged, too, or stays */
    OBS_TRIAL_TRANSPOSED,
    OBS_TRIAL_PADDED,    /* a shared array with bytes added after each of its rows */
    OBS_TRIAL_WIDENED,   /* blocks that are 32 threads wide, and less high by as much */
    OBS_TRIAL_SPREAD,    /* an object with bytes added after each of its rows */
    OBS_TRIAL_MOVED,     /* an object with bytes left free before it */
    OBS_TRIAL_SPLIT,     /* an object's records split into an array for each field */
    OBS_TRIAL_REGRIDDED, /* more blocks, which do the same work together */
    OBS_TRIAL_STAGED,    /* a block's part of an object loaded into shared memory */
    OBS_TRIAL_COMBINED,  /* updates of an element combined by warp and block before they are made */
    OBS_TRIAL_PRIVATE,   /* a block's part of an object updated in a copy in shared memory */
    OBS_TRIAL_DIRECT,    /* what a shared array passes on loaded from its object in each place */
    OBS_TRIAL_SWIZZLED,  /* a shared array's elements permuted within their rows */
    OBS_TRIAL_KEPT,      /* a block's own part of an object that it changes, in shared memory */
    OBS_TRIAL_EXCHANGED, /* STAGED or KEPT in the place of an array that is left out as in DIRECT */
    OBS_TRIAL_COUNT
} obs_trial_kind;

/* What the instructions of a launch would have done with one change. Counts are of the same blocks
 * before and after; `blocks` of them were run. */
typedef struct obs_trial {
    uint8_t kind; /* obs_trial_kind */
    uint64_t blocks;
    uint32_t pc; /* TRANSPOSED: an instruction that reads the thread's index */
    uint32_t
        block[2];    /* TRANSPOSED, WIDENED: of the launch then, in x and y; REGRIDDED: its grid */
    uint32_t object; /* that the change is about, as in obs_insn; 0 where it is the kernel */
    uint32_t pitch,
        pad; /* SWIZZLED: rows of `pitch` bytes, of which `pad` stay together; PADDED, SPREAD: `pad` bytes are added after each `pitch`; MOVED: `pad`
                            bytes are left free; SPLIT: of records of `pitch` bytes, `pad` are
                            used; STAGED: `pad` bytes of shared memory hold what `pitch` turns of
                            a loop take, or, where that is 0, all that a block does;
                            COMBINED, PRIVATE, KEPT, EXCHANGED: `pad` bytes of it hold the copy */
    uint32_t nbefore, nafter;
    /* Of the object, where the change is about one; else all rows. STAGED, COMBINED, PRIVATE, KEPT: `after` moves
     * the part where an instruction of `before` accesses the object now, and accesses no known
     * shared array. DIRECT: `before` has the array's rows and those of the loads that fill it,
     * `after` loads where one of these does. EXCHANGED: the rows of both changes, of the object and of
     * the array. */
    obs_insn *before, *after;
} obs_trial;

/* Where the object that a change is about lies; ACC_SPACE_COUNT: the change is about the kernel. */
static inline acc_space obs_trial_space(uint8_t kind)
{
    switch (kind) {
    case OBS_TRIAL_PADDED:
    case OBS_TRIAL_SWIZZLED:
    case OBS_TRIAL_DIRECT: return ACC_SHARED;
    case OBS_TRIAL_SPREAD:
    case OBS_TRIAL_MOVED:
    case OBS_TRIAL_SPLIT:
    case OBS_TRIAL_STAGED:
    case OBS_TRIAL_COMBINED:
    case OBS_TRIAL_PRIVATE:
    case OBS_TRIAL_KEPT:
    case OBS_TRIAL_EXCHANGED: return ACC_GLOBAL;
    default: return ACC_SPACE_COUNT;
    }
}

typedef struct obs_mix { /* instruction mix: thread instructions by cost class of ops.def (ir_cost)
                          */
    uint64_t warp_instructions[16], thread_instructions[16];
} obs_mix;

typedef enum obs_known {
    OBS_KNOWN_NOTHING,
    OBS_KNOWN_TOUCHED, /* whether an element was accessed */
    OBS_KNOWN_COUNTED, /* how often */
    OBS_KNOWN_COUNT
} obs_known;

/* Where the value came from that a live range of a word in shared memory begins with. */
typedef enum obs_origin {
    OBS_FROM_MEMORY, /* a load from device memory */
    OBS_FROM_COPY,   /* an asynchronous copy */
    OBS_COMPUTED,
    OBS_ORIGIN_COUNT
} obs_origin;

enum { /* what a use's `reuse` says is known */
       OBS_REUSE_RANGES = 1,
       OBS_REUSE_BLOCKS = 2,
       OBS_REUSE_LENGTHS = 4, /* of ranges: how many have how many accesses */
       OBS_REUSE_ORIGINS = 8, /* of accesses in ranges: in those of which origin */
       OBS_REUSE_ALL = 15
};

/* Live ranges of an array's words that began with a value from `origin` and have so many accesses
 * after the store that begins them: up to 15 exactly that many, from 16 on at least as many and less
 * than twice as many (16, 32, 64, ...). */
typedef struct obs_live_ranges {
    uint8_t origin;    /* obs_origin */
    uint64_t accesses; /* the fewest */
    uint64_t ranges;
} obs_live_ranges;

enum { OBS_LIVE_EXACT = 16 };

/* How often the elements of an object were accessed, over all blocks of the launch. Elements are
 * aligned pieces of 4 bytes, counted from the object's begin rounded down to 4. A lane's access
 * counts once on each element that it touches; reductions are atomics. Addresses are truly accessed
 * ones: an estimate is never among them. */
typedef struct obs_use {
    uint32_t object;   /* as in obs_insn */
    uint8_t space;     /* ACC_GLOBAL, or ACC_SHARED: an array's elements are those of all blocks */
    uint8_t known;     /* obs_known; NOTHING: it was accessed, nobody knows where */
    const char *spans; /* base/spans.h; counted where known is COUNTED */
    uint64_t length;   /* bytes */
    uint8_t reuse;     /* OBS_REUSE_*: which of the following is known */
    /* RANGES, of arrays: live ranges by obs_origin, and (ORIGINS) the accesses in them after the
     * store that begins them, over all blocks that were counted. A store to a word begins a range,
     * unless its value depends on a read of that word; the next one, or the block's end, ends it.
     * Without ORIGINS all blocks were counted, and what is neither such a store nor unfilled are
     * accesses in ranges. */
    uint64_t ranges[OBS_ORIGIN_COUNT], range_accesses[OBS_ORIGIN_COUNT];
    uint64_t unfilled; /* accesses of words to which the block had stored nothing by then */
    uint32_t nlive;
    obs_live_ranges *live; /* LENGTHS: ascend by origin, accesses */
    /* BLOCKS: elements that a block accessed, summed over the blocks that were counted, and of the
     * block that has most; the accesses of all of them. Accesses / words is the reuse in a block. */
    uint64_t block_words, block_words_most, block_accesses;
    uint64_t blocks; /* that were counted for all this: the launch's, or some of them */
} obs_use;

/* Steps or warps, packed as base/steps.h says; WL_PAGE_ITEMS of them at most. */
typedef struct obs_page {
    uint32_t count;
    const char *data;
    uint64_t length;
} obs_page;

/* Steps that one warp or many took, one after the other, in one page or several. */
typedef struct obs_sequence {
    uint32_t nslots; /* objects that they access */
    uint32_t npages;
    obs_page *pages;
} obs_sequence;

typedef struct obs_step_object { /* the object that a slot of a sequence stands for; as in obs_insn
                                  */
    uint8_t space;
    uint32_t object;
} obs_step_object;

/* Warps that took the same steps over the same objects, ascending by block and number. */
typedef struct obs_warps {
    uint32_t sequence; /* index */
    uint32_t nslots;   /* the sequence's */
    obs_step_object *slots;
    uint32_t npages;
    obs_page *pages;
} obs_warps;

/* A path: the basic blocks that each lane of a warp ran, in order (docs/probes.md, path). Warps that
 * took the same have the same hash, in whatever block and launch of the kernel. */
typedef struct obs_path {
    uint64_t hash;
    uint64_t instructions;      /* the most that a lane ran */
    uint64_t lane_instructions; /* of all lanes; UINT64_MAX: not known */
    uint64_t warps, first;      /* that took it; the first of them, by its number in the grid */
} obs_path;

enum { OBS_MOST_PATHS = 1 << 16 /* that are told apart in a launch */ };
#define OBS_NO_PATH UINT32_MAX

typedef struct obs_summary {
    uint32_t ninsns;
    obs_insn *insns;
    uint32_t nblocks;
    obs_block_count *blocks;
    uint32_t nheats;
    obs_heat *heats;
    uint32_t nsamples;
    obs_sample *samples; /* ascend by block */
    uint32_t nreuses;
    obs_reuse *reuses; /* ascend by block, object, distance */
    uint32_t nshared;
    obs_shared *shared;
    /* What is known of elements. Of objects and arrays that are not in `uses`: they were not
     * accessed, or nothing is known. */
    uint8_t objects_known, arrays_known; /* obs_known; objects: global memory */
    uint32_t nuses;
    obs_use *uses; /* ascend by space, object */
    /* What warps did, step by step, those of all blocks or of the sampled ones. Either none of them,
     * or each is in `warps` or counted as dropped: it found no room. */
    uint32_t nsequences;
    obs_sequence *sequences;
    uint32_t nwarps; /* groups */
    obs_warps *warps;
    uint64_t warps_dropped;
    /* What path each warp took, in the order in which the first of each does; npaths is 0 where that
     * is not known. path_runs has all warps of the launch in the grid's order, as numbers of
     * base/varint.h: index of a path + 1, or 0 (not known), and how many warps in a row took it. */
    uint32_t npaths;
    obs_path *paths;
    const char *path_runs;
    uint64_t path_bytes;
    obs_mix mix;
    uint64_t warp_instructions, thread_instructions;
    /* The most warp instructions that any warp and any block executed; and of each block those of
     * its longest warp, summed. 0: not known. */
    uint64_t longest_warp, busiest_block, longest_warps;
    uint64_t blocks_run, blocks_observed, blocks_sampled; /* sampled: with a heat map */
    uint64_t dropped; /* accesses left out of the counts, 0 in a complete run */
} obs_summary;

#endif
