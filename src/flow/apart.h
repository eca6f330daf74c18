/* Live ranges of an array's words, where who observes a launch sees some of the accesses one after
 * the other (those that are *shown*) and of the others only how often each word was accessed. */
#ifndef WL_FLOW_APART_H
#define WL_FLOW_APART_H

#include "base/spans.h"
#include "flow/arrays.h"

/* What all accesses of a class to the array do that are not shown. */
typedef struct flow_alike {
    uint8_t write;  /* flow_write; of the last, where they are not alike */
    uint8_t origin; /* flow_origin; of FLOW_FILLS */
} flow_alike;

typedef struct flow_apart {
    bool any; /* some accesses are not shown */
    bool
        alike; /* those of each class do the same, whatever the word; and what the others do follows
                   from what is shown */
    flow_alike classes[WL_CLASSES];
    /* pc of the last barrier that all threads of the block come to before any of them makes an access
     * that is not shown, and that has a shown store before it, by which the words may be filled.
     * FLOW_NONE: there is none. */
    uint32_t barrier;
} flow_apart;

/* Do all threads of a block run the basic block equally often, as far as it depends on what
 * all have, or load from one address, and no two threads race for it? */
bool flow_runs_together(const flow_function *f, uint32_t block);
/* Is it a barrier of the whole block, to which all threads that are there come together? */
bool flow_is_full_barrier(const flow_function *f, const ir_insn *insn);
/* Does the first instruction of the function stand on all ways to the other one? */
bool flow_comes_before(const flow_function *f, uint32_t first, uint32_t then);
/* WL_LOADS, WL_STORES or WL_ATOMICS. */
int flow_class_of_use(const flow_counts *counts, const flow_array_use *use);
/* shown[pc]. */
flow_apart flow_judge_apart(const flow_counts *counts, const flow_fills *fills,
                            const flow_arrays *arrays, const flow_array *array, const bool *shown);

#endif
