/* The words of a block's shared memory while the block goes on: who accesses them, and the live
 * range that each has. A store to a word begins a range, unless its value depends on a read of that
 * word (flow/fills.h, prof_fill). Internal to the folder. */
#ifndef WL_ANALYSIS_SHARED_WORDS_H
#define WL_ANALYSIS_SHARED_WORDS_H

#include "analysis/shared/phases.h"

enum { SHARED_LANES = 32, SHARED_WARPS = 32 };

/* What stores of a kernel write, by pc; all in an arena. */
typedef struct shared_stores {
    prof_fill_rows fills;
    prof_fill_read_rows reads; /* loads that the values may depend on */
} shared_stores;

typedef struct shared_access { /* a warp's, on shared memory */
    uint32_t pc, warp, mask;
    uint32_t op, flags, bytes; /* acc_op, acc_flag; bytes of a lane */
    uint64_t at[SHARED_LANES]; /* bytes from the begin of the block's shared memory */
} shared_access;

typedef struct shared_word {
    ana_word_use use; /* since shared_words_next */
    bool touched;     /* likewise */
} shared_word;

typedef struct shared_words shared_words;

/* NULL when memory is exhausted. */
shared_words *shared_words_new(const shared_stores *stores, uint32_t nwords);
void shared_words_free(shared_words *words); /* NULL is allowed */
/* False when memory is exhausted. */
bool shared_words_take(shared_words *words, const shared_access *access);
const shared_word *shared_words_at(const shared_words *words, uint32_t word);
/* A phase is over: nobody has accessed anything yet. */
void shared_words_next(shared_words *words);
/* The sets of instructions that the words' uses name. */
uint32_t shared_words_sets(const shared_words *words);
/* Writes the pcs of a set, ascending, and returns how many there are; `pcs` may be NULL. */
uint32_t shared_words_set(const shared_words *words, uint32_t set, uint32_t *pcs);

#endif
