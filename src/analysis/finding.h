/* Findings: what the analyses say, as data. Reporters draw them; nothing here formats.
 *
 * A finding has a head that all kinds share (what is wrong, with what, what it costs, what mending
 * it is worth, how sure that is, what to change) and a part for each kind of evidence, NULL where
 * it has none of that kind. All findings stand in one list, ranked by a cost that every kind has:
 * its share of what the program pays. Findings that one change in the source fixes make up a group;
 * what people read numbers the groups. */
#ifndef WL_ANALYSIS_FINDING_H
#define WL_ANALYSIS_FINDING_H

#include "analysis/model/model.h"
#include "analysis/remedy/remedy.h"
#include "analysis/thresholds.h"
#include "base/arena.h"
#include "base/error.h"
#include "profile/profile.h"

/* ---- vocabularies ---- */

typedef enum ana_unit { /* what a cost counts */
#define X(id, name, resource) ANA_##id,
#include "analysis/units.def"
#undef X
                        ANA_UNIT_COUNT
} ana_unit;

typedef enum ana_resource {
    ANA_TRAFFIC,
    ANA_MEMORY,
    ANA_DEVICE,
    ANA_COPIES,
    ANA_WAITING,
    ANA_ON_CHIP,
    ANA_RESOURCE_COUNT
} ana_resource;

typedef enum ana_pattern {
#define X(id, name, title, unit, told, remedy) ANA_##id,
#include "analysis/patterns.def"
#undef X
    ANA_PATTERN_COUNT
} ana_pattern;

typedef enum ana_scope { /* what a finding is about */
#define X(id, name) ANA_SCOPE_##id,
#include "analysis/scopes.def"
#undef X
                         ANA_SCOPE_COUNT
} ana_scope;

typedef enum ana_certainty {
#define X(id, name, meaning) ANA_CERTAINTY_##id,
#include "analysis/certainties.def"
#undef X
    ANA_CERTAINTY_COUNT
} ana_certainty;

typedef enum ana_gain {
#define X(id, name, reason) ANA_GAIN_##id,
#include "analysis/gains.def"
#undef X
    ANA_GAIN_COUNT
} ana_gain;

typedef enum ana_told { /* when a pattern is told: patterns.def */
                        ANA_FAULT,
                        ANA_CHANCE
} ana_told;

typedef struct ana_pattern_info {
    const char *name, *title, *remedy;
    ana_unit unit;
    ana_told told;
} ana_pattern_info;

const ana_pattern_info *ana_pattern_get(ana_pattern pattern);
const char *ana_unit_text(ana_unit unit); /* "sectors" */
ana_resource ana_unit_resource(ana_unit unit);
const char *ana_scope_name(ana_scope scope);             /* "kernel-and-object" */
const char *ana_certainty_name(ana_certainty certainty); /* "counted" */
const char *ana_gain_name(ana_gain gain);                /* "full" */
/* Why fixing gains little, a sentence; "" for ANA_GAIN_FULL. */
const char *ana_gain_reason(ana_gain gain);

/* ---- findings ---- */

typedef struct ana_line { /* a source line, with what its instructions did there; 0 where nothing */
    const char *file;     /* NULL: no line information; then `line` is 0 and `pc` tells */
    uint32_t line;
    uint32_t pc; /* the costliest instruction of the line */
    bool inside; /* of a helper that the line before it calls: it counts the same requests */
    uint64_t requests, sectors, sectors_min, wavefronts, wavefronts_min;
} ana_line;

typedef struct ana_evidence { /* named numbers behind the finding, in the order to show them */
    const char *name;         /* "mean_word_temperature" */
    const char *label;        /* "mean word temperature" */
    double value;
    const char *unit; /* "" , "warps", "sectors", "bytes", "%" */
} ana_evidence;

typedef struct ana_cost {
    ana_unit unit;
    uint64_t excess;         /* what could be saved, over all observed launches */
    double share_of_kernel;  /* of what the kernel pays in this unit, 0..1; 0 without a kernel */
    double share_of_program; /* of what the program pays of the unit's resource: ranks all kinds */
} ana_cost;

typedef struct ana_saving { /* of device memory, by replaying the allocations: docs/objects.md */
    bool known;             /* else the rest is 0 */
    uint64_t bytes;         /* less at the peak of its device or pool, if nothing else is changed */
    uint32_t step;          /* of the plan that lowers that peak, from 1; 0: not needed for it */
    uint64_t peak;          /* with this step and those before it */
    uint32_t pool; /* 0: of the device; else the first prof_object of the pool that it is of */
} ana_saving;

typedef struct ana_sector { /* an example from a heat map */
    /* Bytes from the object's start, aligned down to a sector; may be negative as int64_t. */
    uint64_t offset;
    uint32_t temperature; /* of the sector */
    uint32_t word[8];     /* temperatures */
} ana_sector;

typedef struct ana_held {   /* memory of one allocation site */
    uint32_t object, count; /* id of the largest; objects */
    uint64_t bytes;         /* of all */
    bool
        rest; /* of what the program divides: what no part of it has, parts being held themselves */
} ana_held;

typedef struct ana_room { /* that following another finding would have made */
    ana_pattern pattern;
    uint32_t object;
    uint64_t bytes;
} ana_room;

/* The part of findings about an allocation that failed for want of memory. */
typedef struct ana_refusal {
    uint64_t requested, free, total; /* bytes; free and total: of the device */
    uint64_t in_use;                 /* by the process */
    uint32_t nheld;
    ana_held *held; /* most bytes first */
    uint32_t nrooms;
    ana_room *rooms; /* the most first */
} ana_refusal;

