/* Findings: what the analyses say, as data. Reporters draw them; nothing here formats.
 *
 * A finding stands for one pattern on one object in one kernel, over all its observed launches in a profile. Findings that
 * one change in the source fixes make up a group; what people read numbers the groups. */
#ifndef WL_ANALYSIS_FINDING_H
#define WL_ANALYSIS_FINDING_H

#include "base/arena.h"
#include "base/error.h"
#include "profile/profile.h"

typedef enum ana_unit { /* what a cost counts */
#define X(id, name) ANA_##id,
#include "analysis/units.def"
#undef X
                        ANA_UNIT_COUNT
} ana_unit;

typedef enum ana_pattern {
#define X(id, name, title, unit, remedy) ANA_##id,
#include "analysis/patterns.def"
#undef X
    ANA_PATTERN_COUNT
} ana_pattern;

typedef enum ana_gain {
#define X(id, name, reason) ANA_GAIN_##id,
#include "analysis/gains.def"
#undef X
    ANA_GAIN_COUNT
} ana_gain;

const char *ana_gain_name(ana_gain gain); /* "full" */
const char *ana_gain_reason(
    ana_gain gain); /* why fixing gains little, a sentence; "" for ANA_GAIN_FULL */

typedef struct ana_pattern_info {
    const char *name, *title, *remedy;
    ana_unit unit;
} ana_pattern_info;

const ana_pattern_info *ana_pattern_get(ana_pattern pattern);
const char *ana_unit_text(ana_unit unit); /* "sectors" */

/* Thresholds of all patterns: thresholds.def, X(id, default, "option", "reason"). */
typedef struct ana_thresholds {
#define X(id, value, option, reason) double id;
#include "analysis/thresholds.def"
#undef X
} ana_thresholds;

ana_thresholds ana_thresholds_default(void);

typedef struct ana_line { /* a source line with what its instructions on this object did */
    const char *file;     /* NULL: no line information; then `line` is 0 and `pc` tells */
    uint32_t line;
    uint32_t pc; /* the costliest instruction of the line */
    uint64_t requests, sectors, sectors_min, wavefronts, wavefronts_min;
} ana_line;

typedef struct ana_evidence { /* named numbers behind the finding, in the order to show them */
    const char *name;         /* "mean_word_temperature" */
    const char *label;        /* "mean word temperature" */
    double value;
    const char *unit; /* "" , "warps", "sectors", "bytes", "%" */
} ana_evidence;

typedef struct ana_sector { /* an example */
    uint64_t
        offset; /* bytes from the object's start, sector-aligned down (may be negative as int64_t) */
    uint32_t temperature; /* of the sector */
    uint32_t word[8];     /* temperatures */
} ana_sector;

typedef struct ana_finding {
    uint32_t number; /* of its group, from 1 */
    ana_pattern pattern;
    uint32_t kernel, object, space; /* ids of the profile; obs_space */
    uint32_t
        objects; /* that show it: allocated at one place, one after the other; `object` is the costliest */
    uint32_t launches;       /* that show it */
    uint32_t example_launch; /* id of the costliest */
    uint64_t excess;         /* in the pattern's unit, over all observed launches */
    double share_of_kernel;  /* excess / all sectors (or wavefronts) of the kernel, 0..1 */
    double
        share_of_program; /* excess / (sectors + wavefronts) of all kernels, so that both units rank together */
    double
        kernel_share_of_time; /* the kernel's part of the program's device time; negative: not measured */
    ana_gain gain;
    const char *gain_figures; /* "64 warps on 132 multiprocessors"; "" with ANA_GAIN_FULL */
    const char *gain_note;    /* why fixing it gains little, with these figures; "" likewise */
    uint32_t nlines;
    ana_line *lines; /* costliest first */
    uint32_t nevidence;
    ana_evidence *evidence;
    uint32_t nsectors;
    ana_sector *sectors;
    const char *summary; /* one or two sentences with this case's numbers */
    const char
        *remedy; /* what to change, ANA_OBJECT in the object's place: equal where the change is */
    const char *advice; /* the same with the object's name */
} ana_finding;

#define ANA_OBJECT "\x1a"

/* Findings of one pattern with one remedy, of one kernel, one source line or kernels that are alike (group.c). */
typedef struct ana_finding_group {
    uint32_t first, count;       /* its findings: rows first, first + 1, ..., costliest first */
    uint32_t nkernels, *kernels; /* ids, costliest first */
    uint32_t nobjects, *objects; /* likewise; shared arrays of one name and size once */
    uint32_t nlines;
    ana_line *lines; /* of all its findings, those of the costliest first */
    uint64_t excess; /* of all, in the pattern's unit */
    double share_of_program;
    const char *advice; /* with the names of all objects */
} ana_finding_group;

typedef struct ana_findings {
    uint32_t count;
    ana_finding *rows; /* group after group */
    uint32_t ngroups;
    ana_finding_group *
        groups; /* those worth fixing first; costliest first: by share of the program, then excess */
} ana_findings;

/* All findings of a profile; they lie in `arena`. */
wl_status ana_find(prof_db *profile, const ana_thresholds *thresholds, wl_arena *arena,
                   ana_findings *out, wl_error *err);

#endif
