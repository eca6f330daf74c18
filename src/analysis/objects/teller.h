/* What is said of a trace: drafts of findings and their sentences, for the files of this folder that
 * make them. */
#ifndef WL_ANALYSIS_OBJECTS_TELLER_H
#define WL_ANALYSIS_OBJECTS_TELLER_H

#include "analysis/input.h"
#include "analysis/objects/analysis.h"

typedef struct tell_state {
    const ana_input *input;
    ana_drafts *drafts;
    obj_analysis found;
    uint32_t *steps; /* by hit: its place in the plan, from 1; 0: none */
    const prof_caller_rows *callers;
    wl_error *err;
    wl_status status;
} tell_state;

/* What a process has in the hits that stand together (obj_hit.bundle). */
typedef struct tell_bundle {
    const obj_hit *first;
    uint32_t hits, objects, writes;
    uint32_t newest; /* object of its last hit */
    uint64_t bytes, adds;
    uint32_t step; /* of the plan, the last of theirs; 0: none */
    uint64_t peak; /* with that step */
} tell_bundle;

typedef struct tell_words { /* of a pattern */
    const char *summary, *remedy;
    remedy_kind kind;
} tell_words;

/* All words belong to the findings' arena; NULL when memory is exhausted. */

const char *tell_bytes(const tell_state *t, uint64_t bytes);   /* "1.5 GiB" */
const char *tell_object(const tell_state *t, uint32_t object); /* its name */
/* "cudaMalloc at app.cu:9", "cudaMalloc at helper.h:5, called at app.cu:9" */
const char *tell_place(tell_state *t, uint32_t call, const char *what);
/* Where the helper is called that makes the calls of the stack; (0, 0): no other caller uses it. */
ana_source tell_caller(const tell_state *t, uint32_t stack);

/* What is wrong, and what to change. */
tell_words tell_pattern(tell_state *t, const tell_bundle *bundle);
/* What may rule it out, a sentence after a space; "" where it is certain. */
const char *tell_reservations(tell_state *t, const tell_bundle *bundle);
/* Is the memory missed nowhere before the process ends? */
bool tell_rests_until_exit(const tell_state *t, const tell_bundle *bundle);

/* Drafts of allocations that failed for want of memory. False when memory is exhausted. */
bool tell_refusals(tell_state *t);

#endif