typedef struct ana_frequency_bin {
    uint64_t elements, accesses;
} ana_frequency_bin;

/* The part of findings about elements of which some are accessed more often than others: of the
 * launch that accesses them most. */
typedef struct ana_frequency {
    uint32_t launch;
    uint64_t elements, accesses; /* accessed elements of 4 bytes; accesses by lanes */
    double mean, variation;      /* accesses of such an element; their coefficient of variation */
    uint64_t most;               /* of one element */
    uint64_t first, count;       /* the range of elements that is accessed most */
    uint64_t hot[WL_CLASSES], all[WL_CLASSES]; /* accesses by class: to the range, to all */
    ana_frequency_bin bins[64]; /* bin i: elements accessed 2^i to 2^(i+1) - 1 times */
} ana_frequency;

/* The part of findings about what the instructions of a kernel access. */
typedef struct ana_access {
    uint32_t space;          /* acc_space */
    uint32_t launches;       /* that show it */
    uint32_t example_launch; /* id of the costliest */
    /* Objects that show it, allocated at one place one after the other: the finding's is the
     * costliest of them. */
    uint32_t objects;
    uint32_t first_object; /* the first of them by id */
    bool updates;          /* atomic ones pay: these are carried out beyond the L1 cache */
    uint32_t nsectors;
    ana_sector *sectors; /* of a heat map, where the finding rests on one */
} ana_access;

typedef struct ana_finding {
    ana_pattern pattern;
    uint64_t key;    /* the same in profiles of other builds and runs: key.h */
    uint32_t number; /* of its group, from 1 */
    ana_scope scope;
    uint32_t kernel, object; /* ids of the profile; 0: of none, or memory of no known object */
    ana_cost cost;
    /* The kernel's part of the program's device time; negative: not measured, or no kernel. */
    double kernel_share_of_time;
    /* What may be done about it, the first what `remedy` and `advice` tell; none where that is all that
     * is known. */
    uint32_t nremedies;
    ana_remedy *remedies;
    model_change change; /* of the first */
    bool
        costs; /* what is advised would save nothing: it is not told. False once findings are made */
    const char *covered_by; /* title of another finding's remedy that mends it, too; NULL: none */
    ana_worth worth;
    ana_gain gain;
    const char *gain_figures; /* "64 warps on 132 multiprocessors"; "" with ANA_GAIN_FULL */
    const char *gain_note;    /* why fixing it gains little, with these figures; "" likewise */
    ana_certainty certainty;
    ana_told told;
    uint32_t nlines;
    ana_line *lines; /* costliest first, each before those of the helpers that it calls */
    uint32_t nevidence;
    ana_evidence *evidence;
    const char *summary; /* one or two sentences with this case's numbers */
    /* What to change, ANA_OBJECT in the object's place: equal where the change is. */
    const char *remedy;
    const char *advice;       /* the same with the object's name */
    ana_access *access;       /* NULL: of another kind */
    ana_frequency *frequency; /* likewise */
    ana_refusal *refusal;     /* likewise */
    ana_saving saving;
} ana_finding;

#define ANA_OBJECT "\x1a"

/* Findings of one pattern with one remedy, of one kernel, one source line or kernels that are alike
 * (group.c). */
typedef struct ana_finding_group {
    uint32_t first, count;       /* its findings: rows first, first + 1, ..., costliest first */
    uint32_t nkernels, *kernels; /* ids, costliest first */
    uint32_t nobjects, *objects; /* likewise; shared arrays of one name and size once */
    uint32_t nlines;
    ana_line *lines;    /* of all its findings, those of the costliest first */
    ana_cost cost;      /* of all; share_of_kernel is 0 */
    ana_worth worth;    /* of following all their remedies; of one kernel what is of a kernel */
    const char *advice; /* with the names of all objects */
    const char *names;  /* these; NULL: of one object */
} ana_finding_group;

/* A kernel of whose sectors at least min_share are beyond the fewest possible and fit no pattern. */
typedef struct ana_left_over {
    uint32_t kernel;
    double sectors;
} ana_left_over;

/* What was seen but is no finding: it costs too little to be told, or fits no pattern. */
typedef struct ana_left_out {
    uint32_t count; /* patterns, by kernel and object */
    /* The one that costs its kernel the most (the program, where it is of none). */
    ana_pattern pattern;
    uint32_t kernel, object;
    double share; /* of what that pays, 0..1 */
    /* Sectors that requests move beyond the fewest possible, but that fit no pattern. */
    uint64_t unnamed_sectors;
    double unnamed_share; /* of all that the program moves, 0..1 */
    bool much;            /* the share reaches min_share: nobody may read that there is nothing */
    uint32_t nkernels;
    ana_left_over *kernels; /* those with most of these sectors first */
} ana_left_out;

typedef struct ana_findings {
    uint32_t count;
    ana_finding *rows; /* group after group */
    uint32_t ngroups;
    /* Those worth fixing first: by what they save where that is predicted, else by what they cost. */
    ana_finding_group *groups;
    ana_left_out left_out;
    bool replayed;                    /* the allocations were: else the next is 0 */
    uint64_t peak_after;              /* of device memory, with the plan's steps made */
    const ana_thresholds *thresholds; /* that they were judged by; NULL: the defaults */
} ana_findings;

/* All findings of a profile; they lie in `arena`. */
wl_status ana_find(prof_db *profile, const ana_thresholds *thresholds, wl_arena *arena,
                   ana_findings *out, wl_error *err);

#endif
