/* What detectors are given, and what they make of it.
 *
 * A detector has a scope (detectors.def). Of scope KERNEL_AND_OBJECT it is called once for each
 * kernel and object that the kernel accesses, in each space; KERNEL: once for each kernel; OBJECT:
 * once for each object; PROGRAM: once. Those of kernels come first. */
#ifndef WL_ANALYSIS_INPUT_H
#define WL_ANALYSIS_INPUT_H

#include "analysis/finding.h"
#include "analysis/places.h"

/* Rows of the profile that every detector may look at. */
typedef struct ana_program {
    prof_db *db; /* for rows that only some detectors need */
    const ana_thresholds *thresholds;
    prof_kernel_rows kernels;
    prof_object_rows objects;
    prof_file_rows files;
    prof_loc_rows locs;        /* by id */
    prof_launch_rows launches; /* of all kernels, those that are alike in one row */
    prof_device_rows devices;
    prof_gap_rows gaps;
    /* Sectors of accesses by any kernel that run along the rows of an object, by its id up to `last_object`. */
    const double *along_rows;
    uint32_t last_object;
    /* What the whole program pays; known to detectors of scope OBJECT and PROGRAM. */
    double totals[ANA_UNIT_COUNT];
} ana_program;

typedef struct ana_group { /* a kernel's instructions on one object in one space */
    uint32_t object, space;
    const prof_object *info; /* NULL: unknown memory */
    uint32_t ninsns;
    const prof_instruction *insns; /* totals over all launches; ascend by pc */
    uint32_t ntraffic;
    const prof_traffic *traffic; /* ascend by launch, the first of those that are alike */
    uint64_t launches;           /* that all of these are of */
    uint32_t nheats;
    const prof_heat_info *heats; /* ascend by launch, block */
} ana_group;

typedef struct ana_input {
    const ana_program *program;
    ana_scope scope; /* of the detector that is called */

    const prof_kernel *kernel; /* KERNEL, KERNEL_AND_OBJECT; else NULL and what follows is 0 */
    prof_code_rows code;
    prof_form_rows forms;
    prof_barrier_rows barriers; /* by pc; none: then there are none of the next two either */
    prof_successor_rows successors;
    prof_premise_rows premises; /* by pc; of kernels with barriers, too */
    prof_access_rows accesses;  /* to global memory, by pc, launch, object */
    prof_sample_rows samples;
    prof_use_rows uses; /* by object, space, launch */
    uint32_t ngroups;
    ana_group *groups; /* by object, space */
    uint32_t ninsns;
    const prof_instruction *insns; /* of all groups, one after the other */
    bool counted; /* every access of every launch: nothing is estimated, missing or dropped */

    const ana_group *group;        /* KERNEL_AND_OBJECT */
    const prof_object *object;     /* OBJECT; KERNEL_AND_OBJECT where it is known */
    double totals[ANA_UNIT_COUNT]; /* what the kernel pays over all launches, else the program */
    wl_arena *scratch;             /* freed when the kernel, the objects or the program are done */
    wl_arena *arena;               /* of the results */
} ana_input;

/* Loads what belongs to input->kernel. `input` comes with program, kernel and the arenas. */
wl_status ana_input_load(ana_input *input, wl_error *err);

/* Multiprocessors of the device that the launch ran on; 0: not known. */
uint32_t ana_multiprocessors(const ana_program *program, const prof_launch *launch);

/* Warp instructions that all multiprocessors had room for while the launch's blocks ran: at least
 * what it executed. */
double ana_room_of(const ana_program *program, const prof_launch *launch);

/* The same while some warps of the launch ran on, and those of their blocks that were done waited; or
 * blocks, and multiprocessors waited. 0 where that is not known. */
double ana_uneven_room(const ana_program *program, const prof_launch *launch);

/* How many blocks the map's stands for; 1 where that is not known. */
double ana_alike(const ana_input *input, const prof_heat_info *heat);

/* Whether the group's heat maps are of every block of its launches, so that nothing is taken from a
 * sample. */
bool ana_maps_all_blocks(const ana_input *input, const ana_group *group);

