/* The definitions of observe/cost.h and summary.h taken literally: sets of bytes, words and
 * sectors, no closed forms, and none of the code under test. */
#ifndef WL_TESTS_OBSERVE_REFERENCE_H
#define WL_TESTS_OBSERVE_REFERENCE_H

#include "observe/cost.h"

obs_cost ref_cost(const acc_request *access);

/* Counts of a launch: a row a (pc, object, space, op), as many as `capacity`. */
typedef struct ref_row {
    obs_insn insn;
    struct {
        int64_t stride;
        uint64_t count;
    } strides[512];
    uint32_t nstrides;
    uint64_t slices[OBS_SLICES]; /* turns of atomics */
} ref_row;

enum { REF_SECTORS = 4096, REF_PCS = 64 };

/* A heat map over the sectors [first, first + REF_SECTORS). */
typedef struct ref_heat {
    uint32_t object;
    acc_space space;
    uint64_t block;
    uint64_t first;
    struct {
        uint32_t history, word[OBS_WORDS_PER_SECTOR], counts[3];
        uint64_t threads[OBS_WORDS_PER_SECTOR][16]; /* bit a thread of the block */
        uint64_t pcs;                               /* bit a pc */
    } cells[REF_SECTORS];
} ref_heat;

void ref_row_add(ref_row *row, const acc_request *access); /* access is on the row's object only */
void ref_row_finish(ref_row *row);                         /* sets insn.stride and slice_turns */
void ref_heat_add(ref_heat *heat, const acc_request *access);
obs_owner ref_owner(const ref_heat *heat, uint32_t sector, uint32_t word);

#endif
