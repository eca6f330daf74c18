/* Remedies: what may be changed about a kernel, and what its instructions would do then.
 *
 * Each is a row of remedies.def. Of a finding's remedy it is known of which instructions what they
 * pay goes; a trial has counted what they would do. model_try() makes seconds
 * of either. */
#ifndef WL_ANALYSIS_REMEDY_REMEDY_H
#define WL_ANALYSIS_REMEDY_REMEDY_H

#include "analysis/model/model.h"

typedef enum remedy_kind {
#define X(id, name, title, condition) REMEDY_##id,
#include "analysis/remedy/remedies.def"
#undef X
    REMEDY_COUNT
} remedy_kind;

const char *remedy_name(remedy_kind kind);      /* "swap-indices" */
const char *remedy_title(remedy_kind kind);     /* "Swap the thread's indices" */
const char *remedy_condition(remedy_kind kind); /* a sentence */

/* Of what a remedy changes, over all observed launches of the kernel. */
typedef struct remedy_counts {
    double requests, sectors, wavefronts;
} remedy_counts;

/* What following a remedy is predicted to save, of the launches that were observed;
 * docs/model.md. */
typedef struct ana_worth {
    bool known; /* else the rest is 0: the device was never measured, or counts are missing */
    double seconds, low, high; /* saved; where `low` is negative it may cost time */
    double of_kernel;          /* part of the kernel's time */
    double of_program;         /* of the time of all kernels */
    /* What it is judged by: part of the kernel's time, its launch apart; where `small`, with a grid
     * that fills the device, since the kernel takes hardly longer than its launch. */
    bool small;
    double of_full;
    model_resource bound;         /* of the kernel as it is, of that size, the launch apart */
    double before, after;         /* the kernel's predicted seconds for a launch, the mean */
    double after_low, after_high; /* where eight of ten launches lie, as of any prediction */
} ana_worth;

typedef struct ana_remedy {
    remedy_kind kind;
    bool counted; /* by a trial; else as the fewest that the finding allows */
    const char *remedy,
        *advice; /* what to change: ANA_OBJECT in the object's place, and its name */
    remedy_counts before, after;
    model_change change;
    ana_worth worth;
} ana_remedy;

/* Do both change an instruction, or the barriers? */
bool remedy_overlap(const model_change *a, const model_change *b);
/* Both changes, in the arena; `out` may be one of them. False when memory is exhausted. */
bool remedy_join(wl_arena *arena, const model_change *a, const model_change *b, model_change *out);

#endif