typedef struct ana_other { /* a remedy in place of another */
    remedy_kind kind;
    const char *remedy; /* ANA_OBJECT in the object's place */
} ana_other;

/* One pattern, before it is judged and put into a finding. */
typedef struct ana_draft {
    ana_pattern pattern;
    ana_scope scope;
    /* Ids as the input has them; a detector of a wider scope may set what it found. */
    uint32_t kernel, object;
    const ana_group *group; /* KERNEL_AND_OBJECT */
    uint32_t ninsns;        /* the group's, or all of the kernel's; 0 without a kernel */
    const prof_instruction *insns;
    double *insn_excess; /* what each of them pays */
    /* What goes of each once the remedy is followed, where that is more than it pays; else NULL. */
    double *insn_saved;
    /* What goes of the kernel's barriers once the remedy is followed: the part that is left out, and
     * the part that warps keep by themselves. */
    double barriers, warp_barriers;
    int64_t shared; /* bytes of shared memory that a block takes beside its own then */
    /* Barriers that pay, none of them a memory instruction: then no insn_excess is set. */
    uint32_t nplaces;
    const uint32_t *places;     /* pcs */
    const double *place_excess; /* what each pays */
    ana_unit unit;              /* of the excess: the pattern's, unless the detector sets another */
    double excess;
    /* The excess were no other pattern charged first: by this it is judged whether to tell it. */
    double alone;
    uint64_t requests; /* that show it */
    uint32_t launches, example_launch;
    ana_certainty certainty;  /* as far as the detector knows */
    ana_told told;            /* its pattern's, where the detector does not say otherwise */
    ana_gain gain;            /* without a kernel: what fixing is worth; FULL unless it is set */
    ana_saving saving;        /* of memory */
    ana_frequency *frequency; /* NULL: none */
    ana_refusal *refusal;     /* likewise */
    /* Of a finding that has neither kernel nor object; `caller`: where a helper is called. */
    ana_source site, caller;
    uint32_t nevidence;
    ana_evidence evidence[12];
    uint32_t nsectors;
    ana_sector sectors[8];
    const char *summary;
    remedy_kind kind;   /* of what `remedy` says: its title and condition are told with it */
    const char *remedy; /* ANA_OBJECT in the object's place */
    const char *smaller_blocks; /* advice to start these, beside the remedy; NULL: none */
    uint32_t nothers;
    ana_other others[2]; /* what may be done in the remedy's place */
} ana_draft;

typedef struct ana_drafts {
    uint32_t count, capacity;
    ana_draft *rows; /* malloc'ed */
    /* Sectors beyond the fewest that requests move, and that no draft accounts for. */
    double unnamed;
    bool replayed;       /* the allocations were */
    uint64_t peak_after; /* of memory, with all that is advised of it */
    double copied;       /* bytes that copies and sets write */
} ana_drafts;

/* Room for one more draft about what the input is about, zeroed but for that and its arrays; NULL
 * when memory is exhausted. It is the last row, and may be taken back by counting down. */
ana_draft *ana_draft_add(ana_drafts *drafts, const ana_input *input, ana_pattern pattern);

/* The same about a group of the input's kernel, by a detector of the kernel. */
ana_draft *ana_draft_add_of(ana_drafts *drafts, const ana_input *input, const ana_group *group,
                            ana_pattern pattern);

/* The kernel's instructions on the object; NULL: there are none. */
const ana_group *ana_group_of(const ana_input *input, acc_space space, uint32_t object);

/* What the drafts so far charge the group's instruction. */
double ana_charged(const ana_drafts *drafts, const ana_group *group, uint32_t insn);

void ana_add_evidence(ana_draft *draft, const char *name, const char *label, double value,
                      const char *unit);

/* What sentences call it: its variable's name, where that is known. */
const char *ana_object_text(const prof_object *object);

/* A row of a heat map as an example; `object` may be NULL. */
ana_sector ana_sector_of(const obs_heat_row *row, const prof_object *object);

/* A detector looks at what its scope names, and adds drafts. */
typedef wl_status ana_detector(const ana_input *input, ana_drafts *drafts, wl_error *err);

#define X(name, scope) ana_detector ana_detect_##name;
#include "analysis/detectors.def"
#undef X

#endif
