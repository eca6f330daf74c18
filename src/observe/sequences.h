/* What the warps of a launch did, of many blocks: equal steps are kept once.
 *
 * Blocks are kept in the order of their indices, up to the first one with which they would take
 * more than the limit: that depends on the blocks alone, whoever ran them, in whatever order and
 * on however many threads. While there is room every block is kept; where there is none any more
 * the block of the highest index goes, and from then on all from there on. What is kept of the
 * blocks before costs the same whether the others were there or not. */
#ifndef WL_OBSERVE_SEQUENCES_H
#define WL_OBSERVE_SEQUENCES_H

#include "base/arena.h"
#include "base/error.h"
#include "observe/steps.h"

typedef struct obs_sequences obs_sequences;

/* limit: bytes. */
obs_sequences *obs_sequences_new(uint64_t limit);
void obs_sequences_free(obs_sequences *sequences);

/* Whether there may be room for the block. Thread-safe, as is adding. */
bool obs_sequences_may_keep(obs_sequences *sequences, uint64_t block);
/* The block has ended; `walks`: what its warps did. NULL: nothing is known, of so many warps. */
void obs_sequences_add(obs_sequences *sequences, uint64_t block, const obs_walks *walks);
void obs_sequences_drop(obs_sequences *sequences, uint32_t nwarps);

/* Puts what is kept into the summary, and keeps it no longer. */
wl_status obs_sequences_finish(obs_sequences *sequences, wl_arena *arena, obs_summary *out);

#endif
