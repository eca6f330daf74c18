/* What a block does to the words of a shared array, phase after phase: between its barriers. */
#ifndef WL_ANALYSIS_SHARED_PHASES_H
#define WL_ANALYSIS_SHARED_PHASES_H

#include "profile/profile.h"

/* Where a live range's first value came from, as far as that is known. */
enum {
    ANA_UNFILLED,                                      /* the block has stored nothing there */
    ANA_FILLED,                                        /* and an obs_origin */
    ANA_FILLED_SOMEHOW = ANA_FILLED + OBS_ORIGIN_COUNT /* it is not known from where */
};

/* What a phase does to a word, and the range that the word has at the phase's end. */
typedef struct ana_word_use {
    uint32_t loads, stores, atomics; /* by lanes */
    uint32_t readers, writers;       /* bit w: warp w did; an atomic does both */
    uint32_t set;                    /* of instructions that did it: index in sets */
    uint32_t begun;                  /* ranges */
    uint32_t accesses;               /* in the range, after the store that began it */
    uint16_t origin;                 /* ANA_UNFILLED, ... */
    uint16_t updated;                /* 1: the range has an update */
} ana_word_use;

typedef struct ana_word_run { /* words side by side that fared alike */
    uint32_t first, count;    /* from the array's begin */
    ana_word_use use;
} ana_word_run;

typedef struct ana_phase {
    uint32_t end; /* pc of the barrier that ends it; UINT32_MAX: the block's end */
    uint32_t nruns;
    const ana_word_run *runs; /* ascending; of words that the phase accesses */
} ana_phase;

typedef struct ana_pcs {
    uint32_t count;
    const uint32_t *pcs; /* ascending */
} ana_pcs;

typedef struct ana_phases { /* of one array in one block */
    uint32_t kernel, launch, object;
    uint32_t block[3], warps;
    uint32_t nwords, first_bank; /* of its first word */
    uint32_t count;
    const ana_phase *rows;
    uint32_t nsets;
    const ana_pcs *sets;
} ana_phases;

typedef struct ana_phases_rows {
    uint32_t count;
    ana_phases *rows; /* by kernel, block, object */
} ana_phases_rows;

/* Of each kernel the blocks of one launch whose warps' steps are all known (`most` blocks at most):
 * the launch with most such blocks. Within a phase warps are taken one after another, by number:
 * nothing says which comes first. Phases are those of bar and barrier; that an mbarrier was met is
 * not known. */
wl_status ana_phase_table(prof_db *profile, uint32_t most, wl_arena *arena, ana_phases_rows *out,
                          wl_error *err);

#endif
