/* What becomes of elements within a block, while a launch runs: live ranges of the words of shared
 * arrays, and how many different elements of an object a block accesses.
 *
 * A block in flight has a frame. Of each array that the block accesses it has two numbers a word:
 * where the value came from that the word's range began with, and the accesses since. Of each
 * object it has a stamp an element: the frame's epoch where the block accessed the element. Frames
 * go from block to block, and pages of stamps from where one block accessed something to where the
 * next one does; a worker has as many frames as it has blocks in flight. */
#ifndef WL_OBSERVE_WITHIN_H
#define WL_OBSERVE_WITHIN_H

#include "observe/reads.h"

enum {
    OBS_LIVE_CLASSES = OBS_LIVE_EXACT + 28, /* obs_live_ranges below 2^32 accesses */
    OBS_STAMPS = 1024                       /* of a page */
};

typedef struct obs_within { /* of a table of elements, over blocks that have ended */
    bool lost_ranges, lost_words;
    uint64_t ranges[OBS_ORIGIN_COUNT], range_accesses[OBS_ORIGIN_COUNT], unfilled;
    uint64_t live[OBS_ORIGIN_COUNT][OBS_LIVE_CLASSES]; /* ranges by accesses */
    uint64_t words, words_most, accesses;
} obs_within;

typedef struct obs_frame obs_frame;

typedef struct obs_stamps { /* a page of stamps */
    struct obs_stamps *next;
    uint64_t page;
    uint16_t of[OBS_STAMPS];
} obs_stamps;

typedef struct obs_part { /* what the frame's block did to one table */
    obs_frame *frame;
    obs_within *sums;
    uint16_t epoch; /* the frame's, where the block accessed any of it */
    bool array;
    uint64_t elements;
    uint64_t adds; /* accesses */
    /* Of an array, by word; zero outside of [low, high). */
    uint64_t low, high;
    uint32_t *accesses; /* of the current range */
    uint8_t *origins;   /* obs_origin + 1; 0: nothing was stored there */
    /* Of an object, in pages that are there where the block accesses something: those that are are
     * linked, the last one first. */
    obs_stamps **stamps, *linked;
    uint64_t words, seen, seen_end; /* the elements that were stamped last */
} obs_part;

struct obs_frame {
    obs_frame *next;   /* that a worker has to spare */
    obs_reads *reads;  /* NULL: live ranges are not told */
    obs_part **parts;  /* by number of the table; NULL: none */
    uint32_t *touched; /* numbers of the tables that the block accessed */
    uint32_t count, ntouched;
    uint16_t epoch;    /* from 1 on */
    obs_stamps *spare; /* pages with stamps of earlier epochs */
};

typedef struct obs_stamp_room { /* for stamps, of all workers; `used` is atomic */
    uint64_t *used, most;
} obs_stamp_room;

/* NULL when memory is exhausted. `warps`: of a block. */
obs_frame *obs_frame_new(const obs_read_plan *plan, uint32_t warps);
void obs_frame_free(obs_frame *frame);
/* The block has ended: what it did goes to the sums, and the frame is as new. */
void obs_frame_end(obs_frame *frame);
/* The part for a table, made where it is missing; NULL when memory is exhausted. */
obs_part *obs_frame_part(obs_frame *frame, uint32_t table, uint64_t elements, bool array,
                         obs_within *sums);

/* The block accesses elements [first, end) of an object, each so many times. */
void obs_part_touch(obs_part *part, uint64_t first, uint64_t end, uint32_t times,
                    obs_stamp_room room);
/* The block accesses words of an array, each so many times: loads, atomics, updates. */
void obs_part_access(obs_part *part, uint64_t first, uint64_t end, uint32_t times);
/* A store to each of the words begins a range. */
void obs_part_begin(obs_part *part, uint64_t first, uint64_t end, obs_origin origin);

#endif
