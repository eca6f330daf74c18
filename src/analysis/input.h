/* What the detectors are given: one kernel of a profile, its instructions grouped by the object that they touch. */
#ifndef WL_ANALYSIS_INPUT_H
#define WL_ANALYSIS_INPUT_H

#include "analysis/finding.h"

typedef struct ana_group { /* a kernel's instructions on one object in one space */
    uint32_t object, space;
    const prof_object *info; /* NULL: unknown memory */
    uint32_t ninsns;
    const prof_instruction *insns; /* totals over all launches; ascend by pc */
    uint32_t ntraffic;
    const prof_traffic *traffic; /* ascend by launch */
    uint32_t nheats;
    const prof_heat_info *heats; /* ascend by launch, block */
} ana_group;

typedef struct ana_input {
    prof_db *db;
    const ana_thresholds *thresholds;
    const prof_kernel *kernel;
    const prof_file_rows *files;
    prof_code_rows code;
    prof_sample_rows samples;
    uint32_t ngroups;
    ana_group *groups;            /* by object, space */
    uint64_t sectors, wavefronts; /* of the kernel, over all launches */
    wl_arena *scratch;            /* freed when the kernel is done */
    wl_arena *arena;              /* of the results */
} ana_input;

/* Loads a kernel. `input` comes with db, thresholds, kernel, files and the arenas filled in. */
wl_status ana_input_load(ana_input *input, const prof_object_rows *objects, wl_error *err);

/* How many blocks the map's stands for; 1 where that is not known. */
double ana_alike(const ana_input *input, const prof_heat_info *heat);

/* One pattern on one object, before it is judged and put into words. */
typedef struct ana_draft {
    ana_pattern pattern;
    const ana_group *group;
    double excess;
    double
        alone; /* excess were no other pattern charged first: by this it is judged whether to tell it */
    double *insn_excess; /* by index in group->insns */
    uint64_t requests;   /* that show it */
    uint32_t launches, example_launch;
    uint32_t nevidence;
    ana_evidence evidence[12];
    uint32_t nsectors;
    ana_sector sectors[8];
    const char *summary;
    const char *remedy; /* ANA_OBJECT in the object's place */
} ana_draft;

void ana_add_evidence(ana_draft *draft, const char *name, const char *label, double value,
                      const char *unit);

/* What sentences call it: its variable's name, where that is known. */
const char *ana_object_text(const prof_object *object);

/* A row of a heat map as an example; `object` may be NULL. */
ana_sector ana_sector_of(const obs_heat_row *row, const prof_object *object);

typedef struct ana_drafts {
    uint32_t count, capacity;
    ana_draft *rows; /* malloc'ed */
} ana_drafts;

/* Room for one more draft of the group, zeroed but for its pattern and arrays; NULL when memory is exhausted. */
ana_draft *ana_draft_add(ana_drafts *drafts, const ana_input *input, const ana_group *group,
                         ana_pattern pattern);

/* A detector looks at one object of the kernel and adds drafts. The order in find.c is their precedence. */
typedef wl_status ana_detector(const ana_input *input, const ana_group *group, ana_drafts *drafts,
                               wl_error *err);

ana_detector ana_detect_global; /* heatmap/global.c */
ana_detector ana_detect_shared; /* heatmap/shared.c */

#endif
